"""Agreement within and between self-described groups of annotators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.agreeing import GroupAgreement
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.clusters import ClusterIds, ClusterSums, cluster_sizes, selected_clusters
from theodolite.measurement.comparison.significance import adjust_p_values
from theodolite.measurement.fraction import mean_fraction
from theodolite.measurement.interval import CORRECTED, Concord, beyond_chance, student_quantile, whole_count
from theodolite.measurement.kappa import label_indicators
from theodolite.measurement.labels import SAME_ANSWER, Label

Floats = NDArray[np.float64]

LABELS_GIVEN: Final = "fraction of labels given"
"""Unit of a group's defect rate."""

TOO_SMALL: Final = "The group has fewer raters than it takes to tell people from their group."
"""Why nothing is said of a group of very few."""

NEVER_MET: Final = "The group and the others labelled no unit together."
"""Why agreement across groups is undefined."""

AT_ONCE: Final = 20_000_000
"""Numbers held at once while raters change groups."""


def group_agreement(
    ratings: Sequence[Sequence[Label]],
    groups: Sequence[str],
    *,
    categories: Sequence[Label],
    fewest: int = 3,
    draws: int = 999,
    seed: int = 0,
    confidence: float = 0.95,
    clusters: ClusterIds | None = None,
) -> tuple[GroupAgreement, ...]:
    """Estimate for every group of raters how far it agrees within and with the rest.

    A group that agrees more with itself than with others sees something that a
    majority would hide. Whether that is more than chance is asked by giving
    raters their groups at random.

    Args:
        ratings: shape (raters, units); labels, None or NaN = missing.
        groups: The group of each rater.
        categories: The full scale; labels count as unordered.
        fewest: Raters below which nothing is said of a group; count, at least 2.
        draws: Ways to give raters groups at random; count.
        seed: Where the draws begin.
        confidence: Coverage of the intervals; fraction in (0, 1).
        clusters: What resembling units share, one a unit; None where units are independent.

    Returns:
        One a group, in the order of their first rater; p-values are adjusted by
        Benjamini and Hochberg.

    Raises:
        InputError: If there is not one group a rater or a label is not on the scale.

    Example:
        >>> ratings = [["y", "n", "y", "n"]] * 3 + [["y", "y", "n", "n"]] * 3
        >>> first, _ = group_agreement(ratings, ["a"] * 3 + ["b"] * 3, categories=["n", "y"])
        >>> first.within.value, round(first.across.value, 3)
        (1.0, 0.0)

    Source:
        Prabhakaran et al. (2023), GRASP, arXiv:2311.05074; across: Wong,
        Paritosh, Aroyo (2021), Cross-replication Reliability, ACL, pages
        7053-7065; within: Krippendorff (2011),
        https://repository.upenn.edu/asc_papers/43.
    """
    indicators = label_indicators(ratings, categories)
    if len(groups) != len(indicators):
        message = f"`groups` must name the group of each rater; got {len(groups)} for {len(indicators)}"
        raise InputError(message)
    if whole_count(fewest, "fewest") < 2:
        message = f"`fewest` must be 2 raters or more; got {fewest}"
        raise InputError(message)
    names = list(dict.fromkeys(groups))
    found = [
        _one_group(indicators, np.array([g == name for g in groups]), fewest, confidence, clusters) for name in names
    ]
    p_values = [
        _permutation_p(indicators, sum(g == name for g in groups), ratio, draws, seed) if ratio is not None else None
        for name, (_, _, ratio) in zip(names, found, strict=True)
    ]
    adjusted = iter(adjust_p_values([p for p in p_values if p is not None], method="bh"))
    return tuple(
        GroupAgreement(
            group=name,
            n_raters=sum(g == name for g in groups),
            within=within,
            across=across,
            ratio=ratio,
            p_value=p,
            adjusted_p_value=None if p is None else next(adjusted),
        )
        for name, (within, across, ratio), p in zip(names, found, p_values, strict=True)
    )


