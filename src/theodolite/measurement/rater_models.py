"""Models of annotators' errors: Dawid-Skene and MACE."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.measurement.labels import Label, label_text, scale_points

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
GivenLabels = Sequence[tuple[Hashable, Hashable, Label]]
"""Triples (unit, rater, label); a rater may label a unit more than once."""

ENOUGH: Final = 1e-9
"""Rise of the log likelihood a label below which the search has arrived."""

TINY: Final = 1e-300
"""A probability that is as good as none."""

FEW_UNITS: Final = 2_000
"""Units up to which each is searched for itself; count."""

MOST_CELLS: Final = 20_000_000
"""Cells of units and raters up to which units that are labelled alike are put together; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterModel:
    """Estimates about raters, if each unit has one true label and raters err independently.

    Attributes:
        raters: Names, in the order of their first label.
        units: Names, likewise.
        categories: The points of the scale.
        prevalence: Share of each true label; shape (categories,).
        errors: How often each rater gives which label to which true one, shape
            (raters, true, given); rows add up to 1. For MACE, what follows from
            competence and guessing.
        competence: Share of a rater's labels that are no guess (MACE), or that
            fit the true label beyond chance (Dawid-Skene); by rater.
        beliefs: How likely each true label of each unit is, shape (units, categories).
        log_likelihood: Of the labels at the fit.
        rounds: Rounds of the search; count.
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
    """Fit every rater's own errors and the true labels at once (Dawid and Skene).

    A diagnostic of raters: who mixes up what. Its beliefs are no labels, since
    it takes disagreement as error, and people may disagree with good reason.

    Args:
        labels: Triples (unit, rater, label).
        categories: The full scale.
        smoothing: Labels added to each cell of everyone's errors, for raters
            with few; count.
        most_rounds: Rounds of the search at most; count.

    Returns:
        The model at a peak of the likelihood, found from the shares of labels.

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
    # A rater who fits no better than its own habits would has no competence to show.
    competence = np.where(chance < 1.0 - 1e-12, (right - chance) / np.maximum(1.0 - chance, 1e-12), 0.0)
    return coded.model(prevalence, errors, competence, beliefs, (float(reached), rounds))


def mace(
    labels: GivenLabels, *, categories: Sequence[Label], smoothing: float = 0.1, most_rounds: int = 1_000
) -> RaterModel:
    """Fit how often every rater looks rather than guesses, and the true labels at once (MACE).

    Two numbers a rater and a habit, so it works where raters gave few labels
    each. A diagnostic of who does not look; its beliefs are no labels.

    Args:
        labels: Triples (unit, rater, label).
        categories: The full scale.
        smoothing: Labels added to looks, guesses and each habit; count above 0.
        most_rounds: Rounds of the search at most; count.

    Returns:
        The model at a peak of the likelihood, found from the shares of labels.

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
        # How likely each label is a look and no guess, given what the unit may be.
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
    """Labels by numbers: shape (labels,) each. Many units with the same labels by the same raters are one of them.

    Attributes:
        unit: The unit, or all units that are labelled alike.
        rater: The rater.
        label: The label.
        weight: Units that are labelled so; counts, shape (kinds of units,).
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
        given = [(unit, rater, text) for unit, rater, label in labels if (text := label_text(label)) is not None]
        strange = sorted({text for _, _, text in given} - set(points))
        if strange or not given:
            message = f"`labels` must hold labels of {list(points)}; got {strange or 'none'}"
            raise InputError(message)
        units, raters = (tuple(dict.fromkeys(triple[place] for triple in given)) for place in (0, 1))
        places = [{name: number for number, name in enumerate(names)} for names in (units, raters, points)]
        columns = [
            np.array([table[triple[place]] for triple in given], dtype=np.int64) for place, table in enumerate(places)
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
        found: Floats = self.weight @ beliefs / self.weight.sum() if len(beliefs) < len(self.kind) else beliefs.mean(0)
        return found

    def shares(self) -> Floats:
        """Return the shares of each unit's labels, shape (units, categories)."""
        q = len(self.categories)
        counts = np.bincount(self.unit * q + self.label, minlength=len(self.weight) * q).reshape(-1, q)
        shares: Floats = counts.astype(np.float64) / counts.sum(axis=1, keepdims=True)
        return shares

    def errors(self, beliefs: Floats, smoothing: float) -> Floats:
        """Return how often each rater gives which label to which true one, shape (raters, true, given)."""
        q = len(self.categories)
        place, size = self.rater * q + self.label, len(self.raters) * q
        weight = beliefs[self.unit] * self.weight[self.unit, None]
        counts = np.stack([np.bincount(place, weight[:, k], size).reshape(-1, q) for k in range(q)], axis=1)
        smoothed = counts.astype(np.float64) + smoothing
        total = smoothed.sum(axis=2, keepdims=True)
        # Of a true label that a rater never met nothing is known.
        errors: Floats = np.where(total > 0.0, smoothed / np.maximum(total, TINY), 1.0 / q)
        return errors

    def beliefs(self, log_prevalence: Floats, log_errors: Floats) -> tuple[Floats, float]:
        """Return how likely each true label of each unit is, and the log likelihood of all labels."""
        told = log_errors[self.rater, :, self.label]
        n = len(self.weight)
        logs = np.stack([np.bincount(self.unit, told[:, k], n) for k in range(told.shape[1])], axis=1) + log_prevalence
        most = logs.max(axis=1, keepdims=True)
        likely = np.exp(logs - most)
        total = likely.sum(axis=1, keepdims=True)
        return likely / total, float((self.weight[:, None] * (most + np.log(total))).sum())

    def model(
        self, prevalence: Floats, errors: Floats, competence: Floats, beliefs: Floats, end: tuple[float, int]
    ) -> RaterModel:
        """Return the model with names for numbers."""
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

    A few raters label many units in few ways; the search then costs as much as there are ways.

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
