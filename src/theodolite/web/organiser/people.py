"""People of an event: asked in one by one, by a list, or by printed slips; and where each of them stands."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from theodolite.domain.event import Role, why_not_both
from theodolite.domain.wording import languages_of
from theodolite.web.access import AccessContext, allowed, clash_of_address
from theodolite.web.accounts.invitations import (
    WALK_IN,
    Standing,
    hand_out_codes,
    invitation_path,
    invite,
    is_address,
    standing_of,
    withdraw_invitation,
)
from theodolite.web.events import event_of
from theodolite.web.hosting import NO_APPROVAL, approval_of, may_invite
from theodolite.web.languages import offer_languages
from theodolite.web.middleware import absolute
from theodolite.web.models import Invitation
from theodolite.web.organiser.person import (
    counted_states,
    link_of,
    n_invited_testers,
    over_one_line,
    participants_of,
    send_invitation,
)
from theodolite.web.time_slots import zone_of

MOST_ROWS = 2000
"""Rows of a list at most; count."""

_ROLES = [(role.value, role.value) for role in Role]


class InviteForm(forms.Form):
    """The invitation of one person."""

    role = forms.ChoiceField(label="Role", choices=_ROLES, initial=Role.FIELD_TESTER.value)
    name = forms.CharField(label="Name", required=False, max_length=120)
    email = forms.EmailField(
        label="E-mail address", required=False, help_text="Leave empty to pass on the link yourself."
    )
    language = forms.ChoiceField(label="Language of the pages", required=False)

    def __init__(self, *args: Any, languages: Sequence[str], **more: Any) -> None:
        """Offer the languages of the study; nothing where it has one."""
        super().__init__(*args, **more)
        offer_languages(self, languages)


class ListForm(forms.Form):
    """The invitation of a list of people."""

    list = forms.FileField(label="CSV file", help_text="Columns email, name and role in any order, with a header line.")


class SlipsForm(forms.Form):
    """Access codes for walk-in participants."""

    role = forms.ChoiceField(label="Role", choices=[(role.value, role.value) for role in WALK_IN])
    n = forms.IntegerField(label="Number of slips", min_value=1, max_value=500, initial=20)
    first = forms.IntegerField(label="First seat", min_value=1, initial=1)


@dataclass(frozen=True, slots=True)
class AskedIn:
    """An open invitation as it is shown."""

    invitation: Invitation
    standing: Standing
    address: str


@allowed(Role.ORGANISER)
def people(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show all people, open invitations, and the ways to invite more."""
    return _page(request, access)


def _page(request: HttpRequest, access: AccessContext, *, status: int = 200, **forms_: forms.Form) -> HttpResponse:
    open_ones = [
        AskedIn(invitation, standing_of(invitation), absolute(request, invitation_path(invitation)))
        for invitation in Invitation.objects.select_related("hosted")
        .filter(hosted=access.hosted, used_at=None)
        .order_by("-id")
    ]
    everybody, chosen = participants_of(access.hosted), request.GET.get("state", "")
    pool = [member for member in everybody if not chosen or (member.state.value == chosen and member.is_tester)]
    invited = [open_one for open_one in open_ones if open_one.standing is not Standing.WITHDRAWN]
    shows_links = request.GET.get("links") == "yes"
    context = {
        "access": access,
        "pool": [
            (member, link_of(request, member.membership) if shows_links and member.is_waited_for else "")
            for member in pool
        ],
        "states": counted_states(everybody, n_invited_testers(access.hosted)),
        "chosen": chosen,
        "zone": zone_of(event_of(access.hosted).study).key,
        "n_waited_for": sum(member.is_waited_for for member in everybody),
        "shows_links": shows_links,
        "slots": access.hosted.time_slots.exists(),
        "invitations": invited,
        "approval": approval_of(access.hosted),
        "invite": InviteForm(languages=_languages(access)),
        "list": ListForm(),
        "slips": SlipsForm(),
        **forms_,
    }
    return render(request, "web/organiser/people.html", context, status=status)


@allowed(Role.ORGANISER)
@require_POST
def ask(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Invite one person."""
    form = InviteForm(request.POST, languages=_languages(access))
    if form.is_valid() and not may_invite(access.hosted, Role(form.cleaned_data["role"])):
        form.add_error("role", NO_APPROVAL)
    if form.is_valid():
        clash = clash_of_address(form.cleaned_data["email"], access.hosted, Role(form.cleaned_data["role"]))
        if clash:
            form.add_error("role", _sentence(clash))
    if not form.is_valid():
        return _page(request, access, status=422, invite=form)
    filled = form.cleaned_data
    fields = {key: filled.get(key, "") for key in ("email", "name", "language")}
    invitation = invite(access.account, access.hosted, Role(filled["role"]), **fields)
    sent = send_invitation(request, invitation)
    messages.success(request, "Invitation sent." if sent else "Invited. Copy the link below and pass it on.")
    return redirect("organiser:people", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def ask_many(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Invite everybody on a list, or nobody if the list has an error."""
    form = ListForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, access, status=422, list=form)
    rows, errors = read_list(form.cleaned_data["list"].read())
    if any(not may_invite(access.hosted, role) for _, _, role in rows):
        errors = [NO_APPROVAL, *errors]
    errors += _clashes(access, rows)
    for error in errors[:20]:
        form.add_error("list", error)
    if errors:
        form.add_error(None, f"{len(errors)} error{'s' if len(errors) > 1 else ''}; nobody was invited.")
        return _page(request, access, status=422, list=form)
    with transaction.atomic():
        made = [invite(access.account, access.hosted, role, email=email, name=name) for email, name, role in rows]
    sent = over_one_line(partial(send_invitation, request), made)
    messages.success(request, f"{len(made)} invited, {sent} by e-mail.")
    return redirect("organiser:people", study=access.hosted.token)


