"""The repository of participants: consent, avoided topics and profiles."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import Max

from theodolite.domain.choices import UserType
from theodolite.domain.errors import NotFound
from theodolite.domain.people.consent import AcknowledgedText, Acknowledgement
from theodolite.domain.people.participant import PersonProfile
from theodolite.store.executor import Repository, reads, writes
from theodolite.store.models.people import (
    AcknowledgementRow,
    AvoidedTopicRow,
    ProfileEntryRow,
    ProfileRow,
    SessionRow,
)
from theodolite.store.reading import grouped
from theodolite.store.results import ids_of_participants


class ParticipantRepository(Repository):
    """What participants agree to, which topics they avoid, and what they state about themselves."""

    @writes
    def add_acknowledgement(self, acknowledgement: Acknowledgement) -> None:
        """Store that a participant agreed to a text; each agreement to one text is stored with its time.

        Raises:
            NotFound: If it names a session that does not exist.
        """
        (person,) = ids_of_participants({acknowledgement.participant}).values()
        AcknowledgementRow.objects.create(
            participant_id=person,
            study=acknowledgement.study,
            subject=acknowledgement.subject.value,
            version=acknowledgement.version,
            session_id=session_id(acknowledgement.session) if acknowledgement.session else None,
            at=acknowledgement.at,
        )

    @reads
    def acknowledgements(self, participant: str) -> list[Acknowledgement]:
        """Return what a participant has agreed to, the oldest first."""
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

    @reads
    def consented(self, study: str) -> set[str]:
        """Return the participants who agreed to the consent of a study, by key."""
        rows = AcknowledgementRow.objects.filter(study=study, subject=AcknowledgedText.CONSENT.value)
        return set(rows.values_list("participant__key", flat=True))

    @writes
    def set_avoided_topics(self, study: str, participant: str, topics: Collection[str]) -> None:
        """Replace the topics of a study that a participant opts out of."""
        (person,) = ids_of_participants({participant}).values()
        AvoidedTopicRow.objects.filter(study=study, participant_id=person).delete()
        AvoidedTopicRow.objects.bulk_create(
            AvoidedTopicRow(study=study, participant_id=person, topic=topic) for topic in sorted(set(topics))
        )

    @reads
    def avoided_topics(self, study: str, participant: str) -> frozenset[str]:
        """Return the topics of a study that a participant opts out of."""
        return avoided_topics_of(study, participant)

    @reads
    def avoided_topics_in(self, study: str) -> dict[str, frozenset[str]]:
        """Return the avoided topics of every participant who was asked about them, by key."""
        choices = AcknowledgementRow.objects.filter(study=study, subject=AcknowledgedText.TOPICS.value)
        avoided: dict[str, set[str]] = {
            key: set() for key in choices.values_list("participant__key", flat=True).distinct()
        }
        for key, topic in AvoidedTopicRow.objects.filter(study=study).values_list("participant__key", "topic"):
            avoided.setdefault(key, set()).add(topic)
        return {key: frozenset(topics) for key, topics in avoided.items()}

    @writes
    def add_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        """Store another revision of a participant's profile and return its number, from 1."""
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

    def profile(self, participant: str) -> PersonProfile | None:
        """Return the latest revision of a participant's profile; None if there is none."""
        return self.profiles([participant]).get(participant)

    @reads
    def profiles(self, participants: list[str]) -> dict[str, PersonProfile]:
        """Return the latest profiles of the given participants by key; participants without a profile are left out."""
        return profiles_of(participants)


def profiles_of(participants: list[str]) -> dict[str, PersonProfile]:
    """Return the latest profiles of the given participants by key."""
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


def avoided_topics_of(study: str, participant: str) -> frozenset[str]:
    """Return the topics of a study that a participant opts out of."""
    rows = AvoidedTopicRow.objects.filter(study=study, participant__key=participant)
    return frozenset(rows.values_list("topic", flat=True))


def session_id(key: str) -> int:
    """Return the number of a session's row.

    Raises:
        NotFound: If there is none of that key.
    """
    found = SessionRow.objects.filter(key=key).values_list("id", flat=True).first()
    if found is None:
        message = f"no session has the key {key}"
        raise NotFound(message)
    return found
