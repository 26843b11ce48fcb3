"""Operations: how the event goes at this moment, and the brakes."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.domain.people.role import Role
from theodolite.domain.people.session import Pauser, Session, SessionState
from theodolite.testing.assigning import people_levels
from theodolite.testing.opening import hours_of
from theodolite.web.abandoned import end_sessions
from theodolite.web.access import Here, allowed
from theodolite.web.approvals import lacks_before_opening
from theodolite.web.audit import audit
from theodolite.web.heavy import rotations, topic_days
from theodolite.web.models import HostedStudy, PausedApplication
from theodolite.web.moments import told, zone_of
from theodolite.web.organiser.day import day_of
from theodolite.web.venues import venue_of

_State = HostedStudy.State
_BEGUN = frozenset({_State.OPEN, _State.PAUSED})


class PauseForm(forms.Form):
    """What everybody is told while everything stands still."""

    message = forms.CharField(
        label="What everybody reads", max_length=500, initial="Back soon; your clocks stand still."
    )


@allowed(Role.ORGANISER)
def operations(request: HttpRequest, here: Here) -> HttpResponse:
    """Show how the event goes; the page asks for itself again every ten seconds where the browser can."""
    shown = {
        "here": here,
        "now": timezone.now(),
        "day": day_of(here.hosted),
        "zone": zone_of(venue_of(here.hosted).study).key,
        "times": _times(here.hosted),
        "lacks": () if here.hosted.state in _BEGUN else lacks_before_opening(here.hosted, venue_of(here.hosted).study),
        "form": PauseForm(),
        "topics": topic_days(here.hosted),
        "rotations": rotations(here.hosted),
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


@allowed(Role.ORGANISER)
@require_POST
def pause(request: HttpRequest, here: Here) -> HttpResponse:
    """Let everybody stand still with a message; clocks stand still too."""
    form = PauseForm(request.POST)
    if here.hosted.state != _State.OPEN:
        messages.warning(request, f"The event is {here.hosted.state}: there is nothing to pause.")
    elif form.is_valid():
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
    with_it = f"; {ended} session{'s' if ended > 1 else ''} ended with it" if ended else ""
    messages.success(request, f"Closed{with_it}. People can still answer what was to be answered.")
    return redirect("organiser:operations", study=here.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def hours(request: HttpRequest, here: Here) -> HttpResponse:
    """Let the study's opening and closing times hold, or not, as the pressed button says."""
    here.hosted.keeps_hours = request.POST.get("hold") == "yes"
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
    """Let an application rest, or be met again, as the pressed button says: two who press it want the same."""
    name, rests = request.POST.get("application", ""), request.POST.get("rest") == "yes"
    if name in {one.name for one in venue_of(here.hosted).study.applications}:
        with transaction.atomic():
            if rests:
                PausedApplication.objects.get_or_create(hosted=here.hosted, name=name)
            else:
                PausedApplication.objects.filter(hosted=here.hosted, name=name).delete()
            audit(here.account, "paused application" if rests else "resumed application",
                  f"study {here.hosted.token}", hosted=here.hosted, application=name)  # fmt: skip
        _clocks(here.hosted, stop=rests, application=name)
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
