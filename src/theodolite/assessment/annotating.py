"""Annotating: how each kind of annotator comes to its answers about one dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from theodolite.assessment.judge.judging import Judgement, judgement
from theodolite.assessment.judge.prompt import PROMPT_VERSION
from theodolite.assessment.judge.verdict import unread
from theodolite.assessment.judge.voting import BelowHalf
from theodolite.assessment.labelling import by_function
from theodolite.assessment.ruling import NOT_SHOWN, by_packet, by_words
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Annotation, Answer, Outcome
from theodolite.domain.annotator import (
    VOTE_VERSION,
    Annotator,
    HandLabels,
    ModelJudge,
    PacketRule,
    PythonLabeller,
    RecordedLabels,
    WordRule,
)
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.flow import Flow
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.scenario import TestPacket
from theodolite.domain.study import Reference


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
        rows: The recorded rows of the dialogue, by turn; empty for live ones.
        packet: The test packet of the dialogue's scenario.
        expected: Expected answer of the test case; empty for none.
        below_half: Probability that a Beta variable lies below one half, for votes that stop by their price.
    """

    unit: str
    annotator: Annotator
    annotator_version: str
    guideline: Guideline
    guideline_version: str
    dialogue: Dialogue
    rows: Sequence[Mapping[str, str]]
    below_half: BelowHalf
    packet: TestPacket = field(default_factory=TestPacket)
    expected: str = ""

    @property
    def material(self) -> Dialogue:
        """The dialogue with the expected answer among its source material, for judges and functions."""
        if not self.expected:
            return self.dialogue
        context = "\n\n".join(filter(None, (self.dialogue.context, f"Expected answer:\n{self.expected}")))
        return replace(self.dialogue, context=context)


def task_version(annotator: Annotator | None = None) -> str:
    """Return the hash of the rules by which an annotator works; those of votes count for judges that vote."""
    votes = (
        annotator is not None and isinstance(annotator.labelling, ModelJudge) and annotator.labelling.voting.most > 1
    )
    return digest("annotation", str(PROMPT_VERSION), *([str(VOTE_VERSION)] if votes else []))


def annotate(task: AnnotationTask) -> Flow[Annotation]:
    """Annotate one dialogue; only judges and functions make requests."""
    labelling = task.annotator.labelling
    match labelling:
        case ModelJudge():
            return (yield from _judge(task, labelling))
        case PythonLabeller():
            return (yield from _by_function(task))
        case WordRule():
            return _annotation(task, by_words(labelling, task.guideline, task.dialogue, task.expected))
        case PacketRule():
            return _annotation(task, by_packet(task.packet, task.guideline, task.dialogue))
        case RecordedLabels():
            return _annotation(task, _recorded(_question(task.guideline, labelling), labelling, task.rows))
        case HandLabels():
            message = f"`{task.annotator.name}` labels by hand and cannot be asked by a run"
            raise InputError(message)
        case _:
            assert_never(labelling)


def _question(guideline: Guideline, labels: RecordedLabels) -> Question:
    return guideline.instrument.question(labels.question) if labels.question else guideline.question


def adjudication(
    reference: Reference, guideline: Guideline, dialogue: Dialogue, rows: Sequence[Mapping[str, str]]
) -> Adjudication:
    """Return the final label that recorded rows bring for their dialogue, the first that one of them has."""
    labels = RecordedLabels(column=reference.column, spelling=reference.spelling)
    answer = _answer(guideline.question, labels, rows)
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
        return _annotation(task, unread(task.guideline, Outcome.MISSING, reasoning=NOT_SHOWN))
    found = yield from judgement(judge, task.guideline, task.material, below_half=task.below_half)
    return _annotation_of(task, found)


def _by_function(task: AnnotationTask) -> Flow[Annotation]:
    if task.dialogue.withheld:
        return _annotation(task, unread(task.guideline, Outcome.MISSING, reasoning=NOT_SHOWN))
    return _annotation(task, (yield from by_function(task.annotator.name, task.guideline, task.material)))


def _recorded(question: Question, labels: RecordedLabels, rows: Sequence[Mapping[str, str]]) -> tuple[Answer, ...]:
    """Return the answers that the rows of a dialogue bring: one a turn, or one for the whole dialogue."""
    if question.level is QuestionLevel.TURN and rows:
        return tuple(_answer(question, labels, [row], turn=turn) for turn, row in enumerate(rows, start=1))
    return (_answer(question, labels, rows),)


def _answer(
    question: Question, labels: RecordedLabels, rows: Sequence[Mapping[str, str]], *, turn: int | None = None
) -> Answer:
    """Return the first label that the rows have; `check` refuses rows that contradict each other."""
    texts = (row.get(labels.column, "").strip() for row in rows)
    written = next((text for text in texts if text), "")
    if not written:
        return Answer(question=question.name, outcome=Outcome.MISSING, turn=turn)
    value = labels.spelling.get(written) or question.scale.matched(written)
    if value is None or not question.scale.admits(value):
        return Answer(question=question.name, outcome=Outcome.UNPARSEABLE, raw=written, turn=turn)
    return Answer(question=question.name, outcome=Outcome.ANSWERED, value=value, turn=turn)


def _annotation(task: AnnotationTask, answers: tuple[Answer, ...]) -> Annotation:
    return _annotation_of(task, Judgement(answers=answers))


def _annotation_of(task: AnnotationTask, found: Judgement) -> Annotation:
    return Annotation(
        unit=task.unit,
        dialogue=task.dialogue.key,
        annotator=task.annotator.name,
        annotator_version=task.annotator_version,
        guideline=task.guideline.name,
        instrument_version=task.guideline_version,
        answers=found.answers,
        scripted=found.scripted,
        votes=found.votes,
        control=found.control,
        answered_as="\n".join(" ".join(name.split()) for name in found.answered_as),
    )
