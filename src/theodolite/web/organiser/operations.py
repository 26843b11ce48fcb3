"""Operations of an event: its dashboard, its controls and suggested rotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.domain.event import Role
from theodolite.domain.live import ReplyCounts
from theodolite.domain.session import Pauser, Session, SessionState
from theodolite.events.results import STUCK_S, CellCount, EventStatus, status_of
from theodolite.testing.assigning import people_levels
from theodolite.testing.opening import hours_of
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.events import event_of
from theodolite.web.hosting import lacks_before_opening
from theodolite.web.models import HostedStudy, Membership, PausedApplication
from theodolite.web.rotations import name_of, opt_out_effects, rotations
from theodolite.web.session_end import end_sessions
from theodolite.web.time_slots import moment_text, zone_of

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSession:
    """One active session, with the names that organisers see and testers do not.

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
        """Whether a reply has been in progress for too long."""
        return self.waits_s is not None and self.waits_s > STUCK_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationStatus:
    """The status of one application: its replies by ending; counts.

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
class RecentError:
    """A failed reply with its cause, for organisers; testers do not see the cause."""

    asked: datetime
    application: str
    who: str
    turn: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The context of the operations page.

    Attributes:
        active: The active sessions.
        applications: The applications, those of the study first.
        mishaps: The latest failed replies, the last one first.
        cells: The sessions of each cell of the design.
        under_way: Replies in progress; count.
        cost_usd: What replies to testers have cost; None if no application reports a cost.
    """

    active: list[ActiveSession]
    applications: list[ApplicationStatus]
    mishaps: list[RecentError]
    cells: tuple[CellCount, ...]
    under_way: int
    cost_usd: float | None

    @property
    def errors(self) -> int:
        """Failed replies; count."""
        return sum(application.errors for application in self.applications)

    @property
    def stuck(self) -> int:
        """Replies that have been in progress for too long; count."""
        return sum(application.stuck for application in self.applications)


def dashboard_of(hosted: HostedStudy) -> Dashboard:
    """Return the dashboard of an event at this moment."""
    status, now = status_of(event_of(hosted)), timezone.now()
    known = Membership.objects.filter(hosted=hosted).values_list("participant", "account__name", "token")
    people = {participant: (name, token) for participant, name, token in known}
    return Dashboard(
        active=[_active(session, people, status.waiting_since, now) for session in status.active],
        applications=_applications(hosted, status),
        mishaps=[
            RecentError(
                asked=failed.asked,
                application=failed.application,
                who=name_of(failed.participant, people),
                turn=failed.turn,
                cause=failed.cause,
            )
            for failed in status.failures
        ],
        cells=status.cells,
        under_way=len(status.waiting_since),
        cost_usd=_usd(status.cost_microusd),
    )


def _active(
    session: Session, people: Mapping[str, tuple[str, str]], waiting: Mapping[str, datetime], now: datetime
) -> ActiveSession:
    since = waiting.get(session.key)
    return ActiveSession(
        who=name_of(session.participant, people),
        member=people.get(session.participant, ("", ""))[1],
        session=session,
        minutes=session.clock.elapsed_s(now) / 60,
        is_paused=session.clock.paused is not None,
        waits_s=(now - since).total_seconds() if since else None,
    )


def _applications(hosted: HostedStudy, status: EventStatus) -> list[ApplicationStatus]:
    paused = set(hosted.paused_applications.values_list("name", flat=True))
    active = Counter(session.application for session in status.active)
    replies = {name: status.replies.get(name, ReplyCounts()) for name in status.applications}
    return [
        ApplicationStatus(
            name=name,
            rests=name in paused,
            sessions=active[name],
            complete=counts.complete,
            interrupted=counts.interrupted,
            errors=counts.errors,
            stuck=counts.stuck,
            cost_usd=_usd(counts.cost_microusd),
        )
        for name, counts in replies.items()
    ]


def _usd(microusd: int | None) -> float | None:
    return None if microusd is None else microusd / _MILLION


_State = HostedStudy.State
_BEGUN = frozenset({_State.OPEN, _State.PAUSED})


class PauseForm(forms.Form):
    """The message that everybody sees during a pause."""

    message = forms.CharField(
        label="Message shown while paused", max_length=500, initial="Back soon; your clocks are stopped."
    )


