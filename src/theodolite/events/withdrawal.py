"""Withdrawal: a participant leaves, and the contributed texts stay or are removed."""

from __future__ import annotations

from theodolite.assessment.capture.personal import mask_personal
from theodolite.domain.dialogue import Ending
from theodolite.domain.people.session import SessionState
from theodolite.domain.people.withdrawal import Tombstone, Withdrawal
from theodolite.events.context import ContextOf, EventContext
from theodolite.events.sessions import end_open_dialogue


def leave(event: EventContext, participant: str, *, context_of: ContextOf | None = None) -> None:
    """End all sessions of a participant in a study, and release the slots.

    The texts stay. Sessions that have not started are interrupted too, because nobody will hold them.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        context_of: From a session to the event in its release; `event` for all sessions by default.
    """
    for session in event.sessions_of(participant):
        if not session.is_over:
            end_open_dialogue(context_of(session) if context_of else event, session, Ending.TESTER_LEFT)
            event.sessions.update(session.key, lambda known: known.over(SessionState.INTERRUPTED, event.clock.now()))
    for level in {session.level for session in event.sessions.of_participant(participant)}:
        event.sessions.release(event.study.name, participant, level)


def withdraw(
    event: EventContext, participant: str, kind: Withdrawal, *, context_of: ContextOf | None = None
) -> Tombstone:
    """Remove or anonymise everything that a participant contributed to a study; return the remaining counts.

    Dialogues that are anonymised are ended first, so that they count. The caller forgets
    the participant's key afterwards.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        kind: Whether texts are deleted, or kept without a link to the participant.
        context_of: From a session to the event in its release; `event` for all sessions by default.
    """
    if kind is Withdrawal.ANONYMISE:
        leave(event, participant, context_of=context_of)
    withdrawals = event.store.events.withdrawals
    return withdrawals.withdraw(event.study.name, participant, kind, now=event.clock.now(), mask=mask_personal)
