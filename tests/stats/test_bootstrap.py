"""The bootstrap of a mean against enumeration, exact fractions, goldens and scipy; resampling bit for bit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from ragdash.stats.bootstrap import (
    BLOCK,
    Distribution,
    bootstrap_ci,
    bootstrap_distribution,
    bootstrap_limits,
    resample_means,
)

PROBABILITIES = (0.025, 0.05, 0.5, 0.95, 0.975)


def exact(d: list[Fraction]) -> dict[Fraction, Fraction]:
    """The distribution of the mean of n draws, by convolution in exact fractions: {mean: probability}, ascending."""
    n, sums = len(d), {Fraction(0): 1}
    for _ in range(n):
        grown: Counter[Fraction] = Counter()
        for total, ways in sums.items():
            for value, times in Counter(d).items():
                grown[total + value] += ways * times
        sums = dict(grown)
    return {total / n: Fraction(sums[total], n**n) for total in sorted(sums)}


def quantile_of(distribution: dict[Fraction, Fraction], p: float) -> float:
    """The smallest mean whose cumulative probability is at least p."""
    reached = Fraction(0)
    for mean, probability in distribution.items():
        reached += probability
        if reached >= Fraction(p):
            return float(mean)
    raise AssertionError("probabilities do not sum to 1")


def standard_error(d: object) -> float:
    values = np.asarray(d, dtype=float)
    return float(values.std() / values.size**0.5)


# --- the limit for infinitely many resamples ---------------------------------------------------------------------

fractions = st.builds(Fraction, st.integers(-6, 6), st.integers(1, 6)).filter(lambda value: abs(value) <= 1)


@given(st.lists(fractions, min_size=2, max_size=9).filter(lambda d: len(set(d)) > 1))
def test_on_a_lattice_it_is_exact(d: list[Fraction]) -> None:
    known, found = exact(d), bootstrap_distribution([float(value) for value in d])
    assert found.mean == pytest.approx([float(mean) for mean in known], abs=1e-12)
    assert found.probability == pytest.approx([float(p) for p in known.values()], abs=1e-12)
    assert [found.cdf(float(mean)) for mean in known] == pytest.approx(np.cumsum([float(p) for p in known.values()]))
    for p in (0.0251, 0.0499, 0.4999, 0.5001, 0.9501, 0.9749):
        assert found.quantile(p) == pytest.approx(quantile_of(known, p), abs=1e-12)


def test_a_probability_that_is_just_reached_is_reached() -> None:
    """Cumulative probabilities of a lattice are fractions; asked for exactly, rounding must not go a point further."""
    known, reached = exact([Fraction(value, 10) for value in (0, 1, 3, 7, 7)]), Fraction(0)
    found = bootstrap_distribution([0.0, 0.1, 0.3, 0.7, 0.7])
    for mean, probability in list(known.items())[:-1]:
        reached += probability
        assert found.quantile(float(reached)) == pytest.approx(float(mean), abs=1e-12)


def test_a_coin_is_binomial() -> None:
    found = bootstrap_distribution([1.0] * 30 + [0.0] * 70)
    assert found.mean == pytest.approx(found.mean.round(2), abs=1e-15)
    assert found.probability == pytest.approx(stats.binom.pmf((100 * found.mean).round(), 100, 0.3), abs=1e-12)
    assert found.cdf(0.3) == pytest.approx(stats.binom.cdf(30, 100, 0.3), abs=1e-12)
    assert found.cdf_before(0.3) == pytest.approx(stats.binom.cdf(29, 100, 0.3), abs=1e-12)
    assert [found.quantile(p) for p in PROBABILITIES] == pytest.approx(stats.binom.ppf(PROBABILITIES, 100, 0.3) / 100)


def test_off_the_lattice_it_is_right_to_200th_of_a_standard_error() -> None:
    """Six differences without a common unit: all 6^6 draws are enumerated."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        d = rng.normal(size=6)
        means = (
            np.sort(np.add.outer(np.add.outer(np.add.outer(d, d), d), np.add.outer(np.add.outer(d, d), d)), None) / 6
        )
        found = bootstrap_distribution(d)
        for p in PROBABILITIES:
            known = means[int(np.ceil(p * means.size - 1e-9)) - 1]
            assert found.quantile(p) == pytest.approx(known, abs=0.005 * standard_error(d))


