"""From an interval and a margin fixed before looking to a verdict, and to the sentences that say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragdash.metrics.registry import Spec
from ragdash.stats.interval import Interval
from ragdash.stats.planning import queries_needed

Verdict = Literal[
    "too_few",
    "candidate_better",
    "baseline_better",
    "practically_equal",
    "candidate_better_size_unclear",
    "baseline_better_size_unclear",
    "not_settled",
]
FEWEST_QUERIES, FEWEST_CHANGED = 20, 5

BADGES: dict[Verdict, str] = {
    "too_few": "Too few queries to tell",
    "candidate_better": "{candidate} is better",
    "baseline_better": "{baseline} is better",
    "practically_equal": "Practically equal",
    "candidate_better_size_unclear": "{candidate} is better, size unclear",
    "baseline_better_size_unclear": "{baseline} is better, size unclear",
    "not_settled": "Not settled",
}


def decide(interval: Interval, margin: float, spec: Spec) -> Verdict | None:
    """The verdict on one metric; None where no direction is declared or the metric has no common scale for a margin.

    `margin` is the smallest difference that matters, in units of the metric.

    >>> from ragdash.metrics.registry import parse
    >>> from ragdash.stats.interval import paired_interval
    >>> import numpy as np
    >>> decide(paired_interval(np.tile([0.1, 0.2], 50)), 0.01, parse("nDCG@10"))
    'candidate_better'
    """
    if spec.metric.direction == "none" or spec.metric.span is None:
        return None
    low, high = _toward_better(interval, spec)
    within = -margin <= low and high <= margin
    if interval.n < FEWEST_QUERIES or (interval.changed < FEWEST_CHANGED and not within):
        return "too_few"
    if low > margin:
        return "candidate_better"
    if high < -margin:
        return "baseline_better"
    if within:
        return "practically_equal"
    if low > 0:
        return "candidate_better_size_unclear"
    return "baseline_better_size_unclear" if high < 0 else "not_settled"


def _toward_better(interval: Interval, spec: Spec) -> tuple[float, float]:
    """The interval with its sign turned where lower is better, so that positive always favours the candidate."""
    return (-interval.high, -interval.low) if spec.metric.direction == "lower" else (interval.low, interval.high)


def within_range(spec: Spec, low: float, high: float) -> tuple[float, float]:
    """The ends of an interval as they are shown: no further out than a difference of this metric can be.

    >>> from ragdash.metrics.registry import parse
    >>> within_range(parse("RR"), -0.2, 1.7)
    (-0.2, 1.0)
    """
    if spec.metric.span is None:
        return low, high
    most = spec.metric.span[1] - spec.metric.span[0]
    return max(low, -most), min(high, most)


def percent(share: float) -> str:
    """A confidence or level as it was given: never rounded to 100%.

    >>> percent(0.95), percent(0.995), percent(1 - 0.95)
    ('95%', '99.5%', '5%')
    """
    return f"{100 * share:.6g}%"


@dataclass(frozen=True)
class Finding:
    """What the words are made of: one metric's difference between two named systems."""

    baseline: str
    candidate: str
    spec: Spec
    interval: Interval
    verdict: Verdict | None
    margin: float
    confidence: float
    shown_p: float | None
    bootstrap: tuple[float, float]


def badge(finding: Finding) -> str:
    """The verdict in a few words."""
    if finding.verdict is None:
        return "No verdict"
    return BADGES[finding.verdict].format(baseline=finding.baseline, candidate=finding.candidate)


def sentence(finding: Finding) -> str:
    """The verdict as a sentence with its number, its doubt, and what it does not show."""
    interval, spec = finding.interval, finding.spec
    if interval.n == 0:
        return f"No question has a value of {spec} for both {finding.baseline} and {finding.candidate}."
    counts = f"{interval.wins} better, {interval.ties} equal, {interval.losses} worse"
    questions = f"{interval.n:,} question{'s' if interval.n != 1 else ''}: {counts}"
    if interval.n < 2:
        return f"{_claim(finding)} on {spec}: {interval.estimate:+.3f} ({questions}). One question has no interval."
    if interval.low != interval.low:
        why = "All differences are equal, so there is no interval."
        return f"{_claim(finding)} on {spec}: {interval.estimate:+.3f} ({questions}). {why}"
    low, high = within_range(spec, interval.low, interval.high)
    spread = f"{percent(finding.confidence)} interval {low:+.3f} to {high:+.3f}"
    return f"{_claim(finding)} on {spec}: {interval.estimate:+.3f} ({spread}; {questions}). {_doubt(finding)}"


