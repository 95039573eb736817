"""One question at a time: what each system retrieved for it, in ranked order, and which relevant documents it missed.

Pages and reports show this beside the scores; nothing here enters a mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.matching import Ties, ranked_rows
from ragdash.ranking import Floats, Ints
from ragdash.schema import Table
from ragdash.tables import Tables


@dataclass(frozen=True)
class Place:
    """One document of a ranked list: `grade` is None where nobody judged it, `elsewhere` its rank in the other list."""

    rank: int
    doc_id: str
    score: float | None
    grade: float | None
    elsewhere: int | None


@dataclass(frozen=True)
class Relevant:
    """A document judged relevant, and its rank in each system's list (None where it was not retrieved)."""

    doc_id: str
    grade: float
    ranks: tuple[int | None, ...]


@dataclass(frozen=True)
class Drilldown:
    """One question: a ranked list a system, and every relevant document, best grade first."""

    query_id: str
    systems: tuple[str, ...]
    lists: tuple[tuple[Place, ...], ...]
    relevant: tuple[Relevant, ...]

    def missed(self) -> tuple[Relevant, ...]:
        """Relevant documents that at least one system did not retrieve."""
        return tuple(one for one in self.relevant if None in one.ranks)


def drill(tables: Tables, query_id: str, systems: Sequence[str], ties: Ties = "doc_id") -> Drilldown:
    """One question of one or two systems, the lists ordered as the metrics saw them; duplicates keep their best rank.

    >>> from ragdash.schema import table_of
    >>> run = table_of("run", pa.table({"query_id": ["q1"] * 2, "doc_id": ["d1", "d2"], "score": [1.0, 2.0]}), "a.run")
    >>> judged = table_of("judgments", pa.table({"query_id": ["q1"], "doc_id": ["d1"], "grade": [3]}), "qrels")
    >>> one = drill(Tables(runs={"a": run}, judgments=judged), "q1", ["a"])
    >>> [(place.rank, place.doc_id, place.grade) for place in one.lists[0]]
    [(1, 'd2', None), (2, 'd1', 3.0)]
    """
    grades = _grades(tables.judgments, query_id)
    found = [_ranked(tables.runs.get(name), query_id, ties) for name in systems]
    ranks = [{doc: rank for rank, (doc, _) in enumerate(one, 1)} for one in found]
    lists = []
    for number, one in enumerate(found):
        other = ranks[1 - number] if len(found) == 2 else {}
        places = (Place(at, doc, score, grades.get(doc), other.get(doc)) for at, (doc, score) in enumerate(one, 1))
        lists.append(tuple(places))
    graded = sorted(((-grade, doc) for doc, grade in grades.items() if grade > 0))
    relevant = tuple(Relevant(doc, -minus, tuple(rank.get(doc) for rank in ranks)) for minus, doc in graded)
    return Drilldown(query_id, tuple(systems), tuple(lists), relevant)


def _of_query(table: Table, query_id: str) -> Table:
    rows = np.flatnonzero(pc.equal(table.column("query_id"), query_id).to_numpy(zero_copy_only=False))
    return table.take(rows)


def _grades(judgments: Table | None, query_id: str) -> dict[str, float]:
    if judgments is None:
        return {}
    mine = _of_query(judgments, query_id)
    return dict(zip(mine.column("doc_id").to_pylist(), mine.column("grade").to_pylist(), strict=True))


def _ranked(run: Table | None, query_id: str, ties: Ties) -> list[tuple[str, float | None]]:
    """Document ids with their scores in ranked order; of repetitions the first."""
    if run is None:
        return []
    mine = _of_query(run, query_id)
    if "repeat" in mine and len(mine):
        repeat = mine.column("repeat")
        mine = mine.take(np.flatnonzero(pc.equal(repeat, repeat[0]).to_numpy(zero_copy_only=False)))
    rows = ranked_rows(mine, np.zeros(len(mine), np.int64), ties)
    docs = mine.column("doc_id").take(pa.array(rows)).to_pylist()
    scores = mine.column("score").take(pa.array(rows)).to_pylist() if "score" in mine else [None] * len(docs)
    first: dict[str, float | None] = {}
    for doc, score in zip(docs, scores, strict=True):
        first.setdefault(doc, score)
    return list(first.items())


