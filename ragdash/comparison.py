"""Two systems on the same questions: paired differences, their intervals, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ragdash.cautions import cautions_of, judged_beside
from ragdash.metrics.registry import Floats, Spec
from ragdash.problems import Problem, nearest, refuse
from ragdash.scores import Scores
from ragdash.settings import CONFIDENCE, PRIMARY_DEFAULT, Settings
from ragdash.stats.bootstrap import bootstrap_limits
from ragdash.stats.interval import METHODS, Interval, paired_interval
from ragdash.verdict import (
    FEWEST_CHANGED,
    FEWEST_QUERIES,
    Finding,
    Verdict,
    badge,
    decide,
    decision,
    in_answers,
    sentence,
    within_range,
)


@dataclass(frozen=True)
class Terms:
    """What is fixed before looking: the smallest difference that matters, the confidence, the interval's method."""

    margin: float = 0.01
    confidence: float = 0.95
    method: str = "auto"

    def __post_init__(self) -> None:
        if not 0 <= self.margin < float("inf"):
            raise refuse("margin", f"it is {self.margin}", "Give 0 or more, in units of the metric")
        low, high = CONFIDENCE
        if not low <= self.confidence <= high:
            raise refuse(
                "confidence", f"it is {self.confidence}", f"Give a share from {low:g} to {high:g}, such as 0.95"
            )
        if self.method not in METHODS:
            raise refuse("interval method", f"there is no {self.method!r}", nearest(self.method, METHODS))


