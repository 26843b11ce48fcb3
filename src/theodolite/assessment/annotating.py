"""Annotating: how each kind of annotator comes to its answers about one dialogue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.assessment.prompt import PROMPT_VERSION, judge_messages
from theodolite.assessment.signs import sign_labels
from theodolite.assessment.verdict import read_verdict, unread
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Annotation, Answer, Outcome
from theodolite.domain.annotator import Annotator, HandLabels, ModelJudge, PacketRule, RecordedLabels, WordRule
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.failure import Party
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Flow
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.domain.instrument import Question
from theodolite.domain.scenario import TestPacket, found
from theodolite.domain.study import Reference

_NOT_SHOWN = "the dialogue's text is withheld"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTask:
    """Everything that annotating one dialogue needs to know.

    Attributes:
        unit: Key of the unit of work.
        annotator: Who labels.
        annotator_version: Content hash of the annotator with guideline and model.
        guideline: What is asked.
        guideline_version: Content hash of the guideline.
        dialogue: What it is asked about.
        columns: The recorded row of the dialogue; empty for live ones.
        packet: The test packet of the dialogue's scenario.
    """

    unit: str
    annotator: Annotator
    annotator_version: str
    guideline: Guideline
    guideline_version: str
    dialogue: Dialogue
    columns: Mapping[str, str]
    packet: TestPacket = field(default_factory=TestPacket)


def task_version() -> str:
    """Return the hash of the rules by which judges are asked."""
    return digest("annotation", str(PROMPT_VERSION))


def annotate(task: AnnotationTask) -> Flow[Annotation]:
    """Annotate one dialogue; only a model judge makes requests."""
    labelling = task.annotator.labelling
    if isinstance(labelling, ModelJudge):
        return (yield from _judge(task, labelling))
    if isinstance(labelling, WordRule):
        return _annotation(task, (_by_rule(task, labelling),))
    if isinstance(labelling, PacketRule):
        return _annotation(task, tuple(_by_packet(task, question) for question in task.guideline.instrument.questions))
    if isinstance(labelling, HandLabels):
        message = f"`{task.annotator.name}` labels by hand and cannot be asked by a run"
        raise InputError(message)
    return _annotation(task, (_recorded(task.guideline.question, labelling, task.columns),))


def adjudication(
    reference: Reference, guideline: Guideline, dialogue: Dialogue, columns: Mapping[str, str]
) -> Adjudication:
    """Return the final label that a recorded row brings for its dialogue."""
    labels = RecordedLabels(column=reference.column, spelling=reference.spelling)
    answer = _recorded(guideline.question, labels, columns)
    return Adjudication(
        dialogue=dialogue.key,
        guideline=guideline.name,
        question=answer.question,
        outcome=answer.outcome,
        value=answer.value,
        origin=AdjudicationOrigin.RECORDED,
        raw=answer.raw,
    )


def _judge(task: AnnotationTask, judge: ModelJudge) -> Flow[Annotation]:
    if task.dialogue.withheld:
        return _annotation(task, unread(task.guideline, Outcome.MISSING, reasoning=_NOT_SHOWN))
    asked = AskModel(model=judge.model, messages=judge_messages(task.guideline, task.dialogue), party=Party.JUDGE)
    reply = yield asked
    if reply.finish == CONTENT_FILTER:
        refused = unread(task.guideline, Outcome.REFUSED, reasoning="the judge's own filter withheld its reply")
        return _annotation(task, refused, scripted=reply.scripted)
    answers = read_verdict(reply.text, task.guideline, task.dialogue)
    return _annotation(task, answers, scripted=reply.scripted)


def _by_rule(task: AnnotationTask, rule: WordRule) -> Answer:
    question = task.guideline.question
    if task.dialogue.withheld:
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=_NOT_SHOWN)
    for turn in task.dialogue.turns:
        for pattern in rule.any_of:
            found = re.search(pattern, turn.response, re.IGNORECASE)
            if found:
                reason = f"turn {turn.number} says `{found.group()}`"
                return Answer(question=question.name, outcome=Outcome.ANSWERED, value=rule.then, reasoning=reason)
    reason = "none of the rule's words occurs in a response"
    return Answer(question=question.name, outcome=Outcome.ANSWERED, value=rule.otherwise, reasoning=reason)


def _by_packet(task: AnnotationTask, question: Question) -> Answer:
    labels = sign_labels(task.guideline, question)
    signs = labels.signs(task.packet) if labels else ()
    if task.dialogue.withheld:
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=_NOT_SHOWN)
    if not (labels and signs):
        reason = f"the test packet of `{task.dialogue.scenario}` has no signs for this question"
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=reason)
    for turn in task.dialogue.turns:
        if words := found(signs, turn.response):
            reason = f"turn {turn.number} says `{words}`"
            return Answer(question=question.name, outcome=Outcome.ANSWERED, value=labels.found, reasoning=reason)
    reason = "none of the packet's signs occurs in a response"
    return Answer(question=question.name, outcome=Outcome.ANSWERED, value=labels.absent, reasoning=reason)


def _recorded(question: Question, labels: RecordedLabels, columns: Mapping[str, str]) -> Answer:
    written = columns.get(labels.column, "").strip()
    if not written:
        return Answer(question=question.name, outcome=Outcome.MISSING)
    value = labels.spelling.get(written, written)
    if not question.scale.admits(value):
        return Answer(question=question.name, outcome=Outcome.UNPARSEABLE, raw=written)
    return Answer(question=question.name, outcome=Outcome.ANSWERED, value=value)


def _annotation(task: AnnotationTask, answers: tuple[Answer, ...], *, scripted: bool = False) -> Annotation:
    return Annotation(
        unit=task.unit,
        dialogue=task.dialogue.key,
        annotator=task.annotator.name,
        annotator_version=task.annotator_version,
        guideline=task.guideline.name,
        instrument_version=task.guideline_version,
        answers=answers,
        scripted=scripted,
    )