@pytest.mark.parametrize("unit", [1.0, 0.371234567])
def test_an_odd_unit_costs_less_than_a_200th_of_a_standard_error(unit: float) -> None:
    """−1, 0 and 1 in a unit that no lattice has: the same limits, times the unit, and the same mass on 0."""
    hits = np.repeat([-1.0, 0.0, 1.0], [20, 60, 40])
    plain, odd = bootstrap_distribution(hits), bootstrap_distribution(hits * unit)
    for p in PROBABILITIES:
        assert odd.quantile(p) / unit == pytest.approx(plain.quantile(p), abs=0.005 * standard_error(hits))


@pytest.mark.parametrize("n", [60, 100])
@pytest.mark.parametrize("tie", [0.0, 1e-12, -1e-12])
def test_ties_keep_their_mass_at_zero(n: int, tie: float) -> None:
    """Three gains in no common unit: no draw hits one of them with probability (1 − 3/n)^n, and then the mean is 0."""
    found = bootstrap_distribution([0.371234567, 0.612345678, 0.834567891] + [tie] * (n - 3))
    assert found.cdf(0.0) == pytest.approx((1 - 3 / n) ** n, abs=1e-11)
    assert found.cdf_before(0.0) == 0.0
    assert found.quantile(0.025) == 0.0


@pytest.mark.parametrize("n", [2_000, 50_000])
def test_of_many_queries_it_is_normal(n: int) -> None:
    d = np.random.default_rng(n).normal(0.1, 0.3, n)
    error = standard_error(d)
    for p in PROBABILITIES:
        skewed = stats.norm.ppf(p) + stats.skew(d) / (6 * n**0.5) * (stats.norm.ppf(p) ** 2 - 1)  # Cornish and Fisher
        assert bootstrap_distribution(d).quantile(p) == pytest.approx(d.mean() + error * skewed, abs=0.001 * error)


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 9)), min_size=2, max_size=80))
def test_it_is_a_distribution_around_the_mean(d: list[float]) -> None:
    assume(np.std(d) > 1e-6)
    found, error = bootstrap_distribution(d), standard_error(d)
    assert (found.probability >= 0).all()
    assert (np.diff(found.mean) > 0).all()
    assert found.probability.sum() == pytest.approx(1, abs=1e-9)
    mean = float(found.mean @ found.probability)
    assert mean == pytest.approx(np.mean(d), abs=1e-6 * error + 1e-12)
    assert ((found.mean - mean) ** 2 @ found.probability) ** 0.5 == pytest.approx(error, rel=1e-3)


@pytest.mark.parametrize("d", [[0.25], [0.0, 0.0], list(np.full(30, 0.6) - 0.5)])
def test_equal_differences_are_one_point(d: list[float]) -> None:
    found = bootstrap_distribution(d)
    assert (found.mean.tolist(), found.probability.tolist()) == ([float(np.mean(d))], [1.0])
    assert bootstrap_limits(d) == (np.mean(d), np.mean(d))


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9, -1e6])
def test_far_from_zero_it_only_moves(offset: float) -> None:
    d = np.array([0.1, 0.35, 0.62, 0.11, 0.97, 0.43, 0.5]) * 3.3
    low, high = bootstrap_limits(d)
    moved = bootstrap_limits(d + offset)
    assert (moved[0] - offset, moved[1] - offset) == pytest.approx((low, high), abs=0.01 * standard_error(d))


def test_huge_differences_do_not_overflow() -> None:
    d = np.array([1.0, -2.0, 5.0, 3.0])
    assert bootstrap_limits(d * 1e120) == pytest.approx(np.multiply(bootstrap_limits(d), 1e120), rel=0.01)


