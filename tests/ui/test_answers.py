"""Answers as HTML: whatever a model wrote stays text, and every mark says its state in words."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from ragdash.citation_status import Piece
from ragdash.citationdiff import QuestionDiff, question_diff
from ragdash.cited import cited_of
from ragdash.ui.answers import Known, _entry, _in_order, _treated, marked

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "![x](http://attacker.example/x.png)",
    "</span></mark></div><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "<style>@import'http://attacker.example/x.css'</style>",
    "\u202egnitset",
    "&lt;b&gt; &amp;",
    "<!-- <![CDATA[ \x00 \x1b",
)
ALLOWED = {"div": {"class"}, "bdi": set(), "mark": {"class", "title"}, "span": {"class"}} | {
    "details": {"class", "open"}, "summary": set(), "p": set(), "b": set(),
}  # fmt: skip


class Read(HTMLParser):
    """What a browser would make of it: tags with their attributes, and the text between."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def is_harmless(markup: str) -> bool:
    """Only tags and attributes of our own."""
    return all(tag in ALLOWED and set(attributes) <= ALLOWED[tag] for tag, attributes in Read(markup).tags)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_everywhere(text: str) -> None:
    shown = marked([Piece(text), Piece(f"[{text}]", "valid", text)], Known({text: (text, text)}, {text: 1.0}))
    assert is_harmless(shown)
    plain = text.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    assert Read(shown).text == f"{plain}[{plain}]✓ valid, grade 1"
    entry = _entry(text, [("valid", "A ✓ cited")], "grade 1", text, text)
    assert is_harmless(entry)
    assert Read(entry).text.count(plain) == 3


def test_the_check_finds_what_is_not_harmless() -> None:
    assert not is_harmless("<div><img src=x></div>")
    assert not is_harmless('<mark onclick="x">')


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (Piece("[d1]", "valid", "d1"), "✓ valid, grade 0"),
        (Piece("[d2]", "valid", "d2"), "✓ valid, unjudged"),
        (Piece("[d9]", "invalid", "", "d9"), "✗ no such document"),
        (Piece("[d1]", "invalid", "", "d1"), "✗ not in its context"),
        (Piece("[D]", "ambiguous"), "≈ could be two documents"),
    ],
)
def test_a_mark_says_its_state_in_sign_word_and_colour(piece: Piece, words: str) -> None:
    shown = Read(marked([piece], Known({"d1": ("Tides", "Twice a day.")}, {"d1": 0.0}, corpus=True)))
    assert shown.text == piece.text + words
    (mark,) = [attributes for tag, attributes in shown.tags if tag == "mark"]
    assert mark["class"] == f"cite {piece.state}"
    if piece.document == "d1":
        assert mark["title"] == "d1\nTides\nTwice a day."


def test_without_judgments_or_corpus_nothing_is_claimed_about_them() -> None:
    assert Read(marked([Piece("[d9]", "invalid", "", "d9")])).text == "[d9]✗ not in its context"
    assert Read(marked([Piece("[d1]", "valid", "d1")])).text == "[d1]✓ valid"


def test_every_document_once_with_what_each_answer_does_with_it() -> None:
    a = cited_of(["d1", "d2"], contexts=[["d1", "d2", "d3", "d4"]])
    b = cited_of(["d1", "d9"], contexts=[["d1", "d3"]])
    found = question_diff([a, b], "q1")
    order = _in_order(found)
    assert order == ["d1", "d2", "d9", "d3", "d4"]
    assert [[_treated(found, side, doc) for side in (0, 1)] for doc in order] == [
        ["valid", "valid"],
        ["valid", "absent"],
        ["absent", "invalid"],
        ["uncited", "uncited"],
        ["uncited", "absent"],
    ]
    both_ways = QuestionDiff((), ((), ()), ((), ()), (("D",), ()), ((), ()), ())
    assert _treated(both_ways, 0, "D") == "ambiguous"


def test_a_document_without_text_does_not_unfold() -> None:
    assert "details" not in _entry("d1", [("valid", "✓ cited")], "", "", "")
    assert "open" in _entry("d1", [("valid", "✓ cited")], "", "", "text")
    assert "open" not in _entry("d1", [("uncited", "– never cited")], "", "", "text")
    assert len(_entry("d1", [("valid", "✓ cited")], "", "", "x" * 9000)) < 4500
