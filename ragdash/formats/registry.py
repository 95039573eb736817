"""What a format is, how one is registered, which one a file is in, and how a file becomes checked tables.

A new format is one module in this folder: a function from a Source to batches of raw rows, decorated with
`file_format`, a likelihood from the first bytes, and a tiny sample that is its test, its download and its reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from ragdash import limits
from ragdash.problems import InputError, Problem, refuse, shorten
from ragdash.registry import Entry, Registry, explanation_of
from ragdash.schema import KINDS, Raw, Table, concat, conform
from ragdash.sources import Source

MOST_PROBLEMS = 20
Likelihood = Callable[[bytes, str], tuple[float, str]]
Reader = Callable[[Source], Iterator[Raw | Problem]]
Writer = Callable[[Mapping[str, Table]], Iterator[bytes]]


@dataclass(frozen=True)
class Format(Entry):
    """A registered format.

    `likelihood` takes the first bytes (UTF-8 where it is text) and the file's name and gives how sure it is, 0 to 1,
    with the reason as words that follow "because". `read` yields batches of rows and the problems it met. `write` takes
    tables by kind. `shape` says in a few words what a line looks like, for the message about a file nobody recognises.
    `names_systems`: a single system named in the rows outranks the file's name.
    """

    kinds: tuple[str, ...]
    extensions: tuple[str, ...]
    shape: str
    likelihood: Likelihood
    read: Reader
    made: bytes | Callable[[], bytes]
    sample_name: str
    write: Writer | None = None
    names_systems: bool = True

    @property
    def sample(self) -> bytes:
        """A tiny file of our own in this format: its test, its download and its reference."""
        return self.made if isinstance(self.made, bytes) else self.made()


FORMATS: Registry[Format] = Registry("format", "ragdash.formats")


def file_format(
    name: str,
    *,
    label: str,
    kinds: tuple[str, ...],
    extensions: tuple[str, ...],
    shape: str,
    likelihood: Likelihood,
    sample: bytes | Callable[[], bytes],
    sample_name: str,
    write: Writer | None = None,
    names_systems: bool = True,
) -> Callable[[Reader], Reader]:
    """Register the decorated reader as a format; its docstring becomes the explanation users read."""

    def register(reader: Reader) -> Reader:
        FORMATS.add(
            Format(
                name, label, explanation_of(reader), kinds, extensions, shape, likelihood, reader, sample, sample_name,
                write, names_systems,
            ),
            reader.__module__,
        )  # fmt: skip
        return reader

    return register


@dataclass(frozen=True)
class Detection:
    """The format a file is most likely in, why, and which others were possible (name and likelihood)."""

    format: Format
    likelihood: float
    reason: str
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Loaded:
    """What one file held: its tables by kind and everything to say about it; `problems` may hold errors."""

    name: str
    detection: Detection
    tables: dict[str, Table]
    problems: tuple[Problem, ...]

    @property
    def rows(self) -> dict[str, int]:
        """Rows of each kind."""
        return {kind: len(table) for kind, table in self.tables.items()}


def detect(source: Source) -> Detection:
    """The most likely format of a file, judged by its first bytes.

    Raises InputError when the file is empty, binary, or in no format known; the message shows its first line.

    >>> found = detect(Source.from_bytes("mine.txt", b"q1 Q0 d1 1 2.5 bm25\\n"))
    >>> found.format.name, found.reason
    ('trec_run', 'the first line has six columns and the fifth is a number')
    """
    head = source.head()
    if not head:
        raise refuse(source.name, "the file is empty", "Choose a file with rows")
    ranked = sorted(((*entry.likelihood(head, source.name), entry) for entry in FORMATS), key=lambda row: -row[0])
    likelihood, reason, best = ranked[0]
    if likelihood <= 0:
        raise _unknown(source, head)
    others = tuple((entry.name, value) for value, _, entry in ranked[1:] if value > 0)
    return Detection(best, likelihood, reason, others)


MAGIC = {
    b"%PDF": "a PDF",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"PK": "a zip archive",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"\x04\x22\x4d\x18": "packed with lz4",
    b"SQLite format 3": "an SQLite database",
}


def _unknown(source: Source, head: bytes) -> InputError:
    for magic, what in MAGIC.items():
        if head.startswith(magic):
            mend = "Pack it with gzip or zstd instead" if what.startswith("packed") else "Choose a text or Parquet file"
            return refuse(source.name, f"this is {what}, which cannot be read", mend)
    if b"\0" in head:
        found = f"a NUL byte at byte {head.index(0) + 1:,}, so this is a binary file, not text"
        return refuse(source.name, found, "Choose a text or Parquet file; text must be UTF-8, or UTF-16 with its mark")
    line = next((line for line in head.split(b"\n") if line.strip()), b"").decode(errors="replace").strip()
    if not line:
        return refuse(source.name, "the file has blank lines only", "Choose a file with rows")
    if line.startswith("["):
        found = "this is a JSON array, and one JSON object a line is wanted"
        return refuse(source.name, found, "Write each entry as a line of its own, for instance with jq -c '.[]'")
    words = len(line.split())
    found = f"the first line, {shorten(line)}, has {words} column{'s' * (words != 1)} and fits no format"
    return refuse(source.name, found, "Known are: " + "; ".join(f"{entry.label} ({entry.shape})" for entry in FORMATS))


def read(source: Source, format: str | None = None, progress: Callable[[Source], None] | None = None) -> Loaded:
    """Read a whole file in the format named, or in the one detected, and check every row.

    Rows are never dropped: what is wrong with them stands in `problems`. `progress` is called after every batch.
    Raises InputError when the file cannot be read at all, is in no format known, or has more rows than allowed.
    """
    detection = detect(source) if format is None else Detection(FORMATS[format], 1.0, "it was said to be")
    parts: dict[str, list[Table]] = {}
    problems: list[Problem] = []
    rows = 0
    for batch in detection.format.read(source):
        if isinstance(batch, Problem):
            problems.append(batch)
        else:
            table, faults = conform(batch, source.name)
            parts.setdefault(batch.kind, []).append(table)
            problems += faults
            rows += len(table)
        if rows > limits.ROWS.value:
            raise refuse(source.name, f"the file has more than {limits.ROWS.value:,} rows", limits.ROWS.hint)
        if sum(problem.severity == "error" for problem in problems) >= MOST_PROBLEMS:
            problems.append(Problem(source.name, "reading stopped here, there may be more", "Mend these first"))
            break
        if progress:
            progress(source)
    tables = {}
    for kind, found in parts.items():
        tables[kind], faults = _joined(found)
        problems += faults
    if not tables and not problems:
        problems.append(Problem(source.name, "no rows were found", f"A line looks like {detection.format.shape}"))
    return Loaded(source.name, detection, tables, tuple(problems))


def _joined(parts: list[Table]) -> tuple[Table, list[Problem]]:
    """Batches of one kind as one table in one piece. Ranks or scores given in some batches only are no order."""
    problems = []
    for column in KINDS[parts[0].kind]:
        having = [column.name in part for part in parts if len(part)]
        if column.cells != "number" or all(having) or not any(having):
            continue
        if column.name == "rank":
            parts = [_without(part, "rank") for part in parts]
        else:
            lacking = next(part for part in parts if len(part) and column.name not in part)
            mend = f"Write a {column.name} in every row or in none"
            problems.append(Problem(lacking.where(0), f"{column.name} is missing here and given elsewhere", mend))
    whole = concat(parts)
    return replace(whole, rows=whole.rows.combine_chunks()), problems


def _without(table: Table, column: str) -> Table:
    rows: pa.Table = table.rows
    return replace(table, rows=rows.drop_columns([column])) if column in table else table
