"""Habits: how a judge behaves whatever the verdict, from what it wrote and what it read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import Annotation, Control
from theodolite.domain.certificate import ALL_APPLICATIONS
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.measurement.alpha import AlphaScale
from theodolite.measurement.probes import length_bias, position_bias
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.study.labels import Reading
from theodolite.measurement.study.sightings import Sightings
from theodolite.measurement.votes.stability import flip_rate, retest_alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What a judge did in its sittings of one run.

    Attributes:
        quoted: Sittings that gave words as evidence; count.
        ungrounded: Those among them whose words do not stand where they say; count.
        controlled: Sittings with a control question; count.
        uncontrolled: Those among them that did not answer it rightly; count.
        votes: The labels of each sitting that read more than once; None for none.
        planned: Sittings in all; count.
    """

    quoted: int = 0
    ungrounded: int = 0
    controlled: int = 0
    uncontrolled: int = 0
    votes: tuple[tuple[str | None, ...], ...] = ()
    planned: int = 0


def habits_of(annotations: Iterator[Annotation], judge: str, question: str) -> Habits:
    """Return what a judge did, read in one pass.

    Args:
        annotations: Of all annotators.
        judge: Name of the judge.
        question: Whose votes are looked at.
    """
    quoted, ungrounded, controls, votes, planned = 0, 0, list[Control](), list[tuple[str | None, ...]](), 0
    for one in annotations:
        if one.annotator != judge:
            continue
        planned += 1
        quoted += any(answer.evidence for answer in one.answers)
        ungrounded += one.is_ungrounded
        controls += [one.control] if one.control is not Control.NOT_ASKED else []
        votes += [votes_of(one, question)] if one.votes else []
    return Habits(
        quoted=quoted,
        ungrounded=ungrounded,
        controlled=len(controls),
        uncontrolled=sum(control is not Control.PASSED for control in controls),
        votes=tuple(votes),
        planned=planned,
    )


def votes_of(annotation: Annotation, question: str) -> tuple[str | None, ...]:
    """Return what a judge voted on a question of the whole dialogue, vote by vote; None where it gave no label."""
    return tuple(
        next((answer.value for answer in vote.answers if answer.question == question and answer.turn is None), None)
        for vote in annotation.votes
    )


def habit_figures(found: Habits, judge: str, guideline: Guideline) -> Iterator[Measurement]:
    """Yield the shares and coefficients that a judge's habits come to."""
    shares = {
        "ungrounded_share": (found.ungrounded, found.quoted),
        "control_failed_share": (found.uncontrolled, found.controlled),
    }
    for measure, (count, n) in shares.items():
        if n:
            yield _figure(measure, judge, guideline, defect_rate(count, n), planned=found.planned, used=n)
    if found.votes:
        yield from stability_figures(found.votes, judge, guideline)


def stability_figures(
    votes: Sequence[Sequence[str | None]], judge: str, guideline: Guideline, **about: str
) -> Iterator[Measurement]:
    """Yield how far a judge agrees with itself when it reads the same dialogue again."""
    question = guideline.question
    n = sum(sum(vote is not None for vote in unit) >= 2 for unit in votes)
    flips = flip_rate(votes)
    yield _figure(flip_rate.__name__, judge, guideline, flips, planned=len(votes), used=n, **about)
    if question.level is QuestionLevel.DIALOGUE and question.scale.categories:
        scale: AlphaScale = "ordinal" if _is_ordered(question) else "nominal"
        alpha = retest_alpha(votes, categories=question.scale.categories, scale=scale)
        yield _figure(retest_alpha.__name__, judge, guideline, alpha, planned=len(votes), used=n, scale=scale, **about)


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
    for measure, result in (("order_consistent", bias.consistent), ("prefers_first", bias.prefers_first)):
        yield _figure(measure, judge, guideline, result, planned=len(readings), used=n)


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
    figure = _figure(
        length_bias.__name__, found.judge.name, found.guideline, result, planned=len(both.seen), used=len(seen.seen)
    )
    rule = found.rule.name if found.rule else ""
    about = {**figure.about, "first": found.authority.name, "second": found.judge.name, "rule": rule}
    yield replace(figure, about=about)


def _dialogues_at(evidence: Evidence, places: Sequence[int]) -> Iterator[tuple[int, Dialogue]]:
    for dialogue in evidence.archive.dialogues(places):
        place = evidence.sessions.find(dialogue.label)
        if place is not None:
            yield place, dialogue


def _score(found: Sightings, reading: Reading) -> float | None:
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


def _figure(
    measure: str,
    judge: str,
    guideline: Guideline,
    result: Estimate | Undefined,
    *,
    planned: int,
    used: int,
    **about: str,
) -> Measurement:
    return Measurement(
        measure=measure,
        application=ALL_APPLICATIONS,
        about={"guideline": guideline.name, "question": guideline.question.name, "annotator": judge, **about},
        result=result,
        outcomes=Outcomes(planned=planned, used=used, missing=planned - used),
    )
