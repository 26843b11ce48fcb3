"""Interval formulas: quantiles, Wilson, Clopper-Pearson, chance-corrected statistics, beta-binomial model."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, ndtri, stdtrit

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate

Ends = tuple[float, float]
"""Lower and upper end of an interval."""

LARGEST_EXPONENT = 50.0
"""Intervals beyond e**50 are meaningless; the bound keeps floats finite."""

SMALLEST_ERROR = 1e-6
"""Standard errors below this are rounding."""

SMALLEST_RATIO = 1e-9
"""Ratios of disagreement below this are rounding."""


def check_confidence(confidence: float) -> None:
    """Reject a coverage that is not a fraction between 0 and 1.

    Raises:
        InputError: If it is not.
    """
    if not 0.0 < confidence < 1.0:
        message = f"`confidence` must be a fraction between 0 and 1, e.g. 0.95; got {confidence!r}"
        raise InputError(message)


def whole_count(value: SupportsIndex, name: str) -> int:
    """Return a count as an int.

    Args:
        value: The value; an integer, at least 0.
        name: Its name in messages.

    Raises:
        InputError: If it is not an integer or is below 0.
    """
    try:
        count = operator.index(value)
    except TypeError:
        message = f"`{name}` must be a whole number; got {value!r}"
        raise InputError(message) from None
    if count < 0:
        message = f"`{name}` must be 0 or more; got {count}"
        raise InputError(message)
    return count


def normal_quantile(confidence: float) -> float:
    """Return z so that a standard normal variable is within -z..z with this probability."""
    return float(ndtri((1.0 + confidence) / 2.0))


def student_quantile(confidence: float, degrees: float) -> float:
    """Return t so that Student's variable is within -t..t with this probability."""
    return float(stdtrit(degrees, (1.0 + confidence) / 2.0))


def wilson(count: int, n: int, confidence: float) -> Ends:
    """Return Wilson's score interval of `count` in `n` independent units; fractions.

    (p + z2/2n -+ z sqrt(p(1-p)/n + z2/4n2)) / (1 + z2/n), with z2 = z**2.
    """
    z = normal_quantile(confidence)
    share = count / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At the edges rounding would leave 1e-17 where the formula gives 0.
    low = 0.0 if count == 0 else (middle - spread) / scale
    high = 1.0 if count == n else (middle + spread) / scale
    return low, high


def clopper_pearson(count: int, n: int, confidence: float) -> Ends:
    """Return the exact interval of `count` in `n` independent units; fractions.

    Quantiles (1-c)/2 of Beta(k, n-k+1) and (1+c)/2 of Beta(k+1, n-k).
    """
    tail = (1.0 - confidence) / 2.0
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, tail))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1.0 - tail))
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Concord:
    """Observed agreement, for intervals without variation.

    Attributes:
        agreeing: Units with unanimous labels; count.
        n: Units; count, at least 1.
        chance: Share of pairs that would agree by chance; fraction below 1.
        clusters: Pairs (agreeing, units), one per cluster; None = units are independent.
    """

    agreeing: int
    n: int
    chance: float
    clusters: Sequence[tuple[int, int]] | None = None

    def ends(self, confidence: float) -> Ends:
        """Return an interval for the share of units with unanimous labels; fractions."""
        if self.clusters is None:
            return wilson(self.agreeing, self.n, confidence)
        return clustered_share(self.clusters).ends(confidence)


def corrected_for_chance(value: float, error: float, quantile: float, concord: Concord, confidence: float) -> Ends:
    """Return an interval for a statistic that is 1 minus a ratio of disagreements.

    The ratio is positive and skewed, so its logarithm is treated as
    normal: the interval then never exceeds 1 and keeps its coverage near 1. If the
    data show no variation at all (full agreement) a standard error of 0 would
    claim certainty; an interval of the share of agreeing units (Wilson's, or of
    clusters) takes its place, with the chance level fixed.

    Args:
        value: The statistic; at most 1.
        error: Its standard error; 0 or more.
        quantile: Number of standard errors to each side; from the normal or Student's t distribution.
        concord: Observed agreement.
        confidence: Coverage; fraction.

    Returns:
        Ends within -1..1 (or the value itself, if that is lower).
    """
    ratio = 1.0 - value
    if rests_on_wilson(value, error):
        low, high = ((end - concord.chance) / (1.0 - concord.chance) for end in concord.ends(confidence))
    else:
        step = math.exp(min(quantile * error / ratio, LARGEST_EXPONENT))
        low, high = 1.0 - ratio * step, 1.0 - ratio / step
    return min(max(low, -1.0), value), max(min(high, 1.0), value)


