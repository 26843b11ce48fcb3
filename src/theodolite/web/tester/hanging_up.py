"""Hanging up: conversations end for the application, too."""

from __future__ import annotations

from asgiref.sync import async_to_sync

from theodolite.domain.session import Session
from theodolite.web.live_room import room
from theodolite.web.tester.visit import Visit


def hang_up(visit: Visit, session: Session) -> None:
    """Let what is under way in a session end, with what is shown of it, before the session changes."""
    for dialogue in visit.venue.store.live_dialogues(session.key):
        if dialogue.is_open:
            async_to_sync(room().hang_up)(visit.here.hosted, session, dialogue)
