"""From tables to RankedLists: judgments coded once, then each run matched against them and ordered.

Joining on strings is what makes evaluators slow. Here every retrieved id is looked up once among the few judged ones;
from then on there are integers. Lists already in order are not sorted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ragdash.problems import Problem, refuse, shorten
from ragdash.ranking import Flags, Floats, Ints, RankedLists, ideal_order
from ragdash.schema import Table

Ties = Literal["doc_id", "rank", "given"]
HASHED_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments coded once. `query_ids` are distinct and sorted by byte, `doc_ids` distinct; `key` is query × documents
    + document, sorted, with the `grade` of each pair (pairs,)."""

    query_ids: pa.Array
    doc_ids: pa.Array
    key: Ints
    grade: Floats
    ideal: tuple[Ints, Ints, Floats]
    problems: tuple[Problem, ...] = ()

    @property
    def positive_only(self) -> bool:
        """No judgment has a grade of 0 or less: what is not listed cannot be told from what is not relevant."""
        return bool(len(self.grade)) and bool((self.grade > 0).all())

    def grades_of(self, query: Ints, doc_id: pa.Array) -> tuple[Flags, Floats]:
        """Whether each (query number, document id) pair is judged, and its grade (NaN where not)."""
        doc = _codes(doc_id, self.doc_ids)
        known = (doc >= 0) & (query >= 0)
        grade = np.full(len(query), np.nan)
        key = query[known] * len(self.doc_ids) + doc[known]
        at = np.minimum(np.searchsorted(self.key, key), max(len(self.key) - 1, 0))
        grade[known] = np.where(self.key[at] == key, self.grade[at], np.nan) if len(self.key) else np.nan
        return ~np.isnan(grade), grade


@dataclass(frozen=True, eq=False)
class Ranking:
    """One run matched with the judgments: its lists, what was set aside, and which questions have no judgments."""

    lists: RankedLists
    extra: pa.Array
    duplicates: NDArray[np.int64]
    problems: tuple[Problem, ...]


