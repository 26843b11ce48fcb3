"""Ordinal model: effects on answers on an ordered scale, with repeated answers of people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_CONVERGENCE, ONE_POINT
from theodolite.measurement.interval import check_confidence, normal_quantile
from theodolite.measurement.labels import ClusterIds, Label, cluster_codes, label_text, scale_points

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LOG_ODDS: Final = "log odds of a higher answer"
"""Unit of a coefficient."""

FAR: Final = 1e3
"""A threshold that no answer passes."""

NODES: Final = 31
"""Number of quadrature points: 5 give a wrong variance, 31 the same as 61."""

FLATTEST: Final = 1e-4
"""Gradient per answer below which the search has converged."""

STEEPEST: Final = 15.0
"""Log odds between a factor's lowest and highest number beyond which the factor determines the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinalFit:
    """A proportional-odds model of answers.

    Attributes:
        coefficients: By name of the factor: log odds of a higher
            answer a unit.
        thresholds: Log odds of an answer up to each point but the last, at 0.
        person_variance: Variance of the people's random intercepts; 0 without people.
        log_likelihood: Log likelihood of the answers at the fit.
        n: Answers; count.
        n_people: Number of people; None if answers are independent.
    """

    coefficients: Mapping[str, Estimate]
    thresholds: tuple[float, ...]
    person_variance: float
    log_likelihood: float
    n: int
    n_people: int | None


def ordinal_model(
    answers: Sequence[Label],
    factors: Mapping[str, Sequence[float]],
    *,
    categories: Sequence[Label],
    people: ClusterIds | None = None,
    confidence: float = 0.95,
) -> OrdinalFit | Undefined:
    """Fit the effects of factors on answers on an ordered scale, with a random intercept for each person.

    The scale is only assumed to be ordered. If people answer several
    times, each gets a random intercept, integrated
    over by Gauss and Hermite's quadrature.

    Args:
        answers: One per row; None or NaN = missing, and the row is omitted.
        factors: By name: a number for every row, 1 and 0 for yes and no.
        categories: The full scale in order; unused points are skipped.
        people: The person behind each answer; None = answers are independent.
        confidence: Coverage of Wald's intervals; fraction in (0, 1).

    Returns:
        The fit; `Undefined` if only one point occurs or a factor determines
        the answer completely, so that no finite effect fits best.

    Raises:
        InputError: If lengths differ or an answer is not on the scale.

    Example:
        >>> answers = [1, 2, 2, 3, 1, 3, 2, 3, 3, 1, 2, 3]
        >>> fit = ordinal_model(answers, {"after": [0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1]}, categories=[1, 2, 3])
        >>> round(fit.coefficients["after"].value, 2)
        2.78

    Source:
        McCullagh (1980), Journal of the Royal Statistical Society B 42:109-142;
        random intercept: Hedeker, Gibbons (1994), Biometrics 50:933-944. Golden
        values: tests/golden/questionnaire.json.
    """
    check_confidence(confidence)
    rows = _Rows.of(answers, factors, categories, people)
    if rows.n_points < 2:
        return Undefined(reason=ONE_POINT, n=len(rows.answers), unit=LOG_ODDS)
    parameters, arrived = _climbed(rows)
    size = len(rows.factors[0]) if rows.factors.size else len(factors)
    slopes = parameters[rows.n_points - 1 : rows.n_points - 1 + size]
    if not arrived or np.any(np.abs(slopes * rows.spread) > STEEPEST):
        return Undefined(reason=NO_CONVERGENCE, n=len(rows.answers), unit=LOG_ODDS)
    log_likelihood, _ = rows.log_likelihood(parameters)
    errors = _errors(rows, parameters)[rows.n_points - 1 :]
    z = normal_quantile(confidence)
    coefficients = {
        name: Estimate(
            value=float(slope),
            low=float(slope - z * error) if math.isfinite(error) else None,
            high=float(slope + z * error) if math.isfinite(error) else None,
            confidence=confidence,
            n=len(rows.answers),
            unit=LOG_ODDS,
            method="proportional odds, Wald" + ("" if people is None else ", random intercept"),
            n_clusters=rows.n_people,
        )
        for name, slope, error in zip(factors, slopes, errors, strict=False)
    }
    return OrdinalFit(
        coefficients=coefficients,
        thresholds=tuple(float(value) for value in parameters[: rows.n_points - 1]),
        person_variance=float(parameters[-1] ** 2) if rows.n_people is not None else 0.0,
        log_likelihood=log_likelihood,
        n=len(rows.answers),
        n_people=rows.n_people,
    )


