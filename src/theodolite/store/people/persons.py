"""What people agree to, say of themselves and guess."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from theodolite.domain.choices import UserType
from theodolite.domain.errors import NotFound
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.consent import AcknowledgedText, Acknowledgement
from theodolite.domain.people.participant import PersonProfile
from theodolite.store.models.people import (
    AcknowledgementRow,
    AvoidedTopicRow,
    GuessRow,
    ProfileEntryRow,
    ProfileRow,
    SessionRow,
)
from theodolite.store.reading import grouped
from theodolite.store.results import ids_of_participants


def acknowledge(given: Acknowledgement) -> None:
    """Store that a person agreed to a text; there may be several for one text, each with its moment.

    Raises:
        NotFound: If it names a session that does not exist.
    """
    with transaction.atomic():
        (person,) = ids_of_participants({given.participant}).values()
        AcknowledgementRow.objects.create(
            participant_id=person,
            study=given.study,
            subject=given.subject.value,
            version=given.version,
            session_id=_session_id(given.session) if given.session else None,
            at=given.at,
        )


def acknowledgements(participant: str) -> list[Acknowledgement]:
    """Return what a person has agreed to, the oldest first."""
    rows = AcknowledgementRow.objects.filter(participant__key=participant).select_related("session").order_by("id")
    return [
        Acknowledgement(
            participant=participant,
            study=row.study,
            subject=AcknowledgedText(row.subject),
            version=row.version,
            at=row.at,
            session=row.session.key if row.session else "",
        )
        for row in rows
    ]


def keep_avoided(study: str, participant: str, topics: Collection[str]) -> None:
    """Store which topics of a study a person would rather not meet from now on, in place of what was said before."""
    with transaction.atomic():
        (person,) = ids_of_participants({participant}).values()
        AvoidedTopicRow.objects.filter(study=study, participant_id=person).delete()
        AvoidedTopicRow.objects.bulk_create(
            AvoidedTopicRow(study=study, participant_id=person, topic=topic) for topic in sorted(set(topics))
        )


def avoided_by(study: str, participant: str) -> frozenset[str]:
    """Return the topics of a study that a person would rather not meet."""
    rows = AvoidedTopicRow.objects.filter(study=study, participant__key=participant)
    return frozenset(rows.values_list("topic", flat=True))


def avoided_topics(study: str) -> dict[str, frozenset[str]]:
    """Return everybody who was asked which topics of a study they avoid, by key, with the topics."""
    asked = AcknowledgementRow.objects.filter(study=study, subject=AcknowledgedText.TOPICS.value)
    said: dict[str, set[str]] = {key: set() for key in asked.values_list("participant__key", flat=True).distinct()}
    for key, topic in AvoidedTopicRow.objects.filter(study=study).values_list("participant__key", "topic"):
        said.setdefault(key, set()).add(topic)
    return {key: frozenset(topics) for key, topics in said.items()}


def keep_profile(participant: str, profile: PersonProfile, *, now: datetime) -> int:
    """Store a further revision of a person's profile and return its number, from 1."""
    with transaction.atomic():
        (person,) = ids_of_participants({participant}).values()
        before = ProfileRow.objects.filter(participant_id=person).aggregate(highest=Max("revision"))["highest"]
        row = ProfileRow.objects.create(
            participant_id=person,
            revision=(before or 0) + 1,
            user_type=profile.user_type.value if profile.user_type else "",
            expertise=profile.expertise,
            created=now,
        )
        languages = [ProfileEntryRow(profile=row, value=language) for language in dict.fromkeys(profile.languages)]
        groups = [ProfileEntryRow(profile=row, name=name, value=value) for name, value in profile.groups.items()]
        ProfileEntryRow.objects.bulk_create([*languages, *groups])
    return row.revision


def profiles(participants: list[str]) -> dict[str, PersonProfile]:
    """Return the latest profiles of those among some people who have one, by the person's key."""
    rows = ProfileRow.objects.filter(participant__key__in=participants).select_related("participant")
    latest = {row.participant.key: row for row in rows.order_by("revision")}
    entries = ProfileEntryRow.objects.filter(profile_id__in=[row.id for row in latest.values()]).order_by("id")
    by_profile = grouped(entries, "profile_id")
    return {
        key: PersonProfile(
            user_type=UserType(row.user_type) if row.user_type else None,
            expertise=row.expertise,
            languages=tuple(entry.value for entry in by_profile.get(row.id, []) if not entry.name),
            groups={entry.name: entry.value for entry in by_profile.get(row.id, []) if entry.name},
        )
        for key, row in latest.items()
    }


def keep_guess(given: BlindingGuess) -> None:
    """Store what a tester believes of a session.

    Raises:
        Conflict: If the tester has guessed that before.
        NotFound: If there is no such session.
    """
    GuessRow.objects.create(
        session_id=_session_id(given.session),
        about=given.about.value,
        guess=given.guess,
        options="\n".join(given.options),
        at=given.at,
    )


def guesses(study: str) -> list[BlindingGuess]:
    """Return what testers of a study believe, the oldest first."""
    rows = GuessRow.objects.filter(session__study=study).select_related("session").order_by("id")
    return [
        BlindingGuess(
            session=row.session.key,
            about=GuessedThing(row.about),
            guess=row.guess,
            options=tuple(row.options.splitlines()),
            at=row.at,
        )
        for row in rows
    ]


def _session_id(key: str) -> int:
    found = SessionRow.objects.filter(key=key).values_list("id", flat=True).first()
    if found is None:
        message = f"no session has the key {key}"
        raise NotFound(message)
    return found
