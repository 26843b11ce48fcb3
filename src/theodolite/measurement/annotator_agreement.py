"""Agreement of people, and of judges with people, on the questions of an annotation queue."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotating.quality import BesidePeople
from theodolite.domain.answers import NO_VALUE
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.agreement import (
    AgreementPeriod,
    DayAgreement,
    GroupAgreement,
    PairAgreement,
    PlannedPasses,
    QuestionAgreement,
    RaterAgreement,
    UnitSpread,
)
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.undefined_reasons import NO_SHARED_UNIT, TOO_FEW_ON_DAY, TOO_MANY_PAIRS
from theodolite.measurement.answer_arrays import AnswerArrays, UnitLabels, by_person, prevalence
from theodolite.measurement.interval import normal_quantile
from theodolite.measurement.proportion import mean_fraction
from theodolite.measurement.rater_models import group_agreement

Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

SEGMENTS: Final = 6
"""Maximum number of segments of a history; count."""

FEWEST_IN_SEGMENT: Final = 10
"""Minimum number of shared units in a segment; count."""

FEWEST_ON_DAY: Final = 5
"""Minimum number of shared units for the alpha of a day; count."""

MOST_IN_PAIRS: Final = 10
"""Largest number of people for a pairwise computation of alpha; count."""


def question_agreement(category: str, question: Question, columns: AnswerArrays) -> QuestionAgreement:
    """Return the agreement of people on one question, with its history.

    Args:
        category: Name of the category.
        question: The question; its scale decides the level of measurement.
        columns: All answers, one a person and unit.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; the share of units that all
        labelled alike has the interval of `defect_rate`, over dialogues where
        turns are asked about.
    """
    unit_labels = UnitLabels(question, columns)
    order = unit_labels.shared_in_time()
    return QuestionAgreement(
        category=category,
        question=question.name,
        scale=unit_labels.scale,
        n_annotators=len(np.unique(columns.annotator)),
        n_units=len(np.unique(columns.unit)),
        n_shared=len(order),
        n_without_value=int(np.count_nonzero(columns.value == NO_VALUE)),
        alike=unit_labels.alike(order),
        alpha=unit_labels.alpha(order),
        prevalence=prevalence(question, columns),
        over_time=tuple(_segments(unit_labels, order)),
    )


def agreement_per_day(question: Question, columns: AnswerArrays, zone: tzinfo) -> tuple[DayAgreement, ...]:
    """Return the agreement of people on one question day by day, in order.

    A dialogue, or a turn of it, belongs to the day of its latest label. A day with fewer than five of them
    has no value: its interval would cover most of the scale.

    Args:
        question: The question; its scale decides the level of measurement.
        columns: All answers, one a person and unit.
        zone: Time zone of the days.

    Source:
        See `question_agreement`.
    """
    unit_labels = UnitLabels(question, columns)
    return tuple(
        DayAgreement(
            day=day,
            n_shared=len(units),
            alpha=unit_labels.alpha(units)
            if len(units) >= FEWEST_ON_DAY
            else Undefined(reason=TOO_FEW_ON_DAY.format(fewest=FEWEST_ON_DAY), n=len(units)),
        )
        for day, units in unit_labels.shared_by_day(zone).items()
    )


def self_agreement(category: str, question: Question, columns: AnswerArrays) -> QuestionAgreement:
    """Return the agreement of people with themselves when they label the same unit again.

    Each person's answers to one unit are compared with each other, never against other people's.

    Args:
        category: Name of the category.
        question: The question.
        columns: All answers, with several per person and unit if they were repeated.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43 (stability: test-retest data).
    """
    return question_agreement(category, question, _apart(columns))


def _apart(columns: AnswerArrays) -> AnswerArrays:
    """Return the answers with separate units for each person."""
    return replace(columns, unit=columns.unit * (len(columns.names) + 1) + columns.annotator)


def pair_agreements(question: Question, columns: AnswerArrays, *, of: str = "") -> tuple[PairAgreement, ...]:
    """Return the agreement of every two annotators with a common unit.

    Among more than ten people only the share of equal labels is given for each
    pair: alpha of a thousand pairs adds nothing to the alpha of all.

    Args:
        question: The question.
        columns: All answers.
        of: Only the pairs of this person; empty for all.
    """
    rows_of = by_person(columns)
    with_alpha = len(rows_of) <= MOST_IN_PAIRS
    pairs = [pair for pair in combinations(sorted(rows_of), 2) if not of or of in pair]
    return tuple(
        _pair(question, (a, b), columns.of(np.concatenate([rows_of[a], rows_of[b]])), with_alpha=with_alpha)
        for a, b in pairs
        if len(np.intersect1d(columns.unit[rows_of[a]], columns.unit[rows_of[b]]))
    )


def model_agreements(question: Question, columns: AnswerArrays, models: Collection[str]) -> tuple[PairAgreement, ...]:
    """Return the agreement of every model with every person, on the dialogues that both labelled.

    Args:
        question: The question.
        columns: AnswerArrays of people and models.
        models: The models among the annotators.
    """
    rows_of = by_person(columns)
    return tuple(
        _pair(question, (person, model), columns.of(np.concatenate([rows_of[person], rows_of[model]])), is_model=True)
        for model in sorted(set(models) & set(rows_of))
        for person in rows_of
        if person not in models and len(np.intersect1d(columns.unit[rows_of[person]], columns.unit[rows_of[model]]))
    )


def judge_beside_people(question: Question, columns: AnswerArrays, judge: str) -> BesidePeople:
    """Return the agreement of a judge with people on one question.

    Each person's label is compared with the judge's on the same unit; the pairs of
    a dialogue resemble each other and are resampled together. The share of people's
    labels that equal the judge's is computed per dialogue first.

    Args:
        question: The question.
        columns: AnswerArrays of people and of this judge.
        judge: The judge among the annotators.
    """
    labelled, is_judge = columns.value != NO_VALUE, np.zeros(len(columns), dtype=bool)
    if judge in columns.names:
        is_judge = columns.annotator == columns.names.index(judge)
    label_of = dict(
        zip(columns.unit[labelled & is_judge].tolist(), columns.value[labelled & is_judge].tolist(), strict=True)
    )
    compared = columns.of(labelled & ~is_judge & np.isin(columns.unit, list(label_of)))
    shadow = replace(compared, value=np.array([label_of[unit] for unit in compared.unit.tolist()], dtype=np.int64))
    unit_labels = UnitLabels(question, _stacked(_apart(compared), _apart(shadow)), clustered=True)
    own = UnitLabels(question, columns.of(~is_judge))
    return BesidePeople(
        question=question.name,
        n_people=len(np.unique(compared.annotator)),
        alike=others_alike(compared.dialogue, compared.value == shadow.value),
        alpha=unit_labels.alpha(unit_labels.shared_in_time()),
        people=own.alpha(own.shared_in_time()),
    )


def _stacked(people: AnswerArrays, judge: AnswerArrays) -> AnswerArrays:
    return replace(
        people,
        annotator=np.concatenate([people.annotator, judge.annotator]),
        unit=np.concatenate([people.unit, judge.unit]),
        dialogue=np.concatenate([people.dialogue, judge.dialogue]),
        turn=np.concatenate([people.turn, judge.turn]),
        value=np.concatenate([people.value, judge.value]),
        at=np.concatenate([people.at, judge.at]),
        shown=np.concatenate([people.shown, judge.shown]),
        annotation_no=np.concatenate([people.annotation_no, judge.annotation_no]),
    )


def _pair(
    question: Question,
    names: tuple[str, str],
    both: AnswerArrays,
    *,
    is_model: bool = False,
    with_alpha: bool = True,
) -> PairAgreement:
    unit_labels = UnitLabels(question, both)
    shared = unit_labels.shared_in_time()
    return PairAgreement(
        first=names[0],
        second=names[1],
        question=question.name,
        alike=unit_labels.alike(shared),
        alpha=unit_labels.alpha(shared) if with_alpha else Undefined(reason=TOO_MANY_PAIRS),
        is_model=is_model,
    )


def groups_of_annotators(
    question: Question, columns: AnswerArrays, group_of: Mapping[str, str], *, draws: int = 999
) -> tuple[GroupAgreement, ...]:
    """Return the agreement of the annotators of each group with each other and with the rest.

    Annotators who did not describe themselves are omitted; they are not a group.

    Args:
        question: The question; its labels count as unordered.
        columns: All answers.
        group_of: Annotator to the group that they describe themselves by.
        draws: Random assignments of people to groups; count.

    Source:
        See `group_agreement`.
    """
    known = np.array([name in group_of for name in columns.names], dtype=bool)
    labelled = columns.of(np.flatnonzero((columns.value != NO_VALUE) & known[columns.annotator]))
    people = [labelled.names[code] for code in dict.fromkeys(labelled.annotator.tolist())]
    if len({group_of[person] for person in people}) < 2:
        return ()
    _, unit = np.unique(labelled.unit, return_inverse=True)
    rows: dict[str, list[str | None]] = {person: [None] * (int(unit.max()) + 1) for person in people}
    for annotator, row, value in zip(labelled.annotator.tolist(), unit.tolist(), labelled.value.tolist(), strict=True):
        rows[labelled.names[annotator]][row] = labelled.labels[value]
    groups = [group_of[person] for person in people]
    return group_agreement(list(rows.values()), groups, categories=question.scale.categories, draws=draws)


def _segments(unit_labels: UnitLabels, order: Whole) -> Iterator[AgreementPeriod]:
    n_segments = min(SEGMENTS, len(order) // FEWEST_IN_SEGMENT)
    if n_segments < 2:
        return
    for part in range(n_segments):
        units = order[part * len(order) // n_segments : (part + 1) * len(order) // n_segments]
        yield AgreementPeriod(
            begun=unit_labels.begun(int(units[0])),
            ended=unit_labels.begun(int(units[-1])),
            alike=unit_labels.alike(units),
            alpha=unit_labels.alpha(units),
        )


OTHERS: Final = "share of others' labels, mean over dialogues"
"""Unit of others' agreement with one person."""

