"""Planning passes: how many dialogues and annotators a wanted interval takes, from the answers so far."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.errors import InputError
from theodolite.domain.findings.agreeing import PlannedPasses
from theodolite.domain.findings.number import Undefined
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.measurement.answer_arrays import NO_UNIT_OF_TWO, AnswerArrays
from theodolite.measurement.interval import normal_quantile

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def planned_passes(
    question: Question,
    columns: AnswerArrays,
    half_width: float,
    *,
    most_passes: int = 5,
    confidence: float = 0.95,
) -> tuple[PlannedPasses, ...] | Undefined:
    """Return how many dialogues it takes, with 1, 2, ... passes, to know a question's mean as closely as wanted.

    More passes lower the share of the spread that comes from people, more
    dialogues lower all of it: with little disagreement a second pass is wasted.
    The spread between dialogues and the spread between people about one dialogue
    come from the answers so far (one-way random effects); the mean of n dialogues
    with k passes each has the variance (between + within / k) / n.

    Args:
        question: A question on numbers, or of two categories, whose first one is counted.
        columns: The answers so far, two people on some dialogues at least.
        half_width: Half of the interval wanted; scale points, or a fraction for categories.
        most_passes: Passes up to which it is worked out; count.
        confidence: Coverage of that interval; fraction in (0, 1).

    Returns:
        One entry a number of passes; `Undefined` where no dialogue has two answers.

    Raises:
        InputError: If the half-width is not above 0, or the scale has no mean.

    Source:
        Searle, Casella, McCulloch (1992), Variance Components, Wiley, section 3.6
        (analysis of variance estimators of the unbalanced one-way model).
    """
    if not half_width > 0:
        message = f"the half-width of an interval must be above 0; got {half_width}"
        raise InputError(message)
    dialogues, values = _numbers(question, columns)
    sizes = np.bincount(dialogues) if len(dialogues) else dialogues
    if len(sizes) < 2 or sizes.max() < 2:
        return Undefined(reason=NO_UNIT_OF_TWO)
    between, within = _components(dialogues, values)
    reach = normal_quantile(confidence) / half_width
    return tuple(
        PlannedPasses(passes=k, n_dialogues=n, n_annotations=n * k)
        for k in range(1, most_passes + 1)
        for n in [max(2, math.ceil((between + within / k) * reach**2 - 1e-9))]
    )


def _numbers(question: Question, columns: AnswerArrays) -> tuple[Whole, Floats]:
    """Return the dialogue, from 0, and the number of every answer that has one; shapes (answers,)."""
    scale = question.scale
    if scale.kind is ScaleKind.CATEGORIES and len(scale.categories) != 2:
        message = f"`{question.name}` has {len(scale.categories)} categories and hence no mean; plan by one with two"
        raise InputError(message)
    is_category = scale.kind is ScaleKind.CATEGORIES
    numbers = [
        math.nan if not scale.admits(label) else float(label == scale.categories[0]) if is_category else float(label)
        for label in columns.labels
    ]
    value = np.array([*numbers, math.nan])[columns.value]
    kept = np.flatnonzero(~np.isnan(value))
    _, dialogues = np.unique(columns.dialogue[kept], return_inverse=True)
    return dialogues, value[kept]


def _components(dialogues: Whole, values: Floats) -> tuple[float, float]:
    """Return the variance between dialogues, at least 0, and between people about one dialogue."""
    sizes = np.bincount(dialogues).astype(np.float64)
    means = np.bincount(dialogues, weights=values) / sizes
    total = float(sizes.sum())
    grand = float((sizes * means).sum() / total)
    within = float(((values - means[dialogues]) ** 2).sum()) / (total - len(sizes))
    between_square = float((sizes * (means - grand) ** 2).sum()) / (len(sizes) - 1)
    size = (total - float((sizes**2).sum()) / total) / (len(sizes) - 1)
    return max(0.0, (between_square - within) / size), within