def rests_on_wilson(value: float, error: float) -> bool:
    """Return whether the data show too little variation for a standard error.

    An error of exactly 0 is computed as the root of a rounding error.
    """
    return error < SMALLEST_ERROR or 1.0 - value < SMALLEST_RATIO


CORRECTED: Final = "agreement beyond chance; 1 is perfect, 0 is chance"
"""Unit of statistics that are corrected for chance."""

BY_WILSON: Final = "wilson, chance level fixed"
"""Name of the interval if annotators agree on all units or on none."""

BY_BETA_BINOMIAL: Final = "beta-binomial, chance level fixed"
"""Name of that interval for clustered units."""


def beyond_chance(
    value: float, error: float, quantile: float, concord: Concord, *, confidence: float, method: str
) -> Estimate:
    """Return the estimate of a statistic that is corrected for chance.

    Args:
        value: The statistic.
        error: Its standard error.
        quantile: Number of standard errors to each side.
        concord: Observed agreement.
        confidence: Coverage of the interval; fraction.
        method: Method of the standard error.
    """
    low, high = corrected_for_chance(value, error, quantile, concord, confidence)
    fixed = BY_WILSON if concord.clusters is None else BY_BETA_BINOMIAL
    return Estimate(
        value=value,
        low=low,
        high=high,
        confidence=confidence,
        n=concord.n,
        unit=CORRECTED,
        method=fixed if rests_on_wilson(value, error) else f"{method}, logarithm of 1 - value",
        n_clusters=None if concord.clusters is None else len(concord.clusters),
    )


Floats = NDArray[np.float64]

CORRELATION_PRIOR = (0.8, 4.0)
"""Beta prior of the correlation within clusters: mostly small, mean 1/6."""

COARSE = 256
"""Cells of the first grid over shares, which only locates the mass."""

FINE = 512
"""Cells of the second grid over shares."""

CORRELATIONS = 64
"""Points of the grid over correlations."""

NEGLIGIBLE = 1e-10
"""Density relative to the highest below which a cell is omitted."""

LOGARITHMS = 10
"""Number of logarithms that take as long as one logarithm of the gamma function; count."""

CAUTION = 0.25
"""Exponent that the outer end adds to the prior of a rare share: halfway between Jeffreys' prior, whose
exponent is -1/2, and the prior of Clopper and Pearson's upper limit, whose exponent is 0."""

RARE = 0.4
"""Share of units from which the outer end needs no caution."""

BISECTIONS = 60
"""Number of bisection steps for a bound; each halves the error."""