def cross_agreement(
    ours: Sequence[Sequence[Label]],
    theirs: Sequence[Sequence[Label]],
    *,
    categories: Sequence[Label],
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of two groups of raters beyond chance (XRR).

    Args:
        ours: shape (raters, units); labels of one group, None or NaN = missing.
        theirs: The same of the other group, of the same units.
        categories: The full scale; labels count as unordered.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage of the interval; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; with one rater each it is Cohen's kappa. n
        counts units that both groups labelled. `Undefined` when there is none,
        or both gave one label only.

    Raises:
        InputError: If rows differ in length or a label is not on the scale.

    Example:
        >>> a, b = ["y"] * 25 + ["n"] * 25, ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
        >>> round(cross_agreement([a], [b], categories=["n", "y"]).value, 6)
        0.4

    Source:
        Wong, Paritosh, Aroyo (2021), Cross-replication Reliability: An Empirical
        Approach to Interpreting Inter-rater Reliability, ACL, pages 7053-7065.
    """
    indicators = label_indicators([*ours, *theirs], categories)
    return _across(indicators[: len(ours)].sum(axis=0), indicators[len(ours) :].sum(axis=0), clusters, confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRates:
    """The defect rate as each group of raters sees it.

    Attributes:
        rates: By group: the share of its labels that are defects.
        gap: Highest minus lowest rate; None with fewer than two of them.
        p_value: Probability of a gap as wide if groups were made of raters at
            random; None likewise.
    """

    rates: dict[str, Estimate | Undefined]
    gap: float | None
    p_value: float | None


def defect_rates_by_group(
    ratings: Sequence[Sequence[bool | None]],
    groups: Sequence[str],
    *,
    fewest: int = 3,
    draws: int = 999,
    seed: int = 0,
    confidence: float = 0.95,
) -> GroupRates:
    """Estimate the defect rate as each group of raters sees it, so that no majority hides a group's.

    Args:
        ratings: shape (raters, units); whether the rater sees a defect, None = no label.
        groups: The group of each rater.
        fewest: Raters below which nothing is said of a group; count.
        draws: Ways to give raters groups at random; count.
        seed: Where the draws begin.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        Rates with intervals over raters, for these units; and the gap.

    Raises:
        InputError: If there is not one group a rater.

    Example:
        >>> ratings = [[True, True, False]] * 3 + [[False, False, False]] * 3
        >>> found = defect_rates_by_group(ratings, ["a"] * 3 + ["b"] * 3)
        >>> round(found.rates["a"].value, 3), round(found.gap, 3)
        (0.667, 0.667)

    Source:
        Intervals: Korn, Graubard (1998), Survey Methodology 24:193-201; gap:
        permutation of raters, after Fisher (1935), The Design of Experiments.
    """
    if len(groups) != len(ratings):
        message = f"`groups` must name the group of each rater; got {len(groups)} for {len(ratings)}"
        raise InputError(message)
    totals = np.array(
        [[sum(bool(x) for x in row if x is not None), sum(x is not None for x in row)] for row in ratings]
    )
    names = list(dict.fromkeys(groups))
    rates: dict[str, Estimate | Undefined] = {}
    for name in names:
        raters = [place for place, group in enumerate(groups) if group == name]
        labels = [(float(x), place) for place in raters for x in ratings[place] if x is not None]
        rates[name] = (
            Undefined(reason=TOO_SMALL, n=len(labels), unit=LABELS_GIVEN)
            if len(raters) < fewest
            else mean_fraction(
                [value for value, _ in labels],
                clusters=[place for _, place in labels],
                unit=LABELS_GIVEN,
                confidence=confidence,
                otherwise="The group gave no label.",
            )
        )
    shown = [name for name in names if isinstance(rates[name], Estimate)]
    if len(shown) < 2:
        return GroupRates(rates=rates, gap=None, p_value=None)
    members = np.array([[group == name for group in groups] for name in shown])
    kept = members.any(axis=0)
    gap, p = _gap(totals[kept].astype(np.float64), members[:, kept], draws, seed)
    return GroupRates(rates=rates, gap=gap, p_value=p)


def _gap(totals: Floats, members: NDArray[np.bool_], draws: int, seed: int) -> tuple[float, float]:
    """Return the widest gap of groups' rates, and how often raters at random give one as wide."""

    def widest(order: NDArray[np.int64]) -> float:
        sums = members.astype(np.float64) @ totals[order]
        rates = sums[:, 0] / np.maximum(sums[:, 1], 1.0)
        return float(rates.max() - rates.min())

    rng = np.random.default_rng(seed)
    found = widest(np.arange(len(totals)))
    as_wide = sum(widest(rng.permutation(len(totals))) >= found - 1e-12 for _ in range(draws))
    return found, (1.0 + as_wide) / (1.0 + draws)


def _one_group(
    indicators: Floats, members: NDArray[np.bool_], fewest: int, confidence: float, clusters: ClusterIds | None
) -> tuple[Estimate | Undefined, Estimate | Undefined, float | None]:
    """Return agreement within a group, across, and their ratio."""
    if members.sum() < fewest:
        small = Undefined(reason=TOO_SMALL, unit=CORRECTED)
        return small, small, None
    place = indicators[members] @ np.arange(indicators.shape[2])
    table = np.where(indicators[members].sum(axis=2) > 0, place, math.nan)
    within = krippendorff_alpha(table, confidence=confidence, clusters=clusters)
    across = _across(indicators[members].sum(axis=0), indicators[~members].sum(axis=0), clusters, confidence)
    if isinstance(within, Undefined) or isinstance(across, Undefined) or across.value <= 0.0:
        return within, across, None
    return within, across, within.value / across.value


def _across(ours: Floats, theirs: Floats, clusters: ClusterIds | None, confidence: float) -> Estimate | Undefined:
    """Return the agreement of two groups from how often each gave each label, shape (units, categories)."""
    met = (ours.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    clusters = selected_clusters(clusters, met.tolist())
    ours, theirs = ours[met], theirs[met]
    n = int(met.sum())
    if n == 0:
        return Undefined(reason=NEVER_MET, unit=CORRECTED)
    used = ours.sum(axis=0) / ours.sum(), theirs.sum(axis=0) / theirs.sum()
    chance = float(used[0] @ used[1])
    if chance >= 1.0:
        return Undefined(reason=SAME_ANSWER, n=n, unit=CORRECTED)
    sizes = ours.sum(axis=1), theirs.sum(axis=1)
    apart = 1.0 - (ours * theirs).sum(axis=1) / (sizes[0] * sizes[1])
    weight = sizes[0] + sizes[1]
    sums = ClusterSums.of_units(np.column_stack((apart * weight, weight, ours, theirs)), clusters)
    statistic = _cross_statistic(ours.shape[1])
    agree = (apart <= 1e-12).tolist()
    concord = Concord(agreeing=sum(agree), n=n, chance=chance, clusters=cluster_sizes(agree, clusters))
    return beyond_chance(
        float(statistic(sums.total)),
        sums.jackknife_error(statistic),
        student_quantile(confidence, max(sums.n - 1, 1)),
        concord,
        confidence=confidence,
        method="jackknife over units" if clusters is None else "jackknife over clusters",
    )


def _cross_statistic(q: int) -> Callable[[Floats], Floats]:
    def statistic(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            ours, theirs = sums[..., 2 : 2 + q], sums[..., 2 + q :]
            met = (ours * theirs).sum(axis=-1) / (ours.sum(axis=-1) * theirs.sum(axis=-1))
            value: Floats = 1.0 - sums[..., 0] / sums[..., 1] / (1.0 - met)
        return value

    return statistic


def _permutation_p(indicators: Floats, size: int, observed: float, draws: int, seed: int) -> float:
    """Return how often as many raters at random give a ratio as far from the middle of such ratios."""
    rng = np.random.default_rng(seed)
    n_raters, n_units, q = indicators.shape
    flat, everybody = indicators.reshape(n_raters, -1), indicators.sum(axis=0)
    at_once = max(AT_ONCE // (n_units * q), 1)
    ratios: list[float] = []
    for start in range(0, draws, at_once):
        members = np.argsort(rng.random((min(at_once, draws - start), n_raters)), axis=1) < size
        ours = (members.astype(np.float64) @ flat).reshape(-1, n_units, q)
        ratios += _ratios(ours, everybody - ours).tolist()
    valid = np.array([ratio for ratio in ratios if math.isfinite(ratio)])
    if not valid.size:
        return 1.0
    low, high = int(np.sum(valid <= observed + 1e-12)), int(np.sum(valid >= observed - 1e-12))
    return min(2.0 * (1.0 + min(low, high)) / (1.0 + valid.size), 1.0)


def _ratios(ours: Floats, theirs: Floats) -> Floats:
    """Return agreement within over agreement across, for tables of shape (draws, units, categories)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        labels, others = ours.sum(axis=2), theirs.sum(axis=2)
        pairs = labels >= 2
        observed = np.where(pairs, (labels**2 - (ours**2).sum(axis=2)) / (labels - 1.0), 0.0).sum(axis=1)
        used = (ours * pairs[:, :, None]).sum(axis=1)
        total = used.sum(axis=1)
        within = 1.0 - observed * (total - 1.0) / (total**2 - (used**2).sum(axis=1))
        met = (labels > 0) & (others > 0)
        apart = np.where(met, 1.0 - (ours * theirs).sum(axis=2) / (labels * others), 0.0)
        weight = np.where(met, labels + others, 0.0)
        mine, rest = (ours * met[:, :, None]).sum(axis=1), (theirs * met[:, :, None]).sum(axis=1)
        chance = (mine * rest).sum(axis=1) / (mine.sum(axis=1) * rest.sum(axis=1))
        across = 1.0 - (apart * weight).sum(axis=1) / weight.sum(axis=1) / (1.0 - chance)
        ratios: Floats = np.where(across > 0.0, within / across, np.nan)
    return ratios
