"""The day of the event: who tests at this moment, what is stuck, how the cells fill, and the brakes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.domain.application import RecordedFile
from theodolite.domain.role import Role
from theodolite.domain.session import Pauser, Session, SessionState
from theodolite.store.models.people import LiveTurnRow
from theodolite.testing.assigning import people_levels, planned_seats, seat_design
from theodolite.testing.opening import hours_of
from theodolite.usecases.people.venue import Venue
from theodolite.web.abandoned import end_sessions
from theodolite.web.access import Here, allowed
from theodolite.web.approvals import lacks_before_opening
from theodolite.web.audit import audit
from theodolite.web.models import HostedStudy, Membership, PausedApplication
from theodolite.web.moments import told, zone_of
from theodolite.web.venues import venue_of

STUCK_S = 30
"""A reply under way for longer than this is shown as stuck; seconds."""

_State = HostedStudy.State
_BEGUN = frozenset({_State.OPEN, _State.PAUSED})
_MILLION = 1_000_000


class PauseForm(forms.Form):
    """What everybody is told while everything stands still."""

    message = forms.CharField(
        label="What everybody reads", max_length=500, initial="Back soon; your clocks stand still."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSession:
    """One session that goes on; organisers see who and what, testers never do."""

    who: str
    session: Session
    minutes: float
    is_paused: bool


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
class Operation:
    """What the page shows.

    Attributes:
        active: Sessions that go on.
        cells: How the cells fill.
        turns: Turns with each state, and replies that are stuck; counts.
        cost_usd: What replies to testers have cost so far, as far as applications tell; None where none tells.
        applications: Name to whether nobody is led to it at present.
    """

    active: list[ActiveSession]
    cells: list[CellCount]
    turns: dict[str, int]
    cost_usd: float | None
    applications: dict[str, bool]


@allowed(Role.ORGANISER)
def operations(request: HttpRequest, here: Here) -> HttpResponse:
    """Show how the event goes; the page asks for itself again every ten seconds where the browser can."""
    shown = {
        "here": here,
        "now": timezone.now(),
        "operation": _operation(here.hosted),
        "times": _times(here.hosted),
        "lacks": () if here.hosted.state in _BEGUN else lacks_before_opening(here.hosted, venue_of(here.hosted).study),
        "form": PauseForm(),
    }
    return render(request, "web/organiser/operations.html", shown)


def _times(hosted: HostedStudy) -> list[str]:
    """Return when each level is open, in words; levels without times are left out."""
    venue = venue_of(hosted)
    zone, told_ones = zone_of(venue.study), []
    for plan in people_levels(venue.study):
        known = hours_of(venue.study.event, plan, zone)
        named = (("opens", known.opens), ("closes", known.closes))
        ends = [f"{verb} {told(moment, zone)}" for verb, moment in named if moment]
        if ends:
            told_ones.append(f"{plan.level.value} " + ", ".join(ends))
    return told_ones


def _operation(hosted: HostedStudy) -> Operation:
    venue, now = venue_of(hosted), timezone.now()
    sessions = venue.store.sessions(hosted.name)
    names = dict(Membership.objects.filter(hosted=hosted).values_list("participant", "account__name"))
    resting = set(hosted.paused_applications.values_list("name", flat=True))
    return Operation(
        active=[_active(one, names, now) for one in sessions if one.state is SessionState.ACTIVE],
        cells=_cells(venue, sessions),
        turns=_turns(hosted.name, now),
        cost_usd=_cost_usd(hosted.name),
        applications={
            one.name: one.name in resting
            for one in venue.study.applications
            if not isinstance(one.connection, RecordedFile)
        },
    )


def _active(session: Session, names: dict[str, str], now: datetime) -> ActiveSession:
    return ActiveSession(
        who=names.get(session.participant) or f"person {session.participant[:4]}",
        session=session,
        minutes=session.clock.elapsed_s(now) / 60,
        is_paused=session.clock.paused is not None,
    )


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


def _turns(study: str, now: datetime) -> dict[str, int]:
    of_study = LiveTurnRow.objects.filter(dialogue__study=study)
    slow = Q(state="", asked__lt=now - timedelta(seconds=STUCK_S))
    counted = of_study.aggregate(
        complete=Count("id", filter=Q(state="complete")),
        interrupted=Count("id", filter=Q(state="interrupted")),
        error=Count("id", filter=Q(state="error")),
        under_way=Count("id", filter=Q(state="")),
        stuck=Count("id", filter=slow),
    )
    return {name: int(n) for name, n in counted.items()}


def _cost_usd(study: str) -> float | None:
    total = LiveTurnRow.objects.filter(dialogue__study=study).aggregate(all=Sum("cost_microusd"))["all"]
    return None if total is None else total / _MILLION


@allowed(Role.ORGANISER)
@require_POST
def pause(request: HttpRequest, here: Here) -> HttpResponse:
    """Let everybody stand still with a message; clocks stand still too."""
    form = PauseForm(request.POST)
    if form.is_valid():
        _set(here, _State.PAUSED, form.cleaned_data["message"])
        _clocks(here.hosted, stop=True)
    return redirect("organiser:operations", study=here.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def go_on(request: HttpRequest, here: Here) -> HttpResponse:
    """Open the event, unless something is missing that people must be told, or let it go on after a pause."""
    was_paused = here.hosted.state == _State.PAUSED
    lacks = () if was_paused else lacks_before_opening(here.hosted, venue_of(here.hosted).study)
    if lacks:
        messages.error(request, f"Not opened: {'; '.join(one.what for one in lacks)}.")
        return redirect("organiser:operations", study=here.hosted.token)
    _set(here, _State.OPEN, "")
    if was_paused:
        _clocks(here.hosted, stop=False)
    return redirect("organiser:operations", study=here.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def close(request: HttpRequest, here: Here) -> HttpResponse:
    """Close the event: sessions that go on end with what was said in them, and nobody begins another one."""
    _set(here, _State.CLOSED, "")
    ended = end_sessions(here.hosted, whether_abandoned_or_not=True)
    told = f"; {ended} session{'s' if ended > 1 else ''} ended with it" if ended else ""
    messages.success(request, f"Closed{told}. People can still answer what was to be answered.")
    return redirect("organiser:operations", study=here.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def hours(_request: HttpRequest, here: Here) -> HttpResponse:
    """Let the study's opening and closing times hold, or not."""
    here.hosted.keeps_hours = not here.hosted.keeps_hours
    with transaction.atomic():
        here.hosted.save(update_fields=["keeps_hours"])
        verb = "let times hold" if here.hosted.keeps_hours else "set times aside"
        audit(here.account, verb, f"study {here.hosted.token}", hosted=here.hosted)
    return redirect("organiser:operations", study=here.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def end_abandoned_now(request: HttpRequest, here: Here) -> HttpResponse:
    """End the sessions whose time was up a while ago."""
    ended = end_sessions(here.hosted, whether_abandoned_or_not=False)
    messages.success(request, f"{ended} ended." if ended else "There is none whose time was up ten minutes ago.")
    return redirect("organiser:operations", study=here.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def rest(request: HttpRequest, here: Here) -> HttpResponse:
    """Let an application rest, or be met again."""
    name = request.POST.get("application", "")
    if name in {one.name for one in venue_of(here.hosted).study.applications}:
        with transaction.atomic():
            resting, is_new = PausedApplication.objects.get_or_create(hosted=here.hosted, name=name)
            if not is_new:
                resting.delete()
            audit(here.account, "paused application" if is_new else "resumed application",
                  f"study {here.hosted.token}", hosted=here.hosted, application=name)  # fmt: skip
        _clocks(here.hosted, stop=is_new, application=name)
    return redirect("organiser:operations", study=here.hosted.token)


@transaction.atomic
def _set(here: Here, state: HostedStudy.State, message: str) -> None:
    here.hosted.state, here.hosted.message = state, message
    here.hosted.save(update_fields=["state", "message"])
    audit(here.account, f"set event {state.value}", f"study {here.hosted.token}", hosted=here.hosted, message=message)


def _clocks(hosted: HostedStudy, *, stop: bool, application: str = "") -> None:
    """Stop or start the clocks of sessions that go on: with one application, or with all that do not rest."""
    venue, resting = venue_of(hosted), set(hosted.paused_applications.values_list("name", flat=True))
    is_paused = hosted.state == _State.PAUSED
    now = venue.clock.now()

    def changed(session: Session) -> Session:
        return session.paused(Pauser.ORGANISER, now) if stop else session.resumed(Pauser.ORGANISER, now)

    for session in venue.store.sessions(hosted.name):
        concerned = session.application == application if application else True
        held_back = not stop and (session.application in resting or (application and is_paused))
        if session.state is SessionState.ACTIVE and concerned and not held_back:
            venue.store.revise_session(session.key, changed)
