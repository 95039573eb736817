"""HTML that is safe by construction: text is escaped in one place, `escaped`; only `tag` makes what is not text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
VOID = {"meta", "link", "br", "line", "rect", "circle", "path"}


class Markup(str):
    """Text that is HTML already. Whatever is a plain str is text and gets escaped."""

    __slots__ = ()


Inner = str | Markup | None


def escaped(text: str) -> Markup:
    """Text for any place in a document; control characters, which HTML does not allow, become a visible sign.

    >>> escaped('<img src=x onerror="alert(1)">')
    '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;'
    """
    if isinstance(text, Markup):
        return text
    whole = text.encode("utf-8", "replace").decode()
    return Markup(html.escape(CONTROLS.sub("\ufffd", whole)))


def tag(name: str, /, *inner: Inner, **attributes: str | int | bool | None) -> Markup:
    """An element. Attributes take `_` for `-` and lose one at their end (`class_`); None and False leave one out.

    >>> tag("p", "1 < 2", class_="lead", hidden=True)
    '<p class="lead" hidden>1 &lt; 2</p>'
    """
    said = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{said}>" if name in ("meta", "link", "br") else f"<{name}{said}/>")
    return Markup(f"<{name}{said}>{joined(inner)}</{name}>")


def _attribute(key: str, value: str | int | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'


def joined(parts: Iterable[Inner]) -> Markup:
    """Parts one after the other, text among them escaped."""
    return Markup("".join(escaped(part) for part in parts if part is not None))


def theirs(text: str, **attributes: str | int | bool | None) -> Markup:
    """Text that came from a user's files: its direction of writing ends where it ends.

    >>> theirs("<b>")
    '<bdi>&lt;b&gt;</bdi>'
    """
    return tag("bdi", text, **attributes)


def table(caption: Inner, head: Sequence[Inner], rows: Iterable[Sequence[Inner]], class_: str = "") -> Markup:
    """A table with a caption; the first cell of each row names it. It scrolls by itself where it is too wide."""
    heads = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = joined(tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows)
    inside = tag(
        "table", tag("caption", tag("span", caption)), tag("thead", heads), tag("tbody", body), class_=class_ or None
    )
    return tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=_plain(caption))


def _plain(caption: Inner) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", caption)) if isinstance(caption, Markup) else caption or "Table"