def _languages(access: AccessContext) -> tuple[str, ...]:
    return languages_of(event_of(access.hosted).study)


def _clashes(access: AccessContext, rows: Sequence[tuple[str, str, Role]]) -> list[str]:
    """Return the role conflicts of a list: with existing roles, or between its lines."""
    rows_by_email: dict[str, list[Role]] = {}
    for email, _, role in rows:
        if email:
            rows_by_email.setdefault(email.lower(), []).append(role)
    problems = []
    for email, roles in rows_by_email.items():
        others = [role for role in roles if role is not Role.ANNOTATOR]
        clashes = [clash_of_address(email, access.hosted, role) for role in roles]
        if Role.ANNOTATOR in roles:
            clashes.append(why_not_both(Role.ANNOTATOR, has=others, had=others))
        problems += [f"{email}: {clash}." for clash in dict.fromkeys(filter(None, clashes))]
    return problems


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def read_list(raw: bytes) -> tuple[list[tuple[str, str, Role]], list[str]]:
    """Return address, name and role of each row of a CSV file, and all errors with their lines."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return [], ["The file is not UTF-8; save it as CSV UTF-8."]
    dialect = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    reader = csv.DictReader(StringIO(text), delimiter=dialect)
    header = [name.strip().lower() for name in reader.fieldnames or []]
    if not {"email", "role"} <= set(header):
        return [], [f"Line 1: expected the columns email, name and role; got {', '.join(header) or 'nothing'}."]
    reader.fieldnames = header
    return _rows(list(reader))


def _rows(read: Sequence[dict[str, str]]) -> tuple[list[tuple[str, str, Role]], list[str]]:
    rows: list[tuple[str, str, Role]] = []
    errors = [f"Line {MOST_ROWS + 2}: a list has at most {MOST_ROWS} people."] if len(read) > MOST_ROWS else []
    seen: dict[tuple[str, str], int] = {}
    roles = {role.value: role for role in Role}
    for line, row in enumerate(read[:MOST_ROWS], 2):
        email, name, role = ((row.get(key) or "").strip() for key in ("email", "name", "role"))
        if email and not is_address(email):
            errors.append(f"Line {line}: “{email}” is not an e-mail address.")
        if role.lower() not in roles:
            errors.append(f"Line {line}: “{role}” is not a role; expected one of {', '.join(roles)}.")
            continue
        if email and (email.lower(), role.lower()) in seen:
            errors.append(f"Line {line}: {email} is already in line {seen[email.lower(), role.lower()]}.")
        seen[email.lower(), role.lower()] = line
        rows.append((email, name, roles[role.lower()]))
    return rows, errors


@allowed(Role.ORGANISER)
@require_POST
def remind(request: HttpRequest, access: AccessContext, invitation: str) -> HttpResponse:
    """Send an invitation once more."""
    row = get_object_or_404(Invitation, token=invitation, hosted=access.hosted, used_at=None, withdrawn_at=None)
    if not may_invite(access.hosted, Role(row.role)):
        messages.error(request, NO_APPROVAL)
        return redirect("organiser:people", study=access.hosted.token)
    sent = send_invitation(request, row)
    messages.success(request, "Resent." if sent else "No e-mail was sent; copy the link and pass it on.")
    return redirect("organiser:people", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def take_back(request: HttpRequest, access: AccessContext, invitation: str) -> HttpResponse:
    """Revoke an invitation; its link stops working."""
    row = get_object_or_404(Invitation, token=invitation, hosted=access.hosted, used_at=None)
    withdraw_invitation(access.account, row)
    messages.success(request, "Revoked.")
    return redirect("organiser:people", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def make_slips(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Create access codes for walk-in participants, and show them for printing."""
    form = SlipsForm(request.POST)
    if form.is_valid() and not may_invite(access.hosted, Role(form.cleaned_data["role"])):
        form.add_error("role", NO_APPROVAL)
    if not form.is_valid():
        return _page(request, access, status=422, slips=form)
    first, n = form.cleaned_data["first"], form.cleaned_data["n"]
    hand_out_codes(
        access.account, access.hosted, Role(form.cleaned_data["role"]), [str(seat) for seat in range(first, first + n)]
    )
    return redirect("organiser:slips", study=access.hosted.token)
