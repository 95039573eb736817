"""Per-query scores of all systems, with what was missing and what equal scores allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragdash.metrics.registry import Floats, Spec
from ragdash.problems import Problem
from ragdash.ranking import Flags, Ints
from ragdash.settings import Settings


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One system: `values` (metrics, queries), NaN outside a metric's set; `absent` (metrics, queries): no row for it.

    `tied` (ties,) are the questions on which equal scores could change a metric, `tie_low` and `tie_high`
    (metrics, ties) the lowest and highest value they allow. `extra` are questions of the run without judgments.
    """

    values: Floats
    absent: Flags
    tied: Ints
    tie_low: Floats
    tie_high: Floats
    extra: tuple[str, ...] = ()
    duplicates: Ints = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False)
class Scores:
    """Per-query scores of all systems: `query_ids` (queries,) in byte order, and one SystemScores a system."""

    query_ids: NDArray[np.str_]
    specs: tuple[Spec, ...]
    systems: Mapping[str, SystemScores]
    settings: Settings
    problems: tuple[Problem, ...] = ()
    positive_only: bool = False

    def index(self, spec: Spec) -> int:
        """The row of a metric in `values`."""
        return self.specs.index(spec)

    def of(self, system: str, spec: Spec) -> Floats:
        """One system's values of one metric, (queries,)."""
        return np.asarray(self.systems[system].values[self.index(spec)])

    def tie_range(self, system: str, spec: Spec) -> tuple[Floats, Floats]:
        """The lowest and highest value of each question that equal scores allow, (queries,) each."""
        one, row = self.systems[system], self.index(spec)
        low, high = one.values[row].copy(), one.values[row].copy()
        counted = ~np.isnan(low[one.tied])
        low[one.tied[counted]] = one.tie_low[row][counted]
        high[one.tied[counted]] = one.tie_high[row][counted]
        return low, high
