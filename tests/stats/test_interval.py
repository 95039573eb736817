"""The decision interval against goldens, scipy, the formulas written out, and what must hold for any differences."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from ragdash.stats.bootstrap import bootstrap_limits
from ragdash.stats.interval import Interval, mean_interval, paired_interval, paired_intervals

METHODS = ["t", "padded", "skew", "bootstrap"]
CLOSED = METHODS[:3]
forced = pytest.mark.parametrize("method", METHODS)

# Differences of scores from 0 to 1, to two decimals, so that ties and equal changes come up.
hundredths = st.integers(-100, 100).map(lambda hundredth: hundredth / 100)
differences = st.lists(st.one_of(st.just(0.0), hundredths), min_size=2, max_size=60)


def spread(d: list[float]) -> list[float]:
    """The differences, where they are not all equal."""
    assume(len(set(d)) > 1)
    return d


# --- which method is taken ---------------------------------------------------------------------------------------


def changed_of(changed: int, n: int) -> list[float]:
    """`changed` differences of n that are not ties, as even as they can be, with no skew where their number is even."""
    return [0.1, -0.1] * (changed // 2) + [0.1] * (changed % 2) + [0.0] * (n - changed)


@pytest.mark.parametrize(
    ("d", "method"),
    [
        (changed_of(40, 1000), "t"),
        (changed_of(39, 1000), "padded"),
        (changed_of(8, 10), "t"),
        (changed_of(6, 8), "padded"),
        (changed_of(24, 30), "t"),
        (changed_of(22, 30), "padded"),
        ([-1.0] + [0.0] * 199, "skew"),
        ([-1.0] + [0.01] * 199, "skew"),
        ([0.0] * 50, "padded"),
        (list(np.full(30, 0.6) - 0.5), "padded"),
    ],
)
def test_the_rule_takes(d: list[float], method: str) -> None:
    assert paired_interval(d).method == method


def test_cochrans_limit_is_25_times_the_squared_skewness() -> None:
    """Of 10,000 changed queries 24 or 25 stand out: 25 × skew² is 10,326 or 9,901."""
    assert paired_interval([1.0] * 24 + [0.1] * 9_976).method == "skew"
    assert paired_interval([1.0] * 25 + [0.1] * 9_975).method == "t"


def test_auto_gives_what_the_method_taken_gives() -> None:
    for d in (changed_of(40, 90), changed_of(6, 90), [-1.0] + [0.0] * 99):
        auto = paired_interval(d)
        assert auto == paired_interval(d, method=str(auto.method))


@pytest.mark.parametrize("method", ["auto", *CLOSED])
def test_without_a_range_it_is_plain_t(method: str) -> None:
    d = [120.0, -30.0, 0.0, 4500.0, 10.0]
    assert paired_interval(d, method=method, span=None) == paired_interval(d, method="t")
    assert paired_interval(d, method="bootstrap", span=None).method == "bootstrap"


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_equal_differences_without_a_range_have_no_interval(method: str) -> None:
    one = paired_interval([3.0] * 9, method=method, span=None)
    assert (one.estimate, one.method, one.sd, one.ties) == (3.0, "t", 0.0, 0)
    assert np.isnan([one.low, one.high, one.p, one.skew]).all()


@pytest.mark.parametrize("method", ["auto", "t", "padded", "bootstrap"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -0.6])
def test_equal_differences_are_padded_whatever_was_asked_for(method: str, constant: float) -> None:
    one = paired_interval([constant] * 30, method=method)
    assert one.method == "padded"
    assert one.low < constant < one.high
    assert one.high - one.low > 0.01
    assert paired_interval([0.0] * 50).p == 1.0


# --- the formulas ------------------------------------------------------------------------------------------------


def written_out(d: list[float], confidence: float, hall: bool, span: float = 1.0) -> tuple[float, float, float]:
    """The padded interval as its definition reads, with raw moments; low, high, p."""
    x = np.asarray(d)
    n, size = len(x), len(x) + 2
    mean = x.sum() / size
    square = ((x**2).sum() + span**2) / size
    variance = square - mean**2
    error = math.sqrt(variance / (size - 1))
    t, edge = mean / error, stats.t.ppf((1 + confidence) / 2, n - 1)
    if not hall:
        return mean - edge * error, mean + edge * error, 2 * stats.t.sf(abs(t), n - 1)
    r = ((x**3).sum() / size - 3 * mean * square + 2 * mean**3) / variance**1.5 / math.sqrt(size)

    def back(g: float) -> float:
        return 3 / r * (float(np.cbrt(1 + r * (g - r / 6))) - 1) if abs(r) > 1e-9 else g

    bent = t + r * t**2 / 3 + r**2 * t**3 / 27 + r / 6
    return mean - error * back(edge), mean - error * back(-edge), 2 * stats.t.sf(abs(bent), n - 1)


@given(differences.map(spread), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_t_is_scipys_paired_t_test(d: list[float], confidence: float) -> None:
    one = paired_interval(d, confidence, "t")
    known = stats.ttest_rel(d, np.zeros(len(d)))
    interval = known.confidence_interval(confidence)
    assert (one.low, one.high) == pytest.approx((interval.low, interval.high), abs=1e-11, rel=1e-9)
    assert one.p == pytest.approx(known.pvalue, rel=1e-7, abs=1e-12)
    assert one.skew == pytest.approx(float(stats.skew(d)), abs=1e-9)
    assert one.sd == pytest.approx(float(np.std(d, ddof=1)), rel=1e-12)


@given(differences, st.sampled_from([0.9, 0.95, 0.99]), st.sampled_from([0.5, 1.0, 4.0]))
def test_padded_and_skew_are_their_formulas(d: list[float], confidence: float, span: float) -> None:
    for method in ("padded", "skew"):
        one = paired_interval(d, confidence, method, span)
        known = written_out(d, confidence, method == "skew", span)
        assert (one.low, one.high, one.p) == pytest.approx(known, rel=1e-6, abs=1e-8)


def test_a_tiny_skew_is_no_skew() -> None:
    even = [0.5, -0.5, 0.25, -0.25, 0.0, 0.0]
    for off in (0.0, 1e-300, 1e-18, 1e-15, 1e-12, 1e-9):
        d = [*even, off]
        padded, skew = paired_interval(d, method="padded"), paired_interval(d, method="skew")
        assert (skew.low, skew.high, skew.p) == pytest.approx((padded.low, padded.high, padded.p), abs=1e-8)


def test_by_hand() -> None:
    """Ten queries, two changed by 1/2: m' = 1/12, q = 1.5/12, so v = 17/144 and se' = √(17/1584)."""
    one = paired_interval([0.5, 0.5] + [0.0] * 8, method="padded")
    edge = 2.2621571628 * math.sqrt(17 / 1584)
    assert (one.low, one.high) == pytest.approx((1 / 12 - edge, 1 / 12 + edge), abs=1e-9)
    assert astuple(one)[4:9] == (10, 2, 2, 8, 0)
    assert one.estimate == 0.1


def test_one_lost_query_of_two_hundred_keeps_the_bad_side_open() -> None:
    """A single −1 among ties: Hall's limits reach further down than the padded ones, and less far up."""
    d = [-1.0] + [0.0] * 199
    t, padded, skew = (paired_interval(d, method=method) for method in ("t", "padded", "auto"))
    assert skew.method == "skew"
    assert skew.low < padded.low < t.low
    assert t.high < skew.high < padded.high


