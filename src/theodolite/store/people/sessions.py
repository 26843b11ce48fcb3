"""Sessions of people, stored and changed one whole step at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import NotFound
from theodolite.domain.people.session import Pauser, Session, SessionClock, SessionState
from theodolite.store.models import (
    RunRow,
)
from theodolite.store.models.people import (
    SessionRow,
)
from theodolite.store.results import ids_of_participants


def keep_session(session: Session) -> None:
    """Store a new session.

    Raises:
        Conflict: If the person has one at that place of the level already.
        NotFound: If the run is none of this workspace.
    """
    run = RunRow.objects.filter(key=session.run).values_list("id", flat=True).first()
    if run is None:
        message = f"run {session.run} is not in this workspace; open it before sessions are held"
        raise NotFound(message)
    with transaction.atomic():
        (person,) = ids_of_participants({session.participant}).values()
        session_row(session, run, person).save(force_insert=True)


def session_row(session: Session, run: int, person: int) -> SessionRow:
    """Return what keeps a session of a run and a person, both known by the numbers of their rows."""
    return SessionRow(
        key=session.key,
        study=session.study,
        edition=session.edition,
        run_id=run,
        participant_id=person,
        level=session.level.value,
        scenario=session.scenario,
        scenario_version=session.scenario_version,
        application=session.application,
        application_version=session.application_version,
        stratum=session.stratum,
        seat=session.seat,
        place=session.place,
        brought=session.brought,
        **_changing(session),
    )


def session_of(key: str) -> Session:
    """Return a session.

    Raises:
        NotFound: If there is none of that key.
    """
    return session_from(_row(SessionRow.objects.all(), key))


def sessions(study: str) -> list[Session]:
    """Return all sessions that people held here in a study, in the order in which they were made."""
    return [session_from(row) for row in _rows().filter(study=study, brought=False).order_by("id")]


def sessions_of(participant: str) -> list[Session]:
    """Return all sessions of a person, in the order in which they were made."""
    return [session_from(row) for row in _rows().filter(participant__key=participant).order_by("id")]


def revise_session(key: str, change: Callable[[Session], Session]) -> Session:
    """Change a session while nobody else does, and return what it became.

    Args:
        key: Which one.
        change: Returns the session that is to stand from now on: state, alias,
            clock, task and language may differ, nothing else is written.

    Raises:
        NotFound: If there is none of that key.
    """
    with transaction.atomic():
        row = _row(SessionRow.objects.select_for_update(of=("self",)), key)
        revised = change(session_from(row))
        SessionRow.objects.filter(id=row.id).update(**_changing(revised))
    return revised


def _rows() -> QuerySet[SessionRow]:
    return SessionRow.objects.select_related("participant", "run")


def _row(rows: QuerySet[SessionRow], key: str) -> SessionRow:
    found = rows.select_related("participant", "run").filter(key=key).first()
    if found is None:
        message = f"no session has the key {key}"
        raise NotFound(message)
    return found


def _changing(session: Session) -> dict[str, Any]:
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


def session_from(row: SessionRow) -> Session:
    """Return the session of a row that was read together with its person and its run."""
    pausers = {Pauser.TESTER: row.paused_by_tester, Pauser.ORGANISER: row.paused_by_organiser}
    return Session(
        key=row.key,
        study=row.study,
        edition=row.edition,
        run=row.run.key,
        participant=row.participant.key,
        level=Level(row.level),
        scenario=row.scenario,
        scenario_version=row.scenario_version,
        application=row.application,
        application_version=row.application_version,
        seat=row.seat,
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
