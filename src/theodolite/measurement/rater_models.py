"""Models of annotators' errors (Dawid-Skene, MACE) and agreement between groups of annotators."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.agreement import GroupAgreement
from theodolite.domain.undefined_reasons import (
    GROUP_TOO_SMALL,
    GROUP_WITHOUT_LABELS,
    GROUPS_WITHOUT_SHARED_UNIT,
    SAME_ANSWER,
)
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.comparison import adjust_p_values
from theodolite.measurement.interval import CORRECTED, Concord, beyond_chance, student_quantile, whole_count
from theodolite.measurement.kappa import label_indicators
from theodolite.measurement.labels import (
    ClusterIds,
    ClusterSums,
    Label,
    cluster_sizes,
    label_text,
    scale_points,
    selected_clusters,
)
from theodolite.measurement.proportion import mean_fraction

Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

GivenLabels = Sequence[tuple[Hashable, Hashable, Label]]
"""Triples (unit, rater, label); a rater may label a unit more than once."""

ENOUGH: Final = 1e-9
"""Increase of the log likelihood per label below which the search has converged."""

TINY: Final = 1e-300
"""Probabilities below this count as 0."""

FEW_UNITS: Final = 2_000
"""Maximum number of units that are processed one by one; count."""

MOST_CELLS: Final = 20_000_000
"""Maximum number of cells (units times raters) for grouping equally labelled units; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterModel:
    """Estimates about raters, if each unit has one true label and raters err independently.

    Attributes:
        raters: Names, in the order of their first label.
        units: Names, likewise.
        categories: The points of the scale.
        prevalence: Share of each true label; shape (categories,).
        errors: Frequency of each rater's labels by true label, shape
            (raters, true, given); rows add up to 1. For MACE, the errors implied by
            competence and guessing.
        competence: Share of a rater's labels that are not guesses (MACE), or that
            fit the true label beyond chance (Dawid-Skene); by rater.
        beliefs: Probability of each true label of each unit, shape (units, categories).
        log_likelihood: Log likelihood of the labels at the fit.
        rounds: Number of iterations; count.
    """

    raters: tuple[Hashable, ...]
    units: tuple[Hashable, ...]
    categories: tuple[str, ...]
    prevalence: Floats
    errors: Floats
    competence: dict[Hashable, float]
    beliefs: Floats
    log_likelihood: float
    rounds: int


def dawid_skene(
    labels: GivenLabels, *, categories: Sequence[Label], smoothing: float = 0.0, most_rounds: int = 1_000
) -> RaterModel:
    """Estimate each rater's errors and the true labels together (Dawid and Skene).

    This is a diagnostic of raters: their confusions of labels. Its beliefs are not labels, because
    it treats disagreement as error, and people may disagree with good reason.

    Args:
        labels: Triples (unit, rater, label).
        categories: The full scale.
        smoothing: Labels added to each cell of everyone's errors, for raters
            with few; count.
        most_rounds: Maximum number of iterations; count.

    Returns:
        The model at a maximum of the likelihood, searched from the shares of labels.

    Raises:
        InputError: If there is no label, one is not on the scale, or smoothing
            is below 0.

    Example:
        >>> given = [(unit, rater, "y" if unit < 5 else "n") for unit in range(10) for rater in "ab"]
        >>> model = dawid_skene([*given, *[(unit, "c", "y") for unit in range(10)]], categories=["n", "y"])
        >>> model.prevalence.round(3).tolist(), round(model.competence["a"], 3), round(model.competence["c"], 3)
        ([0.5, 0.5], 1.0, 0.0)

    Source:
        Dawid, Skene (1979), Journal of the Royal Statistical Society C
        28:20-28. Golden values: tests/golden/dawid_skene.json.
    """
    if not smoothing >= 0.0:
        message = f"`smoothing` must be 0 or more labels; got {smoothing!r}"
        raise InputError(message)
    coded = _Coded.of(labels, categories)
    beliefs, height, rounds = coded.shares(), -np.inf, 0
    while True:
        prevalence, errors = coded.mean(beliefs), coded.errors(beliefs, smoothing)
        beliefs, reached = coded.beliefs(np.log(np.maximum(prevalence, TINY)), np.log(np.maximum(errors, TINY)))
        rounds += 1
        if reached - height < ENOUGH * coded.n_labels or rounds >= most_rounds:
            break
        height = reached
    right = np.einsum("k,rkk->r", prevalence, errors)
    use = np.einsum("k,rkl->rl", prevalence, errors)
    chance = use @ prevalence
    # A rater whose labels fit no better than their own frequencies has no measurable competence.
    competence = np.where(chance < 1.0 - 1e-12, (right - chance) / np.maximum(1.0 - chance, 1e-12), 0.0)
    return coded.model(prevalence, errors, competence, beliefs, (float(reached), rounds))


