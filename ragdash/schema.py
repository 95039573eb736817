"""The kinds of table there are, their columns, and the one door that every loaded row passes: `conform`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ragdash.casting import READERS
from ragdash.problems import InputError, Problem

LISTED_PROBLEMS = 5


@dataclass(frozen=True)
class Column:
    """A column of a kind of table: its name, how its cells are read, and what it means."""

    name: str
    cells: str
    meaning: str
    required: bool = False


QUERY_ID = Column("query_id", "id", "Names the question; always text, so 001 stays 001.", required=True)
DOC_ID = Column("doc_id", "id", "Names the document or passage; always text.", required=True)
SYSTEM = Column("system", "name", "Names the configuration; without it the file's name is used.")
REPEAT = Column("repeat", "text", "Which repetition of the question a row belongs to; repetitions are averaged first.")
REFERENCE = Column("reference", "text", "The answer a person would accept.")

KINDS: dict[str, tuple[Column, ...]] = {
    "run": (
        SYSTEM,
        QUERY_ID,
        DOC_ID,
        Column("score", "number", "The retriever's score; higher ranks first."),
        Column("rank", "number", "The rank, 1 first; used where there is no score."),
        REPEAT,
    ),
    "judgments": (
        QUERY_ID,
        DOC_ID,
        Column("grade", "number", "How relevant, 0 for not; fractions and negative grades are allowed.", required=True),
    ),
    "answers": (
        SYSTEM,
        QUERY_ID,
        Column("answer", "text", "What the generator wrote.", required=True),
        Column("context_ids", "ids", "The documents the generator was given, in their order."),
        Column("abstained", "flag", "Whether the generator declined to answer."),
        REPEAT,
    ),
    "queries": (
        QUERY_ID,
        Column("query", "text", "The question as asked."),
        REFERENCE,
        Column("answerable", "flag", "Whether the corpus can answer it; default true."),
        Column("slice", "ids", "The groups this question belongs to."),
    ),
    "documents": (
        DOC_ID,
        Column("title", "text", "The document's title."),
        Column("text", "text", "The document's text.", required=True),
    ),
    "scores": (
        SYSTEM,
        QUERY_ID,
        Column("metric", "id", "The name of a score another tool gave.", required=True),
        Column("value", "value", "The score; empty where the tool gave none.", required=True),
    ),
}


@dataclass(frozen=True, eq=False)
class Raw:
    """What a format reads: rows of one kind, not yet checked, each with the line it stood on.

    `rows` has columns named as in KINDS, of any Arrow type; `lines` is (rows,) 1-based; `unit` is "line" or "row".
    """

    kind: str
    rows: pa.Table
    lines: NDArray[np.int64]
    unit: str = "line"


@dataclass(frozen=True, eq=False)
class Table:
    """Checked rows of one kind. `lines` and `file` are (rows,); `file` indexes `files`."""

    kind: str
    rows: pa.Table
    lines: NDArray[np.int64]
    files: tuple[str, ...]
    file: NDArray[np.int16]
    unit: str = "line"

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def __contains__(self, column: str) -> bool:
        return column in self.rows.column_names

    def column(self, name: str) -> pa.Array:
        """One column as a single Arrow array."""
        chunked = self.rows.column(name)
        return (
            chunked.chunk(0)
            if chunked.num_chunks == 1
            else pa.concat_arrays(chunked.chunks)
            if len(self)
            else (pa.array([], chunked.type))
        )

    def where(self, row: int) -> str:
        """The place of a row for a message, such as `run.txt, line 7`."""
        return f"{self.files[int(self.file[row])]}, {self.unit} {int(self.lines[row])}"

    def take(self, rows: NDArray[np.integer[Any]]) -> Table:
        """The table with only these rows, in this order."""
        return Table(
            self.kind, self.rows.take(pa.array(rows)), self.lines[rows], self.files, self.file[rows], self.unit
        )


def conform(raw: Raw, file: str) -> tuple[Table, list[Problem]]:
    """Check and type raw rows; the ids become text, the numbers float64. Rows are never dropped here.

    Returns the table and the problems found (all of them errors). A column that KINDS does not know is left out.

    >>> rows = pa.table({"query_id": ["q1"], "doc_id": [7], "grade": ["x"]})
    >>> table, problems = conform(Raw("judgments", rows, np.array([3])), "qrels.txt")
    >>> print(problems[0])
    qrels.txt, line 3: grade is 'x', which is not a number. Write a number in every row.
    """
    columns, problems = {}, []
    present = set(raw.rows.column_names)
    for column in KINDS[raw.kind]:
        if column.name not in present:
            if column.required:
                problems.append(_missing_column(column, file, raw))
            continue
        cells, bad, why = READERS[column.cells](raw.rows.column(column.name).combine_chunks())
        columns[column.name] = cells
        problems += _cell_problems(column, raw, file, bad, why)
    lines = np.asarray(raw.lines, dtype=np.int64)
    table = Table(raw.kind, pa.table(columns), lines, (file,), np.zeros(len(lines), np.int16), raw.unit)
    return table, problems


def concat(tables: list[Table]) -> Table:
    """Several tables of one kind as one; a column that some lack is null there."""
    files = tuple(dict.fromkeys(name for table in tables for name in table.files))
    rows = pa.concat_tables([table.rows for table in tables], promote_options="default")
    file = np.concatenate([np.array([files.index(n) for n in t.files], np.int16)[t.file] for t in tables])
    return Table(tables[0].kind, rows, np.concatenate([t.lines for t in tables]), files, file, tables[0].unit)


def table_of(kind: str, rows: pa.Table, file: str) -> Table:
    """Checked rows from a table in memory; row numbers count from 1.

    Raises InputError with every problem found.
    """
    table, problems = conform(Raw(kind, rows, np.arange(1, rows.num_rows + 1), unit="row"), file)
    if problems:
        raise InputError(problems)
    return table


def _missing_column(column: Column, file: str, raw: Raw) -> Problem:
    found = ", ".join(name for name in raw.rows.column_names) or "none"
    return Problem(file, f"{raw.kind} need a column {column.name}; found {found}", f"Add the column {column.name}")


def _cell_problems(
    column: Column, raw: Raw, file: str, bad: NDArray[np.bool_] | None, why: Callable[[Any], tuple[str, str]]
) -> Iterator[Problem]:
    if bad is None or not bad.any():
        return
    rows = np.flatnonzero(bad)
    original = raw.rows.column(column.name)
    for row in rows[:LISTED_PROBLEMS]:
        found, mend = why(original[int(row)].as_py())
        yield Problem(f"{file}, {raw.unit} {raw.lines[row]}", f"{column.name} {found}", mend)
    if len(rows) > LISTED_PROBLEMS:
        more = len(rows) - LISTED_PROBLEMS
        yield Problem(file, f"{more:,} more rows have the same fault in {column.name}", "Mend them all", count=more)