def test_bootstrap_takes_the_limits_for_infinitely_many_resamples() -> None:
    d = [0.5, 0.0, -0.25, 1.0]
    one = paired_interval(d, method="bootstrap")
    assert (one.low, one.high) == bootstrap_limits(d)
    # Of 4^4 draws: the sum is at most 0 where at most two gains of 1/2 or 1 are outweighed; counted by enumeration.
    sums = np.add.outer(np.add.outer(d, d), np.add.outer(d, d)).ravel()
    assert one.p == pytest.approx(2 * np.mean(sums <= 1e-12), abs=1e-12)


# --- what is counted ---------------------------------------------------------------------------------------------


def test_no_query_and_one_query_have_no_interval() -> None:
    none, one = paired_interval([]), paired_interval([0.5])
    assert math.isnan(none.estimate)
    assert astuple(none)[4:10] == (0, 0, 0, 0, 0, None)
    assert one.estimate == 0.5
    assert astuple(one)[4:10] == (1, 1, 1, 0, 0, None)
    for interval in (none, one):
        assert np.isnan([interval.low, interval.high, interval.p, interval.sd, interval.skew]).all()


def test_a_difference_of_rounding_is_a_tie() -> None:
    one = paired_interval([0.1 + 0.2 - 0.3, -1e-12, 1e-12, 1.1e-12, -1.1e-12])
    assert (one.wins, one.ties, one.losses, one.changed) == (1, 3, 1, 2)


