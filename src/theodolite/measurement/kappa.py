"""Chance-corrected agreement on categories: Cohen, Fleiss, Conger, Brennan-Prediger and Gwet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import ANNOTATOR_WITHOUT_LABELS, NO_PAIR, NO_SHARED_UNIT, SAME_ANSWER
from theodolite.measurement.interval import (
    CORRECTED,
    Concord,
    beyond_chance,
    check_confidence,
    normal_quantile,
    student_quantile,
)
from theodolite.measurement.labels import (
    ClusterIds,
    ClusterSums,
    Label,
    cluster_sizes,
    clusters_of_pairs,
    confusion_matrix,
    label_text,
    paired,
    scale_points,
    selected_clusters,
    shares_of,
)

Floats = NDArray[np.float64]

Chance = Callable[[Floats, Floats], Floats]
"""Computes the chance level from the category frequencies, shape (..., uses), and the weights."""

AGREED, SHARED, UNITS, USE = 0, 1, 2, 3
"""Indices of the sums: agreement, units with two labels, units, and then the category frequencies."""


def gwet_ac(
    ratings: Sequence[Sequence[Label]],
    *,
    categories: Sequence[Label],
    weights: Weights = "identity",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate agreement beyond chance with coefficients that a rare label does not depress: AC1 and AC2.

    If nearly all units get one label, kappa is low no matter how well annotators
    agree. AC1 is not, but it also stays high for a judge that misses half of
    the rare defects, so read it beside sensitivity and precision, never alone.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing.
        categories: The full scale in order, used or not.
        weights: `identity` is AC1; with the others it is AC2: `linear`,
            `quadratic`, `ordinal`, or `band`, which counts neighbours as agreeing.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the units with two labels or more.
        The interval is Gwet's linearisation (over clusters the jackknife) on
        the logarithm of 1 - value, with Student's t. `Undefined` when no unit
        has two labels.

    Raises:
        InputError: If rows differ in length, a label is not on the scale, or
            the weights are unknown.

    Example:
        >>> a, b = ["no"] * 8 + ["yes", "no"], ["no"] * 8 + ["no", "yes"]
        >>> round(gwet_ac([a, b], categories=["no", "yes"]).value, 3)
        0.756

    Source:
        Gwet (2008), British Journal of Mathematical and Statistical Psychology
        61:29-48, doi:10.1348/000711006X126600; weights: Gwet (2014), Handbook of
        Inter-Rater Reliability, 4th ed. Golden values: tests/golden/agreement.json.
    """
    table = RatingTable.of_ratings(ratings, categories, weights, clusters)
    return table.beyond(_gwet_chance, confidence=confidence)


