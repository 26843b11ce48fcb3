"""Manual annotations: from the saved answers or label rows of a person to one whole annotation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from theodolite.assessment.form_rules import is_open, left_closed, looked_up
from theodolite.domain.annotating.label_sample import LabelSlip, item_of
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, HandLabels
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import SHORT, digest, version_of
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, QuestionLevel, Scale, ScaleKind
from theodolite.domain.study import Study


def whole_answers(guideline: Guideline, dialogue: Dialogue, answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """Return one answer for each question and turn, in the order of asking.

    Follow-ups that are not asked do not apply, and quotes are located in the dialogue.

    Args:
        guideline: The questions.
        dialogue: The dialogue of the questions.
        answers: An answer to each question that must be answered. Answers to follow-ups that
            have closed again are ignored; empty free text counts as missing.
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

    A person with several guidelines is one annotator for each, named
    after it except for the one that the study assigns. The same applies to people
    whom a study with several guidelines does not name: one name
    never answers two guidelines.

    Raises:
        InputError: If the name belongs to an annotator who does not label by hand.
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
    """Return one person's annotation, the same as from a label file.

    Args:
        person: The person as an annotator with this guideline; see `person_of`.
        guideline: The questions.
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


def slips_of(guideline: Guideline, dialogue: Dialogue) -> Iterator[LabelSlip]:
    """Yield one form row for each question of a guideline, and for each turn if the question concerns turns."""
    text = dialogue_text(dialogue)
    for question in guideline.instrument.questions:
        for turn in turns_asked(question, dialogue):
            yield LabelSlip(
                item=item_of(dialogue.key),
                turn=turn,
                guideline=guideline.name,
                version=version_of(guideline)[:SHORT],
                question=question.name,
                ask=ask_text(guideline, question),
                allowed=allowed_text(question),
                material=dialogue.material,
                dialogue=text,
            )


def turns_asked(question: Question, dialogue: Dialogue) -> tuple[int | None, ...]:
    """Return the turns of a question; None represents the dialogue as a whole."""
    if question.level is QuestionLevel.DIALOGUE:
        return (None,)
    return tuple(turn.number for turn in dialogue.turns)


def dialogue_text(dialogue: Dialogue) -> str:
    """Return the texts of each turn."""
    turns = (f"[{turn.number}] User: {turn.prompt}\n[{turn.number}] Reply: {turn.response}" for turn in dialogue.turns)
    return "\n".join(turns)


def ask_text(guideline: Guideline, question: Question) -> str:
    """Return a question with the definition behind it and the meaning of its labels."""
    meanings = [f"{label.value}: {label.meaning}" for label in question.scale.labels if label.meaning]
    only = f"(Only where {question.when.text}; else leave it open.)" if question.when else ""
    return "\n".join(part for part in (question.text, only, guideline.definition.strip(), *meanings) if part)


def allowed_text(question: Question) -> str:
    """Return the permitted answers, e.g. `1 to 5` or `yes | no | unable to determine`."""
    words = [_scale_words(question.scale)]
    words += [UNABLE] if question.may_be_unable else []
    words += [NOT_APPLICABLE] if question.may_not_apply else []
    return " | ".join(words)


def _scale_words(scale: Scale) -> str:
    if scale.kind is ScaleKind.TEXT:
        return "own words"
    if scale.kind in {ScaleKind.NUMBERS, ScaleKind.DECIMALS}:
        return f"{scale.lowest} to {scale.highest}"
    return " | ".join(scale.categories)
