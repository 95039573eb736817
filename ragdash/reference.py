"""The tables of the README, written from the registries: `python -m ragdash.reference README.md` refreshes them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from ragdash.citations.registry import STYLES
from ragdash.formats.registry import FORMATS
from ragdash.metrics.registry import METRICS


def metrics_table() -> str:
    """Every metric with its layer, its meaning and the options its name takes."""
    rows: list[tuple[str, ...]] = []
    for entry in METRICS:
        name = entry.name + {"required": "@k", "optional": "[@k]", "none": ""}[entry.cutoff]
        options = ", ".join(f"`{option.name}`" for option in entry.options)
        rows.append((f"`{name}`", entry.layer, entry.meaning, options))
    return table(("metric", "layer", "what it says", "options"), rows)


def formats_table() -> str:
    """Every format with the kinds of table it holds."""
    rows: list[tuple[str, ...]] = [(f"`{e.name}`", e.label, ", ".join(e.kinds), e.meaning) for e in FORMATS]
    return table(("format", "files", "holds", "what it is"), rows)


def styles_table() -> str:
    """Every citation style with its label."""
    rows: list[tuple[str, ...]] = [(f"`{entry.name}`", f"`{entry.label}`", entry.meaning) for entry in STYLES]
    return table(("style", "looks like", "what it is"), rows)


BLOCKS: dict[str, Callable[[], str]] = {"metrics": metrics_table, "formats": formats_table, "styles": styles_table}


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table; a bar inside a cell is escaped.

    >>> print(table(("a",), [("x|y",)]))
    | a |
    |---|
    | x\\|y |
    """
    lines = [head, *rows]
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(head), *text[1:]])


def refreshed(text: str) -> str:
    """The text with the block between `<!-- NAME -->` and `<!-- /NAME -->` written anew.

    >>> refreshed("no block here")
    'no block here'
    """
    for name, write in BLOCKS.items():
        first, last = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if first in text:
            before, _, rest = text.partition(first)
            text = f"{before}{first}{write()}\n{last}{rest.partition(last)[2]}"
    return text


def main(path: Path) -> None:
    """Refresh one file in place."""
    path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
