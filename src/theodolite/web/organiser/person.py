"""The page of each person of an event, and actions for one person or several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.domain.errors import Conflict
from theodolite.domain.event import Role
from theodolite.domain.event_record import Withdrawal
from theodolite.reporting.words.figures import number_of
from theodolite.web.access import AccessContext, allowed
from theodolite.web.accounts.invitations import WALK_IN, give_code
from theodolite.web.events import TESTERS, event_of
from theodolite.web.models import Membership, Screening
from theodolite.web.organiser.people import (
    BULK_ACTS,
    MOST_ROWS,
    Participant,
    address_of,
    link_of,
    over_one_line,
    participants_of,
    send_reminder,
)
from theodolite.web.participants import book, booked_slot, offered, span_text, zone_of
from theodolite.web.session_end import end_participation, withdraw_participant
from theodolite.web.tester.entry import personal_data, personal_data_file

_NO_MAIL = "No e-mail was sent; copy the link and pass it on."


@allowed(Role.ORGANISER)
def person(request: HttpRequest, access: AccessContext, member: str) -> HttpResponse:
    """Show one participant of the event."""
    pooled = _participant_of(access, member)
    membership, now, zone = pooled.membership, timezone.now(), zone_of(event_of(access.hosted).study)
    own = booked_slot(membership, now)
    context = {
        "access": access,
        "one": pooled,
        "link": link_of(request, membership),
        "address": address_of(membership),
        "slot": span_text(own.begins, own.ends, zone) if own else "",
        "slots": [
            (offer.slot.token, span_text(offer.slot.begins, offer.slot.ends, zone), offer.left)
            for offer in offered(access.hosted, membership.role, now)
        ],
        "is_tester": membership.as_role in TESTERS,
        "may_have_code": membership.as_role in WALK_IN,
        "screening": Screening.objects.filter(membership=membership).first(),
    }
    return render(request, "web/organiser/person.html", context)


@allowed(Role.ORGANISER)
@require_GET
def kept(_request: HttpRequest, access: AccessContext, member: str) -> HttpResponse:
    """Return the personal data of a tester as a file, on the tester's request."""
    membership = get_object_or_404(Membership, token=member, hosted=access.hosted, role__in=TESTERS, withdrew=False)
    access.audit("exported a person's data", f"membership {membership.token}")
    return personal_data_file(personal_data(membership))


@allowed(Role.ORGANISER)
@require_POST
def act(request: HttpRequest, access: AccessContext, member: str, what: str) -> HttpResponse:
    """Perform an organiser's action for a participant."""
    if what not in _ACTS:
        raise Http404
    membership = _participant_of(access, member).membership
    try:
        messages.success(request, _ACTS[what](request, access, membership))
    except Conflict as conflict:
        messages.error(request, f"{conflict}.")
    return redirect("organiser:person", study=access.hosted.token, member=member)


def _remind(request: HttpRequest, access: AccessContext, membership: Membership) -> str:
    sent = send_reminder(request, membership)
    access.audit("reminded", f"membership {membership.token}", by_mail=sent)
    return "Reminder sent." if sent else _NO_MAIL


@transaction.atomic
def _new_code(_request: HttpRequest, access: AccessContext, membership: Membership) -> str:
    code = give_code(membership)
    access.audit("issued new code", f"code {code.token}")
    return "A new code was issued; the old one is no longer valid."


def _screen_again(_request: HttpRequest, access: AccessContext, membership: Membership) -> str:
    Screening.objects.filter(membership=membership).delete()
    access.audit("repeated screening", f"membership {membership.token}")
    return "The person will see the screening questions again."


def _book(request: HttpRequest, access: AccessContext, membership: Membership) -> str:
    book(access.account, membership, request.POST.get("slot", ""), timezone.now())
    return "Booked."


def _take_out(_request: HttpRequest, access: AccessContext, membership: Membership) -> str:
    if membership.pk == access.membership.pk:
        message = "you cannot remove yourself; ask another organiser"
        raise Conflict(message)
    if membership.as_role in TESTERS:
        end_participation(membership)
    else:
        membership.left_at = timezone.now()
        membership.save(update_fields=["left_at"])
    access.audit("removed", f"membership {membership.token}", role=membership.role)
    return "Removed; the data is kept, and the seat is free."


