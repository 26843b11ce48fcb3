"""Effects of the order of questions, options and dialogues on answers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.findings.order_effect import OrderEffect, OrderFactor, OrderSide
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Instrument, Question, QuestionLevel, ScaleKind, decimal_of
from theodolite.domain.shown_order import REVERSED, WRITTEN, ShownOrder, groups_in_order, shown_order_of
from theodolite.measurement.answer_arrays import AnswerArrays, prevalence
from theodolite.measurement.interval import SMALLEST_ERROR, check_confidence

Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

Flags = NDArray[np.bool_]

FIRST, SECOND, NEITHER = 0, 1, -1
"""Which way an answer was given."""

SHARE, RANK = "difference of shares of answers", "chance of a higher answer, less one half"
"""Units of shifts."""

BESIDE_OWN: Final = "each beside the same annotator's other answers"
"""What is said of a shift that habits are taken out of."""

FEWEST_SITTINGS: Final = 3
"""Sittings of an annotator below which none is left to hold an answer against; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ways:
    """The condition of each answer, first or second, and the names of both conditions.

    Attributes:
        factor: What stood elsewhere.
        names: What the first and the second way are called.
        way: 0 or 1 for each answer; -1 for neither.
        beside: What is taken off each answer's number before ways are compared; None for nothing.
    """

    factor: OrderFactor
    names: tuple[str, str]
    way: Whole
    beside: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """Answers as numbers, NaN where there is no value; shape (answers,)."""

    measured: str
    unit: str
    high: str
    numbers: Floats


def order_effects(
    guideline: Guideline, question: Question, columns: AnswerArrays, *, annotator: str = ""
) -> list[OrderEffect]:
    """Return the effects of order on the answers to one question; empty without data.

    Yes and no, and other named answers, are compared by the share that is a
    defect, or else that is the first label; numbers and ordered answers by how
    often one given the second way is the higher one.

    The dialogue before is told by what the annotator answered about it. People
    who say yes often say so before and after, so that each answer is held
    against the same annotator's other answers: those to all dialogues but this
    one and the one before, which chance would make equal on average.

    Args:
        guideline: What is asked.
        question: The question.
        columns: All answers, one a person and unit.
        annotator: Name of the judge that gave them; empty for people.

    Source:
        See `order_shift`. Sequences of decisions: Chen, Moskowitz, Shue (2016),
        Decision Making Under the Gambler's Fallacy, Quarterly Journal of
        Economics 131:1181-1242, doi:10.1093/qje/qjw017. Why an answer must not be
        held against those that hold the one before: Miller, Sanjurjo (2018),
        Surprised by the Hot Hand Fallacy?, Econometrica 86:2019-2047.
    """
    scored = _scored(guideline, question, columns)
    if scored is None or not len(columns):
        return []
    ways = [*_ways_by_order(guideline.instrument, question, columns), *_ways_by_sequence(columns, scored)]
    return [_effect(guideline, question, columns, scored, way, annotator) for way in ways]


def _scored(guideline: Guideline, question: Question, columns: AnswerArrays) -> _Scored | None:
    scale = question.scale
    if scale.kind is ScaleKind.TEXT:
        return None
    if scale.kind is ScaleKind.DECIMALS:
        numbers = [decimal_of(label) for label in columns.labels]
        ranked = np.array([np.nan if number is None else number for number in numbers] + [np.nan])
        return _ranks(ranked[columns.value])
    position_of = {label: place for place, label in enumerate(scale.categories)}
    if scale.is_numeric or scale.ordered:
        ranked = np.array([float(position_of.get(label, np.nan)) for label in columns.labels] + [np.nan])
        return _ranks(ranked[columns.value])
    counted = _counted(guideline, question)
    flags = np.array(
        [float(label in counted) if label in position_of else np.nan for label in columns.labels] + [np.nan]
    )
    names = " or ".join(f'"{label}"' for label in counted)
    return _Scored(measured=f"share of {names}", unit=SHARE, high=names, numbers=flags[columns.value])


