"""People of an event: invitations one by one, by a list or by access codes; and a page for each person."""

from __future__ import annotations

import csv
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import getaddresses
from enum import StrEnum
from functools import partial
from io import StringIO
from typing import Any, TypeVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from theodolite.domain.event import Role, why_not_both
from theodolite.domain.event_record import TesterTally
from theodolite.domain.session import Session
from theodolite.domain.wording import languages_of
from theodolite.reporting.words.figures import number_of
from theodolite.web.access import AccessContext, allowed, clash_of_address, role_home
from theodolite.web.accounts.invitations import (
    WALK_IN,
    Standing,
    code_path,
    hand_out_codes,
    invitation_path,
    invite,
    is_address,
    standing_of,
    withdraw_invitation,
)
from theodolite.web.events import NO_APPROVAL, TESTERS, approval_of, event_of, may_invite, server_store
from theodolite.web.middleware import absolute, offer_languages
from theodolite.web.models import HostedStudy, Invitation, Membership
from theodolite.web.participants import zone_of

MOST_ROWS = 2000
"""Maximum number of rows in a list; count."""


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
        """Offer the languages of the study; none if it has only one."""
        super().__init__(*args, **more)
        offer_languages(self, languages)


class ListForm(forms.Form):
    """The invitation of a list of people."""

    list = forms.FileField(label="CSV file", help_text="Columns email, name and role in any order, with a header line.")


