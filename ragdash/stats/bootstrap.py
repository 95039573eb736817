"""The bootstrap of a mean: its limit for infinitely many resamples, and reproducible resampling.

The limit needs no seed and has no Monte-Carlo error. Resampling draws the same queries for every column, and gives the
same bits whichever columns are asked for, in which order, and however little memory it may use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragdash.stats.differences import TIE, Floats, check_share, finite, standard_deviation

# lcm(1, …, 16) × 25: in units of 1 over this, hits, RR@16, recall of up to 16 documents and decimals are integers.
FINEST_LATTICE = 18_018_000
MOST_LATTICE_POINTS = 1 << 17
REACH = 18.0  # standard errors that the grid spans, 9 on either side of the mean
BLOCK = 64  # resamples a stream of random numbers; part of what makes results reproducible, so never change it


@dataclass(frozen=True, eq=False)
class Distribution:
    """The distribution of a mean over resampled queries: `mean` (points,) ascending, `probability` (points,)."""

    mean: Floats
    probability: Floats

    def cdf(self, x: float) -> float:
        """The probability of a mean of at most `x`."""
        return float(self.probability[: np.searchsorted(self.mean, x + TIE, side="right")].sum())

    def cdf_before(self, x: float) -> float:
        """The probability of a mean of less than `x`."""
        return float(self.probability[: np.searchsorted(self.mean, x - TIE)].sum())

    def quantile(self, p: float) -> float:
        """The smallest mean whose cumulative probability is at least `p`."""
        check_share("p", p)
        point = np.searchsorted(np.cumsum(self.probability), p - TIE)
        return float(self.mean[min(int(point), self.mean.size - 1)])


def bootstrap_distribution(differences: ArrayLike) -> Distribution:
    """The distribution of the mean of n values drawn with replacement from (queries,) differences, B → ∞.

    It is the n-fold convolution of the differences' own distribution, by Fourier transform. Differences on a lattice
    (hits, reciprocal ranks, recall, decimals) stay on it and the result is exact to rounding. Others are each split
    over the two nearest points of a fine grid through 0, which keeps their mean and every tie: quantiles are then
    within 0.005 standard errors. Constant differences give one point. Raises ValueError for no or NaN differences.

    >>> coin = bootstrap_distribution([0.0, 1.0])
    >>> coin.mean.tolist(), coin.probability.round(12).tolist()
    ([0.0, 0.5, 1.0], [0.25, 0.5, 0.25])
    """
    d = finite(differences)
    if not d.size:
        raise ValueError("there are no differences: the bootstrap needs at least one query")
    spread = standard_deviation(d) if d.size > 1 else 0.0
    if spread == 0:
        return Distribution(np.array([d.mean()]), np.ones(1))
    d = np.where(np.abs(d) <= TIE, 0.0, d)
    lattice = _lattice_step(d, spread)
    step = lattice or min(0.02 * spread, spread * d.size**0.5 / 2048)
    first, probability = _convolved(np.rint(d / step) if lattice else d / step, spread / step)
    kept = probability > 1e-13  # less is rounding
    probability = probability[kept]
    return Distribution((first + np.flatnonzero(kept)) * (step / d.size), probability / probability.sum())


def _lattice_step(d: Floats, spread: float) -> float:
    """The largest step of which all differences are multiples; 0.0 where none is found or the grid would be long."""
    if float(np.abs(d).max()) >= 2.0**52 / FINEST_LATTICE:
        return 0.0
    scaled = d * FINEST_LATTICE
    whole = np.rint(scaled)
    if np.abs(scaled - whole).max() > 1e-6:
        return 0.0
    step = float(np.gcd.reduce(whole.astype(np.int64))) / FINEST_LATTICE
    return step if REACH * spread * d.size**0.5 <= MOST_LATTICE_POINTS * step else 0.0


def _convolved(d: Floats, spread: float) -> tuple[int, Floats]:
    """The sum of n draws from `d` (queries,), in grid steps: its first point and the probabilities (points,).

    The transform is circular: the grid is the whole range of the sum, or 9 standard errors to either side of its mean.
    """
    n = d.size
    cell = np.floor(d).astype(np.int64)
    upper = d - cell
    lowest, highest = n * int(cell.min()), n * (int(cell.max()) + 1)
    width = min(highest - lowest + 1, int(REACH * spread * n**0.5) + 1)
    size = 1 << max(width - 1, 1).bit_length()
    weight = np.bincount(cell % size, 1 - upper, size) + np.bincount((cell + 1) % size, upper, size)
    frequencies = np.fft.rfft(weight / n)
    audible = np.abs(frequencies) > 1e-18 ** (1 / n)
    power = np.zeros_like(frequencies)
    power[audible] = frequencies[audible] ** n
    first = max(lowest, min(round(float(d.sum())) - size // 2, highest + 1 - size))
    return first, np.roll(np.fft.irfft(power, size), -(first % size))


def bootstrap_limits(differences: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean of (queries,) differences for infinitely many resamples.

    Too narrow where fewer than about 40 queries changed: it stands beside the decision interval, not in its place.
    Raises ValueError for no or NaN differences, and for a confidence outside 0 to 1.

    >>> low, high = bootstrap_limits([0.0, 0.0, 0.5, -1 / 3, 1.0])
    >>> round(low, 12), round(high, 12)
    (-0.133333333333, 0.7)
    """
    check_share("confidence", confidence)
    distribution = bootstrap_distribution(differences)
    tail = (1 - confidence) / 2
    return distribution.quantile(tail), distribution.quantile(1 - tail)


