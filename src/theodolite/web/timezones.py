"""Moments in the time zone of an event, as people read and enter them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django import forms
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from theodolite.domain.study import Study

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
    access, there = begins.astimezone(zone), ends.astimezone(zone)
    until = date_format(there, "H:i" if access.date() == there.date() else "l j F Y, H:i")
    words = {"begins": date_format(access, "l j F Y, H:i"), "ends": until, "zone": zone.key}
    return _("%(begins)s to %(ends)s (%(zone)s)") % words