def test_a_long_tail_stays_inside_the_grid() -> None:
    """One loss among 5,000: the mean is a Poisson count of losses, far from normal and not centred on the grid."""
    d = np.zeros(5_000)
    d[0] = -1
    found = bootstrap_distribution(d)
    counts = np.arange(8)
    known = stats.binom.pmf(counts, d.size, 1 / d.size)
    assert [found.probability[np.isclose(found.mean, -k / d.size)].sum() for k in counts] == pytest.approx(known)
    assert found.mean.max() == 0.0


def test_scipys_resampling_lands_around_the_limit() -> None:
    d = np.random.default_rng(2).exponential(0.2, 40) - 0.1
    low, high = bootstrap_limits(d, 0.9)
    drawn = stats.bootstrap(
        (d,), np.mean, n_resamples=20_000, confidence_level=0.9, method="percentile", random_state=3
    )
    interval = drawn.confidence_interval
    assert (low, high) == pytest.approx((interval.low, interval.high), abs=0.1 * standard_error(d))


def test_quantiles_and_cdf_of_a_small_distribution() -> None:
    three = Distribution(np.array([-1.0, 0.0, 2.0]), np.array([0.25, 0.25, 0.5]))
    assert [three.cdf(x) for x in (-1.5, -1.0, -0.5, 0.0, 2.0, 3.0)] == [0.0, 0.25, 0.25, 0.5, 1.0, 1.0]
    assert [three.cdf_before(x) for x in (-1.0, 0.0, 2.0)] == [0.0, 0.25, 0.5]
    assert [three.quantile(p) for p in (0.1, 0.25, 0.26, 0.5, 0.51, 0.999)] == [-1.0, -1.0, 0.0, 0.0, 2.0, 2.0]


def test_golden_limits(shared: Path) -> None:
    folder = shared / "data/stats"
    cases = json.loads((folder / "bootstrap_limits.json").read_text(encoding="utf-8"))["cases"]
    paired = json.loads((folder / "paired.json").read_text(encoding="utf-8"))["cases"]
    assert len(cases) == 9
    for name, case in cases.items():
        d = np.asarray(case["d"]) if "d" in case else np.subtract(paired[name]["b"], paired[name]["a"])
        found, error = bootstrap_distribution(d), standard_error(d)
        quantiles = [found.quantile(p) for p in case["probs"]]
        assert quantiles == pytest.approx(case["quantiles_B_infinity"], abs=0.005 * error), name
        assert quantiles == pytest.approx(case["quantiles_B_infinity"], abs=1e-12), name  # all nine are on a lattice
        assert list(bootstrap_limits(d)) == pytest.approx([quantiles[0], quantiles[-1]], abs=1e-12)
        if "bootstrap_se" in case:
            below = (found.cdf(d.mean()) + found.cdf_before(d.mean())) / 2
            assert error == pytest.approx(case["bootstrap_se"], abs=1e-12)
            assert below == pytest.approx(case["prop_below_plus_half_ties"], abs=1e-9)
            shift = found.cdf(d.mean() - abs(d.mean())) + 1 - found.cdf_before(d.mean() + abs(d.mean()))
            assert shift == pytest.approx(case["p_shift_exact"], abs=1e-9)


# --- resampling --------------------------------------------------------------------------------------------------

SCORES = np.round(np.random.default_rng(1).normal(size=(137, 5)), 3)