class PasteForm(forms.Form):
    """The invitation of people by pasted addresses, all in one role."""

    role = forms.ChoiceField(label="Role", choices=_ROLES, initial=Role.FIELD_TESTER.value)
    addresses = forms.CharField(
        label="Addresses",
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="One per line or with commas between them: ana@example.org, or Ana &lt;ana@example.org&gt;. "
        "A name without an address makes a link for you to pass on.",
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        """Use separate ids for the fields: the page shows the form next to `InviteForm`."""
        super().__init__(*args, **{"auto_id": "paste_%s", **more})


class AccessCodesForm(forms.Form):
    """Access codes for walk-in participants."""

    role = forms.ChoiceField(label="Role", choices=[(role.value, role.value) for role in WALK_IN])
    n = forms.IntegerField(label="Number of access codes", min_value=1, max_value=500, initial=20)
    first = forms.IntegerField(label="First seat", min_value=1, initial=1)

    def __init__(self, *args: Any, **more: Any) -> None:
        """Use separate ids for the fields: the page shows the form next to `InviteForm`."""
        super().__init__(*args, **{"auto_id": "access_code_%s", **more})


BULK_ACTS: Mapping[str, str] = {"remind": "Remind", "code": "New code", "screen": "Repeat screening"}
"""Actions for several selected people, with their labels; a removal asks first."""


@dataclass(frozen=True, slots=True)
class AskedIn:
    """An open invitation as the page shows it."""

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
    role = request.GET.get("role", "")
    pool = [
        member
        for member in everybody
        if (not chosen or (member.state.value == chosen and member.is_tester))
        and (not role or member.membership.role == role)
    ]
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
        "roles": [(one.value, one.value == role) for one in Role],
        "bulk_acts": BULK_ACTS,
        "zone": zone_of(event_of(access.hosted).study).key,
        "n_waited_for": sum(member.is_waited_for for member in everybody),
        "shows_links": shows_links,
        "slots": access.hosted.time_slots.exists(),
        "invitations": invited,
        "approval": approval_of(access.hosted),
        "invite": InviteForm(languages=_languages(access)),
        "list": ListForm(),
        "paste": PasteForm(),
        "links": [f"{one.invitation.name or one.invitation.email}\t{one.address}" for one in invited],
        "access_codes": AccessCodesForm(),
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
def invite_many(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Invite all people on a list or in pasted lines, or none if there is an error."""
    if "addresses" in request.POST:
        field, pasted = "addresses", PasteForm(request.POST)
        if not pasted.is_valid():
            return _page(request, access, status=422, paste=pasted)
        rows, errors = read_lines(pasted.cleaned_data["addresses"], Role(pasted.cleaned_data["role"]))
        form: forms.Form = pasted
    else:
        field, form = "list", ListForm(request.POST, request.FILES)
        if not form.is_valid():
            return _page(request, access, status=422, list=form)
        rows, errors = read_list(form.cleaned_data["list"].read())
    if any(not may_invite(access.hosted, role) for _, _, role in rows):
        errors = [NO_APPROVAL, *errors]
    errors += _clashes(access, rows)
    for error in errors[:20]:
        form.add_error(field, error)
    if errors:
        form.add_error(None, f"{len(errors)} error{'s' if len(errors) > 1 else ''}; no one was invited.")
        return _page(request, access, status=422, **{"paste" if field == "addresses" else "list": form})
    with transaction.atomic():
        made = [invite(access.account, access.hosted, role, email=email, name=name) for email, name, role in rows]
    sent = over_one_line(partial(send_invitation, request), made)
    rest = " Copy the links below and pass them on." if sent < len(made) else ""
    messages.success(request, f"{len(made)} invited, {sent} by e-mail.{rest}")
    return redirect(f"{reverse('organiser:people', args=[access.hosted.token])}#invitations")


def read_lines(text: str, role: Role) -> tuple[list[tuple[str, str, Role]], list[str]]:
    """Return address, name and role of each pasted line, and all errors with their lines.

    Example:
        >>> read_lines("Ana <ana@example.org>", Role.ANNOTATOR)
        ([('ana@example.org', 'Ana', <Role.ANNOTATOR: 'annotator'>)], [])
    """
    rows: list[tuple[str, str, Role]] = []
    errors: list[str] = []
    seen: dict[str, int] = {}
    lines = [(number, line.strip(" \t,;")) for number, line in enumerate(text.splitlines(), 1)]
    filled = [(number, line) for number, line in lines if line]
    if len(filled) > MOST_ROWS:
        errors.append(f"Line {filled[MOST_ROWS][0]}: a list has at most {MOST_ROWS} people.")
    for number, line in filled[:MOST_ROWS]:
        people = getaddresses([line]) if "@" in line else [(line, "")]
        if "@" in line and not all(is_address(email) for _, email in people):
            errors.append(f"Line {number}: “{line}” is not an e-mail address; expected e.g. Ana <ana@example.org>.")
            continue
        for name, email in people:
            if email and email.lower() in seen:
                errors.append(f"Line {number}: {email} is already in line {seen[email.lower()]}.")
            seen[email.lower()] = number
            rows.append((email, name, role))
    return rows, errors


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
def act_on_invitations(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Resend or revoke the selected invitations; used and revoked ones stay as they are."""
    what, tokens = request.POST.get("act", ""), request.POST.getlist("invitation")[:MOST_ROWS]
    if what not in {"resend", "revoke"}:
        raise Http404
    chosen = Invitation.objects.select_related("hosted").filter(
        hosted=access.hosted, token__in=tokens, used_at=None, withdrawn_at=None
    )
    rows = [row for row in chosen if what == "revoke" or may_invite(access.hosted, Role(row.role))]
    if not rows:
        messages.warning(request, "No invitation was changed: select open invitations in the table first.")
    elif what == "revoke":
        for row in rows:
            withdraw_invitation(access.account, row)
        messages.success(request, f"{number_of(len(rows), 'invitation')} revoked.")
    else:
        sent = over_one_line(partial(send_invitation, request), rows)
        rest = len(rows) - sent
        messages.success(request, f"{sent} resent." + (f" Copy the links of the other {rest}." if rest else ""))
    return redirect(f"{reverse('organiser:people', args=[access.hosted.token])}#invitations")


@allowed(Role.ORGANISER)
@require_POST
def revoke_invitation(request: HttpRequest, access: AccessContext, invitation: str) -> HttpResponse:
    """Revoke an invitation; its link stops working."""
    row = get_object_or_404(Invitation, token=invitation, hosted=access.hosted, used_at=None)
    withdraw_invitation(access.account, row)
    messages.success(request, "Revoked.")
    return redirect("organiser:people", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def create_access_codes(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Create access codes for walk-in participants, and show them for printing."""
    form = AccessCodesForm(request.POST)
    if form.is_valid() and not may_invite(access.hosted, Role(form.cleaned_data["role"])):
        form.add_error("role", NO_APPROVAL)
    if not form.is_valid():
        return _page(request, access, status=422, access_codes=form)
    first, n = form.cleaned_data["first"], form.cleaned_data["n"]
    hand_out_codes(
        access.account, access.hosted, Role(form.cleaned_data["role"]), [str(seat) for seat in range(first, first + n)]
    )
    return redirect("organiser:access_codes", study=access.hosted.token)


class ParticipantState(StrEnum):
    """The state of a participant, in order of the event."""

    INVITED = "invited"
    """Invited by a link or code that has not been used."""
    JOINED = "joined"
    """Has joined; a tester has done nothing yet."""
    SCREENED = "screened"
    SCREENED_OUT = "screened out"
    CONSENTED = "consented"
    ACTIVE = "active"
    DONE = "done"
    LEFT = "left"
    """Left, or was removed; the texts are kept."""
    WITHDRAWN = "withdrawn"
    """Left and withdrew the texts."""


FINISHED = frozenset(
    {ParticipantState.DONE, ParticipantState.LEFT, ParticipantState.WITHDRAWN, ParticipantState.SCREENED_OUT}
)
"""Final states."""


NO_SESSIONS = TesterTally(n_ended=0, n_active=0, last=None)
"""Progress of a person without sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """One participant as organisers see it.

    Attributes:
        membership: The person, and the role.
        state: State of the person; only testers pass through all states.
        tally: Progress in the sessions; without any for other people.
        severe: Turns that the person marked as broken guardrails; count.
    """

    membership: Membership
    state: ParticipantState
    tally: TesterTally
    severe: int = 0

    @property
    def minutes(self) -> float:
        """Time in sessions, excluding pauses; minutes."""
        return self.tally.elapsed_s / 60

    @property
    def sessions(self) -> list[Session]:
        """The sessions of the person, in order."""
        return server_store().events.sessions.of_participant(self.membership.participant)

    @property
    def is_tester(self) -> bool:
        """Whether the participant is a tester."""
        return self.membership.as_role in TESTERS

    @property
    def is_waited_for(self) -> bool:
        """Whether the participant is a tester with steps left."""
        return self.is_tester and self.state not in FINISHED


def participants_of(hosted: HostedStudy) -> list[Participant]:
    """Return all people of an event in order of joining, in a constant number of queries."""
    known = ("account", "code", "screening", "booking__slot", "invitation", "recruit")
    members = hosted.memberships.select_related(*known).order_by("id")
    events = server_store().events
    tallies = events.sessions.tester_tallies(hosted.name)
    consented, severe = events.participants.consented(hosted.name), events.replies.broken_guardrails(hosted.name)
    return [
        _participant(member, tallies.get(member.participant, NO_SESSIONS), member.participant in consented, severe)
        for member in members
    ]


def n_invited_testers(hosted: HostedStudy) -> int:
    """Return the number of testers with an open invitation; count."""
    invitations = Invitation.objects.filter(hosted=hosted, role__in=[role.value for role in TESTERS], used_at=None)
    return invitations.filter(withdrawn_at=None, expires_at__gt=timezone.now()).count()


def counted_states(pool: Iterable[Participant], n_invited: int) -> list[tuple[str, int]]:
    """Return the number of testers in each state, in order; `n_invited` more have not joined yet."""
    counts = Counter(member.state for member in pool if member.is_tester)
    counts[ParticipantState.INVITED] += n_invited
    return [(state.value, counts[state]) for state in ParticipantState if counts[state]]


def _participant(
    membership: Membership,
    tally: TesterTally,
    has_consented: bool,  # noqa: FBT001 - one fact among others
    severe: Mapping[str, int],
) -> Participant:
    return Participant(
        membership=membership,
        state=_state(membership, tally, has_consented=has_consented),
        tally=tally,
        severe=severe.get(membership.participant, 0),
    )


def _state(membership: Membership, tally: TesterTally, *, has_consented: bool) -> ParticipantState:
    if membership.left_at is not None:
        return ParticipantState.WITHDRAWN if membership.withdrew else ParticipantState.LEFT
    if tally.n_active:
        return ParticipantState.ACTIVE
    if tally.n and tally.n_ended == tally.n:
        return ParticipantState.DONE
    if has_consented:
        return ParticipantState.CONSENTED
    return _before_consent(membership)


def _before_consent(membership: Membership) -> ParticipantState:
    screening = getattr(membership, "screening", None)
    if screening is not None:
        return ParticipantState.SCREENED if screening.passed else ParticipantState.SCREENED_OUT
    code = getattr(membership, "code", None)
    invitation = getattr(membership, "invitation", None)
    never_came = code is not None and code.first_used_at is None and invitation is None
    is_recruit = getattr(membership, "recruit", None) is not None
    return ParticipantState.INVITED if never_came and not is_recruit else ParticipantState.JOINED


def link_of(request: HttpRequest, membership: Membership) -> str:
    """Return the link by which a participant continues: the personal code, or the home page of the role."""
    code = getattr(membership, "code", None)
    path = code_path(code) if code is not None and code.withdrawn_at is None else role_home(membership)
    return absolute(request, path)


def address_of(membership: Membership) -> str:
    """Return the e-mail address of a participant; empty if unknown."""
    invitation = getattr(membership, "invitation", None)
    return membership.account.email or (invitation.email if invitation else "")


def send_reminder(request: HttpRequest, membership: Membership, line: BaseEmailBackend | None = None) -> bool:
    """Send a reminder, over an open connection if there is one; return whether it was sent."""
    shown: dict[str, object] = {"membership": membership, "address": link_of(request, membership)}
    sent = send(address_of(membership), f"Reminder: {membership.hosted}", "web/accounts/reminder.txt", shown, line)
    if sent:
        membership.reminded_at = timezone.now()
        membership.save(update_fields=["reminded_at"])
    return sent


Item = TypeVar("Item")


_LOG = logging.getLogger(__name__)


def over_one_line(send_one: Callable[[Item, BaseEmailBackend], bool], items: Iterable[Item]) -> int:
    """Send many mails over one connection; an unreachable server causes a single timeout.

    Args:
        send_one: Sends one mail over the given connection, and returns whether the server accepted it.
        items: The items to send, one mail each.

    Returns:
        Mails that the server accepted; count.
    """
    if not settings.SENDS_MAIL:
        return 0
    line = get_connection()
    try:
        line.open()
        return sum(send_one(item, line) for item in items)
    except OSError as error:
        _LOG.warning("the mail server cannot be reached: %s", error)
        return 0
    finally:
        line.close()


def send_invitation(request: HttpRequest, invitation: Invitation, line: BaseEmailBackend | None = None) -> bool:
    """Mail an invitation to its recipient.

    Args:
        request: The request, for the address of this server.
        invitation: The invitation.
        line: An open connection to the mail server; None to open one.

    Returns:
        Whether the mail server accepted it; also False without a server or an address.
    """
    shown = {"invitation": invitation, "address": absolute(request, invitation_path(invitation))}
    if not send(invitation.email, f"Invitation: {invitation.hosted}", "web/accounts/invitation.txt", shown, line):
        return False
    invitation.sent_at = timezone.now()
    invitation.save(update_fields=["sent_at"])
    return True


def send(to: str, subject: str, template: str, shown: dict[str, object], line: BaseEmailBackend | None = None) -> bool:
    """Mail a text.

    Args:
        to: The recipient.
        subject: The subject, one line.
        template: Template of the text.
        shown: Variables of the template.
        line: An open connection to the mail server; None to open one.

    Returns:
        Whether the mail server accepted it; also False without a server or an address.
    """
    if not settings.SENDS_MAIL or not to:
        return False
    body = render_to_string(template, shown)
    try:
        return EmailMessage(" ".join(subject.split()), body, to=[to], connection=line).send() == 1
    except OSError as error:  # the library's own errors of sending are of this kind
        _LOG.warning("a mail could not be sent: %s", error)
        return False
