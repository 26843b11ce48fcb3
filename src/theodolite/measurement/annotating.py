"""Annotating: agreement of people, and of judges beside them, on a queue's questions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotating.promotion import BesidePeople
from theodolite.domain.answers import NO_VALUE
from theodolite.domain.findings.agreeing import AnswerStretch, GroupAgreement, PairAgreement, QuestionAgreement
from theodolite.domain.findings.number import Undefined
from theodolite.domain.instrument import Question
from theodolite.measurement.answer_arrays import (
    AnswerArrays,
    UnitLabels,
    by_person,
    prevalence,
)
from theodolite.measurement.raters.groups import group_agreement
from theodolite.measurement.spread import others_alike

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

STRETCHES: Final = 6
"""Stretches of time that a history is cut into at most; count."""

FEWEST_IN_STRETCH: Final = 10
"""Shared units that a stretch holds at least; count."""

MOST_IN_PAIRS: Final = 10
"""People up to whom alpha is worked out pair by pair; count."""

TOO_MANY_PAIRS: Final = "Among more than ten people, agreement beyond chance is given for all together, not for pairs."
"""Why a pair has no alpha."""


def question_agreement(category: str, question: Question, columns: AnswerArrays) -> QuestionAgreement:
    """Return how far people say the same to one question, with its history.

    Args:
        category: Name of the category.
        question: The question; its scale decides the level of measurement.
        columns: Everybody's answers, one a person and unit.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; the share of units that all
        labelled alike has the interval of `defect_rate`, over dialogues where
        turns are asked about.
    """
    sheet = UnitLabels(question, columns)
    order = sheet.shared_in_time()
    return QuestionAgreement(
        category=category,
        question=question.name,
        scale=sheet.scale,
        n_annotators=len(np.unique(columns.annotator)),
        n_units=len(np.unique(columns.unit)),
        n_shared=len(order),
        n_without_value=int(np.count_nonzero(columns.value == NO_VALUE)),
        alike=sheet.alike(order),
        alpha=sheet.alpha(order),
        prevalence=prevalence(question, columns),
        over_time=tuple(_stretches(sheet, order)),
    )


def self_agreement(category: str, question: Question, columns: AnswerArrays) -> QuestionAgreement:
    """Return how far people say the same again when they meet the same unit again.

    Each person's answers to one unit are held against each other, never against other people's.

    Args:
        category: Name of the category.
        question: The question.
        columns: Everybody's answers, several a person and unit where they were repeated.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43 (stability: test-retest data).
    """
    return question_agreement(category, question, _apart(columns))


def _apart(columns: AnswerArrays) -> AnswerArrays:
    """Return the same answers with units that belong to one person each."""
    return replace(columns, unit=columns.unit * (len(columns.names) + 1) + columns.annotator)


def pair_agreements(question: Question, columns: AnswerArrays, *, of: str = "") -> tuple[PairAgreement, ...]:
    """Return for every two people who met on a unit how far they say the same.

    Among more than ten people only the share of equal labels is given for each
    pair: alpha of a thousand pairs tells nothing that the alpha of all does not.

    Args:
        question: The question.
        columns: Everybody's answers.
        of: Only the pairs of this person; empty for all.
    """
    who = by_person(columns)
    with_alpha = len(who) <= MOST_IN_PAIRS
    wanted = [pair for pair in combinations(sorted(who), 2) if not of or of in pair]
    return tuple(
        _pair(question, (a, b), columns.of(np.concatenate([who[a], who[b]])), with_alpha=with_alpha)
        for a, b in wanted
        if len(np.intersect1d(columns.unit[who[a]], columns.unit[who[b]]))
    )


def model_agreements(question: Question, columns: AnswerArrays, models: Collection[str]) -> tuple[PairAgreement, ...]:
    """Return for every model how far it says what each person says, on the dialogues that both labelled.

    Args:
        question: The question.
        columns: AnswerArrays of people and models.
        models: Which of those who answered are models.
    """
    who = by_person(columns)
    return tuple(
        _pair(question, (person, model), columns.of(np.concatenate([who[person], who[model]])), is_model=True)
        for model in sorted(set(models) & set(who))
        for person in who
        if person not in models and len(np.intersect1d(columns.unit[who[person]], columns.unit[who[model]]))
    )


def judge_beside_people(question: Question, columns: AnswerArrays, judge: str) -> BesidePeople:
    """Return how far a judge says what people say to one question.

    Each person's label is held against the judge's on the same unit; the pairs of
    a dialogue resemble each other and are drawn together. The share of people's
    labels that equal the judge's is taken of each dialogue first.

    Args:
        question: The question.
        columns: AnswerArrays of people and of this judge.
        judge: Which of those who answered is the judge.
    """
    held, is_judge = columns.value != NO_VALUE, np.zeros(len(columns), dtype=bool)
    if judge in columns.names:
        is_judge = columns.annotator == columns.names.index(judge)
    said = dict(zip(columns.unit[held & is_judge].tolist(), columns.value[held & is_judge].tolist(), strict=True))
    met = columns.of(held & ~is_judge & np.isin(columns.unit, list(said)))
    shadow = replace(met, value=np.array([said[unit] for unit in met.unit.tolist()], dtype=np.int64))
    sheet = UnitLabels(question, _stacked(_apart(met), _apart(shadow)), clustered=True)
    own = UnitLabels(question, columns.of(~is_judge))
    return BesidePeople(
        question=question.name,
        n_people=len(np.unique(met.annotator)),
        alike=others_alike(met.dialogue, met.value == shadow.value),
        alpha=sheet.alpha(sheet.shared_in_time()),
        people=own.alpha(own.shared_in_time()),
    )


def _stacked(one: AnswerArrays, other: AnswerArrays) -> AnswerArrays:
    return replace(
        one,
        annotator=np.concatenate([one.annotator, other.annotator]),
        unit=np.concatenate([one.unit, other.unit]),
        dialogue=np.concatenate([one.dialogue, other.dialogue]),
        turn=np.concatenate([one.turn, other.turn]),
        value=np.concatenate([one.value, other.value]),
        at=np.concatenate([one.at, other.at]),
        shown=np.concatenate([one.shown, other.shown]),
        sitting=np.concatenate([one.sitting, other.sitting]),
    )


def _pair(
    question: Question,
    names: tuple[str, str],
    both: AnswerArrays,
    *,
    is_model: bool = False,
    with_alpha: bool = True,
) -> PairAgreement:
    sheet = UnitLabels(question, both)
    shared = sheet.shared_in_time()
    return PairAgreement(
        first=names[0],
        second=names[1],
        question=question.name,
        alike=sheet.alike(shared),
        alpha=sheet.alpha(shared) if with_alpha else Undefined(reason=TOO_MANY_PAIRS),
        is_model=is_model,
    )


def groups_of_annotators(
    question: Question, columns: AnswerArrays, group_of: Mapping[str, str], *, draws: int = 999
) -> tuple[GroupAgreement, ...]:
    """Return how far the annotators of each group agree with each other and with the rest.

    Whoever did not say what they are is left out: a group of the silent would be no group.

    Args:
        question: The question; its labels count as unordered.
        columns: Everybody's answers.
        group_of: Annotator to the group that they describe themselves by.
        draws: Ways to give people groups at random; count.

    Source:
        See `group_agreement`.
    """
    known = np.array([name in group_of for name in columns.names], dtype=bool)
    held = columns.of(np.flatnonzero((columns.value != NO_VALUE) & known[columns.annotator]))
    people = [held.names[code] for code in dict.fromkeys(held.annotator.tolist())]
    if len({group_of[person] for person in people}) < 2:
        return ()
    _, unit = np.unique(held.unit, return_inverse=True)
    rows: dict[str, list[str | None]] = {person: [None] * (int(unit.max()) + 1) for person in people}
    for annotator, place, value in zip(held.annotator.tolist(), unit.tolist(), held.value.tolist(), strict=True):
        rows[held.names[annotator]][place] = held.labels[value]
    groups = [group_of[person] for person in people]
    return group_agreement(list(rows.values()), groups, categories=question.scale.categories, draws=draws)


def _stretches(sheet: UnitLabels, order: Whole) -> Iterator[AnswerStretch]:
    n_stretches = min(STRETCHES, len(order) // FEWEST_IN_STRETCH)
    if n_stretches < 2:
        return
    for part in range(n_stretches):
        units = order[part * len(order) // n_stretches : (part + 1) * len(order) // n_stretches]
        yield AnswerStretch(
            begun=sheet.begun(int(units[0])),
            ended=sheet.begun(int(units[-1])),
            alike=sheet.alike(units),
            alpha=sheet.alpha(units),
        )
