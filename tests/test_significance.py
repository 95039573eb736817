"""One metric's difference from every side: the first sentence by verdict, pairs, slices, other tests, the plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ragdash.comparison import Comparison, Terms, compare
from ragdash.metrics.registry import Spec, brought_in, parse
from ragdash.schema import table_of
from ragdash.scores import Scores, SystemScores
from ragdash.settings import Settings
from ragdash.significance import (
    MOST_SLICES,
    Pairs,
    density,
    pairs_of,
    settled,
    significance,
    slice_differences,
    within,
)
from ragdash.stats.bootstrap import Distribution, bootstrap_distribution
from ragdash.stats.interval import Interval, paired_interval
from ragdash.verdict import Finding

NAN = float("nan")


def compared(a: list[float], b: list[float], spec: Spec | None = None, terms: Terms | None = None) -> Comparison:
    """Two systems with these values of one metric, the questions called q000 onward."""
    spec = spec or parse("nDCG@10")
    ids = np.array([f"q{number:03}" for number in range(len(a))])

    def system(values: list[float]) -> SystemScores:
        none = np.zeros((1, 0))
        return SystemScores(
            np.array([values]), np.zeros((1, len(a)), dtype=bool), np.zeros(0, np.int64), none, none
        )  # fmt: skip

    scores = Scores(ids, (spec,), {"old": system(a), "new": system(b)}, Settings())
    return compare(scores, "old", "new", spec, terms=terms)


# --- the first sentence ------------------------------------------------------------------------------------------


def finding(verdict: str | None, low: float, high: float, **more: object) -> Finding:
    spec = more.get("spec", parse("nDCG@10"))
    n, changed = more.get("n", 256), more.get("changed", 131)
    middle = (low + high) / 2
    interval = Interval(middle, low, high, 0.5, n, changed, changed, n - changed, 0, "t", 0.2, 0.1)
    return Finding("old", "new", spec, interval, verdict, 0.01, 0.95, 0.5, (low, high))


WITH = "With 256 paired questions "
LATENCY = Spec(replace(parse("AP").metric, name="latency", direction="lower", span=None))
UNDECLARED = brought_in("length")


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            finding("candidate_better", 0.014, 0.05),
            WITH + "the improvement in nDCG@10 is settled in direction and in size: it is at least 0.014, more than "
            "the 0.01 that matters.",
        ),
        (
            finding("candidate_better_size_unclear", 0.006, 0.077),
            WITH + "the improvement in nDCG@10 is settled in direction, not in size.",
        ),
        (
            finding("baseline_better", -0.08, -0.02),
            WITH + "the deterioration in nDCG@10 is settled in direction and in size: it is at least 0.020, more than "
            "the 0.01 that matters.",
        ),
        (
            finding("baseline_better_size_unclear", -0.08, -0.002),
            WITH + "the deterioration in nDCG@10 is settled in direction, not in size.",
        ),
        (
            finding("baseline_better_size_unclear", 0.002, 0.08, spec=parse("no_citation")),
            WITH + "the deterioration in no_citation is settled in direction, not in size.",
        ),
        (
            finding("practically_equal", -0.004, 0.006),
            WITH + "it is settled that nDCG@10 changes by less than the 0.01 that matters.",
        ),
        (
            finding("practically_equal", 0.002, 0.008),
            WITH + "it is settled that nDCG@10 changes by less than the 0.01 that matters. new is higher, but only by "
            "0.005.",
        ),
        (
            finding("practically_equal", -0.008, -0.002),
            WITH + "it is settled that nDCG@10 changes by less than the 0.01 that matters. old is higher, but only by "
            "0.005.",
        ),
        (
            finding("not_settled", -0.01, 0.04),
            WITH + "not even the direction of the change in nDCG@10 is settled.",
        ),
        (
            finding("too_few", 0.1, 0.4, n=12, changed=3),
            "With 12 paired questions, 3 of them changed, nothing is settled about nDCG@10: it takes 20 questions and "
            "5 changes.",
        ),
        (
            finding("too_few", NAN, NAN, n=1, changed=1),
            "With 1 paired question, 1 of them changed, nothing is settled about nDCG@10: it takes 20 questions and "
            "5 changes.",
        ),
        (
            finding(None, -5.0, -1.0, n=19, spec=LATENCY, changed=19),
            "With 19 paired questions, 19 of them changed, nothing is settled about latency: it takes 20 questions "
            "and 5 changes.",
        ),
        (
            finding(None, -5.0, -1.0, spec=LATENCY),
            WITH + "the improvement in latency is settled in direction; the metric has no common scale, so no margin "
            "says whether its size matters.",
        ),
        (
            finding(None, 1.0, 5.0, spec=UNDECLARED),
            WITH + "length did change; no direction is declared, so it is neither an improvement nor a loss.",
        ),
        (
            finding("too_few", NAN, NAN, n=0, changed=0),
            "No question has a value of nDCG@10 in both systems: there is nothing to test.",
        ),
    ],
)  # fmt: skip
def test_the_first_sentence_says_what_is_settled(found: Finding, sentence: str) -> None:
    assert settled(found) == sentence


# --- pairs -------------------------------------------------------------------------------------------------------


def test_pairs_stand_by_difference_then_id_and_unpaired_questions_are_left_out() -> None:
    pairs = pairs_of(compared([0.5, 0.5, NAN, 0.1 + 0.2, 0.0], [0.5, 0.0, 1.0, 0.3, 1.0]))
    assert pairs.ids.tolist() == ["q004", "q000", "q003", "q001"]
    assert pairs.difference.tolist() == [1.0, 0.0, 0.0, -0.5]
    assert (pairs.baseline[0], pairs.candidate[0]) == (0.0, 1.0)


def test_the_mean_without_the_largest_changes_drops_both_signs() -> None:
    d = np.array([0.9, 0.1, 0.05, -0.02, -0.8])
    pairs = Pairs(np.array(list("abcde")), np.zeros(5), d, d)
    assert pairs.without_largest(2) == pytest.approx((0.1 + 0.05 - 0.02) / 3)
    assert np.isnan(pairs.without_largest(5))


def test_among_equal_changes_those_that_carry_the_mean_go_first() -> None:
    d = np.repeat([1.0, 0.0, -1.0], [24, 226, 6])
    pairs = Pairs(np.arange(256).astype(str), np.zeros(256), d, d)
    assert pairs.without_largest() == pytest.approx((21 - 6) / 253)
    turned = Pairs(pairs.ids, d, np.zeros(256), -d[::-1])
    assert turned.without_largest() == pytest.approx(-(21 - 6) / 253)


@given(some.lists(some.tuples(*[some.sampled_from([0.0, 1 / 3, 0.5, 1.0])] * 2), min_size=1, max_size=40))
def test_points_count_every_question_once(values: list[tuple[float, float]]) -> None:
    a, b = map(np.array, zip(*values, strict=True))
    x, y, count = Pairs(np.arange(len(a)).astype(str), a, b, b - a).points()
    found = dict(zip(zip(x.tolist(), y.tolist(), strict=True), count.tolist(), strict=True))
    assert found == {pair: values.count(pair) for pair in values}


# --- other methods and slices ------------------------------------------------------------------------------------


def example(n: int = 120) -> Comparison:
    rng = np.random.default_rng(4)
    a = rng.choice([0.0, 0.5, 1.0], n)
    return compared(a.tolist(), np.clip(a + rng.choice([-0.5, 0.0, 0.0, 0.5], n), 0, 1).tolist())


def test_each_test_is_the_forced_interval_of_the_same_differences() -> None:
    comparison = example()
    d = comparison.metrics[comparison.primary].differences
    found = significance(comparison)
    assert [one.asked for one in found.tests] == ["t", "padded", "skew", "bootstrap"]
    for one in found.tests:
        assert one.interval == paired_interval(d, method=one.asked)
    assert len({one.interval.low for one in found.tests}) == 4


def test_the_decision_interval_is_among_the_tests() -> None:
    found = significance(example())
    assert found.one.interval in [one.interval for one in found.tests]


def test_where_lower_is_better_wins_turn_but_the_difference_keeps_its_sign() -> None:
    a, b = [0.0] * 30, [0.5] * 10 + [0.0] * 20
    found = significance(compared(a, b, parse("no_citation")))
    assert {one.interval.losses for one in found.tests} == {10}
    assert all(one.interval.low > 0 for one in found.tests)
    assert found.pairs.difference[0] == 0.5


def test_a_slice_is_what_its_questions_alone_would_give() -> None:
    comparison = example()
    mask = np.arange(120) < 50
    one = within(comparison, mask)
    d = comparison.metrics[comparison.primary].differences[mask]
    assert one.interval == paired_interval(d)
    assert one.difference == pytest.approx(d.mean())


def test_slices_stand_by_size_and_those_under_twenty_have_no_estimate() -> None:
    rows = {"query_id": [f"q{number:03}" for number in range(120)]}
    members = [["big"] if number < 60 else ["small", "tiny"] if number < 79 else ["even"] for number in range(119)]
    rows["slice"] = [*members, ["even", "small"]]
    found = significance(example(), table_of("queries", pa.table(rows), "queries"))
    assert [(part.name, part.n, part.one is None) for part in found.slices] == [
        ("big", 60, False),
        ("even", 41, False),
        ("small", 20, False),
        ("tiny", 19, True),
    ]


def test_unpaired_questions_do_not_count_for_a_slice() -> None:
    values = [0.5] * 25
    comparison = compared([NAN] * 6 + values[6:], values)
    (part,) = slice_differences(comparison, {"all": np.ones(25, dtype=bool)})
    assert (part.n, part.one) == (19, None)


def test_of_very_many_slices_the_largest_are_estimated() -> None:
    masks = {f"s{number:02}": np.arange(120) < 20 + number for number in range(30)}
    found = slice_differences(example(), masks)
    assert sum(part.one is not None for part in found) == MOST_SLICES
    assert found[0].name == "s29" and found[-1].one is None


# --- what the set can see ----------------------------------------------------------------------------------------


def test_the_plan_follows_the_spread_and_the_confidence() -> None:
    usual, strict = significance(example()).sight, significance(
        compared(*_values(example()), terms=Terms(confidence=0.99))
    ).sight  # fmt: skip
    assert usual.n == 120 and usual.aim == 0.02
    assert usual.needed is not None and strict.needed is not None
    assert strict.detectable > usual.detectable > usual.aim
    assert strict.needed > usual.needed > 120


def _values(comparison: Comparison) -> tuple[list[float], list[float]]:
    scores = comparison.scores
    return scores.of("old", comparison.primary).tolist(), scores.of("new", comparison.primary).tolist()


def test_equal_differences_and_metrics_without_a_scale_have_no_plan() -> None:
    flat = significance(compared([0.5] * 30, [0.5] * 30))
    assert np.isnan(flat.sight.detectable) and flat.sight.needed is None
    assert flat.distribution is not None and flat.distribution.mean.tolist() == [0.0]
    latency = significance(compared([100.0, 120.0] * 20, [90.0, 130.0] * 20, LATENCY))
    assert latency.sight.detectable > 1 and latency.sight.needed is None


def test_one_question_has_neither_distribution_nor_tests() -> None:
    found = significance(compared([0.5, NAN], [1.0, 0.5]))
    assert found.distribution is None and found.tests == ()


# --- the curve ---------------------------------------------------------------------------------------------------


@given(some.lists(some.floats(-1, 1), min_size=2, max_size=60))
def test_the_curve_has_the_mean_of_its_distribution(differences: list[float]) -> None:
    spread = bootstrap_distribution(differences)
    x, height = density(spread)
    assert height.max() == 1 and height.min() >= 0
    if len(x) > 1:
        mean = float((spread.mean * spread.probability).sum())
        assert abs(float((x * height).sum() / height.sum()) - mean) <= (x[1] - x[0]) / 2 + 1e-9


def test_a_lattice_as_fine_as_the_curve_leaves_no_comb() -> None:
    points = np.linspace(-1, 1, 141)
    probability = np.exp(-(points**2) / 0.1)
    x, height = density(Distribution(points, probability / probability.sum()), points=60)
    rising = x < -0.05
    counted = np.histogram(points, np.append(x - (x[1] - x[0]) / 2, 2), weights=probability)[0]
    assert (np.diff(counted[rising]) < 0).any(), "a plain histogram would have one"
    assert (np.diff(height[rising]) >= 0).all()
