"""Doors: why a tester who came cannot go on just now, in words that say when it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.testing.opening import Openness
from theodolite.testing.steps import Step
from theodolite.usecases.people.hours import hours_at
from theodolite.web.booking import booked_slot
from theodolite.web.models import HostedStudy
from theodolite.web.moments import told, told_span, zone_of
from theodolite.web.tester.visit import Visit

_State = HostedStudy.State
_LAST = (Step.QUESTIONS, Step.GUESS, Step.DONE, Step.SCREENED_OUT, Step.SPARED)
"""What may still be done when an event is over: nothing is said to an application any more."""

_THANKS = lazy("Nothing more can be said in it. Thank you for the time you gave.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shut:
    """A door that is shut.

    Attributes:
        title: That it is, in short.
        words: Why, and when it opens.
        can_choose: Whether the person may choose another time.
    """

    title: str
    words: str
    can_choose: bool = False


def shut_door(visit: Visit, step: Step) -> Shut | None:
    """Return what keeps a person from a step just now; None where nothing does."""
    return _by_state(visit, step) or _by_hours(visit, step) or _by_slot(visit, step)


def _by_state(visit: Visit, step: Step) -> Shut | None:
    state = visit.here.hosted.state
    if state in {_State.DRAFT, _State.PUBLISHED}:
        return Shut(
            title=_("Not open yet"), words=_("The event has not been opened yet. Come back when you are told to.")
        )
    if state == _State.CLOSED and step not in _LAST:
        return Shut(title=_("The event is over"), words=str(_THANKS))
    if state == _State.PAUSED and step is Step.INSTRUCTIONS:
        return Shut(title=_("Pause"), words=visit.here.hosted.message or _("The event pauses. It goes on soon."))
    return None


def _by_hours(visit: Visit, step: Step) -> Shut | None:
    hours, zone = hours_at(visit.venue, visit.level), zone_of(visit.venue.study)
    openness = hours.at(visit.venue.clock.now())
    if openness is Openness.NOT_YET and step is Step.INSTRUCTIONS and hours.opens:
        when = told(hours.opens, zone)
        words = _("You are all set. Sessions can be begun from %(when)s.") % {"when": when}
        return Shut(title=_("Not open yet"), words=words)
    if openness is Openness.OVER and step not in (*_LAST, Step.CHAT) and hours.closes:
        words = _("It closed on %(when)s. %(thanks)s") % {"when": told(hours.closes, zone), "thanks": _THANKS}
        return Shut(title=_("The event is over"), words=words)
    return None


def _by_slot(visit: Visit, step: Step) -> Shut | None:
    now = visit.venue.clock.now()
    slot = booked_slot(visit.here.membership, now) if step is Step.INSTRUCTIONS else None
    if slot is None or slot.begins <= now:
        return None
    when = told_span(slot.begins, slot.ends, zone_of(visit.venue.study))
    where = f", {slot.where}" if slot.where else ""
    words = _("You have a place on %(when)s. Come back then.") % {"when": f"{when}{where}"}
    return Shut(title=_("Your time"), words=words, can_choose=True)
