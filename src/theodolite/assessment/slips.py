"""Slips: a guideline and a dialogue as people meet them in a label file.

A person reads the same questions as a judge, and nothing that tells the
application, the level of testing or what anybody else answered.
"""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.annotating.label_sample import LabelSlip, item_of
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, QuestionLevel, Scale, ScaleKind


def slips_of(guideline: Guideline, dialogue: Dialogue) -> Iterator[LabelSlip]:
    """Yield one slip for each question of a guideline, and for each turn where turns are asked about."""
    said = dialogue_text(dialogue)
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
                dialogue=said,
            )


def turns_asked(question: Question, dialogue: Dialogue) -> tuple[int | None, ...]:
    """Return the turns that a question is asked about; None stands for the dialogue as a whole."""
    if question.level is QuestionLevel.DIALOGUE:
        return (None,)
    return tuple(turn.number for turn in dialogue.turns)


def dialogue_text(dialogue: Dialogue) -> str:
    """Return what was said, turn by turn."""
    turns = (f"[{turn.number}] User: {turn.prompt}\n[{turn.number}] Reply: {turn.response}" for turn in dialogue.turns)
    return "\n".join(turns)


def ask_text(guideline: Guideline, question: Question) -> str:
    """Return a question with the definition behind it and the meaning of its labels."""
    meanings = [f"{label.value}: {label.meaning}" for label in question.scale.labels if label.meaning]
    only = f"(Only where {question.when.text}; else leave it open.)" if question.when else ""
    return "\n".join(part for part in (question.text, only, guideline.definition.strip(), *meanings) if part)


def allowed_text(question: Question) -> str:
    """Return what may be answered, e.g. `1 to 5` or `yes | no | unable to determine`."""
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
