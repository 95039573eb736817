"""How small a difference a set of queries can see, and how many queries a difference needs."""

from __future__ import annotations

import math

from scipy.special import ndtri, stdtrit

from ragdash.stats.differences import check_share

ROUNDING = 1e-12


def smallest_detectable(sd: float, n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The true mean difference that n queries show as significant with probability `power`, in units of the metric.

    (t(1 − alpha/2) + t(power)) × sd ÷ √n with n − 1 degrees of freedom, `sd` being the standard deviation of the
    per-query differences and `alpha` two-sided: within 0.1 % of the noncentral t from n = 10. NaN
    under two queries. Raises ValueError for a negative sd or shares outside 0 to 1.

    >>> round(smallest_detectable(0.25, 200), 4)
    0.0498
    """
    check_share("power", power)
    check_share("alpha", alpha)
    if not sd >= 0:
        raise ValueError(f"sd is {sd}: give the standard deviation of the differences, 0 or more")
    if n < 2:
        return math.nan
    return float(stdtrit(n - 1, 1 - alpha / 2) + stdtrit(n - 1, power)) * sd / math.sqrt(n)


def queries_needed(sd: float, difference: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """The fewest queries, 2 at least, whose `smallest_detectable` is at most `difference` (positive, same units).

    Raises ValueError for a difference that is not positive, and as `smallest_detectable` does.

    >>> queries_needed(0.25, 0.05)
    199
    """
    if not difference > 0:
        raise ValueError(f"difference is {difference}: give the size worth detecting, above 0")
    smallest_detectable(sd, 2, power, alpha)
    normal = float(ndtri(1 - alpha / 2) + ndtri(power)) * sd / difference
    n = max(2, math.ceil(normal**2)) if normal > 0 else 2
    while smallest_detectable(sd, n, power, alpha) > difference * (1 + ROUNDING):
        n += 1  # Student's t asks for a few more than the normal does
    return n