def code_judgments(table: Table) -> Judgments:
    """Code a judgments table. The same pair twice with one grade is set aside; with two grades it is an error.

    Raises InputError that names both lines of the first conflict.
    """
    query_ids = _distinct(table.column("query_id"))
    query, coded = _codes_in_runs(table.column("query_id"), query_ids), table.column("doc_id").dictionary_encode()
    doc_ids, doc = coded.dictionary, _numbers(coded.indices)
    grade = np.asarray(table.column("grade").to_numpy(), dtype=float)
    key = query * len(doc_ids) + doc
    order = np.argsort(key, kind="stable")
    key, grade = key[order], grade[order]
    again = np.concatenate([[False], key[1:] == key[:-1]])
    problems = _repeated(table, order, again, grade) if again.any() else ()
    key, grade = key[~again], grade[~again]
    return Judgments(query_ids, doc_ids, key, grade, ideal_order(key // max(len(doc_ids), 1), grade), problems)


def rank_lists(run: Table, judgments: Judgments, ties: Ties = "doc_id", strict: bool = False) -> Ranking:
    """Order a run's lists and match them with the judgments; one list a judged question, absent ones empty.

    Order: score downward in single precision, ties by document id downward in byte order, both as trec_eval; without
    scores by rank; without both as given. `ties="rank"` and `"given"` break ties by the rank column or the order of
    the rows instead. A document that stands twice in a list keeps its best rank; `strict` refuses such a run.
    """
    query = _codes_in_runs(run.column("query_id"), judgments.query_ids)
    nowhere = query < 0
    beyond = run.column("query_id").filter(pa.array(nowhere)) if nowhere.any() else pa.array([], pa.string())
    order = _ordered(run, query, ties)
    doc_id = run.column("doc_id")
    duplicates = _duplicates(order, doc_id)
    problems = _duplicate_problems(run, duplicates, strict)
    if len(duplicates):
        order = order.where(~np.isin(order.rows, duplicates))
    judged, grade = judgments.grades_of(query, doc_id)
    return Ranking(_lists(order, judged, grade, judgments), _distinct(beyond), duplicates, problems)


def ranked_rows(run: Table, query: Ints, ties: Ties = "doc_id") -> Ints:
    """Row numbers of a run, list after list in ranked order; rows with a query number below 0 are left out."""
    return _ordered(run, query, ties).rows


class _Order(NamedTuple):
    """Rows of a run in ranked order, with the query number and the value each is ordered by, all (rows,)."""

    rows: Ints
    query: Ints
    value: NDArray[np.floating[Any]]

    def where(self, kept: NDArray[np.integer[Any]] | Flags) -> _Order:
        return _Order(self.rows[kept], self.query[kept], self.value[kept])

    def ties(self) -> Flags:
        """Which rows have the value of the row before, in the same list."""
        same = np.zeros(len(self.rows), dtype=bool)
        same[1:] = (self.query[1:] == self.query[:-1]) & (self.value[1:] == self.value[:-1])
        return same


def _ordered(run: Table, query: Ints, ties: Ties) -> _Order:
    order = _Order(np.arange(len(query)), query, _order_value(run))
    if len(query) and query.min() < 0:
        order = order.where(query >= 0)
    if np.count_nonzero(order.query[1:] != order.query[:-1]) + 1 > np.count_nonzero(np.bincount(order.query)):
        order = order.where(np.argsort(order.query, kind="stable"))
    return _sort_ties(run, _sort_unordered(order), ties)


def _order_value(run: Table) -> NDArray[np.floating[Any]]:
    """What rows are ordered by, downward, (rows,)."""
    if "score" in run:
        with np.errstate(over="ignore"):
            return np.asarray(run.column("score").to_numpy(), dtype=np.float32)
    if "rank" in run:
        return -np.asarray(run.column("rank").to_numpy(), dtype=float)
    return -np.arange(len(run), dtype=float)


def _sort_unordered(order: _Order) -> _Order:
    """Sort those lists whose values are not already downward; the others stay untouched."""
    starts = order.query[1:] != order.query[:-1]
    wrong = (order.value[1:] > order.value[:-1]) & ~starts
    if not wrong.any():
        return order
    number = np.concatenate([[0], np.cumsum(starts)])
    place = np.flatnonzero(np.isin(number, number[1:][wrong]))
    sequence = np.arange(len(order.rows))
    sequence[place] = place[np.lexsort((-order.value[place], number[place]))]
    return order.where(sequence)


def _sort_ties(run: Table, order: _Order, ties: Ties) -> _Order:
    """Order equal values within a list by document id downward, by rank upward, or leave them as given."""
    if ties == "rank" and "rank" not in run:
        raise refuse(run.files[0], "ties are to be broken by rank, but there is no rank column", "Use ties=doc_id")
    same = order.ties()
    if ties == "given" or not same.any():
        return order
    place = np.flatnonzero(same | np.append(same[1:], False))
    group = np.cumsum(~same)[place]
    tied = order.rows[place]
    if ties == "rank":
        within = np.asarray(run.column("rank").to_numpy(), dtype=float)[tied]
    else:
        docs = run.column("doc_id").take(pa.array(tied))
        within = -pc.rank(docs, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    rows = order.rows.copy()
    rows[place] = tied[np.lexsort((within, group))]
    return order._replace(rows=rows)


def _lists(order: _Order, judged: Flags, grade: Floats, judgments: Judgments) -> RankedLists:
    """RankedLists from the ordered rows of a run without duplicates; `judged` and `grade` are by row of the run."""
    rows, at, n = order.rows, order.query, len(judgments.query_ids)
    starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]])) if len(rows) else np.zeros(0, np.int64)
    group = np.flatnonzero(~order.ties())
    size = np.diff(np.append(group, len(rows)))
    kept = np.flatnonzero(judged[rows])
    kept = kept[np.argsort(at[kept], kind="stable")]
    of_list, of_group = (np.searchsorted(firsts, kept, side="right") - 1 for firsts in (starts, group))
    retrieved = np.bincount(at, minlength=n)
    ideal_list, ideal_rank, ideal_grade = judgments.ideal
    return RankedLists(
        list_of=at[kept],
        rank=kept - starts[of_list] + 1,
        grade=grade[rows[kept]],
        tie_rank=group[of_group] - starts[of_list] + 1,
        tie_size=size[of_group],
        ideal_list=ideal_list,
        ideal_rank=ideal_rank,
        ideal_grade=ideal_grade,
        retrieved=retrieved,
        present=retrieved > 0,
    )


def _distinct(ids: pa.Array) -> pa.Array:
    distinct = pc.unique(ids)
    return distinct.take(pc.array_sort_indices(distinct))


def _codes(ids: pa.Array, distinct: pa.Array) -> Ints:
    """The number of each id among the distinct ones, -1 where it is not there."""
    return _numbers(pc.fill_null(pc.index_in(ids, value_set=distinct), -1))


def _codes_in_runs(ids: pa.Array, distinct: pa.Array) -> Ints:
    """The same for ids that come in runs of equals, as the questions of a run do: each run is looked up once."""
    runs = pc.run_end_encode(ids)
    return np.repeat(_codes(runs.values, distinct), np.diff(_numbers(runs.run_ends), prepend=0))


