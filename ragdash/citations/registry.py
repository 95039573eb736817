"""What a citation style is, how one is registered, and the text of all answers that it reads.

A style sees many answers at once, as one text, so that one pass of one regular expression reads all of them. To add a
style, write one function with `@style` in a module of this package; its examples are its tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.registry import Entry, Registry, explanation_of

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

GAP = "\0"  # stands between two answers; no style may match it
BLOCK_BYTES = 1_000_000  # answers read at once: bounds the memory, as one emoji makes a text four bytes a character
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Found:
    """Where a style found markers in a joined text: `start` and `end` are (markers,), `target` what each names.

    A marker that names two documents, such as a list, is two entries with the same span.
    """

    start: Ints
    end: Ints
    target: pa.Array


@dataclass(frozen=True, eq=False)
class Joined:
    """Some answers as one text with GAP between them.

    Answer `first + i` stands at `starts[i]`; `starts` is (answers + 1,), offsets in code points.
    """

    text: str
    starts: Ints
    first: int = 0

    def find(self, pattern: re.Pattern[str]) -> Found:
        """Every match of a pattern with one group, which holds the target; blanks around the target are cut off.

        >>> found = joined(texts_of(["a [1]", "[23]"])).find(re.compile(r"\\[([0-9]+)\\]"))
        >>> found.start.tolist(), found.end.tolist(), found.target.to_pylist()
        ([2, 6], [5, 10], ['1', '23'])
        """
        # Split gives the text before a match, the match, its group, and so on: twice as fast as a walk over matches.
        pieces = re.split(f"({pattern.pattern})", self.text, flags=pattern.flags)
        before, marker, target = pieces[:-1:3], pieces[1::3], pieces[2::3]
        length = _lengths(marker)
        end = np.cumsum(_lengths(before) + length)
        return Found(end - length, end, pc.utf8_trim_whitespace(pa.array(target, pa.string())))

    def place(self, found: Found) -> tuple[Ints, Ints, Ints]:
        """The answer of each match, and its start and end in that answer; ValueError if one runs over a GAP."""
        local = np.searchsorted(self.starts, found.start, side="right") - 1
        if np.any(found.end >= self.starts[local + 1]):
            raise ValueError("a style matched across two answers: exclude \\0 from its pattern")
        return local + self.first, found.start - self.starts[local], found.end - self.starts[local]


@dataclass(frozen=True, eq=False)
class Markers:
    """All citations written in all answers, answer after answer, as flat arrays of one entry a citation.

    `answer` is the row of the answer, `start` and `end` its span in code points, `target` the name it gives (an Arrow
    string array), `style` an index into `styles`, `positional` whether a number may count the context documents.
    `answers` is how many answers were read.
    """

    answers: int
    answer: Ints
    start: Ints
    end: Ints
    target: pa.Array
    style: NDArray[np.int16]
    styles: tuple[str, ...]
    positional: Flags

    def __len__(self) -> int:
        return len(self.answer)

    def match_rates(self) -> dict[str, float]:
        """For each style the share of answers with at least one marker of it; NaN where there is no answer."""
        rates = {}
        for number, name in enumerate(self.styles):
            hits = int(np.count_nonzero(np.diff(self.answer[self.style == number], prepend=-1)))
            rates[name] = hits / self.answers if self.answers else float("nan")
        return rates


@dataclass(frozen=True)
class Style(Entry):
    """A registered citation style.

    `pattern` is its regular expression where one says it all; `examples` maps a text to the targets in it, decoys to
    none; `safe_for_auto` whether `auto` reads it; `positional` whether its numbers may count the context documents.
    """

    function: Callable[[Joined], Found]
    family: str
    pattern: str = ""
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict, compare=False)
    safe_for_auto: bool = True
    positional: bool = False


STYLES: Registry[Style] = Registry("citation style", "ragdash.citations")


def style(
    name: str,
    *,
    label: str,
    family: str,
    examples: Mapping[str, Sequence[str]],
    pattern: str = "",
    safe_for_auto: bool = True,
    positional: bool = False,
) -> Callable[[Callable[[Joined], Found]], Callable[[Joined], Found]]:
    """Register the decorated function as a citation style; its docstring becomes the explanation users read."""

    def register(function: Callable[[Joined], Found]) -> Callable[[Joined], Found]:
        STYLES.add(
            Style(
                name=name,
                label=label,
                explanation=explanation_of(function),
                function=function,
                family=family,
                pattern=pattern,
                examples=examples,
                safe_for_auto=safe_for_auto,
                positional=positional,
            ),
            function.__module__,
        )
        return function

    return register


def texts_of(answers: pa.Array | Sequence[str | None]) -> pa.Array:
    """The answers as an Arrow string array without nulls; half characters that no file can hold become U+FFFD."""
    if isinstance(answers, pa.Array):
        return pc.fill_null(answers.cast(pa.string()), "")
    return pa.array([LONE_SURROGATE.sub("\ufffd", answer or "") for answer in answers], pa.string())


def joined(texts: pa.Array, first: int = 0) -> Joined:
    """These answers as one text."""
    pieces = texts.to_pylist()
    return Joined(GAP.join(pieces), np.concatenate([[0], np.cumsum(_lengths(pieces) + 1)]), first)


def blocks(texts: pa.Array, size: int = BLOCK_BYTES) -> Iterator[Joined]:
    """All answers as joined texts of about so many bytes each; an answer is never divided."""
    block = np.cumsum(pc.binary_length(texts).to_numpy(zero_copy_only=False), dtype=np.int64) // size
    cuts = [*np.flatnonzero(np.diff(block, prepend=-1)), len(texts)]
    for first, last in pairwise(cuts):
        yield joined(texts.slice(int(first), int(last - first)), int(first))


def _lengths(pieces: list[str]) -> Ints:
    return np.fromiter(map(len, pieces), np.int64, len(pieces))
