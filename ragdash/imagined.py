"""What a metric would be if some unjudged documents were relevant: many imagined questions measured at once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragdash.comparison import Comparison
from ragdash.matching import Judgments, rank_lists
from ragdash.metrics.registry import Spec
from ragdash.placed import Placed, place
from ragdash.problems import refuse
from ragdash.ranking import Floats, Ints, RankedLists
from ragdash.scores import Scores
from ragdash.settings import Settings
from ragdash.tables import Tables


class Pool(NamedTuple):
    """Unjudged documents: the question's number among the judged ones and the rank in either list, 0 for none."""

    query: Ints
    doc_id: pa.Array
    ranks: tuple[Ints, Ints]


class WhatIf:
    """Both systems' lists, and the value of the primary metric if some unjudged documents were relevant."""

    def __init__(self, tables: Tables, comparison: Comparison, coded: Judgments) -> None:
        self.spec: Spec = comparison.primary
        self.scores: Scores = comparison.scores
        self.settings: Settings = comparison.scores.settings
        self.systems = (comparison.baseline, comparison.candidate)
        self.coded = coded
        self.grade = common_grade(coded.grade)
        runs = [tables.runs[name] for name in self.systems]
        if any("repeat" in run for run in runs):
            found = "the run holds repetitions, and the tipping point is about one list a question"
            raise refuse("tipping point", found, "Load one repetition")
        self.lists = [self._pruned(rank_lists(run, coded, self.settings.ties).lists) for run in runs]
        self.placed: list[Placed] = [place(run, coded.query_ids, self.settings.ties) for run in runs]
        ids = pa.array(self.scores.query_ids.tolist(), pa.string())
        at = pc.index_in(coded.query_ids, value_set=ids)
        self.at = np.asarray(at.to_numpy(), dtype=np.int64)
        counted = ~np.isnan(comparison.metrics[self.spec].differences)
        self.counted = counted[self.at]

    def _pruned(self, lists: RankedLists) -> RankedLists:
        """The lists without what cannot change the metric: documents beyond k, and irrelevant ones in the ideal."""
        lists = lists.cut(self.spec.k)
        rel = dict(self.spec.options).get("rel")
        kept = lists.ideal_grade > 0 if rel is None or float(rel) > 0 else np.full(len(lists.ideal_grade), True)
        ideal = (lists.ideal_list[kept], lists.ideal_rank[kept], lists.ideal_grade[kept])
        return replace(lists, ideal_list=ideal[0], ideal_rank=ideal[1], ideal_grade=ideal[2])

    def unjudged(self, system: str, depth: int) -> Pool:
        """The unjudged documents of counted questions in the first `depth` of a system's lists."""
        placed = self.placed[self.systems.index(system)]
        high = np.flatnonzero((placed.rank <= depth) & self.counted[placed.query])
        query, doc_id = placed.query[high], placed.doc_id.take(pa.array(high))
        judged, _ = self.coded.grades_of(query, doc_id)
        rows = np.flatnonzero(~judged)
        query, doc_id = query[rows], doc_id.take(pa.array(rows))
        first, second = (one.rank_of(query, doc_id) for one in self.placed)
        return Pool(query, doc_id, (first, second))

    def values(self, query: Ints, pool: Pool, virtual: Ints, item: Ints) -> tuple[Floats, Floats]:
        """Both systems' values, (virtual,) each, of imagined questions: `query` names the real one each is made from,
        and in imagined question `virtual[i]` the document `item[i]` of the pool is relevant."""
        made = []
        for lists, ranks in zip(self.lists, pool.ranks, strict=True):
            value = self.spec.compute(imagined_lists(lists, query, virtual, ranks[item], self.grade))
            made.append(np.where(np.isnan(value), 0.0, value))
        return made[0], made[1]


def common_grade(grade: Floats) -> float:
    """The most common grade above 0, the lowest of equally common ones; 1 where there is none."""
    values, counts = np.unique(grade[grade > 0], return_counts=True)
    return float(values[np.argmax(counts)]) if len(values) else 1.0


def imagined_lists(lists: RankedLists, query: Ints, virtual: Ints, rank: Ints, grade: float) -> RankedLists:
    """A list for each entry of `query`, its documents copied, with documents of `grade` added at `rank` (0: only to
    what there is to find) in the lists `virtual`, which must be ascending."""
    entries, copy = _copies(lists.list_of, query, len(lists))
    listed = (rank > 0) & (rank <= (lists.k or np.iinfo(np.int64).max))
    list_of = np.concatenate([copy, virtual[listed]])
    ranks = np.concatenate([lists.rank[entries], rank[listed]])
    grades = np.concatenate([lists.grade[entries], np.full(int(listed.sum()), grade)])
    order = np.argsort(list_of * (int(ranks.max(initial=0)) + 1) + ranks)
    return RankedLists(
        list_of[order], ranks[order], grades[order], ranks[order], np.ones_like(order),
        *_imagined_ideal(lists, query, virtual, grade),
        retrieved=lists.retrieved[query], present=lists.present[query],
    )  # fmt: skip


def _imagined_ideal(lists: RankedLists, query: Ints, virtual: Ints, grade: float) -> tuple[Ints, Ints, Floats]:
    """The ideal order with the added documents behind those of their grade; not sorted, which no metric needs."""
    ideal, copy = _copies(lists.ideal_list, query, len(lists))
    added = np.bincount(virtual, minlength=len(query))
    as_good = np.bincount(lists.ideal_list[lists.ideal_grade >= grade], minlength=len(lists))
    grades = lists.ideal_grade[ideal]
    shifted = lists.ideal_rank[ideal] + np.where(grades < grade, added[copy], 0)
    place = as_good[query][virtual] + np.arange(len(virtual)) - np.searchsorted(virtual, virtual) + 1
    return (
        np.concatenate([copy, virtual]),
        np.concatenate([shifted, place]),
        np.concatenate([grades, np.full(len(virtual), grade)]),
    )


def _copies(owner: Ints, query: Ints, size: int) -> tuple[Ints, Ints]:
    """For sorted `owner`: the entries of each list in `query`, one after the other, and which copy each is for."""
    count = np.bincount(owner, minlength=size)
    start = np.concatenate([[0], np.cumsum(count)])[:-1]
    sizes = count[query]
    copy = np.repeat(np.arange(len(query)), sizes)
    within = np.arange(len(copy)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return start[query[copy]] + within, copy