@dataclass(frozen=True, eq=False)
class Difference:
    """Candidate − baseline on one metric, over the questions where both have a value.

    The sign is never turned: `difference` is the candidate's mean minus the baseline's whatever is missing, also where
    lower is better. Wins, losses and the verdict follow the metric's direction. `differences` is (queries,), NaN where
    a question is not counted.
    """

    spec: Spec
    baseline: float
    candidate: float
    interval: Interval
    bootstrap: tuple[float, float]
    verdict: Verdict | None
    differences: Floats
    missing: tuple[int, int]
    common: tuple[int, float]
    warnings: tuple[str, ...]

    @property
    def difference(self) -> float:
        """Mean of the candidate − mean of the baseline, over the same questions."""
        return self.candidate - self.baseline

    @property
    def ends(self) -> tuple[float, float]:
        """The interval as it is shown: no further out than a difference of this metric can be."""
        return within_range(self.spec, self.interval.low, self.interval.high)

    @property
    def shown_p(self) -> float | None:
        """p, or None where too few questions changed for it to be said."""
        interval = self.interval
        enough = interval.n >= FEWEST_QUERIES and interval.changed >= FEWEST_CHANGED
        return interval.p if enough and not np.isnan(interval.p) else None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Baseline against candidate: one Difference a metric, in the order asked, and the verdict on the primary one."""

    baseline: str
    candidate: str
    primary: Spec
    terms: Terms
    scores: Scores
    metrics: Mapping[Spec, Difference]
    problems: tuple[Problem, ...]

    def finding(self, spec: Spec | None = None) -> Finding:
        """What the words about one metric (the primary one by default) are made of."""
        one = self.metrics[spec or self.primary]
        return Finding(
            self.baseline, self.candidate, one.spec, one.interval, one.verdict,
            self.terms.margin, self.terms.confidence, one.shown_p, one.bootstrap,
        )  # fmt: skip

    @cached_property
    def badge(self) -> str:
        """The verdict in a few words."""
        return badge(self.finding())

    @cached_property
    def sentence(self) -> str:
        """The verdict with its number and its doubt."""
        return sentence(self.finding())

    @cached_property
    def decision(self) -> str:
        """Ship, hold, or collect more questions."""
        return decision(self.finding())

    @cached_property
    def in_answers(self) -> str:
        """The change in how many questions find their evidence; empty where no hit rate was computed."""
        hits = [spec for spec in self.metrics if spec.metric.name == "Hit"]
        return in_answers(self.finding(hits[0])) if hits else ""


def companions(specs: Sequence[Spec]) -> tuple[Spec, ...]:
    """The metrics asked for and those their cautions need.

    Beside every retrieval metric stand Judged at its cutoff and its own value on judged documents alone.
    """
    lists = [spec for spec in specs if spec.metric.takes == "lists"]
    extra = [companion for spec in lists for companion in (judged_beside(spec), spec.having("judged_only", True))]
    return tuple(dict.fromkeys([*specs, *extra]))


def default_primary(specs: Sequence[Spec], settings: Settings) -> Spec:
    """nDCG@10 where it is among the metrics, else the first metric that has a direction."""
    standard = settings.specs([PRIMARY_DEFAULT])[0]
    if standard in specs:
        return standard
    directed = [spec for spec in specs if spec.metric.direction != "none" and spec.metric.name != "Judged"]
    return (directed or list(specs))[0]


def compare(
    scores: Scores,
    baseline: str,
    candidate: str,
    primary: Spec,
    *,
    shown: Sequence[Spec] | None = None,
    terms: Terms | None = None,
) -> Comparison:
    """Compare two systems of `scores` on the metrics `shown` (all by default).

    Raises InputError where a system is unknown, both are the same, or no question has a value for both.
    """
    terms = terms or Terms()
    for name in (baseline, candidate):
        if name not in scores.systems:
            raise refuse("system", f"there is no {name!r}", nearest(name, scores.systems))
    if baseline == candidate:
        raise refuse("system", f"{baseline!r} would be compared with itself", "Choose two systems")
    specs = tuple(shown or scores.specs)
    _check_pairs(scores, baseline, candidate, specs)
    metrics = {spec: _difference(scores, baseline, candidate, spec, terms) for spec in specs}
    return Comparison(baseline, candidate, primary, terms, scores, metrics, scores.problems)


def _check_pairs(scores: Scores, baseline: str, candidate: str, specs: tuple[Spec, ...]) -> None:
    """Two systems that never answer the same question cannot be compared."""
    for spec in specs:
        row, both = scores.index(spec), (scores.systems[baseline], scores.systems[candidate])
        counted = np.any([~np.isnan(one.values[row]) | one.absent[row] for one in both], axis=0)
        has = [counted & ~one.absent[row] for one in both]
        if (has[0] & has[1]).any() or not (has[0].any() and has[1].any()):
            continue
        examples = " and ".join(", ".join(scores.query_ids[flags][:3]) for flags in has)
        found = f"{baseline} and {candidate} have no query in common ({examples})"
        raise refuse("comparison", found, "Check that both runs answer the same questions under the same ids")


def _difference(scores: Scores, baseline: str, candidate: str, spec: Spec, terms: Terms) -> Difference:
    a, b = scores.of(baseline, spec), scores.of(candidate, spec)
    differences = b - a
    paired = ~np.isnan(differences)
    mean_a, mean_b = (float(values[paired].mean()) if paired.any() else float("nan") for values in (a, b))
    interval = _interval(differences[paired], spec, terms)
    limits = bootstrap_limits(differences[paired], terms.confidence) if paired.sum() > 1 else (np.nan, np.nan)
    row = scores.index(spec)
    absent = [scores.systems[name].absent[row] for name in (baseline, candidate)]
    both = paired & ~absent[0] & ~absent[1]
    common = (int(both.sum()), float(differences[both].mean()) if both.any() else float("nan"))
    missing = (int(absent[0].sum()), int(absent[1].sum()))
    verdict = decide(interval, terms.margin, spec)
    cautions = cautions_of(spec, interval, differences[paired], missing, common, scores, (baseline, candidate))
    return Difference(spec, mean_a, mean_b, interval, limits, verdict, differences, missing, common, cautions)


def _interval(differences: Floats, spec: Spec, terms: Terms) -> Interval:
    """The decision interval of candidate − baseline; wins and losses follow the metric's direction."""
    span = None if spec.metric.span is None else spec.metric.span[1] - spec.metric.span[0]
    if spec.metric.direction != "lower":
        return paired_interval(differences, terms.confidence, terms.method, span)
    turned = paired_interval(-differences, terms.confidence, terms.method, span)
    return replace(turned, estimate=-turned.estimate, low=-turned.high, high=-turned.low, skew=-turned.skew)
