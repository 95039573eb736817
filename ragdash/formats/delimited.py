"""CSV and TSV with a header: the columns of ragdash JSONL, or one row a query and document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ragdash import limits
from ragdash.formats.columns import Splitter, known_columns
from ragdash.formats.faults import Faults
from ragdash.formats.registry import file_format
from ragdash.problems import Problem, refuse
from ragdash.schema import Raw
from ragdash.sources import Source, text_blocks

DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons"}
IDS = ("query_id", "doc_id", "system", "metric")
SAMPLE = b"""\
query_id,doc_id,score,grade
q1,d1,12.5,2
q1,d2,9.25,
001,1e5,7.125,0.5
001,"null, 2",0.5,-2
"""


def likelihood(head: bytes, name: str) -> tuple[float, str]:
    """Whether the first line is a header with columns we know."""
    header = head.split(b"\n", 1)[0].decode(errors="replace")
    delimiter, names = _header(header)
    known = known_columns(names)
    if len(names) < 2 or not {"query_id", "doc_id"} & known.keys():
        return 0.0, ""
    columns = " and ".join(list(known.values())[:2])
    return 0.9, f"the first line is a header with {columns} between {DELIMITERS[delimiter]}"


def _header(line: str) -> tuple[str, list[str]]:
    """The delimiter that gives the most columns we know, and the names between."""
    split = {delimiter: _cells(line, delimiter) for delimiter in DELIMITERS}
    best = max(split, key=lambda delimiter: (len(known_columns(split[delimiter])), len(split[delimiter])))
    return best, split[best]


def _cells(line: str, delimiter: str) -> list[str]:
    rows = _parse(line.strip("\r\n").encode() + b"\n", delimiter, None) if line.strip() else None
    return [] if rows is None else [str(column[0].as_py()).strip() for column in rows.columns]


def _parse(content: bytes, delimiter: str, names: list[str] | None, faulty: Rejected | None = None) -> pa.Table | None:
    """Rows of text cells; None where Arrow refuses. With `faulty`, rows of a wrong length are put there and skipped."""
    columns = {"column_names": names} if names else {"autogenerate_column_names": True}
    parse = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=faulty)
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names or (f"f{n}" for n in range(1000)), pa.string()),
        strings_can_be_null=False,
        null_values=[],
        check_utf8=False,
    )
    read = pyarrow.csv.ReadOptions(**columns, use_threads=faulty is None, block_size=len(content) + 1)
    try:
        return pyarrow.csv.read_csv(pa.BufferReader(content), read, parse, convert)
    except pa.ArrowInvalid:
        return None


@dataclass
class Rejected:
    """Takes the rows that Arrow refuses: their numbers in the block, from 0, and how many cells they have."""

    rows: list[tuple[int, int]]

    def __call__(self, row: pyarrow.csv.InvalidRow) -> str:
        self.rows.append((row.number - 1, row.actual_columns))
        return "skip"


@dataclass(frozen=True)
class Records:
    """Whole rows of a file: their bytes and the line each starts on; a quoted cell may hold newlines."""

    content: bytes
    lines: NDArray[np.int64]


def records(source: Source, delimiter: str) -> Iterator[Records]:
    """Blocks cut where no quotation mark is open. Raises InputError for one that is not closed."""
    held, line = b"", 1
    most = limits.LINE_BYTES.value
    for block in text_blocks(source):
        content = held + block.content
        if not content.endswith(b"\n"):
            content += b"\n"
        _check_line_ends(source, line, content)
        ends, whole = _record_ends(content, delimiter.encode())
        if len(whole):
            cut = int(ends[whole[-1]]) + 1
            yield _records(content[:cut], ends, whole, line)
            held, line = content[cut:], line + int(whole[-1]) + 1
        else:
            held = content
        if len(held) > most:
            break
    if held:
        found = "a quotation mark opens here and is not closed"
        raise refuse(f"{source.name}, line {line}", found, 'Close it, and write "" for a quotation mark inside a cell')


def _check_line_ends(source: Source, line: int, content: bytes) -> None:
    """Refuse carriage returns that end lines alone; where there are quotation marks they may stand in a cell."""
    if b"\r" in content and b'"' not in content and content.count(b"\r") != content.count(b"\r\n"):
        at = content.replace(b"\r\n", b"\n\n").index(b"\r")
        line += content.count(b"\n", 0, at)
        raise refuse(
            f"{source.name}, line {line}",
            "a carriage return ends a line alone",
            "Save the file with line ends LF or CRLF",
        )


def _record_ends(content: bytes, delimiter: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the newlines stand, and which of them (numbers from 0) end a row.

    A mark opens a quoted cell only where a cell starts; where none does, marks are text.
    """
    octets = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(octets == ord("\n"))
    opened = content.startswith(b'"') or b'\n"' in content or delimiter + b'"' in content
    if not opened:
        return ends, np.arange(len(ends))
    quotes = np.flatnonzero(octets == ord('"'))
    return ends, np.flatnonzero(np.searchsorted(quotes, ends) % 2 == 0)


