"""Time slots that people book, and times in the time zone of an event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django import forms
from django.db import transaction
from django.db.models import Count
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from theodolite.domain.errors import Conflict
from theodolite.domain.study import Study
from theodolite.web.access import audit
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
    """Book a time slot for a person in place of an earlier booking.

    Args:
        by: Who books: the person, or an organiser.
        membership: For whom.
        token: Of the slot.
        now: The present moment.

    Raises:
        Conflict: If there is no such slot for the person's role, it is over, or all its places are taken.
    """
    slot = TimeSlot.objects.select_for_update().filter(token=token, hosted=membership.hosted, role=membership.role)
    row = slot.first()
    if row is None or row.ends <= now:
        message = _("this time is no longer available; choose another one")
        raise Conflict(message)
    if row.bookings.exclude(membership=membership).count() >= row.places:
        message = _("this time is fully booked; choose another one")
        raise Conflict(message)
    Booking.objects.update_or_create(membership=membership, defaults={"slot": row})
    audit(by, "booked time slot", f"membership {membership.token}", hosted=membership.hosted, slot=row.token)
    return row


_LOCAL = "%Y-%m-%dT%H:%M"


def moment_field(label: str, *, required: bool = True) -> forms.DateTimeField:
    """Return a field for date and time without a zone; the caller adds the zone of the event."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=_LOCAL)
    return forms.DateTimeField(label=label, required=required, input_formats=[_LOCAL], widget=widget)


def zone_of(study: Study) -> ZoneInfo:
    """Return the time zone of a study's event."""
    return ZoneInfo(study.event.zone if study.event else "UTC")


def moment_text(moment: datetime, zone: ZoneInfo) -> str:
    """Return a moment as text with its zone, e.g. "Monday 2 March 2026, 09:00 (Europe/Berlin)"."""
    return f"{date_format(moment.astimezone(zone), 'l j F Y, H:i')} ({zone.key})"


def span_text(begins: datetime, ends: datetime, zone: ZoneInfo) -> str:
    """Return a span as text; the end has a date if it is on another day."""
    first, last = begins.astimezone(zone), ends.astimezone(zone)
    until = date_format(last, "H:i" if first.date() == last.date() else "l j F Y, H:i")
    parts = {"begins": date_format(first, "l j F Y, H:i"), "ends": until, "zone": zone.key}
    return _("%(begins)s to %(ends)s (%(zone)s)") % parts
