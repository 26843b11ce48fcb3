"""The day of an event in figures: who tests at this moment, what waits, what failed, and how the cells fill."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils import timezone

from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import TurnState
from theodolite.domain.people.session import Session, SessionState
from theodolite.store.models.people import LiveTurnRow
from theodolite.testing.assigning import people_levels, planned_seats, seat_design
from theodolite.usecases.people.venue import Venue
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.venues import venue_of

STUCK_S = 30
"""A reply under way for longer than this is shown as stuck; seconds."""

MISHAPS = 5
"""Errors of applications that are shown, the latest ones; count."""

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSession:
    """One session that goes on; organisers see who and what, testers never do.

    Attributes:
        who: Name of the person, or the beginning of the opaque key.
        member: Token of the membership; empty where nobody holds it any more.
        session: The session.
        minutes: Time that has run; minutes.
        is_paused: Whether its clock stands still.
        waits_s: Time for which a reply has been under way; seconds, None where none is.
    """

    who: str
    member: str
    session: Session
    minutes: float
    is_paused: bool
    waits_s: float | None

    @property
    def is_stuck(self) -> bool:
        """Whether a reply has been under way for too long."""
        return self.waits_s is not None and self.waits_s > STUCK_S


@dataclass(frozen=True, slots=True, kw_only=True)
class CellCount:
    """How far one cell is: planned, begun and over sessions; counts."""

    level: str
    scenario: str
    application: str
    planned: int
    begun: int
    over: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationDay:
    """How one application does: replies by what came of them, counts.

    Attributes:
        name: The application.
        rests: Whether nobody is led to it at present.
        sessions: Sessions with it that go on.
        complete: Replies that came whole.
        interrupted: Replies that were stopped, or that a restart cut off.
        errors: Replies that did not come.
        stuck: Replies under way for longer than a reply should be.
        cost_usd: What its replies have cost so far; None where it does not tell.
    """

    name: str
    rests: bool
    sessions: int
    complete: int
    interrupted: int
    errors: int
    stuck: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """A reply that did not come: when it was asked for, of what, in which turn, and why; the person is not told."""

    asked: datetime
    application: str
    who: str
    turn: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What the page of operations shows.

    Attributes:
        active: Sessions that go on.
        applications: Those that testers meet, in order of the study.
        mishaps: The latest errors, the last one first.
        cells: How the cells fill.
        under_way: Replies that are under way; count.
        cost_usd: What replies to testers have cost so far, as far as applications tell; None where none tells.
    """

    active: list[ActiveSession]
    applications: list[ApplicationDay]
    mishaps: list[Mishap]
    cells: list[CellCount]
    under_way: int
    cost_usd: float | None

    @property
    def errors(self) -> int:
        """Replies that did not come; count."""
        return sum(one.errors for one in self.applications)

    @property
    def stuck(self) -> int:
        """Replies that have been under way for too long; count."""
        return sum(one.stuck for one in self.applications)


def day_of(hosted: HostedStudy) -> Day:
    """Return how an event goes at this moment."""
    venue, now = venue_of(hosted), timezone.now()
    sessions = venue.store.sessions(hosted.name)
    active = [one for one in sessions if one.state is SessionState.ACTIVE]
    turns = LiveTurnRow.objects.filter(dialogue__study=hosted.name)
    known = Membership.objects.filter(hosted=hosted).values_list("participant", "account__name", "token")
    people = {participant: (name, token) for participant, name, token in known}
    waiting = dict(turns.filter(state="").values_list("dialogue__session__key", "asked"))
    return Day(
        active=[_active(one, people, waiting, now) for one in active],
        applications=_applications(hosted, venue, active, now),
        mishaps=_mishaps(hosted.name, people),
        cells=_cells(venue, sessions),
        under_way=len(waiting),
        cost_usd=_usd(turns.aggregate(all=Sum("cost_microusd"))["all"]),
    )