def drawn_by_hand(column: list[Fraction], resamples: int, seed: int) -> list[Fraction]:
    """Means of resamples, one draw at a time: 32 bits each, low half of a word first, mapped by multiply and shift."""
    n, means = len(column), []
    for replicate in range(resamples):
        block, row = divmod(replicate, BLOCK)
        stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(n, block)))
        words = [int(word) for word in stream.random_raw((row + 1) * ((n + 1) // 2))[row * ((n + 1) // 2) :]]
        halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)][:n]
        means.append(sum(column[half * n >> 32] for half in halves) / n)
    return means


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_every_draw_is_accounted_for(n: int) -> None:
    column = [Fraction(value, 8) for value in range(n)]
    found = resample_means(np.array([[float(value)] for value in column]), 70, seed=9)[:, 0]
    assert found.tolist() == [float(mean) for mean in drawn_by_hand(column, 70, seed=9)]


def test_the_bits_never_change() -> None:
    """Numbers that were published have to come again: these are the draws of seed 0, whatever numpy is installed."""
    found = resample_means([[0.0], [1.0], [2.0], [4.0]], 6, seed=0)[:, 0]
    assert found.tolist() == FROZEN


FROZEN = [2.25, 0.0, 1.5, 1.5, 2.0, 1.5]


@pytest.mark.parametrize("columns", [[0], [4], [3, 1], [4, 3, 2, 1, 0], [2, 2]])
def test_the_same_bits_for_any_columns_in_any_order(columns: list[int]) -> None:
    every = resample_means(SCORES, 150, seed=4)
    assert np.array_equal(resample_means(SCORES[:, columns], 150, seed=4), every[:, columns])
    assert np.array_equal(resample_means(np.asfortranarray(SCORES), 150, seed=4), every)


@pytest.mark.parametrize("budget", [1, 10_000, 100_000, 2**40])
def test_the_same_bits_for_any_memory(budget: int) -> None:
    assert np.array_equal(resample_means(SCORES, 150, 4, budget), resample_means(SCORES, 150, 4))


@given(st.integers(1, 200), st.integers(1, 200))
def test_fewer_resamples_are_the_first_ones(fewer: int, more: int) -> None:
    fewer, more = sorted((fewer, more))
    assert np.array_equal(resample_means(SCORES, more, 0)[:fewer], resample_means(SCORES, fewer, 0))


def test_seed_and_number_of_queries_change_the_draws() -> None:
    base = resample_means(SCORES, 64, seed=0)
    assert not np.array_equal(base, resample_means(SCORES, 64, seed=1))
    flags = np.eye(8)[:, :1]
    assert not np.array_equal(resample_means(flags, 64, 0), resample_means(np.eye(9)[:, :1], 64, 0) * 9 / 8)
    assert not np.array_equal(base, resample_means(SCORES, 128, seed=0)[64:])  # blocks do not repeat


def test_sums_are_exact_for_values_of_any_size() -> None:
    """A column scaled by a power of two, or among columns of other sizes, gives the same bits scaled."""
    sizes = 2.0 ** np.array([-200, -3, 0, 7, 300])
    assert np.array_equal(resample_means(SCORES * sizes, 70, 2), resample_means(SCORES, 70, 2) * sizes)
    assert np.array_equal(resample_means(np.zeros((9, 2)), 3, 0), np.zeros((3, 2)))
    assert resample_means(np.zeros((9, 0)), 3, 0).shape == (3, 0)


def test_means_scatter_as_the_bootstrap_says() -> None:
    found = resample_means(SCORES, 20_000, seed=3)
    for column, means in zip(SCORES.T, found.T, strict=True):
        error = standard_error(column)
        assert means.mean() == pytest.approx(column.mean(), abs=5 * error / 20_000**0.5)
        assert means.std() == pytest.approx(error, rel=0.03)
        low, high = bootstrap_limits(column)
        assert np.quantile(means, [0.025, 0.975]) == pytest.approx([low, high], abs=0.11 * error)


def test_all_columns_see_the_same_draws() -> None:
    pair = resample_means(np.column_stack([SCORES[:, 0], -SCORES[:, 0]]), 100, seed=5)
    assert np.array_equal(pair[:, 0], -pair[:, 1])


# --- bootstrap_ci ------------------------------------------------------------------------------------------------


def test_bootstrap_ci_is_a_minus_b() -> None:
    a, b = SCORES[:, 0], SCORES[:, 1]
    mean, low, high = bootstrap_ci(a, b, n_bootstrap=10_000, seed=7)
    assert mean == pytest.approx(a.mean() - b.mean(), abs=1e-15)
    assert low < mean < high
    assert (low, high) == pytest.approx(bootstrap_limits(a - b), abs=0.11 * standard_error(a - b))
    known = stats.bootstrap(
        (a - b,), np.mean, n_resamples=10_000, method="percentile", random_state=1
    ).confidence_interval
    assert (low, high) == pytest.approx((known.low, known.high), abs=0.15 * standard_error(a - b))


def test_bootstrap_ci_is_the_same_each_time_and_follows_its_seed() -> None:
    a, b = SCORES[:, 0], SCORES[:, 1]
    assert bootstrap_ci(a, b) == bootstrap_ci(list(a), list(b), 1000, 0.95, 0)
    assert bootstrap_ci(a, b) != bootstrap_ci(a, b, seed=1)
    narrow, wide = bootstrap_ci(a, b, confidence=0.8), bootstrap_ci(a, b, confidence=0.99)
    assert wide[1] < narrow[1] < narrow[2] < wide[2]


def test_bootstrap_ci_of_equal_scores_and_of_one_resample() -> None:
    assert bootstrap_ci([0.5, 1.0], [0.5, 1.0]) == (0.0, 0.0, 0.0)
    _, low, high = bootstrap_ci([0.5, 1.0, 0.25], [0.0, 1.0, 0.5], n_bootstrap=1)
    assert low == high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bootstrap_ci([1.0, 0.5], [1.0]),
            "there are 2 scores of A and 1 of B: give one of each for the same queries",
        ),
        (lambda: bootstrap_ci([], []), "there are 0 scores of A and 0 of B: give one of each for the same queries"),
        (
            lambda: bootstrap_ci([1.0, float("nan")], [1.0, 0.0]),
            "1 of 2 scores of A are NaN or infinite: leave those queries out, and say how many they were",
        ),
        (
            lambda: bootstrap_ci([1.0, 0.0], [1.0, float("nan")]),
            "1 of 2 scores of B are NaN or infinite: leave those queries out, and say how many they were",
        ),
        (lambda: bootstrap_ci([1.0], [0.5], n_bootstrap=0), "n_bootstrap is 0: give 1 or more"),
        (
            lambda: bootstrap_ci([1.0], [0.5], confidence=95),
            "confidence is 95: give a share between 0 and 1, such as 0.95",
        ),
        (lambda: bootstrap_distribution([]), "there are no differences: the bootstrap needs at least one query"),
        (
            lambda: bootstrap_limits([0.0, float("nan")]),
            "1 of 2 differences are NaN or infinite: leave those queries out, and say how many they were",
        ),
        (lambda: bootstrap_limits([0.0], 1.0), "confidence is 1.0: give a share between 0 and 1, such as 0.95"),
        (lambda: bootstrap_distribution([0.0, 1.0]).quantile(0), "p is 0: give a share between 0 and 1, such as 0.95"),
        (
            lambda: resample_means([0.5, 1.0], 10, 0),
            "values have the shape (2,): give at least one query, shape (queries, columns)",
        ),
        (
            lambda: resample_means(np.zeros((0, 2)), 10, 0),
            "values have the shape (0, 2): give at least one query, shape (queries, columns)",
        ),
        (
            lambda: resample_means([[float("nan")]], 10, 0),
            "some values are NaN or infinite: leave those queries out, and say how many they were",
        ),
        (
            lambda: resample_means([[1.0]], 0, 0),
            "resamples is 0 and seed is 0: give 1 resample or more, and a seed of 0 or more",
        ),
        (
            lambda: resample_means([[1.0]], 10, -1),
            "resamples is 10 and seed is -1: give 1 resample or more, and a seed of 0 or more",
        ),
    ],
)
def test_what_cannot_be_used_by_the_bootstrap_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as refused:
        call()
    assert str(refused.value) == message