def what_changed(one: Drilldown, k: int | None = None) -> str:
    """The finding about one question in a sentence: the relevant document whose move matters most.

    What a move matters is its grade, discounted by log2(rank + 1) as in nDCG; beyond rank `k` nothing matters.
    """
    if not one.relevant:
        return "No document is judged relevant to this question."
    if len(one.systems) == 1:
        return _alone(one)
    moved = max(one.relevant, key=lambda doc: abs(_worth(doc, 0, k) - _worth(doc, 1, k)))
    if _worth(moved, 0, k) == _worth(moved, 1, k):
        within = f"Within the top {k} both" if k else "Both"
        return f"{within} systems have the relevant documents at the same ranks."
    better, worse = (0, 1) if _worth(moved, 0, k) > _worth(moved, 1, k) else (1, 0)
    there = f"{one.systems[better]} has {moved.doc_id} (grade {moved.grade:g}) at rank {moved.ranks[better]}"
    return f"{there}; in {one.systems[worse]} it is {_place(one, moved, worse)}."


def _alone(one: Drilldown) -> str:
    ranks = [rank for doc in one.relevant if (rank := doc.ranks[0]) is not None]
    total = len(one.relevant)
    documents = f"{total} relevant document{'s' if total > 1 else ''}"
    if not ranks:
        return f"None of the {documents} is among the {len(one.lists[0]):,} retrieved."
    return f"{len(ranks)} of {documents} retrieved, the first at rank {min(ranks)}."


def _worth(doc: Relevant, system: int, k: int | None) -> float:
    rank = doc.ranks[system]
    return 0.0 if rank is None or (k and rank > k) else doc.grade / math.log2(rank + 1)


def _place(one: Drilldown, doc: Relevant, system: int) -> str:
    if doc.ranks[system] is not None:
        return f"at rank {doc.ranks[system]}"
    retrieved = len(one.lists[system])
    return f"not among the {retrieved:,} retrieved" if retrieved else "missing: nothing was retrieved"


def worst_first(values: Floats, direction: str = "higher", then: Floats | None = None) -> Ints:
    """Row numbers with a value, the worst first; equal values by `then`, then in their order (that of the ids).

    `direction` says which values of both are better, "higher" or "lower". A NaN in `then` comes last among its equals.

    >>> worst_first(np.array([0.5, np.nan, 0.1, 0.5])).tolist()
    [2, 0, 3]
    >>> worst_first(np.array([0.0, 0.0, 0.1]), then=np.array([-0.1, -0.9, 0.0])).tolist()
    [1, 0, 2]
    """
    known = np.flatnonzero(~np.isnan(values))
    sign = -1.0 if direction == "lower" else 1.0
    second = np.zeros(len(known)) if then is None else sign * then[known]
    return known[np.lexsort((second, sign * values[known]))]


def texts_of(table: Table | None, key: str, columns: Sequence[str], ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Cells of a table by id, for the ids asked; a column that is absent reads as "".

    >>> from ragdash.schema import table_of
    >>> asked = table_of("queries", pa.table({"query_id": ["q1"], "query": ["Why?"]}), "queries.csv")
    >>> texts_of(asked, "query_id", ["query", "reference"], ["q1", "q2"])
    {'q1': ('Why?', '')}
    """
    if table is None:
        return {}
    wanted = pa.array(sorted(set(ids)), pa.string())
    rows = np.flatnonzero(pc.is_in(table.column(key), value_set=wanted).to_numpy(zero_copy_only=False))
    mine = table.take(rows)
    cells = [mine.column(name).to_pylist() if name in mine else [""] * len(mine) for name in columns]
    named = zip(mine.column(key).to_pylist(), zip(*cells, strict=True), strict=True)
    return {name: tuple(text or "" for text in texts) for name, texts in named}


def answers_of(tables: Tables, system: str, query_id: str) -> list[str]:
    """The answers a system gave to one question: none, one, or one a repetition."""
    table = tables.answers.get(system)
    return [] if table is None else [text or "" for text in _of_query(table, query_id).column("answer").to_pylist()]


def grade_mark(grade: float | None) -> str:
    """A grade as a sign and a word, never a colour alone.

    >>> grade_mark(3.0), grade_mark(0.0), grade_mark(None)
    ('● 3', '○ 0', '? unjudged')
    """
    if grade is None:
        return "? unjudged"
    return f"{'●' if grade > 0 else '○'} {grade:g}"