def mace(
    labels: GivenLabels, *, categories: Sequence[Label], smoothing: float = 0.1, most_rounds: int = 1_000
) -> RaterModel:
    """Estimate each rater's competence and the true labels together (MACE).

    The model has few parameters per rater, so it works if raters gave few labels
    each. It is a diagnostic of careless raters; its beliefs are not labels.

    Args:
        labels: Triples (unit, rater, label).
        categories: The full scale.
        smoothing: Pseudo-counts for competence, guesses and each guessing habit; above 0.
        most_rounds: Maximum number of iterations; count.

    Returns:
        The model at a maximum of the likelihood, searched from the shares of labels.

    Raises:
        InputError: If there is no label, one is not on the scale, or smoothing
            is not above 0.

    Example:
        >>> given = [(unit, rater, "y" if unit < 5 else "n") for unit in range(10) for rater in "abd"]
        >>> model = mace([*given, *[(unit, "c", "y") for unit in range(10)]], categories=["n", "y"])
        >>> model.competence["a"] > 0.9 > 0.3 > model.competence["c"]
        True

    Source:
        Hovy, Berg-Kirkpatrick, Vaswani, Hovy (2013), Learning Whom to Trust with
        MACE, NAACL-HLT, pages 1120-1130.
    """
    if not smoothing > 0.0:
        message = f"`smoothing` must be above 0 labels; got {smoothing!r}"
        raise InputError(message)
    coded = _Coded.of(labels, categories)
    q = len(coded.categories)
    flat, beliefs = np.full(q, -np.log(q)), coded.shares()
    looks, habits = np.full(len(coded.raters), 0.5), np.full((len(coded.raters), q), 1.0 / q)
    height, rounds = -np.inf, 0
    while True:
        # Probability that each label is based on reading, given the unit's likely label.
        fits = beliefs[coded.unit, coded.label]
        copied = looks[coded.rater] / (
            looks[coded.rater] + (1.0 - looks[coded.rater]) * habits[coded.rater, coded.label]
        )
        weight = coded.weight[coded.unit]
        seen = fits * copied * weight
        total, looked = np.bincount(coded.rater, weight), np.bincount(coded.rater, seen)
        looks = (looked + smoothing) / (total + 2.0 * smoothing)
        guessed = np.full(habits.shape, smoothing)
        np.add.at(guessed, (coded.rater, coded.label), weight - seen)
        habits = guessed / guessed.sum(axis=1, keepdims=True)
        errors = looks[:, None, None] * np.eye(q) + (1.0 - looks)[:, None, None] * habits[:, None, :]
        beliefs, reached = coded.beliefs(flat, np.log(np.maximum(errors, TINY)))
        rounds += 1
        if abs(reached - height) < ENOUGH * coded.n_labels or rounds >= most_rounds:
            return coded.model(coded.mean(beliefs), errors, looks, beliefs, (float(reached), rounds))
        height = reached