def _take_back(request: HttpRequest, access: AccessContext, membership: Membership) -> str:
    wish = request.POST.get("wish", "")
    if membership.as_role not in TESTERS or membership.withdrew or wish not in set(Withdrawal):
        message = "nothing was withdrawn: expected a tester with linked data, and a choice of what to do with it"
        raise Conflict(message)
    reached = withdraw_participant(membership, Withdrawal(wish))
    access.audit("withdrew on request", f"membership {membership.token}", kind=wish)
    counts = (number_of(reached.dialogues, "dialogue"), number_of(reached.answers, "answer"))
    return f"Data withdrawn: {', '.join(counts)}."


_ACTS: dict[str, Callable[[HttpRequest, AccessContext, Membership], str]] = {
    "remind": _remind,
    "code": _new_code,
    "screen": _screen_again,
    "book": _book,
    "take-out": _take_out,
    "take-back": _take_back,
}


@allowed(Role.ORGANISER)
@require_POST
def act_on_people(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Perform one action for the selected people; people that it does not fit are left out and named."""
    what, tokens = request.POST.get("act", ""), request.POST.getlist("person")[:MOST_ROWS]
    members = list(Membership.objects.filter(hosted=access.hosted, token__in=tokens).select_related("account"))
    if what not in {*BULK_ACTS, "take-out"}:
        raise Http404
    if not members:
        messages.warning(request, "No person is selected: select people in the table first.")
        return redirect("organiser:people", study=access.hosted.token)
    if what == "take-out" and request.POST.get("sure") != "yes":
        return render(
            request, "web/organiser/remove_people.html", {"access": access, "members": members, "n": len(members)}
        )
    done, refused = _acted(request, access, members, what)
    if done:
        messages.success(request, f"{_DONE[what]}: {number_of(done, 'person', 'people')}.")
    for reason, names in refused.items():
        messages.warning(request, f"Not done for {', '.join(names)}: {reason}.")
    return redirect("organiser:people", study=access.hosted.token)


_DONE = {"remind": "Reminded", "code": "New codes", "screen": "Screening repeated", "take-out": "Removed"}
"""What was done, by action."""


def _acted(
    request: HttpRequest, access: AccessContext, members: Sequence[Membership], what: str
) -> tuple[int, dict[str, list[str]]]:
    """Return how many people an action reached, and the names of the others by reason."""
    done, refused = 0, defaultdict(list)
    for membership in members:
        try:
            reason = _why_not(membership, what)
            if not reason:
                _ACTS[what](request, access, membership)
        except Conflict as conflict:
            reason = str(conflict)
        if reason:
            refused[reason].append(str(membership.account))
        else:
            done += 1
    return done, refused


def _why_not(membership: Membership, what: str) -> str:
    """Return why an action does not fit a person; empty if it does."""
    if membership.left_at is not None:
        return "the person has left the event"
    if what == "remind" and not (settings.SENDS_MAIL and address_of(membership)):
        return "no e-mail can be sent; copy the link and pass it on"
    if what == "code" and membership.as_role not in WALK_IN:
        return "only testers and annotators have codes"
    if what == "screen" and membership.as_role not in TESTERS:
        return "only testers are screened"
    return ""


@allowed(Role.ORGANISER)
@require_POST
def remind_all(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Remind every tester with steps left; also counts testers without an address."""
    waited_for = [participant.membership for participant in participants_of(access.hosted) if participant.is_waited_for]
    sent = over_one_line(partial(send_reminder, request), waited_for)
    access.audit("reminded all", f"study {access.hosted.token}", n=len(waited_for), sent=sent)
    rest = len(waited_for) - sent
    message = f"{sent} reminded by e-mail." + (
        f" {rest} have no e-mail address: their links are below." if rest else ""
    )
    messages.success(request, message)
    return redirect(f"{reverse('organiser:people', args=[access.hosted.token])}?links=yes")


def _participant_of(access: AccessContext, member: str) -> Participant:
    membership = get_object_or_404(Membership, token=member, hosted=access.hosted)
    return next(
        participant for participant in participants_of(access.hosted) if participant.membership.pk == membership.pk
    )
