"""How sure one metric's difference is: its distribution, its slices, other tests beside it, and what the set can see.

Everything is about the comparison's primary metric, and about candidate − baseline with its sign as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragdash.comparison import Comparison, Difference, compare
from ragdash.metrics.registry import Spec
from ragdash.ranking import Flags, Floats, Ints
from ragdash.schema import Table
from ragdash.scores import Scores, SystemScores
from ragdash.slices import slices_of
from ragdash.stats.bootstrap import Distribution, bootstrap_distribution
from ragdash.stats.differences import TIE
from ragdash.stats.interval import Interval
from ragdash.stats.planning import queries_needed, smallest_detectable
from ragdash.verdict import FEWEST_CHANGED, FEWEST_QUERIES, Finding

WORTH_SEEING = 0.02  # of the metric's span: the difference that the plan is made for
MOST_SLICES = 25
CURVE_POINTS = 120
BEYOND = 1e-4  # of the distribution on either side that the curve leaves out
LARGEST = 3
SEEN = 1e-9  # of the highest probability: less is not drawn
SAME = 1e-9  # values closer than this are drawn as one point
METHODS_BESIDE = ("t", "padded", "skew", "bootstrap")


@dataclass(frozen=True, eq=False)
class Pairs:
    """The questions that both systems have a value for, the largest gain of the candidate in numbers first.

    All are (pairs,): `ids`, the values of baseline and candidate, and candidate − baseline. Equal differences stand in
    the order of their ids.
    """

    ids: NDArray[np.str_]
    baseline: Floats
    candidate: Floats
    difference: Floats

    def __len__(self) -> int:
        return len(self.ids)

    def without_largest(self, count: int = LARGEST) -> float:
        """The mean difference without the `count` largest changes, whatever their sign; NaN where nothing is left.

        Among changes of the same size those in the mean's own direction go first, as the question is what it hangs on.
        """
        along = self.difference * np.sign(self.difference.sum())
        left = np.lexsort((along, np.rint(np.abs(self.difference) / SAME)))[: max(len(self) - count, 0)]
        return float(self.difference[left].mean()) if len(left) else float("nan")

    def points(self) -> tuple[Floats, Floats, Ints]:
        """The distinct pairs of values, (points,) each: of the baseline, of the candidate, and how many questions."""
        both = np.rint(np.column_stack([self.baseline, self.candidate]) / SAME)
        _, first, count = np.unique(both, axis=0, return_index=True, return_counts=True)
        return self.baseline[first], self.candidate[first], count.astype(np.int64)


@dataclass(frozen=True, eq=False)
class SliceDifference:
    """One slice: how many of its questions are paired, and the difference on them; None where it is not estimated."""

    name: str
    n: int
    one: Difference | None


@dataclass(frozen=True)
class ByMethod:
    """The interval and p of one method; `asked` is the method asked for, which is not always the one taken."""

    asked: str
    interval: Interval


@dataclass(frozen=True)
class Sight:
    """What a set of `n` questions can see four times in five: `detectable`, a difference; and the `needed` questions
    to see the difference `aim`. NaN and None where the differences have no spread or the metric no scale."""

    n: int
    detectable: float
    aim: float
    needed: int | None


@dataclass(frozen=True, eq=False)
class Significance:
    """The primary metric's difference looked at from every side; `distribution` is of the mean over resampled
    questions, None where there are fewer than two."""

    comparison: Comparison
    pairs: Pairs
    distribution: Distribution | None
    slices: tuple[SliceDifference, ...]
    tests: tuple[ByMethod, ...]
    sight: Sight

    @property
    def spec(self) -> Spec:
        """The metric it is about."""
        return self.comparison.primary

    @property
    def one(self) -> Difference:
        """The difference it is about."""
        return self.comparison.metrics[self.spec]


def significance(comparison: Comparison, queries: Table | None = None) -> Significance:
    """Look at the primary difference from every side; `queries` name the slices."""
    one = comparison.metrics[comparison.primary]
    pairs = pairs_of(comparison)
    several = len(pairs) > 1
    distribution = bootstrap_distribution(pairs.difference) if several else None
    tests = (
        tuple(ByMethod(name, within(comparison, method=name).interval) for name in METHODS_BESIDE) if several else ()
    )
    slices = slice_differences(comparison, slices_of(queries, comparison.scores.query_ids))
    return Significance(comparison, pairs, distribution, slices, tests, sight(one, comparison.terms.confidence))


def pairs_of(comparison: Comparison) -> Pairs:
    """The paired values of the primary metric, sorted by their difference."""
    scores, spec = comparison.scores, comparison.primary
    a, b = scores.of(comparison.baseline, spec), scores.of(comparison.candidate, spec)
    difference = np.where(np.abs(b - a) <= TIE, 0.0, b - a)
    paired = np.flatnonzero(~np.isnan(difference))
    order = paired[np.argsort(-difference[paired], kind="stable")]
    return Pairs(scores.query_ids[order], a[order], b[order], difference[order])


def within(comparison: Comparison, among: Flags | None = None, method: str = "") -> Difference:
    """The primary metric's difference on some questions (a mask, all by default), or by another interval's method.

    Raises InputError where none of these questions has a value in both systems.
    """
    scores, spec = comparison.scores, comparison.primary
    row = [scores.index(spec)]
    chosen = np.flatnonzero(np.ones(len(scores.query_ids), dtype=bool) if among is None else among)
    untied = (np.zeros(0, np.int64), np.zeros((1, 0)), np.zeros((1, 0)))
    whole = {name: scores.systems[name] for name in (comparison.baseline, comparison.candidate)}
    systems = {
        name: SystemScores(one.values[row][:, chosen], one.absent[row][:, chosen], *untied)
        for name, one in whole.items()
    }
    few = Scores(scores.query_ids[chosen], (spec,), systems, scores.settings, (), scores.positive_only)
    terms = replace(comparison.terms, method=method) if method else comparison.terms
    return compare(few, comparison.baseline, comparison.candidate, spec, terms=terms).metrics[spec]


def slice_differences(comparison: Comparison, slices: dict[str, Flags]) -> tuple[SliceDifference, ...]:
    """The primary difference on each slice, the largest slice first, whatever the effect.

    Slices under 20 paired questions, and those after the 25 largest, are listed without an estimate. The intervals
    are not corrected for how many there are.
    """
    paired = ~np.isnan(comparison.metrics[comparison.primary].differences)
    sizes = {name: int((mask & paired).sum()) for name, mask in slices.items()}
    names = sorted(slices, key=lambda name: (-sizes[name], name))
    enough = {name for name in names[:MOST_SLICES] if sizes[name] >= FEWEST_QUERIES}
    return tuple(
        SliceDifference(name, sizes[name], within(comparison, slices[name]) if name in enough else None)
        for name in names
    )


def sight(one: Difference, confidence: float) -> Sight:
    """What the questions of a difference can see, and how many see 0.02 of the metric's span.

    >>> from ragdash.metrics.registry import parse
    >>> from ragdash.stats.interval import paired_interval
    >>> differences = np.tile([0.25, -0.25], 100)
    >>> interval = paired_interval(differences)
    >>> one = Difference(parse("AP"), 0.5, 0.5, interval, (0, 0), None, differences, (0, 0), (0, 0), ())
    >>> found = sight(one, 0.95)
    >>> round(found.detectable, 3), found.needed
    (0.05, 1235)
    """
    interval, span = one.interval, one.spec.metric.span
    aim = float("nan") if span is None else WORTH_SEEING * (span[1] - span[0])
    if not interval.sd > 0:
        return Sight(interval.n, float("nan"), aim, None)
    alpha = 1 - confidence
    needed = queries_needed(interval.sd, aim, alpha=alpha) if aim > 0 else None
    return Sight(interval.n, smallest_detectable(interval.sd, interval.n, alpha=alpha), aim, needed)


def density(distribution: Distribution, points: int = CURVE_POINTS) -> tuple[Floats, Floats]:
    """The curve of a distribution: where, and how high with the highest at 1; one point if the distribution is one.

    Of about `points` steps. Each mean is spread as a triangle that reaches to its neighbours, or over two steps of the
    curve where that is wider: a coarse lattice becomes straight lines between its points, a fine one leaves no comb.

    >>> x, height = density(bootstrap_distribution([0.0, 1.0]), points=4)
    >>> x.tolist(), height.tolist()
    ([-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5], [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0])
    """
    seen = distribution.probability > SEEN * distribution.probability.max()
    mean, probability = distribution.mean[seen], distribution.probability[seen]
    first, last = distribution.quantile(BEYOND), distribution.quantile(1 - BEYOND)
    if first == last:
        return np.array([first]), np.ones(1)
    finest = (last - first) / points
    reach = max(float(np.median(np.diff(mean))), 2 * finest)
    step = reach / max(2, int(reach / finest))  # whole steps to a triangle, so that sampling it moves no mean
    x = np.arange(first - reach, last + reach + step, step)
    total, moment = (np.concatenate([[0.0], np.cumsum(one)]) for one in (probability, probability * mean))

    def area(to: Floats) -> Floats:
        """The area under the cumulative distribution up to a point."""
        at = np.searchsorted(mean, to)
        return np.asarray(to * total[at] - moment[at])

    height = np.maximum(area(x + reach) - 2 * area(x) + area(x - reach), 0.0)
    return x, height / height.max()


def settled(finding: Finding) -> str:
    """What is settled and what is not, as the page's first sentence."""
    interval, spec = finding.interval, finding.spec
    if interval.n == 0:
        return f"No question has a value of {spec} in both systems: there is nothing to test."
    with_these = f"With {interval.n:,} paired question{'' if interval.n == 1 else 's'}"
    few = interval.n < FEWEST_QUERIES or interval.changed < FEWEST_CHANGED
    if finding.verdict == "too_few" or (finding.verdict is None and few):
        return (
            f"{with_these}, {interval.changed:,} of them changed, nothing is settled about {spec}: it takes "
            f"{FEWEST_QUERIES} questions and {FEWEST_CHANGED} changes."
        )
    return f"{with_these} {_said(finding)}"


def _said(finding: Finding) -> str:
    """The rest of the sentence, by the verdict."""
    spec, margin = finding.spec, f"{finding.margin:g}"
    low, high = finding.interval.low, finding.interval.high
    excludes = low > 0 or high < 0
    if finding.verdict == "practically_equal":
        higher = finding.candidate if low > 0 else finding.baseline
        by = f" {higher} is higher, but only by {abs(finding.interval.estimate):.3f}." if excludes else ""
        return f"it is settled that {spec} changes by less than the {margin} that matters.{by}"
    if not excludes:
        return f"not even the direction of the change in {spec} is settled."
    if spec.metric.direction == "none":
        return f"{spec} did change; no direction is declared, so it is neither an improvement nor a loss."
    better = (low > 0) == (spec.metric.direction == "higher")
    change = f"the {'improvement' if better else 'deterioration'} in {spec} is settled in direction"
    if finding.verdict is None:
        return f"{change}; the metric has no common scale, so no margin says whether its size matters."
    if finding.verdict in ("candidate_better", "baseline_better"):
        least = min(abs(low), abs(high))
        return f"{change} and in size: it is at least {least:.3f}, more than the {margin} that matters."
    return f"{change}, not in size."