@given(differences)
def test_wins_ties_and_losses_are_all_queries(d: list[float]) -> None:
    one = paired_interval(d)
    assert (one.wins, one.losses) == (sum(x > 0 for x in d), sum(x < 0 for x in d))
    assert one.wins + one.ties + one.losses == one.n == len(d)
    assert one.changed == one.wins + one.losses


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: paired_interval([0.1, float("nan")]),
            "1 of 2 differences are NaN or infinite: leave those queries out, and say how many they were",
        ),
        (
            lambda: paired_interval([0.1, 0.2], method="bca"),
            "there is no interval method 'bca': choose one of auto, t, padded, skew, bootstrap",
        ),
        (
            lambda: paired_interval([0.1, 0.2], confidence=95),
            "confidence is 95: give a share between 0 and 1, such as 0.95",
        ),
        (
            lambda: paired_interval([0.1, 0.2], span=0),
            "span is 0: give the largest difference possible, above 0, or None if there is no limit",
        ),
        (
            lambda: mean_interval([0.1, float("inf")]),
            "1 of 2 values are NaN or infinite: leave those queries out, and say how many they were",
        ),
        (lambda: mean_interval([0.1, 0.2], lower=1, upper=0), "the range goes from 1 to 0: give the lower end first"),
        (lambda: paired_intervals([0.1, 0.2]), "differences have the shape (2,): give (queries, metrics)"),
        (
            lambda: paired_intervals([[0.1, 0.2]], span=[1.0]),
            "there are 1 spans for 2 metrics: give one a metric",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as refused:
        call()
    assert str(refused.value) == message


# --- what must hold for any differences --------------------------------------------------------------------------


@forced
@given(d=differences, confidence=st.floats(0.5, 0.999))
@example(d=[0.0] * 97 + [0.37, 0.61, 0.83], confidence=0.95)
@example(d=[0.0] * 57 + [0.371234567, 0.612345678, 0.834567891], confidence=0.95)
def test_zero_is_outside_exactly_where_p_is_small(method: str, d: list[float], confidence: float) -> None:
    one = paired_interval(d, confidence, method)
    assume(abs(one.p - (1 - confidence)) > 1e-9)
    assert (one.low > 0 or one.high < 0) == (one.p < 1 - confidence)
    assert 0 <= one.p <= 1


@forced
@given(d=differences)
def test_swapping_the_systems_mirrors_everything(method: str, d: list[float]) -> None:
    # An even confidence could fall on a step of the bootstrap's distribution, where the two sides differ by one step.
    one = paired_interval(d, 0.9371234, method)
    other = paired_interval([-x for x in d], 0.9371234, method)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-9)
    assert (other.estimate, other.p) == pytest.approx((-one.estimate, one.p), abs=1e-9)
    assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)
    assert other.method == one.method
    assert other.skew == pytest.approx(-one.skew, abs=1e-9, nan_ok=True)


@forced
@given(d=differences.map(spread), unit=st.sampled_from([0.2, 0.5, 2.0, 100.0, 0.3141]))
def test_another_unit_changes_nothing_but_the_unit(method: str, d: list[float], unit: float) -> None:
    one = paired_interval(d, 0.9371234, method)
    other = paired_interval([unit * x for x in d], 0.9371234, method, span=unit)
    # 0.3141 leads the bootstrap off the lattice, onto a grid that is good to 0.005 standard errors.
    within = 0.005 * one.sd / len(d) ** 0.5 if (method, unit) == ("bootstrap", 0.3141) else 1e-9
    assert (other.low / unit, other.high / unit) == pytest.approx((one.low, one.high), abs=within)
    assert other.estimate == pytest.approx(unit * one.estimate, abs=1e-12)
    if within == 1e-9:
        assert other.p == pytest.approx(one.p, abs=1e-9)


@given(d=differences)
def test_more_confidence_is_a_wider_interval(d: list[float]) -> None:
    for method in METHODS:
        narrow, wide = (paired_interval(d, confidence, method) for confidence in (0.9, 0.99))
        assert wide.low <= narrow.low <= narrow.high <= wide.high
        assert wide.p == narrow.p


@given(d=differences.map(spread))
def test_a_tied_query_more_is_never_evidence(d: list[float]) -> None:
    """For t: where p is at most 5 %, one more tie never makes it smaller. |t| alone: wherever it is at least 1.

    The padded |t| behaves so too, but under about 10 queries the degree of freedom gained can outweigh it in p. Hall's
    correction does not: among ties the same gains are more skewed, and its p falls.
    """
    for method in ("t", "padded"):
        fewer, more = (paired_interval(x, method=method) for x in (d, [*d, 0.0]))
        before, after = (abs(stats.t.ppf(one.p / 2, one.n - 1)) for one in (fewer, more))
        if before >= 1 + 1e-9:
            assert after <= before * (1 + 1e-7)
        if method == "t" and fewer.p <= 0.05:
            assert more.p >= fewer.p * (1 - 1e-7)


