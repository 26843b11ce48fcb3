"""Steps: what a person who tests an application does next; nobody can skip one by typing an address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """What is to be done, in order."""

    CONSENT = "consent"
    PROFILE = "profile"
    INSTRUCTIONS = "instructions"
    CHAT = "chat"
    QUESTIONS = "questions"
    GUESS = "guess"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingSoFar:
    """How far a person has come with one session.

    Attributes:
        is_read: Whether the instructions were acknowledged.
        is_over: Whether nothing more is said in it.
        to_answer: Questionnaires that are not submitted yet; count.
    """

    is_read: bool = False
    is_over: bool = False
    to_answer: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a person has come in an event.

    Attributes:
        has_agreed: Whether consent and content warning were acknowledged as they are worded now.
        was_asked: Whether the page about oneself was answered or passed over.
        sittings: One for each session of the person, in order, those not begun included.
        has_guessed: Whether the last question was answered.
    """

    has_agreed: bool = False
    was_asked: bool = False
    sittings: Sequence[SittingSoFar] = ()
    has_guessed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """A step, and the session that it belongs to.

    Attributes:
        step: What is to be done.
        place: Number of the session, from 1; 0 where it belongs to none.
    """

    step: Step
    place: int = 0


def next_step(standing: Standing) -> Next:
    """Return what a person does next.

    Questions follow right after their session; the guesses come when all else is
    over, since asking makes people think about what they are not to know.
    """
    if not standing.has_agreed:
        return Next(step=Step.CONSENT)
    if not standing.was_asked:
        return Next(step=Step.PROFILE)
    for place, sitting in enumerate(standing.sittings, start=1):
        if not sitting.is_over:
            return Next(step=Step.CHAT if sitting.is_read else Step.INSTRUCTIONS, place=place)
        if sitting.to_answer:
            return Next(step=Step.QUESTIONS, place=place)
    return Next(step=Step.DONE if standing.has_guessed or not standing.sittings else Step.GUESS)