def resample_means(values: ArrayLike, resamples: int, seed: int, budget: int = 64 * 2**20) -> Floats:
    """Means of resampled queries, (resamples, columns), of values (queries, columns); all columns see the same draws.

    Random numbers depend on the seed, the number of queries and the number of the resample alone, and values are scaled
    to integers, so that sums are exact: a column's results are the same bits alone, among others, in any order and
    under any memory `budget` (bytes). A value moves by at most 2^-51 × queries × the column's largest. Rows must come
    in an order that the file does not decide, such as sorted by query id. Raises ValueError for no queries, NaN, fewer
    than one resample or a negative seed.

    >>> one = resample_means([[0.0, 1.0], [1.0, 5.0], [0.5, 3.0], [0.25, 2.0]], 8, seed=1)
    >>> bool(np.all(one[:, 1] == 4 * one[:, 0] + 1))
    True
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.shape[0]:
        raise ValueError(f"values have the shape {table.shape}: give at least one query, shape (queries, columns)")
    if not np.isfinite(table).all():
        raise ValueError("some values are NaN or infinite: leave those queries out, and say how many they were")
    if resamples < 1 or seed < 0:
        raise ValueError(
            f"resamples is {resamples} and seed is {seed}: give 1 resample or more, and a seed of 0 or more"
        )
    n = table.shape[0]
    _, magnitude = np.frexp(np.abs(table).max(axis=0, initial=0.0))
    shift = 52 - n.bit_length() - magnitude
    whole = np.rint(np.ldexp(table, shift))
    sums = np.concatenate([counts @ whole for counts in _counts(n, resamples, seed, budget)])
    return np.asarray(np.ldexp(sums, -shift) / n)


def _counts(n: int, resamples: int, seed: int, budget: int) -> Iterator[Floats]:
    """How often each of n queries is drawn in each resample: (some resamples, queries), until there are enough."""
    at_once = max(1, min(BLOCK, budget // (32 * n)))
    for block, start in enumerate(range(0, resamples, BLOCK)):
        stream = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(n, block)))
        wanted = min(BLOCK, resamples - start)
        for done in range(0, wanted, at_once):
            yield _drawn(stream, n, min(at_once, wanted - done))


def _drawn(stream: np.random.PCG64, n: int, rows: int) -> Floats:
    """Counts of n draws for each of the next `rows` resamples of a stream, (rows, n).

    Raw output and our own mapping, because numpy keeps the streams of its bit generators stable, not its methods.
    """
    words = (n + 1) // 2
    raw = stream.random_raw(rows * words).astype("<u8", copy=False).view("<u4").reshape(rows, 2 * words)[:, :n]
    index: NDArray[np.uint64] = (raw.astype(np.uint64) * np.uint64(n)) >> np.uint64(32)
    index += (np.arange(rows, dtype=np.uint64) * np.uint64(n))[:, None]
    return np.bincount(index.view(np.int64).ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def bootstrap_ci(
    scores_a: ArrayLike, scores_b: ArrayLike, n_bootstrap: int = 1000, confidence: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """Mean A − mean B and its percentile bootstrap interval; note that ragdash's pages show B − A, the other way round.

    Plain seeded resampling of paired scores, (queries,) each; the limits are interpolated quantiles of `n_bootstrap`
    means. Raises ValueError for scores of different lengths, none, NaN, n_bootstrap under 1 or a confidence outside
    0 to 1.

    >>> mean, low, high = bootstrap_ci([1.0, 0.5, 0.5, 1.0], [0.5, 0.5, 0.0, 0.5])
    >>> mean, low, high
    (0.375, 0.125, 0.5)
    """
    a, b = finite(scores_a, "scores of A"), finite(scores_b, "scores of B")
    if a.size != b.size or not a.size:
        raise ValueError(f"there are {a.size:,} scores of A and {b.size:,} of B: give one of each for the same queries")
    if n_bootstrap < 1:
        raise ValueError(f"n_bootstrap is {n_bootstrap}: give 1 or more")
    check_share("confidence", confidence)
    means = resample_means((a - b)[:, None], n_bootstrap, seed)[:, 0]
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(a.mean() - b.mean()), float(low), float(high)
