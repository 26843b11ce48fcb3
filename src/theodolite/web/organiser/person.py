"""One person of an event: where they stand, how to reach them, and what an organiser can do for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.domain.errors import Conflict
from theodolite.domain.people.role import Role
from theodolite.domain.people.withdrawal import Withdrawal
from theodolite.reporting.words.figures import number_of
from theodolite.web.access import Here, allowed
from theodolite.web.accounts.codes import WALK_IN, code_path, give_code
from theodolite.web.approvals import TESTERS
from theodolite.web.audit import audit
from theodolite.web.booking import book, booked_slot, offered
from theodolite.web.departures import depart, take_back
from theodolite.web.entrances import entrance
from theodolite.web.kept import kept_of
from theodolite.web.mail import over_one_line, send
from theodolite.web.models import Membership, Screening
from theodolite.web.moments import told_span, zone_of
from theodolite.web.organiser.pool import Pooled, pool_of
from theodolite.web.pages import absolute
from theodolite.web.tester.mine import kept_file
from theodolite.web.venues import venue_of

_NO_MAIL = "No mail was sent; copy the link and hand it over."


@allowed(Role.ORGANISER)
def person(request: HttpRequest, here: Here, member: str) -> HttpResponse:
    """Show one person of the event."""
    pooled = _pooled(here, member)
    membership, now, zone = pooled.membership, timezone.now(), zone_of(venue_of(here.hosted).study)
    own = booked_slot(membership, now)
    told = {
        "here": here,
        "one": pooled,
        "link": link_of(request, membership),
        "address": address_of(membership),
        "slot": told_span(own.begins, own.ends, zone) if own else "",
        "slots": [
            (one.slot.token, told_span(one.slot.begins, one.slot.ends, zone), one.left)
            for one in offered(here.hosted, membership.role, now)
        ],
        "is_tester": membership.as_role in TESTERS,
        "may_have_code": membership.as_role in WALK_IN,
        "screening": Screening.objects.filter(membership=membership).first(),
    }
    return render(request, "web/organiser/person.html", told)


def link_of(request: HttpRequest, membership: Membership) -> str:
    """Return the link by which a person goes on: that of the own code where there is one, else the entrance."""
    code = getattr(membership, "code", None)
    path = code_path(code) if code is not None and code.withdrawn_at is None else entrance(membership)
    return absolute(request, path)


def address_of(membership: Membership) -> str:
    """Return the address to which a person may be written; empty where none is known."""
    invitation = getattr(membership, "invitation", None)
    return membership.account.email or (invitation.email if invitation else "")


def send_reminder(request: HttpRequest, membership: Membership, line: BaseEmailBackend | None = None) -> bool:
    """Mail what is still to be done, over an open line where there is one; False where no mail went out."""
    shown: dict[str, object] = {"membership": membership, "address": link_of(request, membership)}
    sent = send(address_of(membership), f"Reminder: {membership.hosted}", "web/accounts/reminder.txt", shown, line)
    if sent:
        membership.reminded_at = timezone.now()
        membership.save(update_fields=["reminded_at"])
    return sent


@allowed(Role.ORGANISER)
@require_GET
def kept(_request: HttpRequest, here: Here, member: str) -> HttpResponse:
    """Give everything that is kept of a tester, to be handed to the person who asked for it."""
    membership = get_object_or_404(Membership, token=member, hosted=here.hosted, role__in=TESTERS, withdrew=False)
    audit(here.account, "took a person's data along", f"membership {membership.token}", hosted=here.hosted)
    return kept_file(kept_of(membership))


@allowed(Role.ORGANISER)
@require_POST
def act(request: HttpRequest, here: Here, member: str, what: str) -> HttpResponse:
    """Do one of the things that an organiser can do for a person."""
    if what not in _ACTS:
        raise Http404
    membership = _pooled(here, member).membership
    try:
        messages.success(request, _ACTS[what](request, here, membership))
    except Conflict as conflict:
        messages.error(request, f"{conflict}.")
    return redirect("organiser:person", study=here.hosted.token, member=member)


def _remind(request: HttpRequest, here: Here, membership: Membership) -> str:
    sent = send_reminder(request, membership)
    audit(here.account, "reminded", f"membership {membership.token}", hosted=here.hosted, by_mail=sent)
    return "Reminder sent." if sent else _NO_MAIL


@transaction.atomic
def _new_code(_request: HttpRequest, here: Here, membership: Membership) -> str:
    code = give_code(membership)
    audit(here.account, "gave new code", f"code {code.token}", hosted=here.hosted)
    return "There is a new code; the one before opens nothing any more."


def _screen_again(_request: HttpRequest, here: Here, membership: Membership) -> str:
    Screening.objects.filter(membership=membership).delete()
    audit(here.account, "asked to screen again", f"membership {membership.token}", hosted=here.hosted)
    return "The questions will be asked once more."


def _book(request: HttpRequest, here: Here, membership: Membership) -> str:
    book(here.account, membership, request.POST.get("slot", ""), timezone.now())
    return "Booked."


def _take_out(_request: HttpRequest, here: Here, membership: Membership) -> str:
    if membership.pk == here.membership.pk:
        message = "you cannot take yourself out; another organiser can"
        raise Conflict(message)
    if membership.as_role in TESTERS:
        depart(membership)
    else:
        membership.left_at = timezone.now()
        membership.save(update_fields=["left_at"])
    audit(here.account, "took out", f"membership {membership.token}", hosted=here.hosted, role=membership.role)
    return "Taken out; what was said stays, and the seat is free."


def _take_back(request: HttpRequest, here: Here, membership: Membership) -> str:
    wish = request.POST.get("wish", "")
    if membership.as_role not in TESTERS or membership.withdrew or wish not in set(Withdrawal):
        message = "nothing was taken back: expected a tester whose words are still linked, and what becomes of them"
        raise Conflict(message)
    reached = take_back(membership, Withdrawal(wish))
    audit(here.account, "withdrew on request", f"membership {membership.token}", hosted=here.hosted, kind=wish)
    counts = (number_of(reached.dialogues, "dialogue"), number_of(reached.answers, "answer"))
    return f"Done, as the person asked: {', '.join(counts)}."


_ACTS: dict[str, Callable[[HttpRequest, Here, Membership], str]] = {
    "remind": _remind,
    "code": _new_code,
    "screen": _screen_again,
    "book": _book,
    "take-out": _take_out,
    "take-back": _take_back,
}


@allowed(Role.ORGANISER)
@require_POST
def remind_all(request: HttpRequest, here: Here) -> HttpResponse:
    """Remind every tester who has something left to do; who has no address is counted."""
    waited_for = [one.membership for one in pool_of(here.hosted) if one.is_waited_for]
    sent = over_one_line(partial(send_reminder, request), waited_for)
    audit(here.account, "reminded all", f"study {here.hosted.token}", hosted=here.hosted, n=len(waited_for), sent=sent)
    rest = len(waited_for) - sent
    words = f"{sent} reminded by mail." + (f" {rest} cannot be mailed: their links stand below." if rest else "")
    messages.success(request, words)
    return redirect(f"{reverse('organiser:people', args=[here.hosted.token])}?links=yes")


def _pooled(here: Here, member: str) -> Pooled:
    found = get_object_or_404(Membership, token=member, hosted=here.hosted)
    return next(one for one in pool_of(here.hosted) if one.membership.pk == found.pk)