@allowed(Role.ORGANISER)
def operations(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the dashboard of the event; the page refreshes itself every ten seconds."""
    shown = {
        "access": access,
        "now": timezone.now(),
        "day": dashboard_of(access.hosted),
        "zone": zone_of(event_of(access.hosted).study).key,
        "times": _times(access.hosted),
        "lacks": ()
        if access.hosted.state in _BEGUN
        else lacks_before_opening(access.hosted, event_of(access.hosted).study),
        "form": PauseForm(),
        "topics": opt_out_effects(access.hosted),
        "rotations": rotations(access.hosted),
    }
    return render(request, "web/organiser/operations.html", shown)


def _times(hosted: HostedStudy) -> list[str]:
    """Return when each level is open, as text; levels without a schedule are left out."""
    event = event_of(hosted)
    zone, told_ones = zone_of(event.study), []
    for plan in people_levels(event.study):
        known = hours_of(event.study.event, plan, zone)
        named = (("opens", known.opens), ("closes", known.closes))
        ends = [f"{verb} {moment_text(moment, zone)}" for verb, moment in named if moment]
        if ends:
            told_ones.append(f"{plan.level.value} " + ", ".join(ends))
    return told_ones


@allowed(Role.ORGANISER)
@require_POST
def pause(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Pause the event with a message; clocks stop."""
    form = PauseForm(request.POST)
    if access.hosted.state != _State.OPEN:
        messages.warning(request, f"The event is {access.hosted.state}: it cannot be paused.")
    elif form.is_valid():
        _set(access, _State.PAUSED, form.cleaned_data["message"])
        _clocks(access.hosted, stop=True)
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def go_on(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Open the event, unless a required text is missing, or resume it after a pause."""
    was_paused = access.hosted.state == _State.PAUSED
    lacks = () if was_paused else lacks_before_opening(access.hosted, event_of(access.hosted).study)
    if lacks:
        messages.error(request, f"Not opened: {'; '.join(lack.what for lack in lacks)}.")
        return redirect("organiser:operations", study=access.hosted.token)
    _set(access, _State.OPEN, "")
    if was_paused:
        _clocks(access.hosted, stop=False)
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def close(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Close the event: active sessions end, and no session starts any more."""
    _set(access, _State.CLOSED, "")
    ended = end_sessions(access.hosted, only_abandoned=False)
    with_it = f"; {ended} session{'s' if ended > 1 else ''} ended" if ended else ""
    messages.success(request, f"Closed{with_it}. Testers can still answer open questions.")
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def hours(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Enforce or suspend the schedule of the study."""
    access.hosted.keeps_hours = request.POST.get("hold") == "yes"
    with transaction.atomic():
        access.hosted.save(update_fields=["keeps_hours"])
        verb = "enforced schedule" if access.hosted.keeps_hours else "suspended schedule"
        audit(access.account, verb, f"study {access.hosted.token}", hosted=access.hosted)
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def end_abandoned_now(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """End the sessions whose time was up a while ago."""
    ended = end_sessions(access.hosted, only_abandoned=True)
    messages.success(request, f"{ended} ended." if ended else "No session is more than ten minutes over time.")
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def rest(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Pause or resume an application; the button names the wanted state, so pressing it twice is safe."""
    name, rests = request.POST.get("application", ""), request.POST.get("rest") == "yes"
    if name in {application.name for application in event_of(access.hosted).study.applications}:
        with transaction.atomic():
            if rests:
                PausedApplication.objects.get_or_create(hosted=access.hosted, name=name)
            else:
                PausedApplication.objects.filter(hosted=access.hosted, name=name).delete()
            audit(access.account, "paused application" if rests else "resumed application",
                  f"study {access.hosted.token}", hosted=access.hosted, application=name)  # fmt: skip
        _clocks(access.hosted, stop=rests, application=name)
    return redirect("organiser:operations", study=access.hosted.token)


@transaction.atomic
def _set(access: AccessContext, state: HostedStudy.State, message: str) -> None:
    access.hosted.state, access.hosted.message = state, message
    access.hosted.save(update_fields=["state", "message"])
    audit(
        access.account,
        f"set event {state.value}",
        f"study {access.hosted.token}",
        hosted=access.hosted,
        message=message,
    )


def _clocks(hosted: HostedStudy, *, stop: bool, application: str = "") -> None:
    """Pause or resume the active sessions of one application, or of all that are not paused."""
    event, resting = event_of(hosted), set(hosted.paused_applications.values_list("name", flat=True))
    is_paused = hosted.state == _State.PAUSED
    now = event.clock.now()

    def changed(session: Session) -> Session:
        return session.paused(Pauser.ORGANISER, now) if stop else session.resumed(Pauser.ORGANISER, now)

    for session in event.sessions.in_study(hosted.name):
        concerned = session.application == application if application else True
        held_back = not stop and (session.application in resting or (application and is_paused))
        if session.state is SessionState.ACTIVE and concerned and not held_back:
            event.sessions.update(session.key, changed)