CONFIDENCE: Final = 0.95
"""Coverage of its interval."""


class Halves(NamedTuple):
    """Agreement of one annotator with others in the first and second half of their work; counts."""

    early_alike: int = 0
    early_asked: int = 0
    late_alike: int = 0
    late_asked: int = 0


def rater_agreements(question: Question, columns: AnswerArrays) -> tuple[RaterAgreement, ...]:
    """Return for every person, by name, their labels and the share of equal labels by others.

    For each dialogue, the share of others' labels that equal the person's is computed
    first, and then the mean over dialogues, so that a dialogue that many have
    labelled weighs no more than any other.

    Args:
        question: The question.
        columns: All answers, one a person and unit.

    Source:
        See `mean_fraction`.
    """
    labelled = columns.of(np.flatnonzero(columns.value != NO_VALUE))
    _, unit = np.unique(labelled.unit, return_inverse=True)
    n_labels = len(labelled.labels)
    counts = np.bincount(
        unit * n_labels + labelled.value, minlength=(int(unit.max()) + 1) * n_labels if len(unit) else 0
    )
    table = counts.reshape(-1, n_labels) if n_labels else counts.reshape(0, 0)
    others = table.sum(axis=1)[unit] - 1
    same = table[unit, labelled.value] - 1
    people = by_person(columns)
    return tuple(
        _rater(
            question,
            name,
            columns.of(people[name]),
            np.flatnonzero(labelled.annotator == code),
            (labelled, same, others),
        )
        for name, code in sorted((name, labelled.names.index(name)) for name in people)
    )