def odds_by_threshold(
    answers: Sequence[Label],
    factors: Mapping[str, Sequence[float]],
    *,
    categories: Sequence[Label],
    confidence: float = 0.95,
) -> dict[str, OrdinalFit | Undefined]:
    """Fit every threshold of a scale separately, to see whether one effect holds for all.

    `ordinal_model` assumes that a factor shifts the odds equally at every threshold.
    If these fits differ by more than their intervals, the assumption fails.

    Args:
        answers: One per row; None or NaN = missing.
        factors: By name: a number for every row.
        categories: The full scale in order.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        Cut point to the fit of exceeding it.

    Raises:
        InputError: As for `ordinal_model`.

    Example:
        >>> answers, after = [1, 2, 2, 3, 1, 3, 2, 3, 3, 1, 2, 1], [0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1]
        >>> list(odds_by_threshold(answers, {"after": after}, categories=[1, 2, 3]))
        ['1', '2']

    Source:
        Brant (1990), Biometrics 46:1171-1178.
    """
    points = scale_points(categories)
    index = {point: number for number, point in enumerate(points)}
    texts = [label_text(answer) for answer in answers]
    strange = sorted({text for text in texts if text is not None} - set(points))
    if strange:
        message = f"`categories` must hold every answer: {list(points)}; got {strange}. Give the full scale"
        raise InputError(message)
    return {
        point: ordinal_model(
            [None if text is None else float(index[text] > index[point]) for text in texts],
            factors,
            categories=[0, 1],
            confidence=confidence,
        )
        for point in points[:-1]
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Answers with their possible causes, sorted by person.

    Attributes:
        answers: Index of each answer among the observed points.
        factors: shape (answers, factors).
        starts: Start of each person's answers.
        n_points: Number of observed points; count.
        n_people: People; None if answers are independent.
    """

    answers: Whole
    factors: Floats
    starts: Whole
    n_points: int
    n_people: int | None

    @classmethod
    def of(
        cls,
        answers: Sequence[Label],
        factors: Mapping[str, Sequence[float]],
        categories: Sequence[Label],
        people: ClusterIds | None,
    ) -> _Rows:
        points = scale_points(categories)
        texts = [label_text(answer) for answer in answers]
        strange = sorted({text for text in texts if text is not None} - set(points))
        wrong = [name for name, column in factors.items() if len(column) != len(texts)]
        if strange or wrong:
            message = f"`answers` must be of {list(points)}, `factors` as long; got {strange}, wrong length: {wrong}"
            raise InputError(message)
        codes = cluster_codes(people, len(texts))
        selected = np.array([text is not None for text in texts], dtype=np.bool_)
        order = np.argsort(codes[selected], kind="stable")
        table = (
            np.array([list(column) for column in factors.values()], dtype=np.float64)
            .reshape(len(factors), len(texts))
            .T
        )
        used = [point for point in points if point in texts]
        index = np.array([used.index(text) for text in texts if text is not None], dtype=np.int64)
        _, starts = np.unique(codes[selected][order], return_index=True)
        return cls(
            answers=index[order],
            factors=table[selected][order],
            starts=starts,
            n_points=len(used),
            n_people=None if people is None else len(starts),
        )

    @property
    def spread(self) -> Floats:
        """Range of each factor's numbers."""
        spread: Floats = np.ptp(self.factors, axis=0) if len(self.factors) else np.ones(self.factors.shape[1])
        return spread

    def log_likelihood(self, values: Floats) -> tuple[float, Floats]:
        """Return the log likelihood and its gradient.

        Args:
            values: Thresholds, slopes and, with people, the standard deviation
                of their tendencies.
        """
        k, p = self.n_points - 1, self.factors.shape[1]
        edges = np.concatenate(([-FAR], values[:k], [FAR]))
        nodes, weights = _quadrature() if self.n_people is not None else (np.zeros(1), np.ones(1))
        sd = values[-1] if self.n_people is not None else 0.0
        shift = (self.factors @ values[k : k + p])[:, None] + sd * nodes[None, :]
        above, below = expit(edges[self.answers + 1][:, None] - shift), expit(edges[self.answers][:, None] - shift)
        chance = np.maximum(above - below, 1e-300)
        by_person = np.add.reduceat(np.log(chance), self.starts, axis=0) + np.log(weights)
        most = by_person.max(axis=1, keepdims=True)
        share = np.exp(by_person - most)
        total = share.sum(axis=1, keepdims=True)
        sizes = np.diff(np.append(self.starts, len(self.answers)))
        belief = np.repeat(share / total, sizes, axis=0) / chance
        up, down = above * (1.0 - above) * belief, below * (1.0 - below) * belief
        pull = up - down
        edge = np.bincount(self.answers + 1, up.sum(axis=1), k + 2) - np.bincount(self.answers, down.sum(axis=1), k + 2)
        gradient = [edge[1 : k + 1], -self.factors.T @ pull.sum(axis=1)]
        if self.n_people is not None:
            gradient.append(np.array([-(pull @ nodes).sum()]))
        return float((most + np.log(total)).sum()), np.concatenate(gradient)


def _quadrature() -> tuple[Floats, Floats]:
    """Return points and weights of the standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, weights / weights.sum()


def _climbed(rows: _Rows) -> tuple[Floats, bool]:
    """Return the values of highest likelihood, and whether the search converged."""
    # scipy.optimize takes a quarter of a second to load; only this model needs it.
    k, n = rows.n_points - 1, len(rows.answers)
    below = np.cumsum(np.bincount(rows.answers, minlength=k + 1))[:k] / n
    start = np.log(below / (1.0 - below))
    free = np.concatenate(([start[0]], np.log(np.diff(start)), np.zeros(rows.factors.shape[1])))
    if rows.n_people is not None:
        free = np.append(free, -0.5)

    def fall(values: Floats) -> tuple[float, Floats]:
        natural = _natural(values, k, people=rows.n_people is not None)
        height, gradient = rows.log_likelihood(natural)
        steps = np.exp(values[1:k])
        gradient = gradient.copy()
        tail = np.cumsum(gradient[:k][::-1])[::-1]
        gradient[0], gradient[1:k] = tail[0], tail[1:] * steps
        if rows.n_people is not None:
            gradient[-1] *= natural[-1]
        return -height / n, -gradient / n

    done = minimize(fall, free, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 500})
    return _natural(done.x, k, people=rows.n_people is not None), bool(np.max(np.abs(done.jac)) < FLATTEST)


def _natural(values: Floats, k: int, *, people: bool) -> Floats:
    """Return increasing thresholds and a standard deviation above 0 from unconstrained numbers."""
    natural = values.copy()
    natural[:k] = np.cumsum(np.concatenate((values[:1], np.exp(np.minimum(values[1:k], 50.0)))))
    if people:
        natural[-1] = math.exp(min(max(float(values[-1]), -20.0), 10.0))
    return natural


def _errors(rows: _Rows, parameters: Floats) -> Floats:
    """Return standard errors from the curvature of the likelihood; NaN if it has none."""
    size, step = len(parameters), 1e-4
    curvature = np.empty((size, size))
    for index in range(size):
        moved = np.zeros(size)
        moved[index] = step * max(abs(float(parameters[index])), 1.0)
        change = rows.log_likelihood(parameters + moved)[1] - rows.log_likelihood(parameters - moved)[1]
        curvature[index] = change / (2.0 * moved[index])
    # An intercept variance of 0 is at the boundary, where there is no curvature.
    used = np.abs(np.diag(curvature)) > 1e-8
    errors = np.full(size, np.nan)
    try:
        variance = np.diag(np.linalg.inv(-(curvature + curvature.T)[np.ix_(used, used)] / 2.0))
    except np.linalg.LinAlgError:
        return errors
    errors[used] = np.sqrt(np.where(variance > 0.0, variance, np.nan))
    return errors
