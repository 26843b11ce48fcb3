"""Probes of bias: order effects, bias of judges, the human ceiling, and the blinding of testers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtrit

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.event_record import FEWEST_GUESSES, BlindingAssessment, BlindingGuess, GuessedThing
from theodolite.domain.findings.order import OrderEffect, OrderFactor, OrderSide
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Instrument, Question, QuestionLevel, ScaleKind, decimal_of
from theodolite.domain.session import Session
from theodolite.domain.shown_order import REVERSED, WRITTEN, ShownOrder, groups_in_order, shown_order_of
from theodolite.domain.undefined_reasons import NO_GUESS, NO_PAIR, NO_SPREAD, ONE_WAY, TOO_FEW_EACH_WAY
from theodolite.measurement.answer_arrays import AnswerArrays, agreement_with, prevalence
from theodolite.measurement.interval import SMALLEST_ERROR, check_confidence
from theodolite.measurement.labels import ClusterIds, Label, check_lengths, cluster_sizes, label_text, selected_clusters
from theodolite.measurement.proportion import DIALOGUES, defect_rate, mean_fraction
from theodolite.measurement.scores import correlation, mean_estimate

PAIRS_OF_ANNOTATORS: Final = "fraction of pairs of labels"

DIFFERENCE: Final = "difference of fractions of pairs of labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """Position bias of a judge.

    Attributes:
        consistent: Share of units with the same choice in both orders.
        prefers_first: Among the others, share on which it chose the first option
            both times; .5 is no preference.
        p_value: Probability of a preference at least this strong if there is none (sign
            test, two-sided); 1 if no choice changed.
    """

    consistent: Estimate | Undefined
    prefers_first: Estimate | Undefined
    p_value: float


def position_bias(
    one_way: Sequence[str | None],
    other_way: Sequence[str | None],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    """Estimate the effect of an option's position on a judge that chose in both orders.

    Args:
        one_way: Its choice for each unit in the first order: `first` or
            `second` for the position, anything else (a tie) for neither; None = missing.
        other_way: Its choice in the reverse order.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Consistency, preference and its p-value.

    Raises:
        InputError: If the lengths differ or there is not one cluster per unit.

    Example:
        >>> bias = position_bias(["first"] * 8 + ["second"] * 2, ["second"] * 3 + ["first"] * 7)
        >>> bias.consistent.value, bias.prefers_first.value, bias.p_value
        (0.5, 1.0, 0.0625)

    Source:
        Shi et al. (2024), Judging the Judges: A Systematic Study of Position
        Bias in LLM-as-a-Judge, arXiv:2406.07791; sign test: Arbuthnott (1710),
        Philosophical Transactions 27:186-190.
    """
    check_lengths(one_way, other_way)
    selected = [x is not None and y is not None for x, y in zip(one_way, other_way, strict=True)]
    met = [(x, y) for x, y, keep in zip(one_way, other_way, selected, strict=True) if keep]
    ids = selected_clusters(clusters, selected)
    turned = {"first": "second", "second": "first"}
    same = [str(y) == turned.get(str(x), str(x)) for x, y in met]
    stuck = [x == y and x in turned for x, y in met]
    first = [x == "first" for (x, _), keep in zip(met, stuck, strict=True) if keep]
    n = len(first)
    return PositionBias(
        consistent=defect_rate(sum(same), len(same), confidence=confidence, clusters=cluster_sizes(same, ids)),
        prefers_first=defect_rate(
            sum(first), n, confidence=confidence, clusters=cluster_sizes(first, selected_clusters(ids, stuck))
        ),
        p_value=min(1.0, 2.0 * float(bdtr(min(sum(first), n - sum(first)), n, 0.5))) if n else 1.0,
    )


def length_bias(
    scores: Sequence[float | None],
    labels: Sequence[float | None],
    lengths: Sequence[float],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate whether a judge's errors depend on the length of the judged text.

    Longer dialogues may really be better or worse, so the judge's score
    minus people's is compared with the length, not the score itself.

    Args:
        scores: The judge's score of each unit (a verdict as 1 and 0); None = missing.
        labels: People's score, for the same units.
        lengths: Length of each unit, in any unit of length.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Spearman's correlation of error and length; above 0, the judge scores long
        dialogues too high. `Undefined` if nothing varies.

    Raises:
        InputError: If the lengths differ or there is not one cluster per unit.

    Example:
        >>> round(length_bias([1, 2, 3, 5, 5], [1, 2, 2, 3, 2], [10, 20, 30, 40, 50]).value, 3)
        0.975

    Source:
        Dubois et al. (2024), Length-Controlled AlpacaEval, arXiv:2404.04475 (the
        effect); correlation as for `correlation`.
    """
    if not len(scores) == len(labels) == len(lengths):
        message = (
            f"scores, labels and lengths must be of the same units; got {len(scores)}, {len(labels)}, {len(lengths)}"
        )
        raise InputError(message)
    errors = [None if x is None or y is None else x - y for x, y in zip(scores, labels, strict=True)]
    return correlation(errors, lengths, method="spearman", clusters=clusters, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """Agreement of a judge with people, and of people with each other.

    Attributes:
        people: Share of pairs of people that agree, on units with at least two people.
        judge: Share of pairs of the judge and a person that agree, on the same units.
        gap: The judge's share minus people's; above 0 the judge is nearer to
            people than they are to each other.
    """

    people: Estimate | Undefined
    judge: Estimate | Undefined
    gap: Estimate | Undefined


def human_ceiling(
    judge: Sequence[Label],
    people: Sequence[Sequence[Label]],
    *,
    clusters: ClusterIds | None = None,
    confidence: float = 0.95,
) -> HumanCeiling:
    """Estimate the agreement of a judge with people, and of people with each other.

    No judge can be expected to agree with people more than they do among
    themselves: an agreement of .80 is poor if people reach .95, and the maximum
    if they reach .80.

    Args:
        judge: The judge's label of each unit; None or NaN = missing.
        people: shape (people, units); labels of the same units.
        clusters: The cluster of each unit; None = units are independent.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        Three estimates, on units with the judge's label and two people's.

    Raises:
        InputError: If the lengths differ or there is not one cluster per unit.

    Example:
        >>> ceiling = human_ceiling(["a", "b", "a"], [["a", "b", "b"], ["a", "a", "b"]])
        >>> round(ceiling.people.value, 3), round(ceiling.judge.value, 3)
        (0.667, 0.5)

    Source:
        Calderon, Reichart, Dror (2025), The Alternative Annotator Test,
        arXiv:2501.10970 (people as the measure of a judge); intervals: Korn,
        Graubard (1998), Survey Methodology 24:193-201, and Student's t.
    """
    for person in people:
        check_lengths(judge, person)
    units = [
        (label_text(label), [text for row in people if (text := label_text(row[position])) is not None])
        for position, label in enumerate(judge)
    ]
    selected = [label is not None and len(texts) >= 2 for label, texts in units]
    met = [unit for unit, keep in zip(units, selected, strict=True) if keep]
    ids = selected_clusters(clusters, selected)
    among = [float(np.mean([x == y for x, y in combinations(texts, 2)])) for _, texts in met]
    agreement = [float(np.mean([label == text for text in texts])) for label, texts in met]
    if not met:
        nothing = Undefined(reason=NO_PAIR, unit=DIALOGUES)
        return HumanCeiling(people=nothing, judge=nothing, gap=nothing)
    shares = [
        mean_fraction(values, clusters=ids, unit=PAIRS_OF_ANNOTATORS, confidence=confidence, otherwise=NO_PAIR)
        for values in (among, agreement)
    ]
    gaps = np.array(agreement) - np.array(among)
    return HumanCeiling(
        people=shares[0],
        judge=shares[1],
        gap=mean_estimate(gaps, clusters=ids, confidence=confidence, unit=DIFFERENCE),
    )


TESTERS: Final = "fraction of testers"
"""Unit of a leak."""


def leak_rate(
    right: Sequence[bool], chances: Sequence[float], *, confidence: float = 0.95
) -> tuple[Estimate | Undefined, float | None]:
    """Estimate how often testers guess right, and how likely that is if they only guess.

    Both are exact: the interval keeps its coverage for any number of testers,
    and the p-value is the probability of at least as many right guesses, each
    with the chance of its own number of options.

    Args:
        right: Whether each guess was right; one per tester, since a second guess by
            the same person often follows from the first by elimination.
        chances: Chance of being right by guessing alone, one per guess; fractions in (0, 1].
        confidence: Coverage; fraction in (0, 1).

    Returns:
        The share of right guesses (unit: fraction of testers), and the one-sided
        p-value against chance. `Undefined` and None without guesses.

    Raises:
        InputError: If there is not one chance per guess, or one is not a fraction.

    Example:
        >>> rate, p_value = leak_rate([True] * 8 + [False] * 2, [0.5] * 10)
        >>> rate.value, round(rate.low, 3), round(p_value, 4)
        (0.8, 0.444, 0.0547)

    Source:
        Clopper, Pearson (1934), Biometrika 26:404-413, doi:10.1093/biomet/26.4.404.
        Asking people to guess at the end: Bang, Ni, Davis (2004), Assessment of
        blinding in clinical trials, Controlled Clinical Trials 25:143-156.
        The sum of unequal chances is convolved term by term (Poisson binomial).
    """
    if len(right) != len(chances) or any(not 0 < chance <= 1 for chance in chances):
        message = f"`leak_rate` needs a chance above 0 and up to 1 for each guess; got {len(chances)} for {len(right)}"
        raise InputError(message)
    if not right:
        return Undefined(reason=NO_GUESS, unit=TESTERS, method="clopper-pearson"), None
    rate = defect_rate(sum(right), len(right), method="clopper-pearson", confidence=confidence)
    weights = np.ones(1)
    for chance in chances:
        weights = np.convolve(weights, [1.0 - chance, chance])
    return replace(rate, unit=TESTERS), float(min(weights[sum(right) :].sum(), 1.0))


def leaks_of(
    guesses: Sequence[BlindingGuess], sessions: Sequence[Session], *, confidence: float = 0.95
) -> tuple[BlindingAssessment, ...]:
    """Return the blinding assessment of a study: overall and by level.

    Only the first guess of each tester counts; later ones and "I do not know" are counted separately.
    Fewer than `FEWEST_GUESSES` have no p-value.

    Args:
        guesses: Testers' guesses, the oldest first.
        sessions: All sessions of the study.
        confidence: Coverage of intervals; fraction in (0, 1).
    """
    known = {session.key: session for session in sessions}
    known_guesses = [guess for guess in guesses if guess.session in known]
    levels = [level for level in Level if any(known[guess.session].level is level for guess in known_guesses)]
    result = []
    for about in GuessedThing:
        for level in (None, *levels):
            mine = [g for g in known_guesses if g.about is about and (level is None or known[g.session].level is level)]
            if mine:
                result.append(_leak(about, level, [(guess, known[guess.session]) for guess in mine], confidence))
    return tuple(result)


def _leak(
    about: GuessedThing, level: Level | None, known_guesses: Sequence[tuple[BlindingGuess, Session]], confidence: float
) -> BlindingAssessment:
    first: dict[str, tuple[BlindingGuess, Session]] = {}
    for guess, session in known_guesses:
        first.setdefault(session.participant, (guess, session))
    guesses = [(guess, session) for guess, session in first.values() if guess.guess]
    right = [guess.guess == _truth(about, session) for guess, session in guesses]
    chances = [1.0 / max(len(guess.options), 1) for guess, _ in guesses]
    rate, p_value = leak_rate(right, chances, confidence=confidence)
    return BlindingAssessment(
        about=about,
        level=level,
        rate=rate,
        chance=float(np.mean(chances)) if chances else 0.0,
        p_value=p_value if len(guesses) >= FEWEST_GUESSES else None,
        n_unknown=len(first) - len(guesses),
        n_repeated=len(known_guesses) - len(first),
    )


def _truth(about: GuessedThing, session: Session) -> str:
    return session.application if about is GuessedThing.APPLICATION else session.level.value


Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

Flags = NDArray[np.bool_]

FIRST, SECOND, NEITHER = 0, 1, -1
"""Order of an answer."""

SHARE, RANK = "difference of shares of answers", "chance of a higher answer, less one half"
"""Units of shifts."""

BESIDE_OWN: Final = "each beside the same annotator's other answers"
"""Note on a shift from which annotators' tendencies are removed."""

FEWEST_SITTINGS: Final = 3
"""Smallest number of an annotator's sittings for a comparison; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ways:
    """The condition of each answer, first or second, and the names of both conditions.

    Attributes:
        factor: Factor that varies.
        names: Names of the first and the second order.
        way: Order of each answer: 0 or 1; -1 for neither.
        beside: Subtracted from each answer's number before the comparison; None to subtract nothing.
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

    Yes, no and other named answers are compared by the share of defects,
    or else of the first label; numbers and ordered answers by how
    often an answer in the second order is higher.

    The previous dialogue is described by the annotator's answer about it. People
    who often say yes do so before and after, so each answer is compared
    with the same annotator's other answers: those to all dialogues except this
    one and the previous one, which are equal on average without an effect.

    Args:
        guideline: The questions.
        question: The question.
        columns: All answers, one per person and unit.
        annotator: Name of the judge that gave them; empty for people.

    Source:
        See `order_shift`. Sequences of decisions: Chen, Moskowitz, Shue (2016),
        Decision Making Under the Gambler's Fallacy, Quarterly Journal of
        Economics 131:1181-1242, doi:10.1093/qje/qjw017. Why an answer must not be
        compared with those that hold the one before: Miller, Sanjurjo (2018),
        Surprised by the Hot Hand Fallacy?, Econometrica 86:2019-2047.
    """
    scored = _scored(guideline, question, columns)
    if scored is None or not len(columns):
        return []
    by_order = _conditions_by_order(guideline.instrument, question, columns)
    conditions = [*by_order, *_conditions_by_sequence(columns, scored)]
    return [_effect(guideline, question, columns, scored, way, annotator) for way in conditions]


def suggestion_effects(
    guideline: Guideline, question: Question, columns: AnswerArrays, judge: str
) -> list[OrderEffect]:
    """Return the effects of a judge's suggestions on people's answers and on agreement with it; empty without any.

    Args:
        guideline: The questions.
        question: The question.
        columns: Answers of people and of the judge, one per annotator and unit.
        judge: Name of the judge in `columns`.

    Source:
        See `order_shift`.
    """
    shown = [shown_order_of(text).suggestions for text in columns.orders]
    scored = _scored(guideline, question, columns)
    if scored is None or all(way is None for way in shown):
        return []
    same, people = "share of answers equal to the judge's", columns.annotation_no > 0
    matches = _Scored(measured=same, unit=SHARE, high=same, numbers=agreement_with(columns, judge))
    own = columns.of(people)
    conditions = _Ways(
        factor=OrderFactor.SUGGESTIONS,
        names=("without suggestions", "with suggestions"),
        way=np.array([NEITHER if way is None else int(way) for way in shown], dtype=np.int64)[own.shown],
    )
    return [
        _effect(guideline, question, own, replace(measured, numbers=measured.numbers[people]), conditions, "")
        for measured in (scored, matches)
    ]


def _scored(guideline: Guideline, question: Question, columns: AnswerArrays) -> _Scored | None:
    scale = question.scale
    if scale.kind is ScaleKind.TEXT:
        return None
    if scale.kind is ScaleKind.DECIMALS:
        numbers = [decimal_of(label) for label in columns.labels]
        ranked = np.array([np.nan if number is None else number for number in numbers] + [np.nan])
        return _ranks(ranked[columns.value])
    position_of = {label: position for position, label in enumerate(scale.categories)}
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
    """Return values as the share of all values below them, with ties counting half."""
    has_value = np.flatnonzero(~np.isnan(values))
    numbers = np.full(len(values), np.nan)
    _, rank, counts = np.unique(values[has_value], return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    numbers[has_value] = (below + counts / 2.0)[rank] / max(len(has_value), 1)
    return _Scored(measured="ordinal shift", unit=RANK, high="a high answer", numbers=numbers)


def _conditions_by_order(instrument: Instrument, question: Question, columns: AnswerArrays) -> Iterator[_Ways]:
    orders = [shown_order_of(text) for text in columns.orders]

    def ways(factor: OrderFactor, names: tuple[str, str], of: list[bool | None]) -> Iterator[_Ways]:
        if any(way is not None for way in of):
            codes = np.array([NEITHER if way is None else int(way) for way in of], dtype=np.int64)
            yield _Ways(factor=factor, names=names, way=codes[columns.shown])

    is_later = [_is_later(instrument, question, order) for order in orders]
    yield from ways(OrderFactor.QUESTIONS, ("asked earlier", "asked later"), is_later)
    if question.scale.kind is ScaleKind.CATEGORIES:
        named = (f"answers {WRITTEN}", f"answers {REVERSED}")
        yield from ways(OrderFactor.OPTIONS, named, [order.options for order in orders])
    if question.level is QuestionLevel.TURN:
        yield from ways(OrderFactor.TURNS, ("first turn first", "last turn first"), [order.turns for order in orders])
    if any(order.dialogues is not None for order in orders):
        half = ("in the first half of one's dialogues", "in the second half")
        yield _Ways(factor=OrderFactor.QUEUE, names=half, way=_second_half(columns))


def _is_later(instrument: Instrument, question: Question, order: ShownOrder) -> bool | None:
    """Return whether an order asks a question later than average; None at the average."""
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


def _conditions_by_sequence(columns: AnswerArrays, scored: _Scored) -> Iterator[_Ways]:
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
    offsets = np.zeros(len(columns))
    offsets[sat] = np.divide(rest_sum, rest_n, out=np.zeros(len(sums)), where=met)[owner_of]
    way = np.full(len(columns), NEITHER, dtype=np.int64)
    way[sat] = np.where(met, (levels[before] > limit).astype(np.int64), NEITHER)[owner_of]
    names = (f"after a dialogue without {scored.high}", f"after one with {scored.high}")
    yield _Ways(factor=OrderFactor.PREVIOUS, names=names, way=way, beside=offsets)


def _effect(
    guideline: Guideline, question: Question, columns: AnswerArrays, scored: _Scored, conditions: _Ways, annotator: str
) -> OrderEffect:
    is_known = conditions.way != NEITHER
    used = np.flatnonzero(is_known & ~np.isnan(scored.numbers))
    numbers = scored.numbers if conditions.beside is None else scored.numbers - conditions.beside
    sides = [_side(question, columns, conditions, side, ~np.isnan(scored.numbers)) for side in (FIRST, SECOND)]
    return OrderEffect(
        guideline=guideline.name,
        question=question.name,
        factor=conditions.factor,
        annotator=annotator,
        measured=scored.measured if conditions.beside is None else f"{scored.measured}, {BESIDE_OWN}",
        first=sides[FIRST],
        second=sides[SECOND],
        shift=order_shift(
            numbers[used],
            conditions.way[used] == SECOND,
            annotators=columns.annotator[used],
            dialogues=columns.dialogue[used],
            unit=scored.unit,
        ),
        n_annotators=len(np.unique(columns.annotator[used])),
        n_dialogues=len(np.unique(columns.dialogue[used])),
        n_between=int(np.count_nonzero(~is_known)),
    )


def _side(question: Question, columns: AnswerArrays, conditions: _Ways, side: int, has_value: Flags) -> OrderSide:
    mine = conditions.way == side
    return OrderSide(
        shown=conditions.names[side],
        n=int(np.count_nonzero(mine & has_value)),
        n_without_value=int(np.count_nonzero(mine & ~has_value)),
        given=prevalence(question, columns.of(mine & has_value)),
    )


METHOD: Final = "standard error clustered by annotator and dialogue, Student's t"
"""Name of the interval."""

METHOD_OF_ONE: Final = "standard error clustered by dialogue, Student's t"
"""Name of the interval if there is one annotator."""


def order_shift(
    values: Sequence[float] | Floats,
    is_second: Sequence[bool] | Flags,
    *,
    annotators: Sequence[Hashable] | Whole,
    dialogues: Sequence[Hashable] | Whole,
    unit: str = "difference of shares of answers",
    confidence: float = 0.95,
) -> Estimate | Undefined:
    """Estimate the difference between the mean answers in the second and in the first order.

    The answers of one annotator resemble each other, as do those about one
    dialogue; the error accounts for both. Its square is the sum of the squared errors over
    each, minus that over answers that share both, and at least the
    smaller of the two. Student's t has one degree of freedom less
    than the smaller number of annotators or dialogues: with two
    annotators the interval is wide, as it should be.

    Args:
        values: Each answer as a number: 1 and 0, or a rank as a fraction.
        is_second: Whether it was given in the second order.
        annotators: Who gave it.
        dialogues: The dialogue of each answer.
        unit: Unit of a difference of the values.
        confidence: Coverage; fraction in (0, 1).

    Returns:
        In `unit`; n counts answers, clusters are annotators or dialogues, whichever are fewer.
        `Undefined` if all have one order, fewer than two dialogues have the other, or all are equal.

    Raises:
        InputError: If the arguments differ in length, or `confidence` is not a fraction.

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
        return TOO_FEW_EACH_WAY
    return NO_SPREAD if np.ptp(y[way]) == 0 and np.ptp(y[~way]) == 0 else ""


def _difference(y: Floats, way: Flags) -> tuple[float, Floats]:
    """Return the difference of two means, and each answer's contribution to its error."""
    means = {side: float(y[way == side].mean()) for side in (False, True)}
    sizes = {side: int((way == side).sum()) for side in (False, True)}
    influence = np.where(way, (y - means[True]) / sizes[True], -(y - means[False]) / sizes[False])
    return means[True] - means[False], influence


def _error(influence: Floats, who: Whole, what: Whole) -> tuple[float, int]:
    """Return the standard error over both kinds of clusters, and the smaller number of clusters."""
    by_dialogue, n_dialogues = _variance(influence, what)
    by_annotator, n_annotators = _variance(influence, who)
    if n_annotators < 2:
        return math.sqrt(by_dialogue), n_dialogues
    by_both, _ = _variance(influence, who * (int(what.max()) + 1) + what)
    variance = max(by_dialogue + by_annotator - by_both, min(by_dialogue, by_annotator))
    return math.sqrt(variance), min(n_dialogues, n_annotators)


def _variance(influence: Floats, codes: Whole) -> tuple[float, int]:
    _, positions = np.unique(codes, return_inverse=True)
    sums = np.bincount(positions, weights=influence)
    n = len(sums)
    return float((sums**2).sum()) * n / max(n - 1, 1), n
