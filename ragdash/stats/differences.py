"""Paired differences as every statistic here takes them: finite, with ties and constancy seen through rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

TIE = 1e-12
"""|d| up to this is a tie: 0.1 + 0.2 is not better than 0.3."""


def finite(values: ArrayLike, what: str = "differences") -> Floats:
    """Values as a float array (queries,).

    Raises ValueError where they are not one-dimensional, or where some are NaN or infinite, with their number.

    >>> finite([0.5, float("nan"), 0.25])
    Traceback (most recent call last):
    ValueError: 1 of 3 differences are NaN or infinite: leave those queries out, and say how many they were
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{what} have the shape {array.shape}: give one number a query, shape (queries,)")
    undefined = array.size - int(np.isfinite(array).sum())
    if undefined:
        found = f"{undefined:,} of {array.size:,} {what} are NaN or infinite"
        raise ValueError(f"{found}: leave those queries out, and say how many they were")
    return array


def standard_deviation(values: Floats) -> float:
    """The sample standard deviation (n − 1) of (queries,) values, n ≥ 2; 0.0 where it is only rounding.

    Scores 0.5 and 0.6 everywhere leave a deviation of 1.4e-17, from which a t of 4.7e15 would follow.

    >>> standard_deviation(np.full(30, 0.6) - 0.5)
    0.0
    """
    deviation = float(np.std(values, ddof=1))
    return deviation if deviation >= TIE * max(1.0, float(np.abs(values).max())) else 0.0


def check_share(name: str, value: float) -> None:
    """Refuse a confidence, power or level outside 0 to 1, as a ValueError."""
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value}: give a share between 0 and 1, such as 0.95")
