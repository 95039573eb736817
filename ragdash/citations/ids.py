"""Styles that cite by a document's id: [doc_id X] and [[ref:X]]."""

from __future__ import annotations

import re

from ragdash.citations.registry import Found, Joined, style

DOC_ID = re.compile(r"\[(?i:doc_id)(?::[ \t]*+|[ \t]++)([^\[\]\r\n\0]++)\]")
SOURCE_REF = re.compile(r"\[\[(?i:ref):[ \t]*+([^\[\]\r\n\0]++)\]\]")


@style(
    "doc_id",
    label="[doc_id X]",
    family="ids",
    pattern=DOC_ID.pattern,
    examples={
        "Supported [doc_id 3] and [doc_id 99].": ["3", "99"],
        "With a colon [doc_id: kb/a.1], in capitals [DOC_ID MOON-01 ]": ["kb/a.1", "MOON-01"],
        "Not these: [doc_id] [doc_id ] [doc_id3] doc_id 3 [doc 3]": [],
        "Never closed [doc_id 3 and on [doc_id 4\n]": [],
    },
)
def doc_id(text: Joined) -> Found:
    """The words doc_id and an id in square brackets, as in `[doc_id X]`; a colon after doc_id is allowed."""
    return text.find(DOC_ID)


@style(
    "source_ref",
    label="[[ref:X]]",
    family="ids",
    pattern=SOURCE_REF.pattern,
    examples={
        "Tides [[ref:moon-01]][[ref: a b]].": ["moon-01", "a b"],
        "Not these: [ref:1] [[ref:]] [[1]] [[ref:1] [[page]]": [],
    },
)
def source_ref(text: Joined) -> Found:
    """An id after ref in double square brackets, as in `[[ref:X]]`."""
    return text.find(SOURCE_REF)
