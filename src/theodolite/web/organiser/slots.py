"""Time slots: when testers come, how many at once, and how many have booked."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.approvals import TESTERS
from theodolite.web.audit import audit
from theodolite.web.models import TimeSlot
from theodolite.web.moments import moment_field, told_span, zone_of
from theodolite.web.venues import venue_of

_MOST = 60


class SlotForm(forms.Form):
    """One slot, or several of one length one after the other."""

    role = forms.ChoiceField(label="For", choices=[(role.value, f"{role.value}s") for role in TESTERS])
    begins = moment_field("Begins")
    minutes = forms.IntegerField(label="Length in minutes", min_value=5, max_value=24 * 60, initial=90)
    places = forms.IntegerField(label="Places", min_value=1, max_value=1000, initial=10)
    n = forms.IntegerField(label="How many such slots, one after the other", min_value=1, max_value=_MOST, initial=1)
    where = forms.CharField(label="Room or remark", max_length=120, required=False, help_text="People read it.")

    def clean(self) -> dict[str, Any]:
        """Return what was filled in, once it lies ahead."""
        filled = super().clean() or {}
        begins = filled.get("begins")
        if isinstance(begins, datetime) and begins < timezone.now() - timedelta(days=1):
            self.add_error("begins", "This lies in the past.")
        return filled


@allowed(Role.ORGANISER)
def slots(request: HttpRequest, here: Here) -> HttpResponse:
    """Show the slots and who comes when; make further ones."""
    zone = zone_of(venue_of(here.hosted).study)
    form = SlotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = _make(here, form.cleaned_data, zone)
        messages.success(request, f"{made} slot{'s' if made > 1 else ''} made.")
        return redirect("organiser:slots", study=here.hosted.token)
    known = here.hosted.time_slots.prefetch_related("bookings__membership__account")
    told = [
        {
            "slot": one,
            "when": told_span(one.begins, one.ends, zone),
            "people": [str(booking.membership.account) for booking in one.bookings.all()],
        }
        for one in known
    ]
    shown = {"here": here, "form": form, "slots": told, "zone": zone.key}
    return render(request, "web/organiser/slots.html", shown, status=422 if form.errors else 200)


@transaction.atomic
def _make(here: Here, filled: dict[str, Any], zone: Any) -> int:
    length = timedelta(minutes=filled["minutes"])
    begins = filled["begins"].replace(tzinfo=zone)
    made = [
        TimeSlot.objects.create(
            hosted=here.hosted,
            role=filled["role"],
            begins=begins + number * length,
            ends=begins + (number + 1) * length,
            places=filled["places"],
            where=filled["where"],
            made_by=here.account,
        )
        for number in range(filled["n"])
    ]
    audit(here.account, "made time slots", f"study {here.hosted.token}", hosted=here.hosted, role=filled["role"],
          n=len(made))  # fmt: skip
    return len(made)


@allowed(Role.ORGANISER)
@require_POST
def drop_slot(request: HttpRequest, here: Here, slot: str) -> HttpResponse:
    """Take a slot away that nobody has booked."""
    with transaction.atomic():
        found = get_object_or_404(TimeSlot.objects.select_for_update(), token=slot, hosted=here.hosted)
        if found.bookings.exists():
            messages.error(request, "People have booked this slot; book another one for them first.")
        else:
            found.delete()
            audit(here.account, "took time slot away", f"slot {slot}", hosted=here.hosted)
            messages.success(request, "Taken away.")
    return redirect("organiser:slots", study=here.hosted.token)
