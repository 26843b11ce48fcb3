"""The repository of sessions, and of the slots that participants were allocated to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    Expression,
    ExpressionWrapper,
    F,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce, Greatest

from theodolite.domain.choices import UserType
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import NotFound
from theodolite.domain.event import INCLUDED, AcknowledgedText, Acknowledgement, PersonProfile
from theodolite.domain.event_record import SessionTally, TesterTally
from theodolite.domain.plan import Slot
from theodolite.domain.session import Pauser, Session, SessionClock, SessionState
from theodolite.store.executor import Repository, reads, writes
from theodolite.store.models import RunRow
from theodolite.store.models.events import (
    AcknowledgementRow,
    AvoidedTopicRow,
    GuessRow,
    ProfileEntryRow,
    ProfileRow,
    SessionRow,
    SlotRow,
)
from theodolite.store.results import ids_of_participants
from theodolite.store.statements import database_now, grouped, one_at_a_time, per_quarter_hour


def _elapsed_us(now: datetime) -> Expression:
    """Return the time that counts of a started session, as `SessionClock.elapsed_s`; microseconds."""
    present = Value((now - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1), output_field=BigIntegerField())
    until = Coalesce("ended", "paused", present, output_field=BigIntegerField())
    ran = ExpressionWrapper(until - F("started"), output_field=BigIntegerField())
    elapsed = ExpressionWrapper(ran - F("stood_s") * Value(1e6), output_field=FloatField())
    return Greatest(elapsed, Value(0.0), output_field=FloatField())


class SessionRepository(Repository):
    """Sessions of participants, and the slots of the design that participants were allocated to."""

    @writes
    def allocate(
        self,
        study: str,
        participant: str,
        level: Level,
        stratum: str = "",
        *,
        choose: Callable[[Collection[int]], int],
    ) -> Slot:
        """Allocate a slot of a level to a participant; an existing slot is kept.

        Args:
            study: Name of the study.
            participant: Opaque key of the participant.
            level: Level of testing.
            stratum: Stratum that the participant belongs to.
            choose: Selects a free slot, given the occupied slots of the stratum; called under the lock of the study. A
                `Conflict` that it raises cancels the call.
        """
        one_at_a_time(f"seats {study}")
        (holder,) = ids_of_participants({participant}).values()
        taken = SlotRow.objects.filter(study=study, level=level.value, freed=False)
        own = taken.filter(participant_id=holder).first()
        if own is not None:
            return _slot(own, participant)
        number = choose(set(taken.filter(stratum=stratum).values_list("number", flat=True)))
        row = SlotRow.objects.create(
            study=study, level=level.value, stratum=stratum, number=number, participant_id=holder
        )
        return _slot(row, participant)

    @writes
    def release_unused(self, study: str, participant: str, level: Level) -> bool:
        """Release a slot in which no session has started, and delete its waiting sessions.

        The participant is allocated another slot when the next session is prepared.

        Returns:
            Whether the slot was released; a slot with a started session is not.
        """
        one_at_a_time(f"seats {study}")
        made = SessionRow.objects.filter(study=study, level=level.value, participant__key=participant)
        if made.exclude(state=SessionState.WAITING.value).exists():
            return False
        made.delete()
        _release(study, participant, level)
        return True

    @writes
    def release(self, study: str, participant: str, level: Level) -> None:
        """Release the slot of a participant for the next participant; does nothing without one."""
        _release(study, participant, level)

    @reads
    def allocations(self, study: str) -> list[Slot]:
        """Return the allocated slots of a study, ordered by level, stratum and number."""
        rows = SlotRow.objects.filter(study=study, freed=False).select_related("participant")
        return [_slot(row, row.participant.key) for row in rows.order_by("level", "stratum", "number")]

    @writes
    def add(self, session: Session) -> None:
        """Store a new session.

        Raises:
            Conflict: If the participant has a session with that number of the level already.
            NotFound: If the run is not in this workspace.
        """
        run = RunRow.objects.filter(key=session.run).values_list("id", flat=True).first()
        if run is None:
            message = f"run {session.run} is not in this workspace; open it before sessions are held"
            raise NotFound(message)
        (person,) = ids_of_participants({session.participant}).values()
        session_row(session, run, person).save(force_insert=True)

    @reads
    def get(self, key: str) -> Session:
        """Return a session.

        Raises:
            NotFound: If there is none with that key.
        """
        return session_from(_row(SessionRow.objects.all(), key))

    @reads
    def in_study(self, study: str) -> list[Session]:
        """Return the sessions of a study that took place here, in the order in which they were created."""
        return [session_from(row) for row in _rows().filter(study=study, brought=False).order_by("id")]

    @reads
    def keys(self, study: str) -> list[str]:
        """Return the keys of all sessions of a study."""
        return list(SessionRow.objects.filter(study=study).values_list("key", flat=True))

    @reads
    def guessed(self, study: str) -> list[Session]:
        """Return the sessions of a study that took place here and have a guess about the blinding, in order."""
        guessed = Exists(GuessRow.objects.filter(session=OuterRef("pk")))
        return [session_from(row) for row in _rows().filter(guessed, study=study, brought=False).order_by("id")]

    @reads
    def active(self, study: str) -> list[Session]:
        """Return the active sessions of a study, in the order in which they were created."""
        rows = _rows().filter(study=study, brought=False, state=SessionState.ACTIVE.value)
        return [session_from(row) for row in rows.order_by("id")]

    @reads
    def tallies(self, study: str) -> list[SessionTally]:
        """Return the number of sessions of a study on this server, by cell of the design and state."""
        rows = SessionRow.objects.filter(study=study, brought=False).order_by()
        counted = rows.values_list("level", "scenario", "application", "state").annotate(n=Count("id"))
        return [
            SessionTally(level=Level(level), scenario=scenario, application=application, state=SessionState(state), n=n)
            for level, scenario, application, state, n in counted
        ]

    @reads
    def tester_tallies(self, study: str) -> dict[str, TesterTally]:
        """Return the progress of each participant with a session in a study, by key."""
        rows = SessionRow.objects.filter(study=study, brought=False).order_by().values_list("participant__key")
        waiting, active = SessionState.WAITING.value, SessionState.ACTIVE.value
        counted = rows.annotate(
            elapsed=Sum(
                _elapsed_us(database_now()), filter=Q(started__isnull=False)
            ),  # before `started` changes meaning
            n_ended=Count("id", filter=~Q(state__in=[waiting, active])),
            n_active=Count("id", filter=Q(state=active)),
            started=Max("started"),
            ended=Max("ended"),
            n=Count("id"),
        )
        return {
            key: TesterTally(
                n_ended=n_ended,
                n_active=n_active,
                last=max((moment for moment in (started, ended) if moment is not None), default=None),
                n=n,
                elapsed_s=(elapsed or 0.0) / 1_000_000,
            )
            for key, elapsed, n_ended, n_active, started, ended, n in counted
        }

    @reads
    def started_per_quarter_hour(self, study: str) -> dict[datetime, int]:
        """Return the number of sessions that started in each quarter of an hour, by its start; counts."""
        return per_quarter_hour(SessionRow.objects.filter(study=study, brought=False), "started")

    @reads
    def ended_per_quarter_hour(self, study: str) -> dict[datetime, int]:
        """Return the number of sessions that ended in each quarter of an hour, by its start; counts."""
        return per_quarter_hour(SessionRow.objects.filter(study=study, brought=False), "ended")

    @reads
    def started_since(self, study: str, since: datetime) -> list[Session]:
        """Return the sessions of a study that started here at a moment or later, in order of creation."""
        rows = _rows().filter(study=study, brought=False, started__gte=since)
        return [session_from(row) for row in rows.order_by("id")]

    @reads
    def of_participant(self, participant: str) -> list[Session]:
        """Return all sessions of a participant, in the order in which they were created."""
        return [session_from(row) for row in _rows().filter(participant__key=participant).order_by("id")]

    @writes
    def update(self, key: str, change: Callable[[Session], Session]) -> Session:
        """Change a session under a lock, and return the changed session.

        Args:
            key: Key of the session.
            change: From the stored session to the new one; only state, alias,
                clock, task and language are written.

        Raises:
            NotFound: If there is none with that key.
        """
        row = _row(SessionRow.objects.select_for_update(of=("self",)), key)
        revised = change(session_from(row))
        SessionRow.objects.filter(id=row.id).update(**_mutable_columns(revised))
        return revised


def _release(study: str, participant: str, level: Level) -> None:
    mine = SlotRow.objects.filter(study=study, level=level.value, participant__key=participant, freed=False)
    mine.update(freed=True)


def _slot(row: SlotRow, participant: str) -> Slot:
    return Slot(level=Level(row.level), number=row.number, stratum=row.stratum, participant=participant)


def session_row(session: Session, run: int, person: int) -> SessionRow:
    """Return the row of a session; run and participant are given by the ids of their rows."""
    return SessionRow(
        key=session.key,
        study=session.study,
        edition=session.study_version,
        run_id=run,
        participant_id=person,
        level=session.level.value,
        scenario=session.scenario,
        scenario_version=session.scenario_version,
        application=session.application,
        application_version=session.application_version,
        stratum=session.stratum,
        slot=session.slot,
        place=session.place,
        brought=session.brought,
        **_mutable_columns(session),
    )


def session_from(row: SessionRow) -> Session:
    """Return the session of a row that was read with its participant and run."""
    pausers = {Pauser.TESTER: row.paused_by_tester, Pauser.ORGANISER: row.paused_by_organiser}
    return Session(
        key=row.key,
        study=row.study,
        study_version=row.edition,
        run=row.run.key,
        participant=row.participant.key,
        level=Level(row.level),
        scenario=row.scenario,
        scenario_version=row.scenario_version,
        application=row.application,
        application_version=row.application_version,
        slot=row.slot,
        place=row.place,
        stratum=row.stratum,
        alias=row.alias,
        state=SessionState(row.state),
        clock=SessionClock(
            started=row.started,
            ended=row.ended,
            stood_s=row.stood_s,
            paused=row.paused,
            pausers=frozenset(pauser for pauser, pauses in pausers.items() if pauses),
        ),
        task_done=row.task_done,
        brought=row.brought,
        language=row.language,
    )


def _rows() -> QuerySet[SessionRow]:
    return SessionRow.objects.select_related("participant", "run")


def _row(rows: QuerySet[SessionRow], key: str) -> SessionRow:
    row = rows.select_related("participant", "run").filter(key=key).first()
    if row is None:
        message = f"no session has the key {key}"
        raise NotFound(message)
    return row


def _mutable_columns(session: Session) -> dict[str, Any]:
    clock = session.clock
    return {
        "alias": session.alias,
        "state": session.state.value,
        "started": clock.started,
        "ended": clock.ended,
        "stood_s": clock.stood_s,
        "paused": clock.paused,
        "paused_by_tester": Pauser.TESTER in clock.pausers,
        "paused_by_organiser": Pauser.ORGANISER in clock.pausers,
        "task_done": session.task_done,
        "language": session.language,
    }


class ParticipantRepository(Repository):
    """Participants' consent, topics to avoid, and statements about themselves."""

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
    def release_consents(self, study: str) -> set[str]:
        """Return the keys of participants with a latest choice for public releases."""
        rows = AcknowledgementRow.objects.filter(study=study, subject=AcknowledgedText.RELEASE.value).order_by("id")
        latest = dict(rows.values_list("participant__key", "version"))
        return {participant for participant, choice in latest.items() if choice == INCLUDED}

    @reads
    def acknowledgements(self, participant: str) -> list[Acknowledgement]:
        """Return a participant's consents, the oldest first."""
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
    def last_acknowledgements(self, study: str) -> dict[str, datetime]:
        """Return when each participant last agreed to a text of a study, by key."""
        rows = AcknowledgementRow.objects.filter(study=study).order_by().values_list("participant__key")
        return dict(rows.annotate(last=Max("at")))

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
        """Return the avoided topics of every participant with an answer about them, by key."""
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
        """Return the latest profiles of the given participants by key; participants without a profile are omitted."""
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
        NotFound: If there is none with that key.
    """
    row = SessionRow.objects.filter(key=key).values_list("id", flat=True).first()
    if row is None:
        message = f"no session has the key {key}"
        raise NotFound(message)
    return row