def brennan_prediger(
    ratings: Sequence[Sequence[Label]],
    *,
    categories: Sequence[Label],
    weights: Weights = "identity",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate agreement beyond that of annotators who choose uniformly at random.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing.
        categories: The full scale in order, used or not.
        weights: Agreement weights, as for `gwet_ac`.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; interval as for `gwet_ac`. `Undefined` when
        no unit has two labels.

    Raises:
        InputError: As for `gwet_ac`.

    Example:
        >>> round(brennan_prediger([[1, 1, 2], [1, 2, 2]], categories=[1, 2]).value, 3)
        0.333

    Source:
        Brennan, Prediger (1981), Educational and Psychological Measurement
        41:687-699.
    """
    table = RatingTable.of_ratings(ratings, categories, weights, clusters)
    return table.beyond(_even_chance, confidence=confidence)


def conger_kappa(
    ratings: Sequence[Sequence[Label]],
    *,
    categories: Sequence[Label],
    weights: Weights = "identity",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of annotators who each use the labels with a constant frequency.

    Cohen's kappa for more than two annotators; unlike Fleiss' kappa it does not treat annotators
    as drawn anew for every unit.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing.
        categories: The full scale in order, used or not.
        weights: Agreement weights, as for `gwet_ac`.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; interval as for `gwet_ac`. `Undefined` when
        no unit has two labels or an annotator has none.

    Raises:
        InputError: As for `gwet_ac`.

    Example:
        >>> round(conger_kappa([[1, 1, 2, 2], [1, 2, 2, 2]], categories=[1, 2]).value, 3)
        0.5

    Source:
        Conger (1980), Psychological Bulletin 88:322-328; gaps: Gwet (2014), chapter 2.
    """
    table = RatingTable.of_ratings(ratings, categories, weights, clusters, by_annotator=True)
    return table.beyond(_conger_chance, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingTable:
    """Sums over units from which the agreement of several annotators is computed.

    Attributes:
        units: shape (units, sums): agreement of each, whether two labelled it,
            1, and its category frequencies.
        alike: Agreement credit of two categories.
        agreeing: Whether labels are unanimous, of units with two labels or more.
        shared: Clusters of these units; None = units are independent.
        clusters: Clusters of all units that have a label; likewise.
    """

    units: Floats
    alike: Floats
    agreeing: NDArray[np.bool_]
    shared: ClusterIds | None
    clusters: ClusterIds | None

    @classmethod
    def of_counts(
        cls, table: Floats, weights: str, clusters: ClusterIds | None, use: Floats | None = None
    ) -> RatingTable:
        """Build a table from the number of annotators who gave each unit each category.

        Args:
            table: shape (units, categories); counts.
            weights: Agreement weights.
            clusters: The cluster of each unit.
            use: shape (units, uses); None = the share of each category.
        """
        labelled = table.sum(axis=1) > 0
        clusters, table = selected_clusters(clusters, labelled.tolist()), table[labelled]
        labels, alike = table.sum(axis=1), agreement_weights(table.shape[1], weights)
        shared = labels >= 2
        pairs = np.maximum(labels * (labels - 1.0), 1.0)
        # Exactly 0 if all agree; a share of agreeing pairs would differ by rounding.
        apart = np.einsum("ik,kl,il->i", table, 1.0 - alike, table) / pairs
        agreement = np.where(shared, 1.0 - apart, 0.0)
        use = table / labels[:, None] if use is None else use[labelled]
        return cls(
            units=np.column_stack((agreement, shared, np.ones(len(table)), use)),
            alike=alike,
            agreeing=np.count_nonzero(table[shared], axis=1) == 1,
            shared=selected_clusters(clusters, shared.tolist()),
            clusters=clusters,
        )

    @classmethod
    def of_ratings(
        cls,
        ratings: Sequence[Sequence[Label]],
        categories: Sequence[Label],
        weights: str,
        clusters: ClusterIds | None,
        *,
        by_annotator: bool = False,
    ) -> RatingTable:
        """Build a table from labels; `by_annotator` stores each annotator's distribution of labels."""
        indicators = label_indicators(ratings, categories)
        table: Floats = indicators.sum(axis=0)
        # Each unit has one row with each annotator's labels, category by category.
        use = (
            np.moveaxis(indicators, 0, 1).reshape(indicators.shape[1], len(indicators) * indicators.shape[2])
            if by_annotator
            else None
        )
        return cls.of_counts(table, weights, clusters, use)

    def beyond(self, chance: Chance, *, confidence: float) -> Estimate | Undefined:
        """Return the agreement beyond a level of chance.

        Args:
            chance: Expected agreement of unrelated annotators.
            confidence: Coverage; fraction.
        """
        check_confidence(confidence)
        n = int(self.agreeing.size)
        if n == 0:
            return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)
        sums = ClusterSums.of_units(self.units, self.clusters)
        with np.errstate(invalid="ignore"):
            level = float(chance(self._use(sums.total), self.alike))
        if not level < 1.0:
            reason = ANNOTATOR_WITHOUT_LABELS if math.isnan(level) else SAME_ANSWER
            return Undefined(reason=reason, n=n, unit=CORRECTED)
        concord = Concord(
            agreeing=int(np.count_nonzero(self.agreeing)),
            n=n,
            chance=level,
            clusters=cluster_sizes(self.agreeing.tolist(), self.shared),
        )
        if self.clusters is None:
            error, method = self._linearised(sums, chance), "Gwet's linearisation"
        else:
            error, method = sums.jackknife_error(lambda parts: self._value(parts, chance)), "jackknife over clusters"
        quantile = student_quantile(confidence, max(sums.n - 1, 1))
        value = float(self._value(sums.total, chance))
        return beyond_chance(value, error, quantile, concord, confidence=confidence, method=method)

    def _use(self, sums: Floats) -> Floats:
        return sums[..., USE:] / sums[..., UNITS : UNITS + 1]

    def _value(self, sums: Floats, chance: Chance) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            level = chance(self._use(sums), self.alike)
            value: Floats = 1.0 - (1.0 - sums[..., AGREED] / sums[..., SHARED]) / (1.0 - level)
        return value

    def _linearised(self, sums: ClusterSums, chance: Chance) -> float:
        """Return Gwet's standard error, from the variance of the units' contributions.

        The contribution is the derivative of the statistic with respect to the unit, taken
        along the imaginary axis, which avoids a difference of nearly equal numbers.
        """
        n, total = sums.n, sums.total.astype(np.complex128)
        if n < 2:
            return 0.0
        step = 1e-20
        towards = total[None, :] + 1j * step * sums.parts
        level = chance(self._use(towards), self.alike)
        # Gwet treats the share of units with two labels as fixed.
        scale = total[UNITS] / total[SHARED]
        value = scale * (towards[:, AGREED] - level * towards[:, SHARED]) / (towards[:, UNITS] * (1.0 - level))
        return math.sqrt(float(((value.imag / step) ** 2).sum()) * n / (n - 1))


def label_indicators(ratings: Sequence[Sequence[Label]], categories: Sequence[Label]) -> Floats:
    """Return each annotator's labels of each unit, shape (annotators, units, categories); 0 or 1.

    Args:
        ratings: shape (annotators, units); labels, None or NaN = missing.
        categories: The full scale in order.

    Raises:
        InputError: If rows differ in length, there are fewer than two, or a
            label is not on the scale.
    """
    points = scale_points(categories)
    if isinstance(ratings, np.ndarray) and ratings.ndim == 2 and len(ratings) >= 2:
        indicators = _number_indicators(ratings, categories)
        if indicators is not None:
            return indicators
    lengths = sorted({len(row) for row in ratings})
    if len(ratings) < 2 or len(lengths) > 1:
        message = f"`ratings` must hold two annotators at least, rows equally long; got {len(ratings)} of {lengths}"
        raise InputError(message)
    texts = [[label_text(label) for label in row] for row in ratings]
    strange = sorted({text for row in texts for text in row if text is not None} - set(points))
    if strange:
        message = f"`categories` must hold every label, used or not: {list(points)}; got {strange}. Give the full scale"
        raise InputError(message)
    rows: dict[str | None, Floats] = {
        None: np.zeros(len(points)),
        **dict(zip(points, np.eye(len(points)), strict=True)),
    }
    table = np.array([[rows[text] for text in row] for row in texts], dtype=np.float64)
    return table.reshape(len(texts), lengths[0], len(points))


def _number_indicators(ratings: NDArray[np.generic], categories: Sequence[Label]) -> Floats | None:
    """Return each annotator's number for each unit; None if labels are not numbers or not on the scale."""
    if ratings.dtype.kind not in "iuf" or any(isinstance(point, str | None) for point in categories):
        return None
    table = ratings.astype(np.float64)
    indicators: Floats = (table[:, :, None] == np.array(categories, dtype=np.float64)).astype(np.float64)
    return indicators if indicators.sum() == np.count_nonzero(~np.isnan(table)) else None


def fleiss_chance(use: Floats, alike: Floats) -> Floats:
    """Return the probability that two labels from the common distribution agree: sum w_kl pi_k pi_l."""
    chance: Floats = np.einsum("...k,kl,...l->...", use, alike, use)
    return chance


def _gwet_chance(use: Floats, alike: Floats) -> Floats:
    """Return Gwet's chance agreement: sum w / (q (q - 1)) times sum pi_k (1 - pi_k)."""
    q = len(alike)
    chance: Floats = alike.sum() / (q * (q - 1)) * (use * (1.0 - use)).sum(axis=-1)
    return chance


def _even_chance(use: Floats, alike: Floats) -> Floats:
    """Return the chance agreement of uniform random choices: sum w / q^2."""
    level: Floats = np.full(use.shape[:-1], alike.mean())
    return level


def _conger_chance(use: Floats, alike: Floats) -> Floats:
    """Return the mean over pairs of annotators of sum w_kl p_gk p_hl, each with its own label frequencies."""
    labels = use.reshape(*use.shape[:-1], -1, len(alike))
    own = labels / labels.sum(axis=-1, keepdims=True)
    n = own.shape[-2]
    common = own.sum(axis=-2)
    alone = np.einsum("...gk,kl,...gl->...", own, alike, own)
    chance: Floats = (np.einsum("...k,kl,...l->...", common, alike, common) - alone) / (n * (n - 1))
    return chance


Weights = Literal["identity", "linear", "quadratic", "ordinal", "band"]

KNOWN: Final = ("identity", "linear", "quadratic", "ordinal", "band")


def agreement_weights(n_categories: int, weights: str) -> Floats:
    """Return the agreement credit of each pair of categories, shape (categories, categories).

    The diagonal is 1. `identity` gives no credit for any disagreement, `linear`
    and `quadratic` use its distance on the scale, `ordinal` the number of pairs
    of points within the distance, `band` gives neighbours full agreement.

    Args:
        n_categories: Points of the scale; at least 2.
        weights: One of the five.

    Raises:
        InputError: If the weights are unknown.

    Source:
        Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 3.
    """
    points = np.arange(n_categories, dtype=np.float64)
    steps = np.abs(points[:, None] - points[None, :])
    match weights:
        case "identity":
            return np.eye(n_categories)
        case "linear":
            return 1.0 - steps / (n_categories - 1)
        case "quadratic":
            return 1.0 - (steps / (n_categories - 1)) ** 2
        case "ordinal":
            return 1.0 - steps * (steps + 1.0) / (n_categories * (n_categories - 1))
        case "band":
            return (steps <= 1.0).astype(np.float64)
    message = f"`weights` must be one of {', '.join(KNOWN)}; got {weights!r}"
    raise InputError(message)


KappaWeights = Literal["linear", "quadratic"] | None


def cohen_kappa(
    a: Sequence[Label],
    b: Sequence[Label],
    *,
    categories: Sequence[Label],
    weights: KappaWeights = None,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of two annotators beyond chance.

    The full scale is required: with weights, omitting a label that
    was not used changes the distances and therefore the value.

    Args:
        a: Labels of the first annotator, one per unit; None or NaN = missing.
        b: Labels of the second annotator, of the same units in the same order.
        categories: The full scale in order, used or not.
        weights: None counts every disagreement equally; `linear` and `quadratic`
            count it by its distance on the scale, or the square of that.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; the interval is the delta method's (over
        clusters the jackknife's, with Student's t) on the logarithm of 1 - kappa.
        `Undefined` when no unit has both labels or both annotators gave one and
        the same label throughout.

    Raises:
        InputError: If the lengths differ, a label is not on the scale, or the
            weights are unknown.

    Example:
        >>> a = ["yes"] * 25 + ["no"] * 25
        >>> b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
        >>> round(cohen_kappa(a, b, categories=["yes", "no"]).value, 6)
        0.4

    Source:
        Cohen (1960), doi:10.1177/001316446002000104; weights: Cohen (1968),
        Psychological Bulletin 70:213-220, doi:10.1037/h0026256; variance:
        Fleiss, Cohen, Everitt (1969), Psychological Bulletin 72:323-327,
        doi:10.1037/h0028106. Golden values: tests/golden/agreement.json.
    """
    check_confidence(confidence)
    matrix = confusion_matrix(a, b, categories=categories)
    alike = _weights_of(len(matrix.categories), weights)
    if matrix.n == 0:
        return Undefined(reason=NO_PAIR, unit=CORRECTED)
    shares = shares_of(matrix)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    # A chance of 1 occurs only if both use the same single label.
    if np.count_nonzero(rows + columns) == 1:
        return Undefined(reason=SAME_ANSWER, n=matrix.n, unit=CORRECTED)
    value = float(_cohen(shares[None], alike)[0])
    met = paired(a, b)
    clusters = clusters_of_pairs(a, b, clusters)
    concord = Concord(
        agreeing=sum(row[index] for index, row in enumerate(matrix.counts)),
        n=matrix.n,
        chance=float(rows @ columns),
        clusters=cluster_sizes([first == second for first, second in met], clusters),
    )
    if clusters is None:
        error = _cohen_error(shares, alike, value, float(rows @ alike @ columns)) / math.sqrt(matrix.n)
        quantile, method = normal_quantile(confidence), "delta method"
    else:
        sums = ClusterSums.of_units(_cells(met, scale_points(categories)), clusters)
        error = sums.jackknife_error(lambda parts: _cohen(parts.reshape(-1, *shares.shape), alike))
        quantile, method = student_quantile(confidence, max(sums.n - 1, 1)), "jackknife over clusters"
    return beyond_chance(value, error, quantile, concord, confidence=confidence, method=method)


def fleiss_kappa(
    counts: ArrayLike,
    *,
    weights: str = "identity",
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the agreement of several annotators beyond chance.

    Units may have different numbers of labels (Gwet's form); if all have the
    same number, this is Fleiss' kappa itself. Units with a single label contribute
    only to the category frequencies.

    Args:
        counts: shape (units, categories), whole numbers; how many annotators
            gave unit i the category k.
        weights: `identity` treats categories as unordered; `linear`, `quadratic`,
            `ordinal` and `band` give credit for nearby categories.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        1 is perfect, 0 is chance; n counts the units with two labels or more;
        the interval is Gwet's linearisation (over clusters the jackknife) on the
        logarithm of 1 - kappa, with Student's t. `Undefined` when no unit has two labels or one category only
        occurs.

    Raises:
        InputError: If `counts` is not a table of integers of 0 or more with
            at least two categories, or no unit has labels of two annotators.

    Example:
        >>> round(fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 6)
        0.466667

    Source:
        Fleiss (1971), Psychological Bulletin 76:378-382, doi:10.1037/h0031619;
        unequal numbers and variance: Gwet (2008), British Journal of
        Mathematical and Statistical Psychology 61:29-48,
        doi:10.1348/000711006X126600. Golden values: tests/golden/agreement.json.
    """
    check_confidence(confidence)
    table = _table(counts)
    ratings = RatingTable.of_counts(table, weights, clusters)
    if ratings.agreeing.size == 0:
        return _undefined_by_lack(table[table.sum(axis=1) > 0])
    if np.count_nonzero(table.sum(axis=0)) == 1:
        return Undefined(reason=SAME_ANSWER, n=int(ratings.agreeing.size), unit=CORRECTED)
    return ratings.beyond(fleiss_chance, confidence=confidence)


def _weights_of(n_categories: int, weights: KappaWeights) -> Floats:
    """Return the agreement credit of each pair of categories; shape (categories, categories)."""
    if weights not in {None, "linear", "quadratic"}:
        message = f"`weights` must be None, `linear` or `quadratic`; got {weights!r}"
        raise InputError(message)
    return agreement_weights(n_categories, weights or "identity")


def _cohen(tables: Floats, alike: Floats) -> Floats:
    """Return kappa of confusion matrices, shape (..., categories, categories): 1 - sum p (1 - w) / (1 - pe)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tables / tables.sum(axis=(-2, -1), keepdims=True)
        chance = np.einsum("...k,kl,...l->...", shares.sum(axis=-1), alike, shares.sum(axis=-2))
        kappas: Floats = 1.0 - (shares * (1.0 - alike)).sum(axis=(-2, -1)) / (1.0 - chance)
    return kappas


def _cells(met: Sequence[tuple[str, str]], points: Sequence[str]) -> Floats:
    """Return each pair's cell of the confusion matrix, shape (pairs, categories squared)."""
    index = {point: number for number, point in enumerate(points)}
    cells = np.zeros((len(met), len(points) ** 2))
    for row, (first, second) in enumerate(met):
        cells[row, index[first] * len(points) + index[second]] = 1.0
    return cells


def _cohen_error(shares: Floats, alike: Floats, value: float, chance: float) -> float:
    """Return the standard error of kappa times the root of n.

    sum p_ij (w_ij - (w_i. + w_.j)(1 - k))^2 - (k - pe (1 - k))^2, all over (1 - pe)^2.
    """
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    means = (alike @ columns)[:, None] + (rows @ alike)[None, :]
    spread = float((shares * (alike - means * (1.0 - value)) ** 2).sum()) - (value - chance * (1.0 - value)) ** 2
    return math.sqrt(max(spread, 0.0)) / (1.0 - chance)


def _table(counts: ArrayLike) -> Floats:
    """Return the counts as an array, shape (units, categories)."""
    problem = "`counts` must be a table of shape (units, categories >= 2) without gaps"
    try:
        table = np.array(counts, dtype=np.float64)
    except (TypeError, ValueError):
        message = f"{problem}; got rows of different length, or no numbers"
        raise InputError(message) from None
    if table.shape == (0,):
        return table.reshape(0, 2)
    if table.ndim != 2 or table.shape[1] < 2:
        message = f"{problem}; got shape {table.shape}"
        raise InputError(message)
    if not np.all(np.isfinite(table)) or np.any(table < 0) or np.any(table != np.floor(table)):
        message = "`counts` must hold whole numbers of 0 or more: how many annotators gave a unit a category"
        raise InputError(message)
    return table


def _undefined_by_lack(table: Floats) -> Undefined:
    if len(table):
        message = "`fleiss_kappa` needs two annotators at least; every unit of `counts` has one label"
        raise InputError(message)
    return Undefined(reason=NO_SHARED_UNIT, unit=CORRECTED)