def _claim(finding: Finding) -> str:
    a, b = finding.baseline, finding.candidate
    claims: dict[Verdict | None, str] = {
        "candidate_better": f"{b} is better than {a}",
        "candidate_better_size_unclear": f"{b} is better than {a}",
        "baseline_better": f"{b} is worse than {a}",
        "baseline_better_size_unclear": f"{b} is worse than {a}",
        "practically_equal": f"{b} and {a} are practically equal",
        "not_settled": f"It is not settled whether {b} is better than {a}",
        "too_few": f"There is too little to tell {b} from {a}",
        None: f"{b} compared with {a}",
    }
    return claims[finding.verdict]


def _doubt(finding: Finding) -> str:
    """What the interval leaves open, whether it is significant, and whether the bootstrap agrees."""
    margin, interval = f"{finding.margin:g}", finding.interval
    worse, better = (abs(edge) for edge in within_range(finding.spec, *_toward_better(interval, finding.spec)))
    size = {
        "candidate_better": f"Even the low end exceeds the {margin} that matters.",
        "baseline_better": f"The loss exceeds the {margin} that matters.",
        "candidate_better_size_unclear": f"The gain may be smaller than the {margin} that matters.",
        "baseline_better_size_unclear": f"The loss may be smaller than the {margin} that matters.",
        "practically_equal": f"Any difference is within the {margin} that matters.",
        "not_settled": f"The data fit anything from {worse:.3f} worse to {better:.3f} better.",
        "too_few": f"Only {interval.changed} of {interval.n} questions changed: the interval rests on an assumption.",
    }.get(finding.verdict or "", "")
    level = 1 - finding.confidence
    significant = (
        "not said, too few changed" if finding.shown_p is None else ("yes" if finding.shown_p < level else "no")
    )
    excludes = interval.low > 0 or interval.high < 0
    low, high = finding.bootstrap
    agrees = "agrees" if excludes == (low > 0 or high < 0) else "does not agree"
    return f"{size} Significant at {percent(level)}: {significant}; the bootstrap {agrees}.".strip()


def decision(finding: Finding) -> str:
    """What to do next: ship, hold, or collect more questions."""
    interval, margin = finding.interval, finding.margin
    if finding.verdict is None:
        return "No decision from this metric alone."
    if finding.verdict == "candidate_better":
        return f"Decision: ship {finding.candidate}."
    if finding.verdict.startswith("baseline_better"):
        return f"Decision: hold, keep {finding.baseline}."
    if finding.verdict == "practically_equal":
        return "Decision: hold; choose by cost, latency or the questions that changed."
    if finding.verdict == "candidate_better_size_unclear":
        beyond = abs(interval.estimate) - margin
        more = _more_questions(interval, beyond)
        sure = f"to be sure that it exceeds {margin:g}, {more}" if more else f"it may well be below {margin:g}"
        return f"Decision: ship if any gain is welcome; {sure}."
    aim = max(abs(interval.estimate), margin)
    more = _more_questions(interval, aim)
    return f"Decision: hold and {more}, to see a difference of {aim:.3f}." if more else "Decision: hold and ask more."


def _more_questions(interval: Interval, difference: float) -> str:
    """How many questions would settle a difference of this size; empty where no number can be said."""
    if not interval.sd > 0 or difference <= 0:
        return ""
    needed = max(queries_needed(interval.sd, difference), FEWEST_QUERIES, interval.n + 1)
    return f"collect about {needed - interval.n:,} more questions"


def in_answers(finding: Finding) -> str:
    """The difference of a hit rate in words anybody understands; `finding` is about a Hit metric.

    Of 100 questions so many more, and so many fewer, find their evidence.
    """
    interval, k = finding.interval, finding.spec.k
    if interval.n == 0:
        return ""
    more, fewer = (round(100 * count / interval.n) for count in (interval.wins, interval.losses))
    place = f"in the top {k}" if k else "in the list"
    return f"In answers: of 100 questions about {more} more find their evidence {place}, {fewer} fewer."