Sizes = tuple[tuple[float, int], ...]
"""Pairs (units of a cluster, clusters of this size)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredShare:
    """The posterior of a share over clusters, with the correlation integrated out.

    Attributes:
        edges: Ends of the cells; angles whose squared sine is the share.
        mass: Probability up to each edge; fractions, shape of `edges`.
        correlation: Posterior mean of the correlation within clusters; fraction.
        correlations: Posterior weights of the correlations of the grid; fractions, shape (`CORRELATIONS`,).
        count: Units with the property; parts of a unit may occur.
        sizes: Number of clusters of each size.
    """

    edges: Floats
    mass: Floats
    correlation: float
    correlations: Floats
    count: float
    sizes: Sizes

    @property
    def n(self) -> float:
        """Units; count."""
        return sum(size * times for size, times in self.sizes)

    def quantile(self, fraction: float) -> float:
        """Return the quantile of the share at this fraction of the probability."""
        return float(np.sin(np.interp(fraction, self.mass, self.edges)) ** 2)

    def ends(self, confidence: float) -> tuple[float, float]:
        """Return the ends of the interval of the share; fractions.

        Equal tails of the posterior. If few units have the property, the
        posterior knows little about the correlation within clusters, and its
        upper end is too low for clusters that resemble each other strongly. So
        the prior of the upper end is more cautious there (`CAUTION`, fading out
        up to a share of `RARE`). The upper end for a count of 0 is
        `zero_count_bound`, and no upper end is below it. Likewise the lower end
        if few units lack the property.

        Args:
            confidence: Coverage; fraction in (0, 1).

        Source:
            Brown, Cai, DasGupta (2001), Statistical Science 16:101-133 (Jeffreys' prior, and limits of
            Clopper and Pearson as posteriors). Its coverage: benchmarks/COVERAGE.md.
        """
        tail, share = (1.0 - confidence) / 2.0, self.count / self.n
        bound = zero_count_bound(self.sizes, tail)
        if share <= 0.0:
            return 0.0, bound
        if share >= 1.0:
            return 1.0 - bound, 1.0
        low = self._cautious(1.0 - share, tail, np.cos)
        high = self._cautious(share, 1.0 - tail, np.sin)
        return min(low, 1.0 - bound, share), max(high, bound, share)

    def zero_count_bound(self, tail: float) -> float:
        """Return `zero_count_bound` over the posterior of the correlation, if a count above 0 informs it.

        Args:
            tail: Probability of observing none; fraction in (0, 1).
        """
        if self.count <= 0.0:
            return zero_count_bound(self.sizes, tail)
        return _share_of_none(self.sizes, tail, self.correlations)

    def _cautious(self, rare: float, fraction: float, side: Callable[[Floats], Floats]) -> float:
        """Return a quantile of the posterior times side**(2 c), with c the caution for a share as rare as this."""
        caution = CAUTION * max(1.0 - rare / RARE, 0.0)
        if caution == 0.0:
            return self.quantile(fraction)
        middles = (self.edges[:-1] + self.edges[1:]) / 2
        weights = np.diff(self.mass) * side(middles) ** (2.0 * caution)
        mass = np.concatenate(([0.0], np.cumsum(weights))) / weights.sum()
        return float(np.sin(np.interp(fraction, mass, self.edges)) ** 2)


def zero_count_bound(sizes: Sizes, tail: float) -> float:
    """Return the share at which units in clusters all lack the property with a probability of `tail`.

    The probability is the beta-binomial one, averaged over the prior of the
    correlation within clusters: a count of 0 itself does not show how much
    units of one cluster resemble each other. Correlation makes a count of 0 more
    likely, so the bound is never below that of independent units, 1 - tail**(1/n).

    Args:
        sizes: Pairs (units of a cluster, clusters of this size).
        tail: Probability of observing none; fraction in (0, 1).

    Source:
        Box (1980), Sampling and Bayes' Inference in Scientific Modelling and Robustness, Journal of the Royal
        Statistical Society A 143:383-430 (prior predictive probabilities); for independent units the exact bound
        of Clopper, Pearson (1934), Biometrika 26:404-413.
    """
    return _zero_count_bound(tuple(sorted(sizes)), tail)


@lru_cache(maxsize=4096)
def _zero_count_bound(sizes: Sizes, tail: float) -> float:
    if all(size == 1 for size, _ in sizes):
        return -math.expm1(math.log(tail) / sum(times for _, times in sizes))
    return _share_of_none(sizes, tail, _correlation_grid()[1])


def _share_of_none(sizes: Sizes, tail: float, weights: Floats) -> float:
    """Return the share at which no unit has the property with a probability of `tail`, averaged over correlations."""
    correlations, _ = _correlation_grid()
    concentration = (1.0 - correlations) / correlations
    whole = sum(times * (gammaln(concentration) - gammaln(concentration + size)) for size, times in sizes)

    def none_seen(share: float) -> float:
        rest = (1.0 - share) * concentration
        parts = sum(times * (gammaln(rest + size) - gammaln(rest)) for size, times in sizes)
        return float(weights @ np.exp(whole + parts))

    n = sum(size * times for size, times in sizes)
    low, high = -math.expm1(math.log(tail) / n), 1.0 - 1e-12
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if none_seen(middle) > tail else (low, middle)
    return high


def clustered_share(clusters: Iterable[tuple[int, int]]) -> ClusteredShare:
    """Return the posterior of the share of defects over clusters.

    Each cluster has its own share, drawn from a beta distribution around
    the common one. The likelihood is integrated over the correlation within
    clusters and combined with Jeffreys' prior for the share, which is flat in
    the angle whose squared sine is the share.

    Args:
        clusters: Pairs (defects, labelled), counts; labelled at least 1.
    """
    tallies = Counter(clusters)
    coarse = np.linspace(0.0, np.pi / 2, COARSE + 1)
    fine = np.linspace(*_where_the_mass_is(coarse, tallies), FINE + 1)
    joint = _joint_density(fine, tallies)
    density = joint.sum(axis=1)
    mass = np.concatenate(([0.0], np.cumsum(density))) / density.sum()
    correlations, _ = _correlation_grid()
    sizes = Counter[float]()
    for (_, labelled), times in tallies.items():
        sizes[labelled] += times
    return ClusteredShare(
        edges=fine,
        mass=mass,
        correlation=float((joint @ correlations).sum() / joint.sum()),
        correlations=joint.sum(axis=0) / joint.sum(),
        count=sum(defects * times for (defects, _), times in tallies.items()),
        sizes=tuple(sizes.items()),
    )


def _where_the_mass_is(edges: Floats, tallies: Counter[tuple[int, int]]) -> tuple[float, float]:
    density = _joint_density(edges, tallies).sum(axis=1)
    dense = np.flatnonzero(density > NEGLIGIBLE * density.max())
    return float(edges[max(dense[0] - 1, 0)]), float(edges[min(dense[-1] + 2, COARSE)])


def _joint_density(edges: Floats, tallies: Counter[tuple[int, int]]) -> Floats:
    """Return the posterior over (cell of share, correlation), highest cell 1."""
    angles = (edges[:-1] + edges[1:]) / 2
    correlations, weights = _correlation_grid()
    concentration = (1.0 - correlations) / correlations
    log_density = _log_likelihood(np.sin(angles)[:, None] ** 2, np.cos(angles)[:, None] ** 2, concentration, tallies)
    log_density = log_density + np.log(weights)
    density: Floats = np.exp(log_density - log_density.max())
    return density


def _log_likelihood(share: Floats, rest: Floats, concentration: Floats, tallies: Counter[tuple[int, int]]) -> Floats:
    """Return the beta-binomial log likelihood up to a constant, shape (shares, correlations).

    Sum over clusters of ln B(d + a, s + b) - ln B(a, b) with a = share * concentration
    and b = (1 - share) * concentration; equal terms of different clusters are summed once.
    """
    return (
        _rising(share * concentration, _tally(tallies, lambda defects, _: defects))
        + _rising(rest * concentration, _tally(tallies, lambda defects, labelled: labelled - defects))
        - _rising(concentration, _tally(tallies, lambda _, labelled: labelled))
    )


def _rising(base: Floats, counts: dict[int, int]) -> Floats:
    """Return the sum of times * (ln G(base + count) - ln G(base)) over pairs (count, times); G is the gamma function.

    The difference for a count equals the sum of ln(base + i) over i < count. These logarithms are faster than
    ln G and lose no digits for large bases; ln G serves where counts are few and large, and for parts of defects.
    """
    total: Floats = np.zeros(base.shape)
    largest = max(counts, default=0)
    if largest <= LOGARITHMS * (len(counts) + 1) and all(float(count).is_integer() for count in counts):
        for i in range(int(largest)):
            total += sum(times for count, times in counts.items() if count > i) * np.log(base + i)
        return total
    for count, times in counts.items():
        total += times * gammaln(base + count)
    total -= sum(counts.values()) * gammaln(base)
    return total


def _tally(tallies: Counter[tuple[int, int]], of: Callable[[int, int], int]) -> dict[int, int]:
    counts: Counter[int] = Counter()
    for (defects, labelled), times in tallies.items():
        counts[of(defects, labelled)] += times
    return {count: times for count, times in counts.items() if count}


@lru_cache(maxsize=1)
def _correlation_grid() -> tuple[Floats, Floats]:
    """Return correlations from nearly 0 to nearly 1 and their prior weights.

    They are cubes of evenly spaced numbers, so densest near 0, where many or
    large clusters place the correlation; weights are the prior times the spacing.
    """
    steps = (np.arange(CORRELATIONS) + 0.5) / CORRELATIONS
    points: Floats = steps**3
    first, second = CORRELATION_PRIOR
    weights = points ** (first - 1.0) * (1.0 - points) ** (second - 1.0) * steps**2
    return points, weights / weights.sum()
