"""Faults of a file, line by line: the first few of each sort in full, the rest as a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ragdash.problems import Problem
from ragdash.schema import LISTED_PROBLEMS

REPETITION = "repeated query"


@dataclass
class Faults:
    """Collects faults of one file; iterating gives the problems.

    >>> faults = Faults("run.txt")
    >>> for line in range(1, 9):
    ...     faults.add("columns", line, "2 columns where a TREC run has 6", "Mend it")
    >>> problems = list(faults)
    >>> len(problems), str(problems[-1])
    (6, 'run.txt: 3 more lines have the same fault (columns). Mend them all.')
    """

    file: str
    unit: str = "line"
    _listed: list[Problem] = field(default_factory=list)
    _count: Counter[str] = field(default_factory=Counter)

    def add(self, sort: str, line: int, found: str, mend: str) -> None:
        """Note a fault; `sort` names its kind in a word or two."""
        self._count[sort] += 1
        if self._count[sort] <= LISTED_PROBLEMS:
            where = f"{self.file}, {self.unit} {line}"
            self._listed.append(Problem(where, found, mend, repetition=sort == REPETITION))

    def __iter__(self) -> Iterator[Problem]:
        yield from self._listed
        for sort, count in self._count.items():
            if count > LISTED_PROBLEMS:
                more = count - LISTED_PROBLEMS
                found = f"{more:,} more {self.unit}{'s have' if more > 1 else ' has'} the same fault ({sort})"
                yield Problem(self.file, found, "Mend them all", count=more, repetition=sort == REPETITION)