@dataclass(frozen=True, slots=True, kw_only=True)
class _Coded:
    """Labels as numbers; shape (labels,) each. Units with the same labels by the same raters are one entry.

    Attributes:
        unit: The unit, or all units with the same labels.
        rater: The rater.
        label: The label.
        weight: Number of units with these labels; counts, shape (kinds of units,).
        kind: Kind of each unit; shape (units,).
        units: Names of the units.
        raters: Names of the raters.
        categories: The full scale.
    """

    unit: Whole
    rater: Whole
    label: Whole
    weight: Floats
    kind: Whole
    units: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    categories: tuple[str, ...]

    @classmethod
    def of(cls, labels: GivenLabels, categories: Sequence[Label]) -> _Coded:
        points = scale_points(categories)
        texts = [(unit, rater, text) for unit, rater, label in labels if (text := label_text(label)) is not None]
        strange = sorted({text for _, _, text in texts} - set(points))
        if strange or not texts:
            message = f"`labels` must hold labels of {list(points)}; got {strange or 'none'}"
            raise InputError(message)
        units, raters = (tuple(dict.fromkeys(triple[position] for triple in texts)) for position in (0, 1))
        positions = [{name: number for number, name in enumerate(names)} for names in (units, raters, points)]
        columns = [
            np.array([table[triple[position]] for triple in texts], dtype=np.int64)
            for position, table in enumerate(positions)
        ]
        kind, weight, rows = _kinds(columns[0], columns[1], columns[2], (len(units), len(raters)))
        return cls(
            unit=kind[columns[0][rows]],
            rater=columns[1][rows],
            label=columns[2][rows],
            weight=weight,
            kind=kind,
            units=units,
            raters=raters,
            categories=points,
        )

    @property
    def n_labels(self) -> float:
        """Labels of all units; count."""
        return float(self.weight[self.unit].sum())

    def mean(self, beliefs: Floats) -> Floats:
        """Return the mean of beliefs over units, shape (categories,)."""
        result: Floats = self.weight @ beliefs / self.weight.sum() if len(beliefs) < len(self.kind) else beliefs.mean(0)
        return result

    def shares(self) -> Floats:
        """Return the shares of each unit's labels, shape (units, categories)."""
        q = len(self.categories)
        counts = np.bincount(self.unit * q + self.label, minlength=len(self.weight) * q).reshape(-1, q)
        shares: Floats = counts.astype(np.float64) / counts.sum(axis=1, keepdims=True)
        return shares

    def errors(self, beliefs: Floats, smoothing: float) -> Floats:
        """Return each rater's frequency of each label by true label, shape (raters, true, given)."""
        q = len(self.categories)
        position, size = self.rater * q + self.label, len(self.raters) * q
        weight = beliefs[self.unit] * self.weight[self.unit, None]
        counts = np.stack([np.bincount(position, weight[:, k], size).reshape(-1, q) for k in range(q)], axis=1)
        smoothed = counts.astype(np.float64) + smoothing
        total = smoothed.sum(axis=2, keepdims=True)
        # Nothing is known about true labels that a rater never saw.
        errors: Floats = np.where(total > 0.0, smoothed / np.maximum(total, TINY), 1.0 / q)
        return errors

    def beliefs(self, log_prevalence: Floats, log_errors: Floats) -> tuple[Floats, float]:
        """Return the probability of each true label of each unit, and the log likelihood of all labels."""
        log_likelihoods = log_errors[self.rater, :, self.label]
        n = len(self.weight)
        logs = (
            np.stack(
                [np.bincount(self.unit, log_likelihoods[:, k], n) for k in range(log_likelihoods.shape[1])], axis=1
            )
            + log_prevalence
        )
        most = logs.max(axis=1, keepdims=True)
        likely = np.exp(logs - most)
        total = likely.sum(axis=1, keepdims=True)
        return likely / total, float((self.weight[:, None] * (most + np.log(total))).sum())

    def model(
        self, prevalence: Floats, errors: Floats, competence: Floats, beliefs: Floats, end: tuple[float, int]
    ) -> RaterModel:
        """Return the model with names instead of numbers."""
        return RaterModel(
            raters=self.raters,
            units=self.units,
            categories=self.categories,
            prevalence=prevalence,
            errors=errors,
            competence=dict(zip(self.raters, competence.tolist(), strict=True)),
            beliefs=beliefs[self.kind],
            log_likelihood=end[0],
            rounds=end[1],
        )


def _kinds(unit: Whole, rater: Whole, label: Whole, sizes: tuple[int, int]) -> tuple[Whole, Floats, Whole]:
    """Return the kind of each unit, the units of each kind, and the labels of one unit of each kind.

    A few raters label many units in few patterns; the cost then depends on the patterns.

    Args:
        unit: Unit of each label.
        rater: Rater of each label.
        label: The label.
        sizes: Number of units and of raters.
    """
    n_units, n_raters = sizes
    alone = np.arange(n_units), np.ones(n_units), np.arange(len(unit))
    is_repeated = len(np.unique(unit * n_raters + rater)) < len(unit)
    if n_units <= FEW_UNITS or n_units * n_raters > MOST_CELLS or is_repeated:
        return alone
    table = np.full((n_units, n_raters), -1, dtype=np.int64)
    table[unit, rater] = label
    _, first, kind, counts = np.unique(table, axis=0, return_index=True, return_inverse=True, return_counts=True)
    if len(first) > n_units // 2:
        return alone
    stands_for_kind = np.zeros(n_units, dtype=bool)
    stands_for_kind[first] = True
    return kind.reshape(-1), counts.astype(np.float64), np.flatnonzero(stands_for_kind[unit])


LABELS_GIVEN: Final = "fraction of labels given"
"""Unit of a group's defect rate."""