def _counted(guideline: Guideline, question: Question) -> tuple[str, ...]:
    """Return the labels whose share is compared: the defects, or else the first label."""
    scale = question.scale
    rules = [rule for rule in guideline.defect_rules if rule.question == question.name]
    defects = tuple(label for label in scale.categories if rules and rules[0].is_defect(label, scale))
    return defects or scale.categories[:1]


def _ranks(values: Floats) -> _Scored:
    """Return values as the share of all that lie below, equal ones counted half."""
    has_value = np.flatnonzero(~np.isnan(values))
    numbers = np.full(len(values), np.nan)
    _, rank, counts = np.unique(values[has_value], return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    numbers[has_value] = (below + counts / 2.0)[rank] / max(len(has_value), 1)
    return _Scored(measured="ordinal shift", unit=RANK, high="a high answer", numbers=numbers)


def _ways_by_order(instrument: Instrument, question: Question, columns: AnswerArrays) -> Iterator[_Ways]:
    orders = [shown_order_of(text) for text in columns.orders]

    def ways(factor: OrderFactor, names: tuple[str, str], of: list[bool | None]) -> Iterator[_Ways]:
        if any(way is not None for way in of):
            codes = np.array([NEITHER if way is None else int(way) for way in of], dtype=np.int64)
            yield _Ways(factor=factor, names=names, way=codes[columns.shown])

    yield from ways(
        OrderFactor.QUESTIONS,
        ("asked earlier", "asked later"),
        [_is_later(instrument, question, order) for order in orders],
    )
    if question.scale.kind is ScaleKind.CATEGORIES:
        named = (f"answers {WRITTEN}", f"answers {REVERSED}")
        yield from ways(OrderFactor.OPTIONS, named, [order.options for order in orders])
    if question.level is QuestionLevel.TURN:
        yield from ways(OrderFactor.TURNS, ("first turn first", "last turn first"), [order.turns for order in orders])
    if any(order.dialogues is not None for order in orders):
        half = ("in the first half of one's dialogues", "in the second half")
        yield _Ways(factor=OrderFactor.QUEUE, names=half, way=_second_half(columns))


def _is_later(instrument: Instrument, question: Question, order: ShownOrder) -> bool | None:
    """Tell whether an order asks a question later than average; None in the middle."""
    if not order.rows:
        return None
    positions = [
        _group_position(instrument, question, ShownOrder(row=row, rows=order.rows)) for row in range(1, order.rows + 1)
    ]
    own, middle = positions[order.row - 1], (min(positions) + max(positions)) / 2
    return None if own == middle else own > middle


def _group_position(instrument: Instrument, question: Question, order: ShownOrder) -> int:
    groups = groups_in_order(instrument, order)
    return next(position for position, group in enumerate(groups) if question in group.questions)


def _second_half(columns: AnswerArrays) -> Whole:
    most = np.zeros(len(columns.names), dtype=np.int64)
    np.maximum.at(most, columns.annotator, columns.annotation_no)
    half = (2 * columns.annotation_no > most[columns.annotator]).astype(np.int64)
    return np.where(columns.annotation_no > 0, half, NEITHER)


def _ways_by_sequence(columns: AnswerArrays, scored: _Scored) -> Iterator[_Ways]:
    """Yield the answers that follow a dialogue to which the same annotator gave a high answer."""
    sat = np.flatnonzero((columns.annotation_no > 0) & ~np.isnan(scored.numbers))
    if not len(sat):
        return
    span = int(columns.annotation_no.max()) + 2
    annotations, owner_of, counts = np.unique(
        columns.annotator[sat] * span + columns.annotation_no[sat], return_inverse=True, return_counts=True
    )
    sums = np.bincount(owner_of, weights=scored.numbers[sat])
    levels, limit = sums / counts, 0.0 if scored.unit == SHARE else 0.5
    before = np.minimum(np.searchsorted(annotations, annotations - 1), len(annotations) - 1)
    owner = annotations // span
    met = (annotations[before] == annotations - 1) & (np.bincount(owner)[owner] >= FEWEST_SITTINGS)
    rest_sum = np.bincount(owner, weights=sums)[owner] - sums - sums[before]
    rest_n = np.bincount(owner, weights=counts)[owner] - counts - counts[before]
    beside = np.zeros(len(columns))
    beside[sat] = np.divide(rest_sum, rest_n, out=np.zeros(len(sums)), where=met)[owner_of]
    way = np.full(len(columns), NEITHER, dtype=np.int64)
    way[sat] = np.where(met, (levels[before] > limit).astype(np.int64), NEITHER)[owner_of]
    names = (f"after a dialogue without {scored.high}", f"after one with {scored.high}")
    yield _Ways(factor=OrderFactor.PREVIOUS, names=names, way=way, beside=beside)


def _effect(
    guideline: Guideline, question: Question, columns: AnswerArrays, scored: _Scored, ways: _Ways, annotator: str
) -> OrderEffect:
    is_known = ways.way != NEITHER
    used = np.flatnonzero(is_known & ~np.isnan(scored.numbers))
    numbers = scored.numbers if ways.beside is None else scored.numbers - ways.beside
    sides = [_side(question, columns, ways, side, ~np.isnan(scored.numbers)) for side in (FIRST, SECOND)]
    return OrderEffect(
        guideline=guideline.name,
        question=question.name,
        factor=ways.factor,
        annotator=annotator,
        measured=scored.measured if ways.beside is None else f"{scored.measured}, {BESIDE_OWN}",
        first=sides[FIRST],
        second=sides[SECOND],
        shift=order_shift(
            numbers[used],
            ways.way[used] == SECOND,
            annotators=columns.annotator[used],
            dialogues=columns.dialogue[used],
            unit=scored.unit,
        ),
        n_annotators=len(np.unique(columns.annotator[used])),
        n_dialogues=len(np.unique(columns.dialogue[used])),
        n_between=int(np.count_nonzero(~is_known)),
    )


def _side(question: Question, columns: AnswerArrays, ways: _Ways, side: int, has_value: Flags) -> OrderSide:
    mine = ways.way == side
    return OrderSide(
        shown=ways.names[side],
        n=int(np.count_nonzero(mine & has_value)),
        n_without_value=int(np.count_nonzero(mine & ~has_value)),
        given=prevalence(question, columns.of(mine & has_value)),
    )


METHOD: Final = "error over annotators and dialogues, Student's t"
"""Name of the interval."""

METHOD_OF_ONE: Final = "error over dialogues, Student's t"
"""Name of the interval where there is one annotator."""

ONE_WAY: Final = "All answers were given the same way so far."

FEW: Final = "Fewer than two dialogues were answered each way."

NO_SPREAD: Final = "Whichever way it was, all said the same, so nothing tells how far answers vary."


def order_shift(
    values: Sequence[float] | Floats,
    is_second: Sequence[bool] | Flags,
    *,
    annotators: Sequence[Hashable] | Whole,
    dialogues: Sequence[Hashable] | Whole,
    unit: str = "difference of shares of answers",
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate how far the mean of answers given the second way lies above that of the first way.

    The answers of one annotator resemble each other, and so do those about one
    dialogue; the error knows both. It is the sum of the squared errors over
    either, less that over answers that share both, and never less than the
    smaller of the two. Student's t has one degree of freedom less
    than there are annotators or dialogues, whichever are fewer: with two
    annotators an interval is wide, and it should be.

    Args:
        values: An answer each, as a number: 1 and 0, or a rank as a fraction.
        is_second: Whether it was given the second way.
        annotators: Who gave it.
        dialogues: The dialogue that it is about.
        unit: What a difference of the values is a number of.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        In `unit`; n counts answers, clusters are the fewer of annotators and dialogues.
        `Undefined` where all went one way, fewer than two dialogues did, or all are alike.

    Raises:
        InputError: If the arguments differ in length, or `confidence` is no fraction.

    Example:
        >>> shift = order_shift(
        ...     [1, 0, 0, 0, 1, 1, 0, 1],
        ...     [False] * 4 + [True] * 4,
        ...     annotators="aabbaabb",
        ...     dialogues=[1, 2, 3, 4, 3, 4, 1, 2],
        ... )
        >>> shift.value, shift.n, shift.n_clusters
        (0.5, 8, 2)

    Source:
        Cameron, Gelbach, Miller (2011), Robust Inference With Multiway
        Clustering, Journal of Business & Economic Statistics 29:238-249.
    """
    check_confidence(confidence)
    y, way = np.asarray(values, dtype=np.float64), np.asarray(is_second, dtype=bool)
    if not len(y) == len(way) == len(annotators) == len(dialogues):
        message = f"every answer has a value, a way, an annotator and a dialogue; got {len(y)}, {len(way)}, "
        message += f"{len(annotators)} and {len(dialogues)}"
        raise InputError(message)
    who, what = _codes(annotators), _codes(dialogues)
    reason = _why_none(y, way, what)
    if reason:
        return Undefined(reason=reason, n=len(y), unit=unit, method=METHOD)
    value, influence = _difference(y, way)
    error, n_clusters = _error(influence, who, what)
    if error < SMALLEST_ERROR:
        return Undefined(reason=NO_SPREAD, n=len(y), unit=unit, method=METHOD)
    reach = error * float(stdtrit(n_clusters - 1, (1.0 + confidence) / 2.0))
    return Estimate(
        value=value,
        low=max(value - reach, -1.0),
        high=min(value + reach, 1.0),
        confidence=confidence,
        n=len(y),
        unit=unit,
        method=METHOD if len(np.unique(who)) > 1 else METHOD_OF_ONE,
        n_clusters=n_clusters,
    )


def _codes(names: Sequence[Hashable] | Whole) -> Whole:
    if isinstance(names, np.ndarray):
        return np.unique(names, return_inverse=True)[1]
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def _why_none(y: Floats, way: Flags, dialogues: Whole) -> str:
    if way.all() or not way.any():
        return ONE_WAY
    if min(len(np.unique(dialogues[way])), len(np.unique(dialogues[~way]))) < 2:
        return FEW
    return NO_SPREAD if np.ptp(y[way]) == 0 and np.ptp(y[~way]) == 0 else ""


def _difference(y: Floats, way: Flags) -> tuple[float, Floats]:
    """Return the difference of two means, and what each answer adds to its error."""
    means = {side: float(y[way == side].mean()) for side in (False, True)}
    sizes = {side: int((way == side).sum()) for side in (False, True)}
    influence = np.where(way, (y - means[True]) / sizes[True], -(y - means[False]) / sizes[False])
    return means[True] - means[False], influence


def _error(influence: Floats, who: Whole, what: Whole) -> tuple[float, int]:
    """Return the standard error over both kinds of clusters, and the count of the fewer."""
    by_dialogue, n_dialogues = _variance(influence, what)
    by_annotator, n_annotators = _variance(influence, who)
    if n_annotators < 2:
        return math.sqrt(by_dialogue), n_dialogues
    by_both, _ = _variance(influence, who * (int(what.max()) + 1) + what)
    variance = max(by_dialogue + by_annotator - by_both, min(by_dialogue, by_annotator))
    return math.sqrt(variance), min(n_dialogues, n_annotators)


def _variance(influence: Floats, codes: Whole) -> tuple[float, int]:
    _, places = np.unique(codes, return_inverse=True)
    sums = np.bincount(places, weights=influence)
    n = len(sums)
    return float((sums**2).sum()) * n / max(n - 1, 1), n