@given(d=differences, seed=st.integers(0, 1000))
def test_the_order_of_queries_does_not_matter(d: list[float], seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(d)
    for method in METHODS:
        one, other = paired_interval(d, 0.9371234, method), paired_interval(shuffled, 0.9371234, method)
        assert (other.low, other.high, other.p) == pytest.approx((one.low, one.high, one.p), abs=1e-9)


# --- several metrics, and one system's mean ----------------------------------------------------------------------


def test_each_metric_has_its_own_queries() -> None:
    nan = float("nan")
    table = np.array([[0.5, nan, 200.0], [0.0, 0.25, -100.0], [-0.25, 0.5, nan], [1.0, 0.0, 40.0]])
    found = paired_intervals(table, 0.9, span=[1.0, 2.0, None])
    assert found == [
        paired_interval([0.5, 0.0, -0.25, 1.0], 0.9),
        paired_interval([0.25, 0.5, 0.0], 0.9, span=2.0),
        paired_interval([200.0, -100.0, 40.0], 0.9, span=None),
    ]
    assert paired_intervals(table[:, :2], 0.9)[0] == found[0]
    assert paired_intervals(np.zeros((5, 0))) == []


def test_infinite_differences_of_one_metric_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^1 of 2 differences are NaN or infinite"):
        paired_intervals([[0.5, float("inf")], [0.25, 1.0]])


def test_a_mean_of_even_scores_has_students_interval() -> None:
    scores = np.linspace(0, 1, 41)
    known = stats.ttest_1samp(scores, 0).confidence_interval(0.9)
    assert mean_interval(scores, 0.9) == pytest.approx((known.low, known.high), abs=1e-12)


@given(st.lists(st.integers(0, 20).map(lambda x: x / 20), min_size=2, max_size=50))
def test_a_mean_is_the_interval_of_the_mapped_range(scores: list[float]) -> None:
    mapped = [2 * score - 1 for score in scores]
    sd, skew = np.std(scores), (stats.skew(scores) if len(set(scores)) > 1 else 0.0)
    assume(abs(len(scores) - 25 * skew**2) > 1e-6)
    method = "padded" if sd == 0 or len(scores) < 25 * skew**2 else "t"
    known = paired_interval(mapped, method=method)
    assert mean_interval(scores) == pytest.approx(((known.low + 1) / 2, (known.high + 1) / 2), abs=1e-9)
    low, high = mean_interval([5 * score - 2 for score in scores], lower=-2, upper=3)
    assert ((low + 2) / 5, (high + 2) / 5) == pytest.approx(mean_interval(scores), abs=1e-9)


@pytest.mark.parametrize("ends", [(None, None), (0.0, None), (None, 1.0)])
def test_a_mean_without_a_range_has_students_interval(ends: tuple[float | None, float | None]) -> None:
    latencies = [120.0, 80.0, 95.0, 4000.0]
    known = stats.ttest_1samp(latencies, 0).confidence_interval(0.95)
    assert mean_interval(latencies, 0.95, *ends) == pytest.approx((known.low, known.high), rel=1e-12)
    assert np.isnan(mean_interval([7.0, 7.0, 7.0], 0.95, *ends)).all()


@pytest.mark.parametrize("values", [[], [0.5]])
def test_a_mean_of_one_query_has_no_interval(values: list[float]) -> None:
    assert np.isnan(mean_interval(values)).all()


def test_a_perfect_score_is_not_certain() -> None:
    low, high = mean_interval([1.0] * 20)
    assert low < 0.95
    assert high > 1


# --- goldens -----------------------------------------------------------------------------------------------------


def cases(shared: Path) -> dict[str, Any]:
    return dict(json.loads((shared / "data/stats/paired.json").read_text(encoding="utf-8"))["cases"])


def test_golden_paired_sets(shared: Path) -> None:
    found = cases(shared)
    assert len(found) == 7
    for case in found.values():
        d, expect = np.subtract(case["b"], case["a"]), case["expect"]
        t = paired_interval(d, method="t")
        counts = [expect[name] for name in ("n", "changed", "win", "tie", "loss")]
        assert [t.n, t.changed, t.wins, t.ties, t.losses] == counts
        assert t.p == pytest.approx(expect["p_t_two_sided"], rel=1e-9, abs=1e-15)
        numbers = [expect[name] for name in ("diff", "sd", "skew_g1")]
        assert [t.estimate, t.sd, t.skew] == pytest.approx(numbers, abs=1e-9)
        for confidence in (90, 95, 99):
            for method, name in (("t", "t"), ("padded", "padded_t"), ("skew", "padded_hall")):
                one = paired_interval(d, confidence / 100, method)
                assert [one.low, one.high] == pytest.approx(expect[f"ci_{name}_{confidence}"], abs=1e-9)
        assert paired_interval(d, 0.9).n == expect["n"]


def test_golden_lower_limits_and_their_p(shared: Path) -> None:
    """The one-sided 95 % limit is the lower end at 90 %; the p against a margin is that of the shifted differences."""
    for case in cases(shared).values():
        d, expect = np.subtract(case["b"], case["a"]), case["expect"]
        assert paired_interval(d, 0.9, "t").low == pytest.approx(expect["lower_one_sided_95"], abs=1e-9)
        for margin in (0.02, 0.05):
            shifted = paired_interval(d + margin, method="t")
            one_sided = shifted.p / 2 if shifted.estimate > 0 else 1 - shifted.p / 2
            assert one_sided == pytest.approx(expect[f"noninferiority_p_margin_{margin}"], abs=1e-9)


def test_golden_methods_that_the_rule_takes(shared: Path) -> None:
    taken = {name: paired_interval(np.subtract(case["b"], case["a"])).method for name, case in cases(shared).items()}
    for name, case in cases(shared).items():
        n, changed, skew = (case["expect"][part] for part in ("n", "changed", "skew_g1"))
        dense = changed >= 40 or changed >= 0.8 * n
        assert taken[name] == ("skew" if n < 25 * skew**2 else ("t" if dense else "padded")), name
    assert set(taken.values()) == {"t", "padded", "skew"}


def edge_cases(shared: Path) -> dict[str, Any]:
    rows = json.loads((shared / "data/stats/edge_cases.json").read_text(encoding="utf-8"))
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("name", ["all_tied_n50", "all_tied_n1000", "constant_difference_n30"])
def test_golden_equal_differences(shared: Path, name: str) -> None:
    case = edge_cases(shared)[name]
    one, expect = paired_interval(case["d"]), case["expect"]
    assert (one.method, one.sd) == ("padded", 0.0)
    assert one.estimate == pytest.approx(expect["diff"], abs=1e-15)
    assert [one.low, one.high] == pytest.approx(expect["ci_padded_t"], abs=1e-9)
    assert one.changed == expect.get("changed", one.changed)
    assert one.p == expect.get("p", one.p)


@pytest.mark.parametrize(
    "name", ["n0", "n1", "nan_in_one_arm", "unpaired_sets", "metric_undefined_for_some", "float_ties"]
)
def test_golden_pairs(shared: Path, name: str) -> None:
    """Pairs that both systems have, as differences; then what the table says about them."""
    case = edge_cases(shared)[name]
    pairs = [(case["a"][query], case["b"][query]) for query in case["a"].keys() & case["b"].keys()]
    table = np.array([[np.nan if x is None else x for x in pair] for pair in pairs], dtype=float).reshape(-1, 2)
    (one,), expect = paired_intervals((table[:, 1] - table[:, 0])[:, None]), case["expect"]
    known = {"n": one.n, "diff": one.estimate, "win": one.wins, "tie": one.ties, "loss": one.losses}
    for part in known.keys() & expect.keys():
        value = np.nan if expect[part] is None else expect[part]
        assert known[part] == pytest.approx(value, abs=1e-12, nan_ok=True), part
    if "ci" in expect:
        assert np.isnan([one.low, one.high, one.p]).all()


def test_intervals_can_be_turned() -> None:
    """A page that shows lower-is-better metrics turns an interval with dataclasses.replace."""
    one = paired_interval([0.5, 0.0, -0.25, 1.0])
    turned = replace(one, low=-one.high, high=-one.low)
    assert isinstance(turned, Interval)
    assert turned.high == -one.low


def test_a_correction_that_runs_away_gives_way_to_padding() -> None:
    """Eighteen wins of 0.9 among twenty: Hall's correction of the padded moments would start the interval below 0."""
    d = [1.0] * 18 + [0.0] * 2
    assert paired_interval(d, method="skew").low < 0
    found = paired_interval(d)
    assert (found.method, round(found.low, 2), round(found.high, 2)) == ("padded", 0.62, 1.02)
    assert found.p < 1e-5
