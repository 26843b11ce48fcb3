"""Habits: how a judge behaves whatever the verdict, from what it wrote and what it read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Annotation
from theodolite.domain.answers import AnswerRecord, DialogueLabel
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, Measure, Weighting
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.measurement.alpha import AlphaScale
from theodolite.measurement.probes import length_bias, position_bias
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.study.judge_diagnostics import judge_diagnostics
from theodolite.measurement.study.sightings import Sightings
from theodolite.measurement.votes.stability import flip_rate, retest_alpha


def habit_figures(evidence: Evidence, judge: str, guideline: Guideline) -> Iterator[Measurement]:
    """Yield what a judge's habits come to over all applications of a run.

    Args:
        evidence: All records of one run.
        judge: Name of the judge.
        guideline: What it labels by.
    """
    found = [one for one in judge_diagnostics(evidence) if one.annotator == judge]
    failed = sum(len(one.control_failed) + one.control_unanswered for one in found)
    shares = {
        Measure.UNGROUNDED_SHARE: (sum(len(one.ungrounded) for one in found), sum(one.quoting for one in found)),
        Measure.CONTROL_FAILED_SHARE: (failed, failed + sum(one.control_passed for one in found)),
    }
    planned = sum(one.verdicts for one in found)
    subject = _subject(judge, guideline)
    for measure, (count, n) in shares.items():
        if n:
            yield _figure(measure, subject, defect_rate(count, n), planned=planned, used=n)
    columns = evidence.answers.votes.get((judge, guideline.name, guideline.question.name))
    votes = [_by_replicate(records) for _, records in (columns.by_position() if columns else ())]
    if votes:
        yield from stability_figures(votes, judge, guideline)


def _by_replicate(records: Sequence[AnswerRecord]) -> tuple[str | None, ...]:
    """Return the label of each reading; None for a question about turns, which has no single label."""
    values = {record.replicate: record.value if record.turn is None else None for record in records}
    return tuple(values[number] for number in sorted(values))


def votes_of(annotation: Annotation, question: str) -> tuple[str | None, ...]:
    """Return what a judge voted on a question of the whole dialogue, vote by vote; None where it gave no label."""
    return tuple(
        next((answer.value for answer in vote.answers if answer.question == question and answer.turn is None), None)
        for vote in annotation.votes
    )


def stability_figures(
    votes: Sequence[Sequence[str | None]], judge: str, guideline: Guideline, *, repetition: str = ""
) -> Iterator[Measurement]:
    """Yield how far a judge agrees with itself when it reads the same dialogue again."""
    question = guideline.question
    subject = replace(_subject(judge, guideline), repetition=repetition)
    n = sum(sum(vote is not None for vote in unit) >= 2 for unit in votes)
    flips = flip_rate(votes)
    yield _figure(Measure.FLIP_RATE, subject, flips, planned=len(votes), used=n)
    if question.level is QuestionLevel.DIALOGUE and question.scale.categories:
        scale: AlphaScale = "ordinal" if _is_ordered(question) else "nominal"
        alpha = retest_alpha(votes, categories=question.scale.categories, scale=scale)
        figure = _figure(Measure.RETEST_ALPHA, subject, alpha, planned=len(votes), used=n)
        yield replace(figure, weighting=Weighting(scale))


def position_figures(
    readings: Sequence[tuple[str | None, str | None]], judge: str, guideline: Guideline
) -> Iterator[Measurement]:
    """Yield how far the order of the labels sways a judge.

    Args:
        readings: The label of each dialogue with the labels in order, and in reverse order.
        judge: Name of the judge.
        guideline: What was asked.
    """
    points = guideline.question.scale.categories
    if len(points) < 2:
        return
    shown = points[::-1]
    ways = [(_half(one, points), _half(other, shown)) for one, other in readings]
    bias = position_bias([one for one, _ in ways], [other for _, other in ways])
    n = sum(one is not None and other is not None for one, other in readings)
    results = {Measure.ORDER_CONSISTENT: bias.consistent, Measure.PREFERS_FIRST: bias.prefers_first}
    for measure, result in results.items():
        yield _figure(measure, _subject(judge, guideline), result, planned=len(readings), used=n)


def length_figure(evidence: Evidence, found: Sightings) -> Iterator[Measurement]:
    """Yield whether the judge errs more on long dialogues, where people's labels can tell."""
    both = found.labelled
    lengths = {
        place: sum(len(turn.response) for turn in dialogue.turns)
        for place, dialogue in _dialogues_at(evidence, [one.place for one in both.seen if one.readable])
    }
    seen = replace(both, seen=tuple(one for one in both.seen if one.place in lengths))
    judge = [_score(found, one.judge) for one in seen.seen]
    people = [_score(found, one.person) for one in seen.seen]
    result = length_bias(judge, people, [float(lengths[one.place]) for one in seen.seen], clusters=seen.clusters)
    subject = replace(
        _subject(found.judge.name, found.guideline),
        annotators=(found.authority.name, found.judge.name),
        rule=found.rule.name if found.rule else "",
    )
    yield _figure(Measure.LENGTH_BIAS, subject, result, planned=len(both.seen), used=len(seen.seen))


def _dialogues_at(evidence: Evidence, places: Sequence[int]) -> Iterator[tuple[int, Dialogue]]:
    for dialogue in evidence.archive.dialogues(places):
        place = evidence.sessions.find(dialogue.label)
        if place is not None:
            yield place, dialogue


def _score(found: Sightings, reading: DialogueLabel) -> float | None:
    verdict = found.verdict(reading)
    return None if verdict is None else float(verdict)


def _half(label: str | None, order: Sequence[str]) -> str | None:
    """Return in which half of an order a label stands: `first`, `second`, or `middle`; None without one."""
    if label is None or label not in order:
        return None
    twice = 2 * order.index(label) + 1
    return "middle" if twice == len(order) else "first" if twice < len(order) else "second"


def _is_ordered(question: Question) -> bool:
    return question.scale.ordered or question.scale.is_numeric


def _subject(judge: str, guideline: Guideline) -> EstimateSubject:
    return EstimateSubject(
        application=ALL_APPLICATIONS,
        guideline=guideline.name,
        question=guideline.question.name,
        annotators=(judge,),
    )


def _figure(
    measure: Measure, subject: EstimateSubject, result: Estimate | Undefined, *, planned: int, used: int
) -> Measurement:
    return Measurement(
        measure=measure,
        subject=subject,
        result=result,
        outcomes=Outcomes(planned=planned, used=used, missing=planned - used),
    )
