"""Discrepancies: what was not answered alike, shown without who answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from theodolite.assessment.queue.category_routing import Reviewed, sees_violation
from theodolite.domain.annotating.discrepancy import Discrepancy, Position, Resolution
from theodolite.domain.annotating.promotion import is_model
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.domain.instrument import ScaleKind

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Given = Mapping[str, Sequence[Answer]]
"""Annotator to their answers."""


def letters_for(annotators: Sequence[str], salt: str) -> Mapping[str, str]:
    """Return a letter for each annotator, in an order that the salt decides and nobody can work out without it.

    Args:
        annotators: Names.
        salt: Secret of the queue with the item, so that A is somebody else at the next item.
    """
    order = sorted(annotators, key=lambda name: digest("position", salt, name))
    return {name: _letter(place) for place, name in enumerate(order)}


def _letter(place: int) -> str:
    times, rest = divmod(place, len(_LETTERS))
    return _LETTERS[rest] + (str(times + 1) if times else "")


def discrepancies(guideline: Guideline, given: Given, salt: str) -> tuple[Discrepancy, ...]:
    """Return the questions that were not answered alike, in the order of asking; free text is never compared.

    Args:
        guideline: What was asked.
        given: What each annotator answered.
        salt: See `letters_for`.
    """
    letters = letters_for(list(given), salt)
    found = []
    for question, turn in _places(guideline, given):
        answers = {name: _answer(answers, question, turn) for name, answers in given.items()}
        said = {(answer.outcome, answer.value) for answer in answers.values() if answer}
        if len(said) > 1:
            positions = [
                Position(letter=letters[name], answer=one, is_model=is_model(name))
                for name, one in answers.items()
                if one
            ]
            found.append(Discrepancy(question=question, turn=turn, positions=_sorted(positions)))
    return tuple(found)


def _sorted(positions: Sequence[Position]) -> tuple[Position, ...]:
    return tuple(sorted(positions, key=lambda position: position.letter))


def _places(guideline: Guideline, given: Given) -> list[tuple[str, int | None]]:
    seen = {(answer.question, answer.turn) for answers in given.values() for answer in answers}
    order = {
        one.name: place
        for place, one in enumerate(guideline.instrument.questions)
        if one.scale.kind is not ScaleKind.TEXT
    }
    return sorted((one for one in seen if one[0] in order), key=lambda one: (order[one[0]], one[1] or 0))


def _answer(answers: Sequence[Answer], question: str, turn: int | None) -> Answer | None:
    return next((answer for answer in answers if (answer.question, answer.turn) == (question, turn)), None)


def reviewed(
    guideline: Guideline, given: Given, resolutions: Sequence[Resolution], groups: Mapping[str, str]
) -> Reviewed:
    """Return what a finished review says about violations: by what was agreed, else that there is no consensus.

    A question that all answered alike counts as they answered it; nothing is counted out.

    Args:
        guideline: The first category's.
        given: What each annotator answered.
        resolutions: What the review recorded.
        groups: Groups of the dialogue.
    """
    settled = {(one.question, one.turn): one for one in resolutions}
    open_places = {(one.question, one.turn) for one in discrepancies(guideline, given, "")} - settled.keys()
    if open_places:
        return Reviewed.NOT_YET
    agreed = [answer for answer in next(iter(given.values()), ()) if (answer.question, answer.turn) not in settled]
    agreed += [_agreed(one) for one in resolutions if one.outcome is not None]
    if sees_violation(guideline, agreed, groups):
        return Reviewed.VIOLATION
    deciding = {rule.question for rule in guideline.defect_rules}
    if any(not one.is_consensus and one.question in deciding for one in resolutions):
        return Reviewed.NO_CONSENSUS
    return Reviewed.NO_VIOLATION


def _agreed(resolution: Resolution) -> Answer:
    outcome = resolution.outcome or Outcome.MISSING
    return Answer(question=resolution.question, turn=resolution.turn, outcome=outcome, value=resolution.value)
