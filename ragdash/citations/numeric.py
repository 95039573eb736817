"""Styles that cite by a number: a bracket such as [1], a footnote such as [fn:1]."""

from __future__ import annotations

import re

from ragdash.citations.registry import Found, Joined, style

BRACKET = re.compile(r"\[([0-9]++)\]")
FOOTNOTE = re.compile(r"\[(?i:fn):([^\[\]\s\0]++)\]")


@style(
    "bracket_number",
    label="[1]",
    family="numeric",
    pattern=BRACKET.pattern,
    positional=True,
    examples={
        "Tides follow the moon [1].": ["1"],
        "Two at once [1][2], apart [3] [4].": ["1", "2", "3", "4"],
        "潮汐[12]です": ["12"],
        "Not these: [x] [] [1.5] [a1] (1) [fn:1] [[ref:1]] [doc_id 1]": [],
        "Never closed [1 and [2": [],
    },
)
def bracket_number(text: Joined) -> Found:
    """A number in square brackets, as in `[1]` or `[1][2]`.

    The number names a document by its id or, where the context ids are no such numbers, by its position.
    """
    return text.find(BRACKET)


@style(
    "footnote",
    label="[fn:1]",
    family="footnote",
    pattern=FOOTNOTE.pattern,
    positional=True,
    examples={
        "Tides follow the moon [fn:1].": ["1"],
        "A named note [fn:moon-01][FN:2]": ["moon-01", "2"],
        "Not these: [fn:] [fn 1] [fn: 1] [1] fn:1": [],
    },
)
def footnote(text: Joined) -> Found:
    """A footnote reference in the manner of Org mode, as in `[fn:1]` or `[fn:name]`."""
    return text.find(FOOTNOTE)
