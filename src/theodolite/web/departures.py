"""Departures: conversations end for the application too, and words go along with a person who wants them back."""

from __future__ import annotations

import shutil

from asgiref.sync import async_to_sync
from django.utils import timezone

from theodolite.domain.people.session import Session
from theodolite.domain.people.withdrawal import Tombstone, Withdrawal
from theodolite.usecases.people.leaving import leave, withdraw
from theodolite.usecases.people.venue import Venue
from theodolite.web.live_room import room
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.models.token import new_token
from theodolite.web.venues import opened_venue, server_store, venue_of


def hang_up(hosted: HostedStudy, session: Session) -> None:
    """Let what is under way in a session end, with what is shown of it, before the session changes."""
    for dialogue in server_store().live_dialogues(session.key):
        if dialogue.is_open:
            async_to_sync(room().hang_up)(opened_venue(hosted, session.edition), session, dialogue)


def depart(membership: Membership) -> None:
    """End a tester's part in an event; what was said stays, and the seat is free."""
    hosted = membership.hosted
    for session in server_store().sessions_of(membership.participant):
        if not session.is_over:
            hang_up(hosted, session)
    leave(venue_of(hosted), membership.participant, seated=lambda session: _seated(hosted, session))
    membership.unsent_texts.all().delete()
    membership.left_at = membership.left_at or timezone.now()
    membership.save(update_fields=["left_at"])


def take_back(membership: Membership, wish: Withdrawal) -> Tombstone:
    """End a tester's part in an event and take the words back, or the link to them; return what is left: a count.

    Args:
        membership: Whose.
        wish: What becomes of the words.
    """
    depart(membership)
    left = withdraw(venue_of(membership.hosted), membership.participant, wish)
    forget_measurements(membership.hosted)
    membership.participant = new_token()  # the only link between the person and the words
    membership.withdrew = True
    membership.save(update_fields=["participant", "withdrew"])
    return left


def forget_measurements(hosted: HostedStudy) -> None:
    """Delete all files that were measured, since somebody has taken words back that they hold."""
    for measurement in hosted.measurements.all():
        shutil.rmtree(measurement.folder, ignore_errors=True)
        measurement.delete()


def _seated(hosted: HostedStudy, session: Session) -> Venue:
    return venue_of(hosted, session.edition)
