"""Scores: how the numbers that a judge gives follow those of people."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.answer_rules import AnswerSource, AnswerSources, QuestionLabels, versions_of
from theodolite.domain.answers import DialogueLabel, outcomes_of
from theodolite.domain.estimate import Measurement
from theodolite.domain.estimate_subject import Measure, ScoreStatistic
from theodolite.domain.instrument import decimal_of
from theodolite.measurement.scores import score_agreement
from theodolite.measurement.study.agreements import Pair, pair_of, pairs_of, subject_of


def score_agreements(application: str, sheet: QuestionLabels, by: AnswerSources) -> Iterator[Measurement]:
    """Yield how far numbers go together, on one question that is answered by numbers.

    Every judge is held against the reference or, where there is none, against each
    person; people are held against each other. There are five numbers for each
    pair: distance, bias (second minus first) and three correlations.

    Args:
        application: Name of the application.
        sheet: The question and the planned sessions.
        by: Who labels.
    """
    people = [source for source in by.annotators if source.is_person]
    judges = [source for source in by.annotators if not source.is_person]
    authorities = [by.reference] if by.reference else people
    compared = [*pairs_of(people), *((first, judge) for judge in judges for first in authorities)]
    for first, second in compared:
        yield from _of_pair(application, sheet, first, second)


def _of_pair(
    application: str, sheet: QuestionLabels, first: AnswerSource, second: AnswerSource
) -> Iterator[Measurement]:
    pair: Pair = pair_of(sheet, first, second)
    ours = [_number(reading) for _, reading in pair.readings]
    theirs = [_number(reading) for reading, _ in pair.readings]
    found = score_agreement(ours, theirs, clusters=pair.clusters)
    results = {
        ScoreStatistic.RMSE: found.rmse,
        ScoreStatistic.BIAS: found.bias,
        ScoreStatistic.PEARSON: found.pearson,
        ScoreStatistic.SPEARMAN: found.spearman,
        ScoreStatistic.KENDALL: found.kendall,
    }
    for statistic, result in results.items():
        yield Measurement(
            measure=Measure.SCORE_AGREEMENT,
            statistic=statistic,
            subject=subject_of(application, sheet, (first, second)),
            result=result,
            outcomes=outcomes_of(pair.outcomes()),
            versions=versions_of(sheet.guideline, [first, second]),
        )


def _number(reading: DialogueLabel) -> float | None:
    return decimal_of(reading.value) if reading.value is not None else None