def _records(content: bytes, ends: NDArray[np.int64], whole: NDArray[np.int64], line: int) -> Records:
    first = np.concatenate([[0], whole[:-1] + 1])
    starts = np.concatenate([[0], ends[:-1] + 1])[first]
    length = ends[whole] - starts
    carriage = np.frombuffer(content, np.uint8)[np.maximum(ends[whole] - 1, 0)] == ord("\r")
    filled = length > carriage
    return Records(content, line + first[filled])


@file_format(
    "delimited",
    label="CSV or TSV",
    kinds=("run", "judgments", "answers", "queries", "documents", "scores"),
    extensions=(".csv", ".tsv"),
    shape="a header with query_id, then rows",
    likelihood=likelihood,
    sample=SAMPLE,
    sample_name="bm25.csv",
)
def read(source: Source) -> Iterator[Raw | Problem]:
    """A header line, then rows between commas, tabs or semicolons, with the columns of ragdash JSONL.

    Either one row for each query and document (`query_id`, `doc_id`, and `score`, `rank` or `grade`), or one row a
    query with lists as JSON, such as `["d1", "d2"]`. Cells may be quoted. Ids are text: 001, 1e5 and null stay; blanks
    around an id are left out, as they are around the names of columns.
    """
    splitter, faults = Splitter(source.name), Faults(source.name)
    names: list[str] = []
    ids: list[str] = []
    delimiter, _ = _header(source.head().lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace"))
    for batch in records(source, delimiter):
        if not names:
            names, batch = _take_header(source, batch)
            ids = [theirs for ours, theirs in known_columns(names).items() if ours in IDS]
        if len(batch.lines):
            rows, lines = _rows(source, batch, delimiter, names, faults)
            columns = {name: rows.column(name).combine_chunks() for name in names}
            for name in ids:
                columns[name] = pc.ascii_trim(columns[name], " \t")
            yield from splitter.split(columns, lines)
    yield from splitter.scores()
    yield from faults


def _take_header(source: Source, batch: Records) -> tuple[list[str], Records]:
    if not len(batch.lines):
        raise refuse(source.name, "the first lines are blank", "Start the file with a header")
    content = batch.content.lstrip(b"\r\n")
    size = content.index(b"\n") + 1
    _, names = _header(content[:size].decode())
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise refuse(f"{source.name}, line {batch.lines[0]}", f"two columns are named {twice!r}", "Rename one of them")
    return names, Records(content[size:], batch.lines[1:])


def _rows(
    source: Source, batch: Records, delimiter: str, names: list[str], faults: Faults
) -> tuple[pa.Table, NDArray[np.int64]]:
    rows, lines = _parse(batch.content, delimiter, names), batch.lines
    if rows is None:
        rejected = Rejected([])
        rows = _parse(batch.content, delimiter, names, rejected)
        bad = [row for row, _ in rejected.rows]
        if rows is not None and (not bad or max(bad) < len(lines)):
            for row, cells in rejected.rows:
                found = f"{cells} column{'s' * (cells != 1)} where the header has {len(names)}"
                faults.add(
                    "columns", int(lines[row]), found, "Write a cell for every column; quote cells with the delimiter"
                )
            lines = np.delete(lines, bad)
    if rows is None or rows.num_rows != len(lines):
        where = f"{source.name}, lines {batch.lines[0]} to {batch.lines[-1]}"
        raise refuse(where, "quotation marks do not pair up", 'Write "" for a quotation mark inside a quoted cell')
    return rows, lines
