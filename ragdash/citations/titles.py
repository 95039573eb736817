"""Styles that cite by a title: (Source: title)."""

from __future__ import annotations

import re

from ragdash.citations.registry import Found, Joined, style

SOURCE_TITLE = re.compile(r"\((?i:source):[ \t]*+((?:[^()\r\n\0]|\([^()\r\n\0]*+\))++)\)")


@style(
    "source_title",
    label="(Source: title)",
    family="titles",
    pattern=SOURCE_TITLE.pattern,
    examples={
        "Tides follow the moon (Source: Tides and the Moon).": ["Tides and the Moon"],
        "A year inside (source: Tides (2020) )": ["Tides (2020)"],
        "Not these: (Source:) (Source: ) Source: Tides (Sources: a) [Source: Tides]": [],
        "Never closed (Source: Tides\nand more)": [],
    },
)
def source_title(text: Joined) -> Found:
    """A title after the word Source in round brackets, as in `(Source: title)`; a title may hold brackets."""
    return text.find(SOURCE_TITLE)
