"""The smallest detectable difference and the queries it takes, against the noncentral t distribution."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragdash.stats.planning import queries_needed, smallest_detectable


def power_of(sd: float, n: int, difference: float, alpha: float = 0.05) -> float:
    """The probability that a paired t-test of n queries is significant, by the noncentral t."""
    edge, shift = stats.t.ppf(1 - alpha / 2, n - 1), difference / sd * math.sqrt(n)
    return float(stats.nct.sf(edge, n - 1, shift) + stats.nct.cdf(-edge, n - 1, shift))


@pytest.mark.parametrize("n", [10, 20, 50, 200, 1000])
def test_the_smallest_detectable_difference_is_detected_so_often(n: int) -> None:
    for power in (0.8, 0.9):
        assert power_of(0.3, n, smallest_detectable(0.3, n, power)) == pytest.approx(power, abs=0.012 / (n / 10))


@pytest.mark.parametrize("n", [2, 10, 200])
def test_it_is_two_quantiles_of_students_t(n: int) -> None:
    known = (stats.t.ppf(0.995, n - 1) + stats.t.ppf(0.9, n - 1)) * 0.3 / n**0.5
    assert smallest_detectable(0.3, n, power=0.9, alpha=0.01) == pytest.approx(known, rel=1e-9)


@given(sd=st.floats(0.01, 1), difference=st.floats(0.005, 1))
def test_the_queries_needed_are_the_fewest(sd: float, difference: float) -> None:
    n = queries_needed(sd, difference)
    assert smallest_detectable(sd, n) <= difference * (1 + 1e-9)
    assert n == 2 or smallest_detectable(sd, n - 1) > difference


@given(st.floats(0.01, 1), st.integers(2, 1000), st.floats(0.1, 100))
def test_a_metric_in_another_unit_gives_the_same_answer(sd: float, n: int, unit: float) -> None:
    assert smallest_detectable(sd * unit, n) == pytest.approx(unit * smallest_detectable(sd, n), rel=1e-12)


def test_without_spread_everything_is_seen() -> None:
    assert smallest_detectable(0.0, 10) == 0.0
    assert queries_needed(0.0, 0.01) == 2


@pytest.mark.parametrize("n", [0, 1])
def test_one_query_detects_nothing_that_could_be_named(n: int) -> None:
    assert math.isnan(smallest_detectable(0.3, n))


def test_very_small_differences_end() -> None:
    assert queries_needed(0.3, 1e-9) == pytest.approx((2.8015852 * 0.3e9) ** 2, rel=1e-6)


def test_what_cannot_be_planned_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^sd is -1: give the standard deviation of the differences, 0 or more$"):
        smallest_detectable(-1, 10)
    with pytest.raises(ValueError, match=r"^difference is 0: give the size worth detecting, above 0$"):
        queries_needed(0.3, 0)
    with pytest.raises(ValueError, match=r"^power is 1: give a share between 0 and 1, such as 0\.95$"):
        queries_needed(0.3, 0.1, power=1)
    with pytest.raises(ValueError, match=r"^alpha is 5: give a share between 0 and 1, such as 0\.95$"):
        smallest_detectable(0.3, 10, alpha=5)


def test_golden_sample_sizes_by_the_noncentral_t(shared: Path) -> None:
    rows = json.loads((shared / "data/stats/sample_size.json").read_text(encoding="utf-8"))["rows"]
    assert [queries_needed(row["sd"], row["delta"]) for row in rows] == [row["n_two_sided_5_power_80"] for row in rows]


def test_golden_smallest_detectable_differences(shared: Path) -> None:
    """The goldens are the noncentral t's; the two-quantile formula stays within 0.1 % of them."""
    cases = json.loads((shared / "data/stats/paired.json").read_text(encoding="utf-8"))["cases"]
    for case in cases.values():
        expect = case["expect"]
        assert smallest_detectable(expect["sd"], expect["n"]) == pytest.approx(expect["mde_80"], rel=1e-3)
