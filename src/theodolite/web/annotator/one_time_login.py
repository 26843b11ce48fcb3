"""One-time login for `theodolite label`: an address that lets one person in, once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.contrib.auth import login
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET

from theodolite.annotation.assignment import next_work
from theodolite.domain.identity import digest
from theodolite.domain.people.role import Role
from theodolite.web.access import AccessContext, open_to_all
from theodolite.web.annotator.context import annotator_context
from theodolite.web.annotator.home import must_choose
from theodolite.web.models import Account, HostedStudy, Membership

_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"

_DOORS: dict[str, int] = {}
"""Tokens of doors that nobody has gone through yet, and the number of the membership behind each.

They live as long as the process: a door that was printed yesterday leads nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """A way in for one person.

    Attributes:
        hosted: Token of the study behind it, which names its queue.
        path: Path of the address.
    """

    hosted: str
    path: str


@transaction.atomic
def open_door(*, study: str, guideline: str, by: str) -> Door:
    """Make room for one person who labels, or find the room of an earlier time, and open a door to it.

    Args:
        study: Name of the study.
        guideline: Name of the guideline that is labelled by.
        by: Name under which the labels count.
    """
    name = f"label {digest('label annotator', study, guideline, by)}"
    hosted, _ = HostedStudy.objects.get_or_create(
        name=name, defaults={"title": study[:200], "state": HostedStudy.State.OPEN}
    )
    held = Membership.objects.filter(hosted=hosted, role=Role.ANNOTATOR.value).first()
    if held is None:
        account = Account.objects.create_user(name=by[:120])
        held = Membership.objects.create(account=account, hosted=hosted, role=Role.ANNOTATOR.value, participant=by)
    token = secrets.token_urlsafe(16)
    _DOORS[token] = held.pk
    return Door(hosted=hosted.token, path=reverse("label_door", kwargs={"token": token}))


@open_to_all
@require_GET
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Let the first one in, straight to the first dialogue; the door is then closed."""
    held = Membership.objects.select_related("account", "hosted").filter(pk=_DOORS.pop(token, None)).first()
    if held is None:
        raise Http404
    login(request, held.account, backend=_BACKEND)
    annotator = annotator_context(AccessContext(account=held.account, hosted=held.hosted, membership=held))
    if annotator is None:
        raise Http404
    if must_choose(annotator):
        return redirect(annotator.address("topics"))
    work = next_work(annotator.records, annotator.queue, annotator.participant)
    return redirect(annotator.address("sheet", reservation=work.token) if work else annotator.address("home"))
