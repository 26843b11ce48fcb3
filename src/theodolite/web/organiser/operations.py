"""Controls of an event: its state and hours, messages, time slots, recruiting links and access codes."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Sequence
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
from django.views.decorators.http import require_GET, require_POST
from qrcode import QRCode  # type: ignore[import-untyped] # it has no types
from qrcode.image.svg import SvgPathImage  # type: ignore[import-untyped] # likewise

from theodolite.domain.event import Role
from theodolite.domain.session import Pauser, Session, SessionState
from theodolite.domain.wording import languages_of
from theodolite.reporting.exporting.tables import ExportTable, csv_text
from theodolite.web.access import AccessContext, allowed
from theodolite.web.accounts.invitations import (
    COMPLETION,
    Standing,
    code_path,
    invitation_path,
    standing_of,
    why_shut,
    words_of,
)
from theodolite.web.events import NO_APPROVAL, TESTERS, event_of, lacks_before_opening, may_invite
from theodolite.web.middleware import absolute, offer_languages
from theodolite.web.models import (
    EventMessage,
    HostedStudy,
    Invitation,
    Membership,
    PausedApplication,
    PersonalCode,
    RecruitLink,
    TimeSlot,
)
from theodolite.web.organiser.people import address_of, link_of, participants_of
from theodolite.web.participants import moment_field, moment_text, span_text, zone_of
from theodolite.web.session_end import end_sessions
from theodolite.web.support import LONGEST_MESSAGE, broadcasts, threads_of_testers

_State = HostedStudy.State


class PauseForm(forms.Form):
    """The message for all during a pause."""

    message = forms.CharField(
        label="Message shown while paused", max_length=500, initial="Back soon; your clocks are stopped."
    )


@allowed(Role.ORGANISER)
def event_messages(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Answer questions of testers, and send a message to all testers."""
    if request.method == "POST":
        return _send_message(request, access)
    to = request.GET.get("to", "")
    shown = {
        "access": access,
        "to": get_object_or_404(Membership, hosted=access.hosted, token=to, left_at=None) if to else None,
        "threads": threads_of_testers(access.hosted),
        "sent": broadcasts(access.hosted),
        "most": LONGEST_MESSAGE,
    }
    return render(request, "web/organiser/messages.html", shown)


