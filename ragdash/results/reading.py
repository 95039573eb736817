"""A result file back into the comparison it was made of; whatever is wrong with it is an InputError."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

import ragdash
from ragdash import limits
from ragdash.comparison import Terms, compare
from ragdash.inputs import FileReport, Inputs
from ragdash.metrics.registry import Spec
from ragdash.problems import InputError, Problem, refuse
from ragdash.ranking import Flags, Floats
from ragdash.results import layout
from ragdash.results.records import of_record
from ragdash.results.stored import StoredResult
from ragdash.schema import Raw, Table, conform
from ragdash.scores import Scores, SystemScores
from ragdash.settings import Settings
from ragdash.sources import Source

SAVE_AGAIN = "Save the result again, or copy it again from where it came"


def read_result(source: Source) -> StoredResult:
    """The comparison in a result file, every number as it was to the bit, and the tables behind it.

    Raises InputError for a file that is no result, was written by a newer ragdash, is damaged, or is over the limits.
    """
    if not is_result(source):
        raise refuse(source.name, "this is no result file of ragdash", "Make one with ragdash compare … --save FILE")
    members = {one.name.removeprefix(f"{source.name}/"): one for one in source.members()}
    head = _head(source, members)
    with _damage_of(source.name):
        files = _Members(source.name, members)
        scores = _scores(head, files)
        primary, shown = layout.spec_of(head["primary"]), [layout.spec_of(one) for one in head["shown"]]
        if primary not in shown or not set(shown) <= set(scores.specs):
            raise ValueError("a metric shown has no scores")
        comparison = compare(
            scores, head["baseline"], head["candidate"], primary, shown=shown, terms=of_record(Terms, head["terms"])
        )
        return StoredResult(comparison, _inputs(head, files), _depth(head["depth"]), str(head["ragdash"]))


def is_result(source: Source) -> bool:
    """Whether a file is a result of ragdash, by what is in it: a zip that starts with our head."""
    mark = layout.HEAD.encode()
    with source.stream() as stream:
        start = stream.read(30 + len(mark))
    return start.startswith(b"PK\x03\x04") and start[30:] == mark


def _head(source: Source, members: Mapping[str, Source]) -> dict[str, Any]:
    with _damage_of(source.name):
        head = json.loads(_bytes(members[layout.HEAD]))
        if head["format"] != layout.FORMAT or not isinstance(head["version"], int):
            raise ValueError("its head is not ours")
    if head["version"] > layout.VERSION:
        found = (
            f"this result was written by ragdash {str(head.get('ragdash'))[:20]} in layout {head['version']}, "
            f"and this is ragdash {ragdash.__version__}, which reads layout {layout.VERSION}"
        )
        raise refuse(source.name, found, "Update ragdash, or save the result with this version")
    return dict(head)


@contextmanager
def _damage_of(name: str) -> Iterator[None]:
    """Answers whatever a file with wrong contents leads to with an InputError that names it."""
    try:
        yield
    except InputError:
        raise
    except KeyError as error:
        raise refuse(name, f"the result file is damaged: it has no {error.args[0]}", SAVE_AGAIN) from error
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        OverflowError,
        OSError,
        pa.ArrowException,
    ) as error:
        first = str(error).partition("\n")[0].rstrip(".")[:200]
        raise refuse(name, f"the result file is damaged: {first}", SAVE_AGAIN) from error


def _bytes(member: Source) -> bytes:
    return b"".join(member.chunks())


class _Members:
    """The Parquet files of the archive, by name."""

    def __init__(self, name: str, members: Mapping[str, Source]) -> None:
        self.name, self._members = name, members

    def parquet(self, name: str) -> pa.Table:
        """One table, refused before it is unpacked where it says that it is larger than the limits."""
        import pyarrow.parquet as pq  # here, since it slows every start

        file = pq.ParquetFile(io.BytesIO(_bytes(self._members[name])))
        groups = range(file.metadata.num_row_groups)
        size = sum(file.metadata.row_group(group).total_byte_size for group in groups)
        for limit, found in ((limits.ROWS, file.metadata.num_rows), (limits.UNPACKED_BYTES, size)):
            if found > limit.value:
                where = f"{self.name}/{name}"
                raise refuse(where, f"it has {found:,} {limit.unit}, more than {limit.value:,}", limit.hint)
        rows = file.read()
        rows.validate(full=True)
        return rows.combine_chunks()

    def table(self, kind: str, about: Mapping[str, Any], number: int | None = None) -> Table:
        """One checked table, with the place each row came from."""
        name = layout.member(kind, number)
        rows = self.parquet(name)
        lines = np.asarray(rows.column(layout.LINE).to_numpy(), dtype=np.int64)
        file = np.asarray(rows.column(layout.FILE).to_numpy(), dtype=np.int16)
        files = tuple(map(str, about["files"]))
        if len(file) and not 0 <= file.min() <= file.max() < len(files):
            raise ValueError(f"{name} names files that are not listed")
        table, problems = conform(Raw(kind, rows, lines), self.name)
        if problems:
            raise ValueError(f"{name}: {problems[0].found}")
        return Table(kind, table.rows, lines, files, file, str(about["unit"]))


def _inputs(head: Mapping[str, Any], files: _Members) -> Inputs:
    listed = head["tables"]
    by_system = {
        name: {str(one["system"]): files.table(kind, one, at) for at, one in enumerate(listed[name])}
        for name, kind in layout.KINDS_BY_SYSTEM.items()
    }
    alone = {kind: None if listed[kind] is None else files.table(kind, listed[kind]) for kind in layout.KINDS_ALONE}
    reports = tuple(of_record(FileReport, one) for one in head["files"])
    return Inputs(**by_system, **alone, files=reports, problems=_problems(head["problems"]))  # type: ignore[arg-type]


def _problems(records: Any) -> tuple[Problem, ...]:
    return tuple(of_record(Problem, record) for record in records)


def _depth(depth: Any) -> int | None:
    if depth is None or (isinstance(depth, int) and depth > 0):
        return depth
    raise ValueError(f"the depth is {depth!r:.80}")


def _scores(head: Mapping[str, Any], files: _Members) -> Scores:
    """The scores of all systems, in arrays of the shapes they had."""
    specs = tuple(layout.spec_of(one) for one in head["metrics"])
    names = [str(one["name"]) for one in head["systems"]]
    rows = files.parquet(layout.SCORES)
    questions = rows.num_rows // max(len(names), 1)
    ids = rows.column("query_id").to_pylist()
    said = [name for name in names for _ in range(questions)]
    if len(set(names)) < len(names) or rows.column("system").to_pylist() != said or ids != ids[:questions] * len(names):
        raise ValueError("the scores are not those of its systems")
    shape = (len(specs), len(names), questions)
    values: Floats = _stacked(rows, "value", shape).astype(np.float64, casting="safe")
    absent: Flags = _stacked(rows, "absent", shape).astype(np.bool_, casting="safe")
    ties = _ties(files.parquet(layout.TIES), specs, len(names), questions)
    systems = {
        name: _system(record, values[:, at], absent[:, at], ties[at])
        for at, (name, record) in enumerate(zip(names, head["systems"], strict=True))
    }
    return Scores(
        np.array(ids[:questions], dtype=np.str_), specs, systems, of_record(Settings, head["settings"]),
        _problems(head["scoring_problems"]), bool(head["positive_only"]),
    )  # fmt: skip


def _stacked(rows: pa.Table, name: str, shape: tuple[int, ...]) -> Any:
    """One column a metric as an array: (metrics, systems, questions), or (metrics, rows)."""
    columns = [rows.column(f"{name} {row}") for row in range(shape[0])]
    if any(column.null_count for column in columns):
        raise ValueError(f"a {name} is empty")
    return np.array([column.to_numpy() for column in columns]).reshape(shape)


def _ties(rows: pa.Table, specs: tuple[Spec, ...], systems: int, questions: int) -> list[tuple[Any, Floats, Floats]]:
    """For each system the questions that equal scores leave open, with the lowest and highest values."""
    of_system, query = (rows.column(name).to_numpy().astype(np.int64, casting="safe") for name in ("system", "query"))
    for numbers, count in ((of_system, systems), (query, questions)):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < count:
            raise ValueError("the ties are not those of its systems and questions")
    low, high = (
        _stacked(rows, name, (len(specs), len(query))).astype(np.float64, casting="safe") for name in ("low", "high")
    )
    mine = [of_system == number for number in range(systems)]
    return [(query[one], np.ascontiguousarray(low[:, one]), np.ascontiguousarray(high[:, one])) for one in mine]


def _system(record: Mapping[str, Any], values: Floats, absent: Flags, ties: tuple[Any, Floats, Floats]) -> SystemScores:
    duplicates = np.array(record["duplicates"], dtype=np.int64)
    extra = tuple(map(str, record["extra"]))
    return SystemScores(
        np.ascontiguousarray(values), np.ascontiguousarray(absent), *ties, extra=extra, duplicates=duplicates
    )
