"""What must be said beside a difference before anybody believes it, in words an analyst understands."""

from __future__ import annotations

import numpy as np

from ragdash.metrics.registry import Floats, Spec, parse
from ragdash.scores import Scores
from ragdash.stats.interval import Interval
from ragdash.verdict import FEWEST_CHANGED, FEWEST_QUERIES

WEAK_QUERIES, WEAK_CHANGED = 30, 10
FULLY_JUDGED, SAME_JUDGED, FULL_OVERLAP, LARGEST = 0.9, 0.05, 0.95, 3


def judged_beside(spec: Spec) -> Spec:
    """Judged at the cutoff of a metric.

    >>> str(judged_beside(parse("nDCG@10")))
    'Judged@10'
    """
    return parse("Judged" if spec.k is None else f"Judged@{spec.k}")


def cautions_of(
    spec: Spec,
    interval: Interval,
    differences: Floats,
    missing: tuple[int, int],
    common: tuple[int, float],
    scores: Scores,
    systems: tuple[str, str],
) -> tuple[str, ...]:
    """Every caution that applies to one difference; `differences` are (pairs,), without NaN."""
    found = [
        *_about_size(interval),
        *_about_method(interval),
        *_about_largest(interval, differences),
        *_about_missing(interval, missing, common, systems),
        *_about_judged(spec, scores, systems),
        *_about_ties(spec, scores, systems),
    ]
    return tuple(found)


def _about_size(interval: Interval) -> list[str]:
    n, k = interval.n, interval.changed
    if n == 0:
        return ["no question has a value in both systems"]
    if n < FEWEST_QUERIES or k < FEWEST_CHANGED:
        return [f"too few changed queries ({k} of {n}): the interval rests on a prior assumption, so p is not shown"]
    if k < WEAK_CHANGED:
        return [f"weak: only {k} of {n} queries changed"]
    return [f"weak: there are only {n} queries"] if n < WEAK_QUERIES else []


def _about_method(interval: Interval) -> list[str]:
    n, k = interval.n, interval.changed
    if interval.method == "skew":
        return ["a few large changes dominate: skew-adjusted interval"]
    if interval.method != "padded":
        return []
    if interval.sd == 0:
        return ["all differences are equal: padded interval"] if k else ["no query changed: padded interval"]
    few = 5 * k < 4 * n
    return [
        f"few changed queries ({k} of {n}): padded interval" if few else "a few queries stand apart: padded interval"
    ]


def _about_largest(interval: Interval, differences: Floats) -> list[str]:
    """Whether the direction hangs on three questions."""
    if interval.n <= LARGEST or interval.changed <= LARGEST:
        return []
    without = float(differences[np.argsort(np.abs(differences), kind="stable")[:-LARGEST]].mean())
    if np.sign(without) == np.sign(interval.estimate):
        return []
    return [f"without the {LARGEST} largest changes the mean difference is {without:+.4f}"]


def _about_missing(
    interval: Interval, missing: tuple[int, int], common: tuple[int, float], systems: tuple[str, str]
) -> list[str]:
    found = []
    for count, name in zip(missing, systems, strict=True):
        if count and interval.n and count > (1 - FULL_OVERLAP) * interval.n:
            ask = " Is it a subset, or did it fail?" if count > interval.n / 2 else ""
            both = f"on the {common[0]:,} queries both have, the difference is {common[1]:+.4f}"
            found.append(f"{count:,} queries are missing in {name}; {both}.{ask}")
    return found


def _about_judged(spec: Spec, scores: Scores, systems: tuple[str, str]) -> list[str]:
    """Unjudged documents count as not relevant: say so where they are many, and what the judged ones alone give."""
    beside, condensed = judged_beside(spec), spec.having("judged_only", True)
    if spec.metric.takes != "lists" or spec.metric.name == "Judged" or scores.positive_only or spec == condensed:
        return []
    if beside not in scores.specs or condensed not in scores.specs:
        return []
    a, b = (float(np.nanmean(scores.of(name, beside))) if _any(scores, name, beside) else np.nan for name in systems)
    found = []
    if min(a, b) < FULLY_JUDGED:
        alone = scores.of(systems[1], condensed) - scores.of(systems[0], condensed)
        shares = f"{beside} is {a:.2f} in {systems[0]} and {b:.2f} in {systems[1]}"
        on_judged = f"on judged documents alone the difference is {np.nanmean(alone):+.4f}"
        found.append(f"{shares}: unjudged documents count as not relevant; {on_judged}")
    if abs(a - b) > SAME_JUDGED:
        less = systems[0] if a < b else systems[1]
        found.append(f"the systems are not judged alike ({beside} {a:.2f} and {b:.2f}): {less} may be scored too low")
    return found


def _any(scores: Scores, system: str, spec: Spec) -> bool:
    return bool((~np.isnan(scores.of(system, spec))).any())


def _about_ties(spec: Spec, scores: Scores, systems: tuple[str, str]) -> list[str]:
    """Whether equal scores leave a mean open by more than a rounding."""
    if spec.metric.takes != "lists":
        return []
    found = []
    for name in systems:
        low, high = scores.tie_range(name, spec)
        if _any(scores, name, spec) and np.nanmean(high) - np.nanmean(low) > 0.0005:
            found.append(f"tied scores leave {name} anywhere from {np.nanmean(low):.4f} to {np.nanmean(high):.4f}")
    return found