AT_ONCE: Final = 20_000_000
"""Maximum number of values in memory while raters change groups."""


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
    """Estimate every group's agreement within the group and with all other raters.

    A group that agrees more within itself than with others sees something that a
    majority would hide. A permutation test, which assigns raters to groups
    at random, shows whether that exceeds chance.

    Args:
        ratings: shape (raters, units); labels, None or NaN = missing.
        groups: The group of each rater.
        categories: The full scale; labels count as unordered.
        fewest: Smallest number of raters of a reported group; count, at least 2.
        draws: Random assignments of raters to groups; count.
        seed: Seed of the sample.
        confidence: Coverage of the intervals; fraction in (0, 1).
        clusters: Cluster of each unit; similar units share one; None if units are independent.

    Returns:
        One per group, in the order of their first rater; p-values are adjusted by
        Benjamini and Hochberg.

    Raises:
        InputError: If there is not one group per rater or a label is not on the scale.

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
    result = [
        _one_group(indicators, np.array([g == name for g in groups]), fewest, confidence, clusters) for name in names
    ]
    p_values = [
        _permutation_p(indicators, sum(g == name for g in groups), ratio, draws, seed) if ratio is not None else None
        for name, (_, _, ratio) in zip(names, result, strict=True)
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
        for name, (within, across, ratio), p in zip(names, result, p_values, strict=True)
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
        theirs: Labels of the other group, for the same units.
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
    """The defect rate according to each group of raters.

    Attributes:
        rates: By group: the share of its labels that are defects.
        gap: Highest minus lowest rate; None with fewer than two rates.
        p_value: Probability of a gap at least as wide if raters were assigned to groups at
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
    """Estimate the defect rate according to each group of raters, so that no majority hides a group's view.

    Args:
        ratings: shape (raters, units); whether the rater sees a defect, None = no label.
        groups: The group of each rater.
        fewest: Smallest number of raters of a reported group; count.
        draws: Random assignments of raters to groups; count.
        seed: Seed of the sample.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        Rates with intervals over raters, for these units; and the gap.

    Raises:
        InputError: If there is not one group per rater.

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
        raters = [position for position, group in enumerate(groups) if group == name]
        labels = [(float(x), position) for position in raters for x in ratings[position] if x is not None]
        rates[name] = (
            Undefined(reason=GROUP_TOO_SMALL, n=len(labels), unit=LABELS_GIVEN)
            if len(raters) < fewest
            else mean_fraction(
                [value for value, _ in labels],
                clusters=[position for _, position in labels],
                unit=LABELS_GIVEN,
                confidence=confidence,
                otherwise=GROUP_WITHOUT_LABELS,
            )
        )
    shown = [name for name in names if isinstance(rates[name], Estimate)]
    if len(shown) < 2:
        return GroupRates(rates=rates, gap=None, p_value=None)
    members = np.array([[group == name for group in groups] for name in shown])
    selected = members.any(axis=0)
    gap, p = _gap(totals[selected].astype(np.float64), members[:, selected], draws, seed)
    return GroupRates(rates=rates, gap=gap, p_value=p)


def _gap(totals: Floats, members: NDArray[np.bool_], draws: int, seed: int) -> tuple[float, float]:
    """Return the widest gap between groups' rates, and the share of random groupings with a gap at least as wide."""

    def widest(order: NDArray[np.int64]) -> float:
        sums = members.astype(np.float64) @ totals[order]
        rates = sums[:, 0] / np.maximum(sums[:, 1], 1.0)
        return float(rates.max() - rates.min())

    rng = np.random.default_rng(seed)
    observed = widest(np.arange(len(totals)))
    as_wide = sum(widest(rng.permutation(len(totals))) >= observed - 1e-12 for _ in range(draws))
    return observed, (1.0 + as_wide) / (1.0 + draws)


def _one_group(
    indicators: Floats, members: NDArray[np.bool_], fewest: int, confidence: float, clusters: ClusterIds | None
) -> tuple[Estimate | Undefined, Estimate | Undefined, float | None]:
    """Return agreement within a group, across, and their ratio."""
    if members.sum() < fewest:
        small = Undefined(reason=GROUP_TOO_SMALL, unit=CORRECTED)
        return small, small, None
    position = indicators[members] @ np.arange(indicators.shape[2])
    table = np.where(indicators[members].sum(axis=2) > 0, position, math.nan)
    within = krippendorff_alpha(table, confidence=confidence, clusters=clusters)
    across = _across(indicators[members].sum(axis=0), indicators[~members].sum(axis=0), clusters, confidence)
    if isinstance(within, Undefined) or isinstance(across, Undefined) or across.value <= 0.0:
        return within, across, None
    return within, across, within.value / across.value


def _across(ours: Floats, theirs: Floats, clusters: ClusterIds | None, confidence: float) -> Estimate | Undefined:
    """Return the agreement of two groups from the frequency of each label, shape (units, categories)."""
    met = (ours.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    clusters = selected_clusters(clusters, met.tolist())
    ours, theirs = ours[met], theirs[met]
    n = int(met.sum())
    if n == 0:
        return Undefined(reason=GROUPS_WITHOUT_SHARED_UNIT, unit=CORRECTED)
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
    """Return the share of random groupings with a ratio at least as far from the median of such ratios."""
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
