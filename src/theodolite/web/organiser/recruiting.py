"""Recruiting: recruit links, printed access codes and time slots."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST
from qrcode import QRCode  # type: ignore[import-untyped] # it has no types
from qrcode.image.svg import SvgPathImage  # type: ignore[import-untyped] # likewise

from theodolite.domain.event import Role
from theodolite.domain.wording import languages_of
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.accounts.invitations import COMPLETION, code_path, why_shut, words_of
from theodolite.web.events import event_of
from theodolite.web.hosting import NO_APPROVAL, TESTERS, may_invite
from theodolite.web.languages import offer_languages
from theodolite.web.middleware import absolute
from theodolite.web.models import PersonalCode, RecruitLink, TimeSlot
from theodolite.web.time_slots import moment_field, moment_text, span_text, zone_of

PARAMETERS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""Parameters that Prolific fills in, in the form that its study pages expect."""


class LinkForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """A new recruit link."""

    class Meta:
        """Fields, in the order of the page."""

        model = RecruitLink
        fields = (
            "name",
            "kind",
            "role",
            "most",
            "closes_at",
            "language",
            "study_id",
            "completion_code",
            "screened_out_code",
        )
        labels = {  # noqa: RUF012 - read once by Django
            "name": "Name of the link",
            "kind": "Who can use this link",
            "most": "Maximum number of people",
            "study_id": "Study id in Prolific (optional)",
            "completion_code": "Completion code (generated if empty)",
            "screened_out_code": "Code for screened-out participants",
        }
        help_texts = {  # noqa: RUF012
            "name": "Participants never see it.",
            "completion_code": "For Prolific: shown to each participant at the end, with a button to submit it.",
            "screened_out_code": "For Prolific; optional.",
        }
        widgets = {"kind": forms.RadioSelect}  # noqa: RUF012

    role = forms.ChoiceField(label="Role", choices=[(role.value, role.value) for role in reversed(TESTERS)])
    closes_at = moment_field("Closes to new participants (optional)", required=False)
    language = forms.ChoiceField(label="Language of the pages", required=False)

    def __init__(self, *args: Any, zone: ZoneInfo, languages: Sequence[str], **kwargs: Any) -> None:
        """Read times in the zone of the event, and offer the languages of the study."""
        super().__init__(*args, **kwargs)
        offer_languages(self, languages)
        self._zone = zone
        self.initial["most"] = 50

    def clean_closes_at(self) -> Any:
        """Return the moment as the event's clock means it.

        Raises:
            ValidationError: If it lies in the past.
        """
        local = self.cleaned_data["closes_at"]
        moment = local.replace(tzinfo=self._zone) if local else None
        if moment and moment <= timezone.now():
            message = "This time is in the past."
            raise forms.ValidationError(message)
        return moment

    def clean(self) -> dict[str, Any]:
        """Return the cleaned fields; a completion code is created if Prolific needs one."""
        filled = super().clean() or {}
        if filled.get("kind") == RecruitLink.Kind.PROLIFIC and not filled.get("completion_code"):
            filled["completion_code"] = "C" + secrets.token_hex(4).upper()
        if filled.get("most") == 0:
            self.add_error("most", "Enter at least 1.")
        return filled


