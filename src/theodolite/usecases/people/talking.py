"""Talking: a person says something, and what the application is asked then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from theodolite.assessment.capture.naming import names_of, self_identification
from theodolite.domain.errors import InputError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.live import LiveDialogue, LiveEnding, LiveTurn, exchanges
from theodolite.domain.people.event import LevelPlan
from theodolite.domain.people.session import Session
from theodolite.usecases.people.hours import hours_at
from theodolite.usecases.people.venue import Venue

TIME_IS_UP = "Your time is up. End the session to answer the questions."
STANDS_STILL = "The session stands still. Say it when it goes on."


def say(venue: Venue, session: str, text: str) -> tuple[LiveTurn, SayToApplication]:
    """Store what a person says, and return its turn with what the application is to be asked.

    Args:
        venue: Where.
        session: Key of the session.
        text: The prompt.

    Raises:
        InputError: If the session stands still, or has no time or turns left; in words for the person.
        Conflict: If the session is not active, or a reply is still under way.
        NotFound: If there is no such session.
    """
    dialogues = venue.store.live_dialogues(session)
    return say_in(venue, venue.store.session(session), dialogues[-1] if dialogues else None, text)


def say_in(
    venue: Venue, session: Session, dialogue: LiveDialogue | None, text: str
) -> tuple[LiveTurn, SayToApplication]:
    """Do the same in a session that was read a moment ago; the store refuses what came too late.

    Args:
        venue: Where.
        session: The session.
        dialogue: Its latest dialogue; None before the first word.
        text: The prompt.

    Raises:
        InputError: If the session stands still, or has no time or turns left; in words for the person.
        Conflict: If the session is not active any more, or a reply is still under way.
    """
    silence = why_silent(venue, session, dialogue)
    if silence:
        raise InputError(silence)
    turn = venue.store.say(session.key, text, now=venue.clock.now())
    before = dialogue.turns if dialogue is not None and dialogue.is_open else ()
    return turn, _request(venue, session, turn, before)


def why_silent(venue: Venue, session: Session, dialogue: LiveDialogue | None) -> str:
    """Return why nothing can be said in a session now, in words for the person; empty where something can.

    Args:
        venue: Where.
        session: The session.
        dialogue: Its latest dialogue; None before the first word.
    """
    shut = _why_shut(venue, session)
    if shut:
        return shut
    most = venue.study.scenario(session.scenario).turns
    if dialogue is not None and dialogue.is_open and len(dialogue.turns) >= most:
        return f"This dialogue has its {most} turns. Begin a new one, or end the session."
    return ""


def _why_shut(venue: Venue, session: Session) -> str:
    """Return why no application is asked for a session now, whatever its dialogue holds; empty where one is."""
    if session.clock.pausers:
        return STANDS_STILL
    return TIME_IS_UP if left_s(venue, session) == 0 else ""


def left_s(venue: Venue, session: Session, at: datetime | None = None) -> float | None:
    """Return the time left in a session: its own, or until the level closes; seconds, None where there is no limit.

    Args:
        venue: The event as it was when the session was made.
        session: The session.
        at: The moment that is asked about; the present one where left out.
    """
    now = at or venue.clock.now()
    plans = (plan for plan in venue.study.levels if plan.level is session.level)
    own = session.clock.left_s(now, next(plans, LevelPlan(level=session.level)).minutes)
    ends = [one for one in (own, hours_at(venue, session.level).left_s(now)) if one is not None]
    return min(ends, default=None)


def retry(venue: Venue, turn: str) -> tuple[LiveTurn, SayToApplication]:
    """Let a turn whose reply ended in an error be answered again.

    Raises:
        InputError: If the session stands still or has no time left; in words for the person.
        Conflict: If it has brought a response, or is not the last one of an open dialogue.
        NotFound: If there is no such turn.
    """
    held = venue.store.session(venue.store.dialogue_of_turn(turn).session)
    silence = _why_shut(venue, held)
    if silence:
        raise InputError(silence)
    again = venue.store.retry(turn, now=venue.clock.now())
    return again, _request(venue, held, again, venue.store.dialogue_of_turn(turn).turns)


def finish(venue: Venue, turn: str, ending: LiveEnding) -> LiveTurn:
    """Store how the reply of a turn ended, with the words by which it tells what it is.

    Raises:
        Conflict: If it has ended before.
        NotFound: If there is no such turn any more.
    """
    claims = (one.words for one in self_identification(ending.text, names_of(venue.study)))
    return venue.store.end_turn(turn, ending, tuple(dict.fromkeys(claims)))


def _request(venue: Venue, session: Session, turn: LiveTurn, turns: Sequence[LiveTurn]) -> SayToApplication:
    def given(prompt: str) -> str:
        return venue.material(session.scenario, venue.found(session.scenario, prompt))

    earlier = exchanges(turns[: turn.number - 1])
    return SayToApplication(
        application=session.application,
        prompt=turn.prompt,
        turn=turn.number,
        history=tuple(replace(exchange, context=given(exchange.prompt)) for exchange in earlier),
        context=given(turn.prompt),
    )
