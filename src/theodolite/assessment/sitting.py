"""A person's sitting: from saved answers to one whole annotation."""

from __future__ import annotations

from dataclasses import replace

from theodolite.assessment.quoting import looked_up
from theodolite.assessment.routing import is_open, left_closed
from theodolite.assessment.slips import turns_asked
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest, version_of


def whole_answers(guideline: Guideline, dialogue: Dialogue, answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """Return one answer for each question and turn, in the order of asking.

    Follow-ups that are not asked do not apply, and quotes are looked up in the dialogue.

    Args:
        guideline: What was asked.
        dialogue: What it was asked about.
        answers: An answer to each question that must be answered. Further ones, to follow-ups that
            are closed again, are left out; free text that was left empty is missing.
    """
    instrument, given = guideline.instrument, {(answer.question, answer.turn): answer for answer in answers}
    whole: list[Answer] = []
    for question in instrument.questions:
        for turn in turns_asked(question, dialogue):
            if is_open(question, whole, instrument, turn):
                answer = given.get(
                    (question.name, turn), Answer(question=question.name, outcome=Outcome.MISSING, turn=turn)
                )
                quotes = tuple(looked_up(quote, dialogue) for quote in answer.evidence)
                whole.append(replace(answer, evidence=quotes))
            else:
                whole.append(left_closed(question, whole, instrument, turn))
    return tuple(whole)


def annotation_by(
    participant: str, guideline: Guideline, dialogue: Dialogue, answers: tuple[Answer, ...], *, revision: int = 1
) -> Annotation:
    """Return one person's sitting as an annotation, the same as if its answers had come in a label file.

    Args:
        participant: Opaque key of the person, who is the annotator of that name.
        guideline: What was asked.
        dialogue: What it was asked about.
        answers: One for each question and turn.
        revision: Number of the revision, from 1.
    """
    person = Annotator(name=participant, kind=AnnotatorKind.PERSON, guideline=guideline.name, labelling=HandLabels())
    return Annotation(
        unit="",
        dialogue=dialogue.key,
        annotator=participant,
        annotator_version=digest(version_of(person), version_of(guideline)),
        guideline=guideline.name,
        instrument_version=version_of(guideline),
        answers=answers,
        revision=revision,
    )
