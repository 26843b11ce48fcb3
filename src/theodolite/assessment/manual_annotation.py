"""A manual annotation: from the saved answers of a person to one whole annotation."""

from __future__ import annotations

from dataclasses import replace

from theodolite.assessment.quoting import looked_up
from theodolite.assessment.routing import is_open, left_closed
from theodolite.assessment.slips import turns_asked
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest, version_of
from theodolite.domain.study import Study


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


def person_of(study: Study, name: str, guideline: str) -> Annotator:
    """Return the person of a name as an annotator by a guideline.

    Whoever labels by several guidelines is one annotator a guideline, named
    after it for all but the one that the study gives that person. So is everybody
    in a study of several guidelines who does not stand in its file: one name
    never answers two of them.

    Raises:
        InputError: If the name belongs to somebody who does not label by hand.
    """
    named = {annotator.name: annotator for annotator in study.annotators}
    own = named.get(name)
    if own is not None and not own.by_hand:
        message = f"`{name}` is an annotator of study `{study.name}` who does not label by hand; take another name"
        raise InputError(message)
    if own is not None and own.guideline == guideline:
        return own
    called = name if own is None and len(study.guidelines) == 1 else f"{name}-{guideline}"
    return Annotator(name=called, kind=AnnotatorKind.PERSON, guideline=guideline, labelling=HandLabels())


def annotation_by(
    person: Annotator, guideline: Guideline, dialogue: str, answers: tuple[Answer, ...], *, revision: int = 1
) -> Annotation:
    """Return one person's sitting as an annotation, the same as if its answers had come in a label file.

    Args:
        person: The annotator that the person is by this guideline; see `person_of`.
        guideline: What was asked.
        dialogue: Key of the dialogue that it was asked about.
        answers: One for each question and turn.
        revision: Number of the revision, from 1.
    """
    return Annotation(
        unit="",
        dialogue=dialogue,
        annotator=person.name,
        annotator_version=digest(version_of(person), version_of(guideline)),
        guideline=guideline.name,
        instrument_version=version_of(guideline),
        answers=answers,
        revision=revision,
    )
