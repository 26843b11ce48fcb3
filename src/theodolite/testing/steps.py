"""Steps: what a person who tests an application does next; nobody can skip one by typing an address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """What is to be done, in order."""

    SCREENING = "screening"
    SCREENED_OUT = "screened_out"
    """The answers to the screening let somebody else in; nothing comes after it."""
    FULL = "full"
    """All places that the person could take are taken."""
    CONSENT = "consent"
    TOPICS = "topics"
    """What the person would rather not meet."""
    PROFILE = "profile"
    SPARED = "spared"
    """Whatever is left is about something that the person would rather not meet."""
    SLOT = "slot"
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


class Screened(StrEnum):
    """What came of the questions that are asked before anything else."""

    OPEN = "open"
    PASSED = "passed"
    OUT = "out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a person has come in an event.

    Attributes:
        screened: What came of the screening; passed where nothing is asked.
        has_agreed: Whether consent and content warning were acknowledged as they are worded now.
        has_chosen: Whether the person was asked what is not to be met, or there is nothing to choose.
        was_asked: Whether the page about oneself was answered or passed over.
        has_slot: Whether the person has booked a time that is not over, or none is to be booked.
        has_place: Whether the person has a seat or could take one.
        is_enough: Whether the person has been through as much as the study asks of anybody.
        upcoming: Number of the session that comes next, from 1; 0 where none is left that the person would meet,
            None for the first one that is not over.
        sittings: One for each session of the person, in order, those not begun included.
        has_guessed: Whether the last question was answered.
    """

    screened: Screened = Screened.PASSED
    has_agreed: bool = False
    has_chosen: bool = True
    was_asked: bool = False
    has_slot: bool = True
    has_place: bool = True
    is_enough: bool = False
    upcoming: int | None = None
    sittings: Sequence[SittingSoFar] = ()
    has_guessed: bool = False

    @property
    def has_begun(self) -> bool:
        """Whether any session was begun: from then on the person is neither screened nor turned away."""
        return any(sitting.is_read or sitting.is_over for sitting in self.sittings)

    @property
    def next_place(self) -> int:
        """Number of the session that is begun next, from 1; 0 where none is."""
        if self.is_enough:
            return 0
        if self.upcoming is not None:
            return self.upcoming
        return next((place for place, one in enumerate(self.sittings, start=1) if not one.is_over), 0)


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
    over, since asking makes people think about what they are not to know. Once it
    is enough no further session is begun, and the person goes on as if all were held.
    """
    unfinished = going_on(standing.sittings)
    if unfinished is not None:
        return unfinished
    first = _before_sessions(standing)
    if first is not None:
        return Next(step=first)
    place = standing.next_place
    if place:
        return Next(step=Step.INSTRUCTIONS, place=place) if standing.has_slot else Next(step=Step.SLOT)
    return Next(step=Step.GUESS if standing.has_begun and not standing.has_guessed else Step.DONE)


def going_on(sittings: Sequence[SittingSoFar]) -> Next | None:
    """Return what is left to do of a session that was begun: whatever changed since, it is finished first.

    Args:
        sittings: The person's sessions, in order, those not begun included.

    Returns:
        The step; None where no session goes on.
    """
    for place, sitting in enumerate(sittings, start=1):
        if sitting.is_over and sitting.to_answer:
            return Next(step=Step.QUESTIONS, place=place)
        if sitting.is_read and not sitting.is_over:
            return Next(step=Step.CHAT, place=place)
    return None


def _before_sessions(standing: Standing) -> Step | None:
    """Return what is to be done before the first session; None where that is behind the person."""
    if not standing.has_begun and not standing.has_place:
        return Step.FULL
    if not standing.has_begun and standing.screened is not Screened.PASSED:
        return Step.SCREENING if standing.screened is Screened.OPEN else Step.SCREENED_OUT
    if not standing.has_agreed:
        return Step.CONSENT
    if not standing.has_chosen:
        return Step.TOPICS
    if not standing.was_asked:
        return Step.PROFILE
    return Step.SPARED if standing.upcoming == 0 and not standing.has_begun else None
