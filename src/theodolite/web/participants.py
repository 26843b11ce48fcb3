"""Profiles, content opt-outs and time slots of participants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django import forms
from django.db import transaction
from django.db.models import Count
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.choices import TopicWeight, UserType
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import PersonProfile
from theodolite.domain.study import Study
from theodolite.domain.study_parts import SensitiveTopic, topics_in
from theodolite.domain.text import best_language
from theodolite.domain.wording import WARNING, LocalisedStudy
from theodolite.web.access import audit
from theodolite.web.middleware import PLAIN, page_languages
from theodolite.web.models import Account, Booking, HostedStudy, Membership, TimeSlot


def read_profile(sent: Mapping[str, str]) -> PersonProfile:
    """Return a person's attributes from a form; "no answer" is valid too.

    Args:
        sent: Fields of the form; `skip` leaves everything unanswered.

    Raises:
        InputError: If a line of the self-description has a name and no description.
    """
    fields = {} if sent.get("skip") else sent
    return PersonProfile(
        user_type=next((kind for kind in UserType if kind.value == fields.get("user_type")), None),
        expertise=fields.get("expertise", "")[:300].strip(),
        languages=tuple(filter(None, (word.strip() for word in fields.get("languages", "")[:120].split(",")))),
        groups=_groups(fields.get("groups", "")),
    )


def _groups(text: str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text[:600].splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (name and colon and value):
            template = _("“%(line)s” has no colon; expected the form “age: 40 to 49”.")
            message = template % {"line": line}
            raise InputError(message)
        groups[name] = value
    return groups


_WEIGHTS = {
    TopicWeight.LIGHT: lazy("light"),
    TopicWeight.MODERATE: lazy("moderate"),
    TopicWeight.HEAVY: lazy("heavy"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLine:
    """A topic as people see it.

    Attributes:
        name: Identifier.
        title: Its heading.
        inline: The title within a sentence.
        about: Its content.
        language: Of title and `about`.
        weight: Description of how heavy it may be.
        is_heavy: Whether it is among the heaviest.
        where: Number of scenarios with it, as text.
        is_avoided: Whether the reader avoids it.
    """

    name: str
    title: str
    inline: str
    about: str
    language: str
    weight: str
    is_heavy: bool
    where: str
    is_avoided: bool = False


def topic_lines(read: LocalisedStudy, avoided: Collection[str] = ()) -> tuple[TopicLine, ...]:
    """Return all topics of a study as people see them, heaviest first."""
    return tuple(
        _topic_line(topic, read, is_avoided=topic.name in avoided) for topic in _heaviest_first(read.study.topics)
    )


def topic_lines_in(read: LocalisedStudy, scenario: str) -> tuple[TopicLine, ...]:
    """Return the topics of a scenario as people see them, heaviest first."""
    return tuple(_topic_line(topic, read) for topic in topics_in(read.study.topics, scenario))


def topics_in_words(read: LocalisedStudy) -> str:
    """Return topics as a Markdown list; empty for none.

    The wording depends on the language of the list rather than that of the page, since people consent to it.
    """
    with translation.override(best_language((read.language_of(WARNING),), page_languages()) or PLAIN):
        topics = [
            (topic.title, _WEIGHTS[topic.weight], topic.about.strip()) for topic in _heaviest_first(read.study.topics)
        ]
        return "\n".join(f"- **{title}** ({weight}): {about}" for title, weight, about in topics)


def _heaviest_first(topics: Iterable[SensitiveTopic]) -> list[SensitiveTopic]:
    return sorted(topics, key=lambda topic: -topic.weight.rank)


def _topic_line(topic: SensitiveTopic, read: LocalisedStudy, *, is_avoided: bool = False) -> TopicLine:
    n, of = len(topic.scenarios), len(read.study.scenarios)
    return TopicLine(
        name=topic.name,
        title=topic.title,
        inline=topic.words or topic.title.lower(),
        about=topic.about,
        language=read.language_of(WARNING),
        weight=str(_WEIGHTS[topic.weight]),
        is_heavy=topic.weight is TopicWeight.HEAVY,
        where=_("in every scenario") if n == of else _("in %(n)s of %(of)s scenarios") % {"n": n, "of": of},
        is_avoided=is_avoided,
    )


@dataclass(frozen=True, slots=True)
class Offered:
    """A time slot with the number of free places; count."""

    slot: TimeSlot
    left: int


def needs_slot(hosted: HostedStudy, role: str) -> bool:
    """Return whether people of a role have to book a time."""
    return hosted.time_slots.filter(role=role).exists()


def offered(hosted: HostedStudy, role: str, now: datetime) -> list[Offered]:
    """Return the slots of a role that have not ended, in order of time."""
    slots = hosted.time_slots.filter(role=role, ends__gt=now).annotate(taken=Count("bookings"))
    return [Offered(slot, max(slot.places - slot.taken, 0)) for slot in slots]


def booked_slot(membership: Membership, now: datetime) -> TimeSlot | None:
    """Return the slot that a person has booked, unless it has ended."""
    booking = Booking.objects.select_related("slot").filter(membership=membership).first()
    return booking.slot if booking and booking.slot.ends > now else None


@transaction.atomic
def book(by: Account, membership: Membership, token: str, now: datetime) -> TimeSlot:
    """Book a time slot for a person in place of an earlier booking.

    Args:
        by: The booking account: the person or an organiser.
        membership: The person's membership.
        token: Token of the slot.
        now: The present moment.

    Raises:
        Conflict: If the person's role has no such slot, it has ended, or it is full.
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