def _rater(
    question: Question, name: str, own: AnswerArrays, rows: Whole, beside: tuple[AnswerArrays, Whole, Whole]
) -> RaterAgreement:
    labelled, same, others = beside
    rows = rows[others[rows] > 0]
    return RaterAgreement(
        annotator=name,
        n_answers=len(own),
        n_without_value=int(np.count_nonzero(own.value == NO_VALUE)),
        alike=others_alike(labelled.dialogue[rows], same[rows], others[rows]),
        prevalence=prevalence(question, own),
    )


def others_alike(
    dialogues: Whole, same: NDArray[np.int64] | NDArray[np.bool_], others: Whole | None = None
) -> Estimate | Undefined:
    """Return the share of equal labels by others, per dialogue first and then over dialogues.

    Args:
        dialogues: The dialogue of each comparison; shape (comparisons,).
        same: Number of equal labels in each comparison; counts, or whether its label is equal.
        others: Number of labels in each comparison; counts, None for one each.
    """
    _, owner = np.unique(dialogues, return_inverse=True)
    hits, sizes = np.bincount(owner, weights=same), np.bincount(owner, weights=others)
    return mean_fraction(
        (hits / sizes).tolist(), clusters=None, unit=OTHERS, confidence=CONFIDENCE, otherwise=NO_SHARED_UNIT
    )


