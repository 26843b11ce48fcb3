"""Booking: people choose a time, as long as there are places in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from theodolite.domain.errors import Conflict
from theodolite.web.audit import audit
from theodolite.web.models import Account, Booking, HostedStudy, Membership, TimeSlot


@dataclass(frozen=True, slots=True)
class Offered:
    """A time slot, with the places that are left in it; count."""

    slot: TimeSlot
    left: int


def needs_slot(hosted: HostedStudy, role: str) -> bool:
    """Tell whether people of a role have to book a time."""
    return hosted.time_slots.filter(role=role).exists()


def offered(hosted: HostedStudy, role: str, now: datetime) -> list[Offered]:
    """Return the slots of a role that are not over, in order of time."""
    slots = hosted.time_slots.filter(role=role, ends__gt=now).annotate(taken=Count("bookings"))
    return [Offered(slot, max(slot.places - slot.taken, 0)) for slot in slots]


def booked_slot(membership: Membership, now: datetime) -> TimeSlot | None:
    """Return the slot that a person has booked, unless it is over."""
    booking = Booking.objects.select_related("slot").filter(membership=membership).first()
    return booking.slot if booking and booking.slot.ends > now else None


@transaction.atomic
def book(by: Account, membership: Membership, token: str, now: datetime) -> TimeSlot:
    """Give a person a place in a slot; an earlier booking makes room.

    Args:
        by: Who books: the person, or an organiser.
        membership: For whom.
        token: Of the slot.
        now: The present moment.

    Raises:
        Conflict: If there is no such slot for the person's role, it is over, or all its places are taken.
    """
    slot = TimeSlot.objects.select_for_update().filter(token=token, hosted=membership.hosted, role=membership.role)
    found = slot.first()
    if found is None or found.ends <= now:
        message = _("this time is not offered any more; choose another one")
        raise Conflict(message)
    if found.bookings.exclude(membership=membership).count() >= found.places:
        message = _("all places at this time are taken; choose another one")
        raise Conflict(message)
    Booking.objects.update_or_create(membership=membership, defaults={"slot": found})
    audit(by, "booked time slot", f"membership {membership.token}", hosted=membership.hosted, slot=found.token)
    return found