@allowed(Role.ORGANISER)
def links(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the links with their counts of participants, or create one."""
    study = event_of(access.hosted).study
    zone, link = zone_of(study), RecruitLink(hosted=access.hosted)
    form = LinkForm(request.POST or None, instance=link, zone=zone, languages=languages_of(study))
    if request.method == "POST":
        if form.is_valid() and not may_invite(access.hosted, Role(form.cleaned_data["role"])):
            form.add_error(None, NO_APPROVAL)
        if form.is_valid():
            with transaction.atomic():
                made = form.save()
                subject, facts = f"link {made.token}", {"kind": made.kind, "role": made.role, "most": made.most}
                audit(access.account, "created recruiting link", subject, hosted=access.hosted, **facts)
            messages.success(request, "Link created. Copy the address below.")
            return redirect("organiser:links", study=access.hosted.token)
    shown = {"access": access, "form": form, "links": _told(request, access, zone), "completion": COMPLETION}
    return render(request, "web/organiser/links.html", shown, status=422 if form.errors else 200)


def _told(request: HttpRequest, access: AccessContext, zone: ZoneInfo) -> list[dict[str, object]]:
    known = access.hosted.recruit_links.select_related("hosted").annotate(
        came=Count("recruits"), finished=Count("recruits__finished_at")
    )
    return [
        {
            "link": link,
            "address": absolute(request, reverse("recruited", args=[link.token]))
            + (PARAMETERS if link.kind == RecruitLink.Kind.PROLIFIC else ""),
            "closes": moment_text(link.closes_at, zone) if link.closes_at else "",
            "shut": why_shut(link),
        }
        for link in known.order_by("-id")
    ]


@allowed(Role.ORGANISER)
@require_POST
def close_link(request: HttpRequest, access: AccessContext, link: str) -> HttpResponse:
    """Close a link for new participants, or open it again."""
    recruit_link = get_object_or_404(RecruitLink, token=link, hosted=access.hosted)
    with transaction.atomic():
        recruit_link.closed_at = (
            (recruit_link.closed_at or timezone.now()) if request.POST.get("shut") == "yes" else None
        )
        recruit_link.save(update_fields=["closed_at"])
        verb = "closed recruiting link" if recruit_link.closed_at else "opened recruiting link"
        audit(access.account, verb, f"link {recruit_link.token}", hosted=access.hosted)
    messages.success(request, "Closed." if recruit_link.closed_at else "Reopened.")
    return redirect("organiser:links", study=access.hosted.token)


@dataclass(frozen=True, slots=True)
class Slip:
    """The content of one printed code."""

    seat: str
    role: str
    words: str
    address: str
    square: str


@allowed(Role.ORGANISER)
def slips(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the unused access codes for printing."""
    codes = PersonalCode.objects.select_related("membership").filter(
        membership__hosted=access.hosted, membership__left_at=None, first_used_at=None, withdrawn_at=None
    )
    rows = [_slip(request, code) for code in codes.order_by("membership__role", "id")]
    return render(
        request, "web/organiser/slips.html", {"access": access, "slips": rows, "door": absolute(request, "/code/")}
    )


def _slip(request: HttpRequest, code: PersonalCode) -> Slip:
    address = absolute(request, code_path(code))
    return Slip(code.seat, code.membership.role, words_of(code), address, square_of(address))


def square_of(text: str) -> str:
    """Return a QR code of a text as a data URL."""
    code = QRCode(border=2, image_factory=SvgPathImage)
    code.add_data(text)
    bytes_i_o = BytesIO()
    code.make_image().save(bytes_i_o)
    return "data:image/svg+xml;base64," + base64.b64encode(bytes_i_o.getvalue()).decode()


_MOST = 60


class SlotForm(forms.Form):
    """One time slot, or several of equal length in sequence."""

    role = forms.ChoiceField(label="Role", choices=[(role.value, f"{role.value}s") for role in TESTERS])
    begins = moment_field("Start")
    minutes = forms.IntegerField(label="Length in minutes", min_value=5, max_value=24 * 60, initial=90)
    places = forms.IntegerField(label="Places", min_value=1, max_value=1000, initial=10)
    n = forms.IntegerField(label="Number of consecutive slots", min_value=1, max_value=_MOST, initial=1)
    where = forms.CharField(label="Room or note", max_length=120, required=False, help_text="Participants see it.")

    def clean(self) -> dict[str, Any]:
        """Return the cleaned fields; the time must be in the future."""
        filled = super().clean() or {}
        begins = filled.get("begins")
        if isinstance(begins, datetime) and begins < timezone.now() - timedelta(days=1):
            self.add_error("begins", "This time is in the past.")
        return filled


@allowed(Role.ORGANISER)
def slots(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the time slots with their bookings, or create some."""
    zone = zone_of(event_of(access.hosted).study)
    form = SlotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = _make(access, form.cleaned_data, zone)
        messages.success(request, f"{made} slot{'s' if made > 1 else ''} created.")
        return redirect("organiser:slots", study=access.hosted.token)
    known = access.hosted.time_slots.prefetch_related("bookings__membership__account")
    rows = [
        {
            "slot": slot,
            "when": span_text(slot.begins, slot.ends, zone),
            "people": [str(booking.membership.account) for booking in slot.bookings.all()],
        }
        for slot in known
    ]
    shown = {"access": access, "form": form, "slots": rows, "zone": zone.key}
    return render(request, "web/organiser/slots.html", shown, status=422 if form.errors else 200)


@transaction.atomic
def _make(access: AccessContext, filled: dict[str, Any], zone: Any) -> int:
    length = timedelta(minutes=filled["minutes"])
    begins = filled["begins"].replace(tzinfo=zone)
    made = [
        TimeSlot.objects.create(
            hosted=access.hosted,
            role=filled["role"],
            begins=begins + number * length,
            ends=begins + (number + 1) * length,
            places=filled["places"],
            where=filled["where"],
            made_by=access.account,
        )
        for number in range(filled["n"])
    ]
    facts = {"role": filled["role"], "n": len(made)}
    audit(access.account, "created time slots", f"study {access.hosted.token}", hosted=access.hosted, **facts)
    return len(made)


@allowed(Role.ORGANISER)
@require_POST
def drop_slot(request: HttpRequest, access: AccessContext, slot: str) -> HttpResponse:
    """Delete a time slot without bookings."""
    with transaction.atomic():
        time_slot = get_object_or_404(TimeSlot.objects.select_for_update(), token=slot, hosted=access.hosted)
        if time_slot.bookings.exists():
            messages.error(request, "This slot is booked; book another slot for its participants first.")
        else:
            time_slot.delete()
            audit(access.account, "deleted time slot", f"slot {slot}", hosted=access.hosted)
            messages.success(request, "Deleted.")
    return redirect("organiser:slots", study=access.hosted.token)
