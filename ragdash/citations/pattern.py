"""A pattern of the user's own: a regular expression with one group, run under a time limit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import regex

from ragdash.citations.registry import Markers
from ragdash.limits import Limit
from ragdash.problems import InputError, refuse, shorten

WHERE = "citation pattern"
NAME = "pattern"
PATTERN_CHARACTERS = Limit("RAGDASH_MAX_PATTERN_CHARACTERS", 1000, "characters")
PATTERN_ANSWER_MS = Limit("RAGDASH_MAX_PATTERN_ANSWER_MS", 250, "milliseconds")
PATTERN_TOTAL_MS = Limit("RAGDASH_MAX_PATTERN_TOTAL_MS", 20_000, "milliseconds")


def compile_pattern(pattern: str) -> Any:
    """The compiled pattern; InputError says what is wrong with one that cannot be used.

    >>> compile_pattern("[0-9]+")
    Traceback (most recent call last):
    ragdash.problems.InputError: citation pattern: '[0-9]+' has no group, so nothing says which part names the \
document. Put round brackets around that part, such as \\[([0-9]+)\\].
    """
    most = PATTERN_CHARACTERS.value
    if len(pattern) > most:
        found = f"{shorten(pattern)} has {len(pattern):,} characters, more than {most:,}"
        raise refuse(WHERE, found, f"Shorten it, or raise the limit with {PATTERN_CHARACTERS.variable}")
    try:
        compiled = regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise refuse(WHERE, f"{shorten(pattern)} is no regular expression: {error}", "Mend it there") from error
    if compiled.groups == 0:
        found = f"{shorten(pattern)} has no group, so nothing says which part names the document"
        raise refuse(WHERE, found, r"Put round brackets around that part, such as \[([0-9]+)\]")
    if compiled.groups > 1:
        mend = "Keep round brackets around the part that names the document, write (?:…) for the others"
        raise refuse(WHERE, f"{shorten(pattern)} has {compiled.groups} groups, where one is needed", mend)
    try:
        empty = compiled.search("", timeout=PATTERN_ANSWER_MS.value / 1000)
    except TimeoutError as error:
        raise _slow(pattern, "an empty text", PATTERN_ANSWER_MS) from error
    if empty:
        raise _empty(pattern)
    return compiled


def find_pattern(texts: pa.Array, pattern: str) -> Markers:
    """The markers that a user's pattern finds in all answers; the whole match is the span, the group the target.

    What it finds is positional: a number may count the context documents, as in `[1]`.
    Raises InputError for a pattern that cannot be used, and for one that takes longer than the limits allow: then no
    result is given at all, since answers left out would look like answers without citation.
    """
    rows = list(_search(texts, compile_pattern(pattern), pattern))
    answer, start, end, target = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Markers(
        answers=len(texts),
        answer=np.array(answer, np.int64),
        start=np.array(start, np.int64),
        end=np.array(end, np.int64),
        target=pa.array(target, pa.string()),
        style=np.zeros(len(rows), np.int16),
        styles=(NAME,),
        positional=np.ones(len(rows), bool),
    )


def _search(texts: pa.Array, compiled: Any, pattern: str) -> Iterator[tuple[int, int, int, str]]:
    each, total = PATTERN_ANSWER_MS.value / 1000, PATTERN_TOTAL_MS.value / 1000
    until = time.monotonic() + total
    for row, text in enumerate(texts.to_pylist()):
        left = until - time.monotonic()
        if left <= 0:
            raise _slow(pattern, f"all {len(texts):,} answers", PATTERN_TOTAL_MS)
        try:
            for match in compiled.finditer(text, timeout=min(each, left)):
                start, end = match.span()
                if start == end:
                    raise _empty(pattern)
                yield row, start, end, (match[1] or "").strip()
        except TimeoutError as error:
            if left < each:
                raise _slow(pattern, f"all {len(texts):,} answers", PATTERN_TOTAL_MS) from error
            raise _slow(pattern, f"answer {row + 1:,}", PATTERN_ANSWER_MS) from error


def _empty(pattern: str) -> InputError:
    found = f"{shorten(pattern)} also matches nothing at all, so it would find a citation between any two characters"
    return refuse(WHERE, found, "Write + in place of *, and at least one character that must be there")


def _slow(pattern: str, what: str, limit: Limit) -> InputError:
    found = f"{shorten(pattern)} took longer than {limit.value:,} {limit.unit} on {what}, so the search was given up"
    mend = f"Repeat less inside of what is repeated, or raise the limit with {limit.variable}"
    return refuse(WHERE, found, mend)
