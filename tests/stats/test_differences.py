"""What counts as a difference, a tie, and no spread."""

from __future__ import annotations

import numpy as np
import pytest

from ragdash.stats.differences import check_share, finite, standard_deviation


def test_undefined_differences_are_refused_with_their_number() -> None:
    with pytest.raises(ValueError) as refused:
        finite([0.1, float("nan"), float("inf"), 0.2])
    found = "2 of 4 differences are NaN or infinite: leave those queries out, and say how many they were"
    assert str(refused.value) == found


def test_a_table_is_not_one_number_a_query() -> None:
    with pytest.raises(ValueError) as refused:
        finite(np.zeros((3, 2)), "values")
    assert str(refused.value) == "values have the shape (3, 2): give one number a query, shape (queries,)"


def test_no_differences_are_fine() -> None:
    assert finite([]).shape == (0,)


@pytest.mark.parametrize(
    ("values", "deviation"),
    [
        ([0.0, 0.0], 0.0),
        (np.full(30, 0.6) - 0.5, 0.0),
        (np.full(30, 1e6) + np.tile([0.1 + 0.2, 0.3], 15), 0.0),
        ([0.0, 1e-11], 1e-11 / 2**0.5),
        ([1.0, 2.0, 3.0], 1.0),
    ],
)
def test_a_deviation_that_is_rounding_is_zero(values: list[float], deviation: float) -> None:
    assert standard_deviation(np.asarray(values)) == pytest.approx(deviation, rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0, 95.0, -0.1, float("nan")])
def test_a_share_lies_between_0_and_1(share: float) -> None:
    with pytest.raises(ValueError) as refused:
        check_share("confidence", share)
    assert str(refused.value) == f"confidence is {share}: give a share between 0 and 1, such as 0.95"
