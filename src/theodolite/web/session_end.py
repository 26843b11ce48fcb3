"""End of sessions: notifies applications, ends abandoned sessions, handles leaving and withdrawal."""

from __future__ import annotations

import logging
import shutil
from functools import cache

from asgiref.sync import async_to_sync, sync_to_async
from django.db import close_old_connections
from django.http import Http404
from django.utils import timezone

from theodolite.bootstrap.connections import SystemClock
from theodolite.bootstrap.observers import process_observer
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.event_record import Tombstone, Withdrawal
from theodolite.domain.session import Session, SessionState
from theodolite.events.chat import ReplyManager
from theodolite.events.sessions import end_abandoned_session, is_session_abandoned, leave, withdraw
from theodolite.web.access import audit
from theodolite.web.events import bind_request_thread, event_of, open_event_of, server_store
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.models.account import new_token

EVERY_S = 60
"""Time between two searches for abandoned sessions; seconds."""

_LOG = logging.getLogger(__name__)


@cache
def reply_manager() -> ReplyManager:
    """Return the process's manager of all replies in progress."""
    return ReplyManager(server_store, SystemClock(), bind_request_thread, process_observer())


def close_session(hosted: HostedStudy, session: Session) -> None:
    """Stop the reply in progress of a session and notify its application, before the session changes."""
    for dialogue in server_store().events.dialogues.of_session(session.key):
        if dialogue.is_open:
            opened = open_event_of(hosted, session.study_version)
            async_to_sync(reply_manager().close_dialogue)(opened, session, dialogue)


def end_participation(membership: Membership) -> None:
    """End the participation of a tester in an event; the texts are kept, and the slot is released."""
    hosted = membership.hosted
    for session in server_store().events.sessions.of_participant(membership.participant):
        if not session.is_over:
            close_session(hosted, session)
    leave(event_of(hosted), membership.participant, context_of=lambda session: event_of(hosted, session.study_version))
    membership.unsent_texts.all().delete()
    membership.left_at = membership.left_at or timezone.now()
    membership.save(update_fields=["left_at"])


def withdraw_participant(membership: Membership, wish: Withdrawal) -> Tombstone:
    """End the participation of a tester in an event, and remove or anonymise the texts; return the remaining counts.

    Args:
        membership: The membership of the tester.
        wish: Whether texts are removed or anonymised.
    """
    end_participation(membership)
    remaining = withdraw(event_of(membership.hosted), membership.participant, wish)
    delete_measurements(membership.hosted)
    membership.event_messages.all().delete()
    membership.participant = new_token()  # the only link between the person and the texts
    membership.withdrew = True
    membership.save(update_fields=["participant", "withdrew"])
    return remaining


def delete_measurements(hosted: HostedStudy) -> None:
    """Delete the measured files of a study, because they contain withdrawn texts."""
    for measurement in hosted.measurements.all():
        shutil.rmtree(measurement.folder, ignore_errors=True)
        measurement.delete()


def end_sessions(hosted: HostedStudy, *, only_abandoned: bool) -> int:
    """End active sessions of an event, and return their number; count.

    Args:
        hosted: The event.
        only_abandoned: Whether to end only long overdue sessions; otherwise
            all sessions end, because the event closes.
    """
    ended = 0
    for session in server_store().events.sessions.in_study(hosted.name):
        if session.state is SessionState.ACTIVE:
            event = event_of(hosted, session.study_version)
            if not only_abandoned or is_session_abandoned(event, session):
                close_session(hosted, session)
                end_abandoned_session(event, session)
                ended += 1
    if ended:
        audit(None, "ended sessions", f"study {hosted.token}", hosted=hosted, n=ended)
    return ended


async def end_abandoned() -> None:
    """End the abandoned sessions of every event, in a thread."""
    await sync_to_async(sweep, thread_sensitive=False)()


def sweep() -> None:
    """End the abandoned sessions of every event; an error in one event does not affect the others."""
    close_old_connections()
    for hosted in HostedStudy.objects.exclude(folder="").exclude(state=HostedStudy.State.DRAFT):
        try:
            end_sessions(hosted, only_abandoned=True)
        except (TheodoliteError, Http404) as error:
            _LOG.warning("could not check the sessions of a study: %s", error)
    close_old_connections()
