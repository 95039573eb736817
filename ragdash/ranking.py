"""RankedLists: every ranked list of every question as flat arrays, ordered once, cut at k before a metric sees them.

Only documents that somebody judged are held, with their ranks: a document nobody judged counts as not relevant, so
its rank alone never changes a metric. Two million retrieved rows become some ten thousand judged ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RankedLists:
    """All lists of one system, one a judged question, in the order of the question ids.

    Flat over the judged documents retrieved, list after list, rank upward within a list:
    `list_of`, `rank` (1 first), `grade`, and `tie_rank`, `tie_size`: the first rank and the length of the group of
    equal scores the document stands in (its own rank and 1 without ties).
    Flat over all judged documents of a question, best grade first: `ideal_list`, `ideal_grade`, `ideal_rank`.
    One a list: `retrieved` (documents in the list, uncut) and `present` (whether the run has the question).
    """

    list_of: Ints
    rank: Ints
    grade: Floats
    tie_rank: Ints
    tie_size: Ints
    ideal_list: Ints
    ideal_rank: Ints
    ideal_grade: Floats
    retrieved: Ints
    present: Flags
    k: int | None = None

    def __len__(self) -> int:
        return len(self.retrieved)

    def cut(self, k: int | None) -> RankedLists:
        """The same lists as if nothing came after rank k; the ideal order is cut by metrics that need it."""
        if k is None:
            return self
        keep = self.rank <= k
        return replace(self._judged(keep), k=k)

    def judged_only(self) -> RankedLists:
        """The lists without the documents nobody judged, ranks counted anew (the condensed lists of Sakai 2007)."""
        if self.k is not None:
            raise ValueError("condense before cutting: ranks change")
        rank = self._position()
        first = np.full(len(self.rank), True)
        first[1:] = (self.list_of[1:] != self.list_of[:-1]) | (self.tie_rank[1:] != self.tie_rank[:-1])
        group = np.cumsum(first) - 1
        return replace(
            self,
            rank=rank,
            tie_rank=rank[np.flatnonzero(first)][group] if len(rank) else rank,
            tie_size=np.bincount(group)[group] if len(rank) else rank,
            retrieved=np.bincount(self.list_of, minlength=len(self)),
        )

    def tied(self) -> Ints:
        """The lists in which tied scores could change a metric: a judged document shares its score with another."""
        return np.unique(self.list_of[self.tie_size > 1])

    def only(self, lists: Ints) -> RankedLists:
        """These lists alone, in this order (which must be ascending), numbered anew."""
        number = np.full(len(self), -1)
        number[lists] = np.arange(len(lists))
        kept, ideal = number[self.list_of] >= 0, number[self.ideal_list] >= 0
        part = self._judged(kept)
        return replace(
            part,
            list_of=number[part.list_of],
            ideal_list=number[self.ideal_list[ideal]],
            ideal_rank=self.ideal_rank[ideal],
            ideal_grade=self.ideal_grade[ideal],
            retrieved=self.retrieved[lists],
            present=self.present[lists],
        )

    def with_ties(self, order: Literal["best", "worst"]) -> RankedLists:
        """The lists with every group of equal scores ordered by grade: downward for "best", upward for "worst".

        Documents nobody judged come after the judged ones in "best" and before them in "worst".
        """
        sign = -1.0 if order == "best" else 1.0
        sequence = np.lexsort((sign * self.grade, self.tie_rank, self.list_of))
        within = _position_in_runs(self.list_of[sequence], self.tie_rank[sequence])
        first, size = self.tie_rank[sequence], self.tie_size[sequence]
        if order == "best":
            rank = first + within
        else:
            judged = _size_of_runs(self.list_of[sequence], self.tie_rank[sequence])
            rank = first + size - judged + within
        return replace(
            self,
            list_of=self.list_of[sequence],
            rank=rank,
            grade=self.grade[sequence],
            tie_rank=first,
            tie_size=size,
        )

    def total(self, values: Floats | Flags) -> Floats:
        """Sum over the documents of each list: (judged,) in, (lists,) out."""
        return np.bincount(self.list_of, weights=np.asarray(values, float), minlength=len(self)).astype(float)

    def ideal_total(self, values: Floats | Flags) -> Floats:
        """Sum over all judged documents of each question: (ideal,) in, (lists,) out."""
        return np.bincount(self.ideal_list, weights=np.asarray(values, float), minlength=len(self)).astype(float)

    def hit(self, rel: float | None) -> Flags:
        """Which of the retrieved judged documents are relevant: grade > 0, or grade >= rel where rel is given."""
        return self.grade > 0 if rel is None else self.grade >= rel

    def relevant(self, rel: float | None = None) -> Floats:
        """How many relevant documents each question has among its judgments, (lists,)."""
        return self.ideal_total(self.ideal_grade > 0 if rel is None else self.ideal_grade >= rel)

    def hits_so_far(self, hit: Flags) -> Floats:
        """For each document the number of hits at its rank or before, (judged,)."""
        running = np.cumsum(hit, dtype=float)
        before = np.concatenate([[0.0], running])[self._starts()[:-1]]
        return np.asarray(running - before[self.list_of])

    def _judged(self, keep: Flags) -> RankedLists:
        return replace(
            self,
            list_of=self.list_of[keep],
            rank=self.rank[keep],
            grade=self.grade[keep],
            tie_rank=self.tie_rank[keep],
            tie_size=self.tie_size[keep],
        )

    def _starts(self) -> Ints:
        return np.searchsorted(self.list_of, np.arange(len(self) + 1))

    def _position(self) -> Ints:
        return np.arange(len(self.rank)) - self._starts()[self.list_of] + 1


def lists_of(*lists: Sequence[float | None], missed: Sequence[Sequence[float]] = ()) -> RankedLists:
    """Small lists by hand: each a sequence of grades in rank order, None for a document nobody judged.

    `missed` holds, a list each, the grades of judged documents that were not retrieved.

    >>> lists = lists_of([1, None, 3], [0], missed=[[2]])
    >>> lists.rank.tolist(), lists.relevant().tolist()
    ([1, 3, 1], [3.0, 0.0])
    """
    entries = [
        (n, rank, grade) for n, one in enumerate(lists) for rank, grade in enumerate(one, 1) if grade is not None
    ]
    list_of = np.array([entry[0] for entry in entries], dtype=np.int64)
    rank = np.array([entry[1] for entry in entries], dtype=np.int64)
    grade = np.array([entry[2] for entry in entries], dtype=float)
    beyond = [(n, grade) for n, grades in enumerate(missed) for grade in grades]
    all_lists = np.concatenate([list_of, np.array([n for n, _ in beyond], dtype=np.int64)])
    all_grades = np.concatenate([grade, np.array([grade for _, grade in beyond], dtype=float)])
    ideal = ideal_order(all_lists, all_grades)
    return RankedLists(
        list_of, rank, grade, rank, np.ones_like(rank), *ideal,
        retrieved=np.array([len(one) for one in lists], dtype=np.int64),
        present=np.ones(len(lists), dtype=bool),
    )  # fmt: skip


def ideal_order(list_of: Ints, grade: Floats) -> tuple[Ints, Ints, Floats]:
    """All judged documents best first: their lists, their ranks in that order, and their grades."""
    order = np.lexsort((-grade, list_of))
    lists = list_of[order]
    return lists, _position_in_runs(lists) + 1, grade[order]


def _run_starts(*keys: Ints) -> Flags:
    first = np.full(len(keys[0]), True)
    if len(first):
        first[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return first


def _position_in_runs(*keys: Ints) -> Ints:
    """For sorted keys, how far each entry stands from the first with the same keys."""
    starts = np.flatnonzero(_run_starts(*keys))
    size = np.diff(np.append(starts, len(keys[0])))
    return np.arange(len(keys[0])) - np.repeat(starts, size)


def _size_of_runs(*keys: Ints) -> Ints:
    """For sorted keys, how many entries share the keys of each."""
    starts = np.flatnonzero(_run_starts(*keys))
    size = np.diff(np.append(starts, len(keys[0])))
    return np.repeat(size, size)