def _active(
    session: Session, people: Mapping[str, tuple[str, str]], waiting: Mapping[str, datetime], now: datetime
) -> ActiveSession:
    asked = waiting.get(session.key)
    return ActiveSession(
        who=_who(session.participant, people),
        member=people.get(session.participant, ("", ""))[1],
        session=session,
        minutes=session.clock.elapsed_s(now) / 60,
        is_paused=session.clock.paused is not None,
        waits_s=(now - asked).total_seconds() if asked else None,
    )


def _who(participant: str, people: Mapping[str, tuple[str, str]]) -> str:
    return people.get(participant, ("", ""))[0] or f"person {participant[:4]}"


def _applications(hosted: HostedStudy, venue: Venue, active: list[Session], now: datetime) -> list[ApplicationDay]:
    resting = set(hosted.paused_applications.values_list("name", flat=True))
    counted, going_on = _replies(hosted.name, now), Counter(one.application for one in active)
    met = [one.name for one in venue.study.applications if not isinstance(one.connection, RecordedFile)]
    earlier = sorted(set(counted) - set(met))
    return [
        ApplicationDay(
            name=name,
            rests=name in resting,
            sessions=going_on[name],
            complete=counted[name].get("complete", 0),
            interrupted=counted[name].get("interrupted", 0),
            errors=counted[name].get("errors", 0),
            stuck=counted[name].get("stuck", 0),
            cost_usd=_usd(counted[name].get("cost")),
        )
        for name in (*met, *earlier)
    ]


def _replies(study: str, now: datetime) -> dict[str, dict[str, Any]]:
    """Return the replies of each application by what came of them; counts, and their cost in millionths of a dollar."""
    application = "dialogue__session__application"
    turns = LiveTurnRow.objects.filter(dialogue__study=study).order_by().values(application)
    counted = turns.annotate(
        complete=Count("id", filter=Q(state=TurnState.COMPLETE.value)),
        interrupted=Count("id", filter=Q(state=TurnState.INTERRUPTED.value)),
        errors=Count("id", filter=Q(state=TurnState.ERROR.value)),
        stuck=Count("id", filter=Q(state="", asked__lt=now - timedelta(seconds=STUCK_S))),
        cost=Sum("cost_microusd"),
    )
    return defaultdict(dict, {row[application]: {**row} for row in counted})


def _mishaps(study: str, people: Mapping[str, tuple[str, str]]) -> list[Mishap]:
    failed = LiveTurnRow.objects.filter(dialogue__study=study, state=TurnState.ERROR.value)
    person = "dialogue__session__participant__key"
    rows = failed.order_by("-asked").values_list(
        "asked", "dialogue__session__application", person, "number", "cause"
    )[:MISHAPS]  # fmt: skip
    return [
        Mishap(asked=asked, application=application, who=_who(key, people), turn=number, cause=cause)
        for asked, application, key, number, cause in rows
    ]


def _cells(venue: Venue, sessions: list[Session]) -> list[CellCount]:
    planned: Counter[tuple[str, str, str]] = Counter()
    for level in people_levels(venue.study):
        design = seat_design(venue.study, level)
        for seat in planned_seats(level):
            planned.update(
                (level.level.value, cell.scenario, cell.application) for cell in design.cells(seat.number, seat.stratum)
            )
    begun = Counter(_cell(one) for one in sessions if one.state is not SessionState.WAITING)
    over = Counter(_cell(one) for one in sessions if one.is_over)
    return [
        CellCount(
            level=cell[0],
            scenario=cell[1],
            application=cell[2],
            planned=planned[cell],
            begun=begun[cell],
            over=over[cell],
        )
        for cell in sorted({*planned, *begun})
    ]


def _cell(session: Session) -> tuple[str, str, str]:
    return session.level.value, session.scenario, session.application


def _usd(microusd: int | None) -> float | None:
    return None if microusd is None else microusd / _MILLION