def spreads(question: Question, columns: AnswerArrays) -> tuple[UnitSpread, ...]:
    """Return the labels of every unit that two or more people labelled, the most divided first.

    Units are sorted by the number of labels that differ from the most frequent one; equally
    divided units are in the order of their dialogues.

    Args:
        question: The question.
        columns: All answers; dialogues are known by their numbers.
    """
    labelled = columns.of(np.flatnonzero(columns.value != NO_VALUE))
    if not len(labelled):
        return ()
    _, first, unit = np.unique(labelled.unit, return_index=True, return_inverse=True)
    counts = np.bincount(unit * len(labelled.labels) + labelled.value, minlength=len(first) * len(labelled.labels))
    table = counts.reshape(len(first), len(labelled.labels))
    n = table.sum(axis=1)
    divided = 1 - table.max(axis=1) / n
    order = [index for index in np.lexsort((labelled.dialogue[first], -divided)) if n[index] > 1]
    points = question.scale.categories or labelled.labels
    column = {label: index for index, label in enumerate(labelled.labels)}
    return tuple(
        UnitSpread(
            dialogue=int(labelled.dialogue[first[index]]),
            turn=int(labelled.turn[first[index]]) or None,
            counts=tuple((point, int(table[index, column[point]]) if point in column else 0) for point in points),
        )
        for index in order
    )


def halves_alike(answers: Iterable[AnswerArrays]) -> dict[str, Halves]:
    """Return each annotator's agreement with the others in both halves of their work; counts.

    Args:
        answers: All answers to each question; units with one answer count in neither half.
    """
    by_annotator: dict[str, list[tuple[Floats, NDArray[np.bool_]]]] = defaultdict(list)
    for columns in answers:
        labelled = columns.of(np.flatnonzero(columns.value != NO_VALUE))
        if not len(labelled):
            continue
        _, unit = np.unique(labelled.unit, return_inverse=True)
        table = np.bincount(
            unit * len(labelled.labels) + labelled.value, minlength=(int(unit.max()) + 1) * len(labelled.labels)
        )
        counts = table.reshape(-1, len(labelled.labels))
        met, same = counts.sum(axis=1)[unit] > 1, counts[unit, labelled.value] > 1
        for name, rows in by_person(labelled).items():
            shared = rows[met[rows]]
            by_annotator[name].append((labelled.at[shared], same[shared]))
    return {name: _halves(parts) for name, parts in by_annotator.items()}


def _halves(parts: Sequence[tuple[Floats, NDArray[np.bool_]]]) -> Halves:
    at, same = (np.concatenate([part[position] for part in parts]) for position in (0, 1))
    in_time = same[np.argsort(at, kind="stable")]
    early, late = in_time[: len(in_time) // 2], in_time[len(in_time) // 2 :]
    return Halves(int(early.sum()), len(early), int(late.sum()), len(late))


def planned_passes(
    question: Question,
    columns: AnswerArrays,
    half_width: float,
    *,
    most_passes: int = 5,
    confidence: float = 0.95,
) -> tuple[PlannedPasses, ...] | Undefined:
    """Return the number of dialogues with 1, 2, ... annotations each that gives a mean the required precision.

    More passes reduce the part of the variance that comes from people, more
    dialogues reduce all of it: with little disagreement, a second pass is wasted.
    The variance between dialogues and the variance between people about one dialogue
    come from the answers so far (one-way random effects); the mean of n dialogues
    with k passes each has the variance (between + within / k) / n.

    Args:
        question: A question on numbers, or of two categories with the first one counted.
        columns: The answers so far; some dialogues have answers of at least two people.
        half_width: Required half-width of the interval; scale points, or a fraction for categories.
        most_passes: Maximum number of annotations per dialogue to consider; count.
        confidence: Coverage of that interval; fraction in (0, 1).

    Returns:
        One entry for each number of annotations; `Undefined` if no dialogue has two answers.

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
        return Undefined(reason=NO_SHARED_UNIT)
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
    selected = np.flatnonzero(~np.isnan(value))
    _, dialogues = np.unique(columns.dialogue[selected], return_inverse=True)
    return dialogues, value[selected]


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
