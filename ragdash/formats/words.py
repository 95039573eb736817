"""Files of words between blanks (TREC runs, judgments): fast where lines are regular, tolerant where they are not.

Arrow parses a block of lines at once. Where it refuses one, or what it gives could differ from what trec_eval would
read (runs of blanks, tabs, comments, blank lines, words after the tag), the block is tidied or split line by line. The
rows are the same whichever way was taken. Blanks are space and tab; lines end in LF, CRLF or CR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ragdash.formats.faults import Faults
from ragdash.problems import Problem
from ragdash.schema import Raw
from ragdash.sources import Block, Source, text_blocks

NAME = pa.dictionary(pa.int32(), pa.string())
BLANKS = bytes.maketrans(b"\t\r", b"  ")
Rows = tuple[pa.Table, NDArray[np.int64]]


@dataclass(frozen=True)
class Layout:
    """What stands in the columns of such a file.

    `what` and `shape` name it in messages; `columns` are names with their Arrow types; `left_out` are read over;
    `optional` is left out where it cannot be read; with `open_ended` words after the last column are ignored.
    """

    kind: str
    what: str
    shape: str
    columns: tuple[tuple[str, pa.DataType], ...]
    left_out: tuple[str, ...] = ()
    optional: str = ""
    open_ended: bool = False


def read_words(source: Source, layout: Layout, header: int = 0) -> Iterator[Raw | Problem]:
    """Rows of a file of words, block by block, and a problem for each line with too few or too many of them.

    `header` lines at the start are left out. Blank lines and lines that start with # are skipped.
    """
    faults, long = Faults(source.name), LongLines()
    more = 0
    for block in text_blocks(source):
        block, added = _with_newlines(block, more)
        more += added
        if block.line == 1 and header:
            block = _without_header(block, header)
        rows, lines = _regular(block, layout) or _tolerant(block, layout, faults, long)
        if len(lines):
            yield Raw(layout.kind, rows.drop_columns(layout.left_out), lines)
    yield from faults
    yield from long.note(source.name, layout)


@dataclass
class LongLines:
    """The lines with words after the last column, which are read over: the first of them and how many there are."""

    first: int = 0
    count: int = 0

    def add(self, line: int) -> None:
        self.first = self.first or line
        self.count += 1

    def note(self, file: str, layout: Layout) -> Iterator[Problem]:
        if self.count:
            size = len(layout.columns)
            lines = f"here and in {self.count - 1:,} more lines" if self.count > 1 else "here"
            found = f"more than the {size} columns of {layout.what} stand {lines}; what follows them was left out"
            mend = "Check that no two lines were joined"
            yield Problem(f"{file}, line {self.first}", found, mend, "note", self.count)


def _with_newlines(block: Block, more: int) -> tuple[Block, int]:
    """The block with a newline for every carriage return that ends a line alone, and how many lines that adds.

    `more` is how many lines were added before it.
    """
    content = block.content
    if b"\r" not in content or content.count(b"\r") == content.count(b"\r\n"):
        return (block._replace(line=block.line + more) if more else block), 0
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return Block(block.line + more, lines, content), lines - block.lines


def _without_header(block: Block, header: int) -> Block:
    rest = block.content.split(b"\n", header)
    return Block(block.line + header, block.lines - header, rest[header] if len(rest) > header else b"")


def _regular(block: Block, layout: Layout) -> Rows | None:
    """The rows as Arrow reads them, None where that would not be what the lines say."""
    columns = dict(layout.columns)
    content = block.content
    if b"\t" not in content and b"\r" not in content:
        rows = _parse(content, columns)
        if rows is not None:
            return _numbered(rows, block, content)
    content = _tidy(content)
    rows = _parse(content, columns)
    if rows is None and layout.optional:
        rows = _parse(content, columns, without=layout.optional)
    return None if rows is None else _numbered(rows, block, content)


def _tidy(content: bytes) -> bytes:
    """One space between words, none at the ends of lines."""
    content = content.translate(BLANKS)
    while b"  " in content:
        content = content.replace(b"  ", b" ")
    return content.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _parse(content: bytes, columns: dict[str, pa.DataType], without: str = "") -> pa.Table | None:
    try:
        rows = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(column_names=list(columns)),
            parse_options=pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False, escape_char=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=columns,
                include_columns=[name for name in columns if name != without],
                strings_can_be_null=False,
                null_values=[],
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if any(_has_empty(column) for column in rows.columns):
        return None
    comments = b"#" in content and pc.any(pc.starts_with(rows.column(0), "#")).as_py()
    return None if comments else rows


def _has_empty(column: pa.ChunkedArray) -> bool:
    """Whether a text column has an empty cell, which means that two blanks stood together."""
    if pa.types.is_dictionary(column.type):
        return any("" in chunk.dictionary.to_pylist() for chunk in column.chunks)
    return bool(pa.types.is_string(column.type) and pc.min(pc.binary_length(column)).as_py() == 0)


def _numbered(rows: pa.Table, block: Block, content: bytes) -> Rows | None:
    """The rows with their line numbers; blank lines count as lines but are no rows."""
    if rows.num_rows == block.lines:
        return rows, np.arange(block.line, block.line + block.lines)
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))
    if not content.endswith(b"\n"):
        ends = np.append(ends, len(content))
    starts = np.concatenate([[0], ends[:-1] + 1])
    lines = block.line + np.flatnonzero(ends > starts)
    return (rows, lines) if len(lines) == rows.num_rows else None


def _tolerant(block: Block, layout: Layout, faults: Faults, long: LongLines) -> Rows:
    """The rows line by line; a line with a wrong number of words is a fault and no row."""
    size = len(layout.columns)
    found, lines = [], []
    for line, text in enumerate(block.content.split(b"\n"), block.line):
        words = [word for word in text.translate(BLANKS).split(b" ") if word]
        if not words or words[0].startswith(b"#"):
            continue
        if layout.open_ended and len(words) > size:
            words = words[:size]
            long.add(line)
        if len(words) != size:
            _fault(faults, line, text, layout)
            continue
        found.append(words)
        lines.append(line)
    columns = list(zip(*found, strict=True)) if found else [()] * size
    rows = {}
    for (name, kind), cells in zip(layout.columns, columns, strict=True):
        texts = pa.array([cell.decode() for cell in cells], pa.string())
        if name != layout.optional:
            rows[name] = texts.cast(kind) if kind == NAME else texts
        elif (numbers := _whole_numbers(texts)) is not None:
            rows[name] = numbers
    return pa.table(rows), np.array(lines, np.int64)


def _whole_numbers(texts: pa.Array) -> pa.Array | None:
    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _fault(faults: Faults, line: int, text: bytes, layout: Layout) -> None:
    words = sum(map(bool, text.translate(BLANKS).split(b" ")))
    found = f"{words} column{'s' * (words != 1)} where {layout.what} has {len(layout.columns)} ({layout.shape})"
    faults.add("columns", line, found, "Write all of them, with blanks or tabs between")
