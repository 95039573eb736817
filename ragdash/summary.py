"""One system's scores in a few numbers: mean with its interval, spread, and what was missing or left open by ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragdash.metrics.registry import Spec
from ragdash.scores import Scores
from ragdash.stats.interval import mean_interval


@dataclass(frozen=True)
class Summary:
    """One metric of one system over `n` questions, of which `missing` were absent from it; NaN where n is 0.

    `ci_low` and `ci_high` bound the mean; `ties_low` and `ties_high` are the means that equal scores allow.
    """

    mean: float
    median: float
    p10: float
    p90: float
    ci_low: float
    ci_high: float
    ties_low: float
    ties_high: float
    n: int
    missing: int


def summarise(scores: Scores, confidence: float = 0.95) -> dict[str, dict[Spec, Summary]]:
    """A Summary for every system and metric."""
    return {name: {spec: _summary(scores, name, spec, confidence) for spec in scores.specs} for name in scores.systems}


def _summary(scores: Scores, system: str, spec: Spec, confidence: float) -> Summary:
    values = scores.of(system, spec)
    counted = ~np.isnan(values)
    missing = int(scores.systems[system].absent[scores.index(spec)].sum())
    if not counted.any():
        nan = float("nan")
        return Summary(nan, nan, nan, nan, nan, nan, nan, nan, 0, missing)
    p10, median, p90 = (float(value) for value in np.quantile(values[counted], [0.1, 0.5, 0.9]))
    lower, upper = spec.metric.span or (None, None)
    ci_low, ci_high = mean_interval(values[counted], confidence, lower, upper)
    ties_low, ties_high = (float(edge[counted].mean()) for edge in scores.tie_range(system, spec))
    mean = float(values[counted].mean())
    return Summary(mean, median, p10, p90, ci_low, ci_high, ties_low, ties_high, int(counted.sum()), missing)