def _numbers(array: pa.Array) -> Ints:
    return np.asarray(array.to_numpy(), dtype=np.int64)


def _duplicates(order: _Order, doc_id: pa.Array) -> Ints:
    """Rows whose (query, document) stood at a better rank already; hashes first, hits confirmed on the strings."""
    with np.errstate(over="ignore"):
        hashes = hash_strings(doc_id)[order.rows]
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes += order.query.view(np.uint64)
    in_order = np.sort(hashes)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(twice):
        return np.zeros(0, np.int64)
    suspect = order.where(np.isin(hashes, twice))
    doc = _numbers(doc_id.take(pa.array(suspect.rows)).dictionary_encode().indices)
    _, first = np.unique(suspect.query * (doc.max() + 1) + doc, return_index=True)
    return np.delete(suspect.rows, first)


def hash_strings(ids: pa.Array) -> NDArray[np.uint64]:
    """A quick 64-bit hash of each string, from its length, its last 16 bytes and its first 8; equal strings agree.

    >>> one, two, three = hash_strings(pa.array(["doc-1", "doc-2", "doc-1"]))
    >>> bool(one == three), bool(one == two)
    (True, False)
    """
    parts = [_hash_part(ids.slice(start, HASHED_AT_ONCE)) for start in range(0, len(ids), HASHED_AT_ONCE)]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def _hash_part(ids: pa.Array) -> NDArray[np.uint64]:
    _, offsets, content = ids.buffers()
    bound = np.frombuffer(offsets, np.int32)[ids.offset : ids.offset + len(ids) + 1].astype(np.int64)
    padded = np.zeros(bound[-1] - bound[0] + 24, np.uint8)
    padded[16:-8] = np.frombuffer(content, np.uint8)[bound[0] : bound[-1]] if content else ()
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    start, end = bound[:-1] - bound[0] + 16, bound[1:] - bound[0] + 16
    length = (end - start).astype(np.uint64)
    with np.errstate(over="ignore"):
        hashed = _last_bytes(words[end - 8], length) * np.uint64(0xC2B2AE3D27D4EB4F) + length
        longer = np.flatnonzero(length > 8)
        before = _last_bytes(words[end[longer] - 16], length[longer] - np.uint64(8))
        hashed[longer] = (hashed[longer] ^ (hashed[longer] >> np.uint64(29))) * np.uint64(0x165667B19E3779F9) + before
        hashed[longer] ^= words[start[longer]] * np.uint64(0x27D4EB2F165667C5)
        return np.asarray(hashed ^ (hashed >> np.uint64(32)))


def _last_bytes(words: NDArray[np.uint64], length: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words that end with a string of `length` bytes, without the bytes of the string before it."""
    missing = np.uint64(8) - np.minimum(length, np.uint64(8))
    shifted = words >> np.minimum(missing * np.uint64(8), np.uint64(63))
    return np.where(length == 0, np.uint64(0), shifted)


def _duplicate_problems(run: Table, duplicates: Ints, strict: bool) -> tuple[Problem, ...]:
    if not len(duplicates):
        return ()
    row = int(duplicates.min())
    query, doc = (shorten(run.column(name)[row].as_py()) for name in ("query_id", "doc_id"))
    more = f" (and {len(duplicates) - 1:,} more such rows)" if len(duplicates) > 1 else ""
    found = f"document {doc} stands again in the list of query {query}{more}"
    if strict:
        raise refuse(run.where(row), found, "List each document once, or leave out strict")
    mend = "The best rank was kept and the other rows set aside"
    return (Problem(run.where(row), found, mend, "set aside", len(duplicates)),)


def _repeated(table: Table, order: Ints, again: Flags, grade: Floats) -> tuple[Problem, ...]:
    """Problems of pairs judged more than once; raises where the grades differ."""
    differs = np.flatnonzero(again & (grade != np.roll(grade, 1)))
    if len(differs):
        first, second = sorted((int(order[differs[0] - 1]), int(order[differs[0]])))
        pair = " and document ".join(shorten(table.column(name)[first].as_py()) for name in ("query_id", "doc_id"))
        grades = " and ".join(f"{table.column('grade')[row].as_py():g}" for row in (first, second))
        found = f"query {pair} have the grades {grades} (the first in {table.where(first)})"
        raise refuse(table.where(second), found, "Keep one of the two judgments")
    rows = order[again]
    found = f"the same judgment stands again ({len(rows):,} such row{'s' if len(rows) > 1 else ''} in all)"
    return (Problem(table.where(int(rows.min())), found, "The first was kept", "set aside", len(rows)),)