@transaction.atomic
def _send_message(request: HttpRequest, access: AccessContext) -> HttpResponse:
    text, member = request.POST.get("text", "").strip()[:LONGEST_MESSAGE], request.POST.get("member", "")
    membership = get_object_or_404(Membership, hosted=access.hosted, token=member) if member else None
    if text:
        EventMessage.objects.create(hosted=access.hosted, membership=membership, author=access.account.token, text=text)
        subject = f"membership {membership.token}" if membership else f"study {access.hosted.token}"
        access.audit("answered a tester" if membership else "sent a message to all testers", subject)
        messages.success(request, "Sent.")
    else:
        messages.warning(request, "Not sent: the message is empty. Enter a text.")
    return redirect("organiser:messages", study=access.hosted.token)


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
def resume(request: HttpRequest, access: AccessContext) -> HttpResponse:
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
    """Close the event: active sessions end, and no new session can start."""
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
        access.audit(verb, f"study {access.hosted.token}")
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def end_abandoned_now(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """End the sessions that are long overdue."""
    ended = end_sessions(access.hosted, only_abandoned=True)
    messages.success(request, f"{ended} ended." if ended else "No session is more than ten minutes over time.")
    return redirect("organiser:operations", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def rest(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Pause or resume an application; the button sends the wanted state, so pressing it twice is safe."""
    name, rests = request.POST.get("application", ""), request.POST.get("rest") == "yes"
    if name in {application.name for application in event_of(access.hosted).study.applications}:
        with transaction.atomic():
            if rests:
                PausedApplication.objects.get_or_create(hosted=access.hosted, name=name)
            else:
                PausedApplication.objects.filter(hosted=access.hosted, name=name).delete()
            access.audit(
                "paused application" if rests else "resumed application",
                f"study {access.hosted.token}",
                application=name,
            )
        _clocks(access.hosted, stop=rests, application=name)
    return redirect("organiser:operations", study=access.hosted.token)


@transaction.atomic
def _set(access: AccessContext, state: HostedStudy.State, message: str) -> None:
    access.hosted.state, access.hosted.message = state, message
    access.hosted.save(update_fields=["state", "message"])
    access.audit(f"set event {state.value}", f"study {access.hosted.token}", message=message)


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


PARAMETERS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""Parameters that Prolific fills in, in the form that its study pages expect."""


class LinkForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """The form for a new recruiting link."""

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
        """Read times in the time zone of the event, and offer the languages of the study."""
        super().__init__(*args, **kwargs)
        offer_languages(self, languages)
        self._zone = zone
        self.initial["most"] = 50

    def clean_closes_at(self) -> Any:
        """Return the time in the event's time zone.

        Raises:
            ValidationError: If it is in the past.
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
                access.audit("created recruiting link", subject, **facts)
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
        access.audit(verb, f"link {recruit_link.token}")
    messages.success(request, "Closed." if recruit_link.closed_at else "Reopened.")
    return redirect("organiser:links", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_GET
def links_file(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Return the links of open invitations and of testers with open tasks as CSV, for a mail merge."""
    invitations = Invitation.objects.select_related("hosted").filter(hosted=access.hosted, used_at=None)
    waiting = [
        invitation for invitation in invitations.order_by("-id") if standing_of(invitation) is not Standing.WITHDRAWN
    ]
    rows = [
        (one.name, one.email, one.role, standing_of(one).value, absolute(request, invitation_path(one)))
        for one in waiting
    ]
    members = [participant for participant in participants_of(access.hosted) if participant.is_waited_for]
    rows += [
        (str(member.membership.account), address_of(member.membership), member.membership.role, member.state.value,
         link_of(request, member.membership))
        for member in members
    ]  # fmt: skip
    access.audit("exported links", f"study {access.hosted.token}", n=len(rows))
    return csv_file("links.csv", ("name", "email", "role", "status", "link"), rows)


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return a table as a CSV file to download."""
    table = ExportTable(name=name, columns=tuple(header), rows=rows)
    response = HttpResponse(csv_text(table), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@dataclass(frozen=True, slots=True)
class AccessCode:
    """The content of one printed code."""

    seat: str
    role: str
    words: str
    address: str
    square: str


@allowed(Role.ORGANISER)
def access_codes(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the unused access codes for printing."""
    codes = PersonalCode.objects.select_related("membership").filter(
        membership__hosted=access.hosted, membership__left_at=None, first_used_at=None, withdrawn_at=None
    )
    rows = [_access_code(request, code) for code in codes.order_by("membership__role", "id")]
    return render(
        request,
        "web/organiser/access_codes.html",
        {"access": access, "access_codes": rows, "door": absolute(request, "/code/")},
    )


def _access_code(request: HttpRequest, code: PersonalCode) -> AccessCode:
    address = absolute(request, code_path(code))
    return AccessCode(code.seat, code.membership.role, words_of(code), address, square_of(address))


def square_of(text: str) -> str:
    """Return a QR code of a text as a data URL."""
    code = QRCode(border=2, image_factory=SvgPathImage)
    code.add_data(text)
    bytes_i_o = BytesIO()
    code.make_image().save(bytes_i_o)
    return "data:image/svg+xml;base64," + base64.b64encode(bytes_i_o.getvalue()).decode()


_MOST = 60


class SlotForm(forms.Form):
    """The form for one time slot, or several consecutive slots of equal length."""

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
    access.audit("created time slots", f"study {access.hosted.token}", **facts)
    return len(made)


@allowed(Role.ORGANISER)
@require_POST
def remove_slot(request: HttpRequest, access: AccessContext, slot: str) -> HttpResponse:
    """Delete a time slot without bookings."""
    with transaction.atomic():
        time_slot = get_object_or_404(TimeSlot.objects.select_for_update(), token=slot, hosted=access.hosted)
        if time_slot.bookings.exists():
            messages.error(request, "This slot is booked; book another slot for its participants first.")
        else:
            time_slot.delete()
            access.audit("deleted time slot", f"slot {slot}")
            messages.success(request, "Deleted.")
    return redirect("organiser:slots", study=access.hosted.token)
