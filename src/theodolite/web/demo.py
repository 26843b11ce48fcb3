"""The seeded event of `serve --demo`: one click makes one any of its people. On loopback only."""

from __future__ import annotations

from django.contrib.auth import login
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from theodolite.domain.role import Role
from theodolite.web.access import open_to_all
from theodolite.web.models import Account, HostedStudy, Membership

_ADDRESS = "{}@demo.invalid"

_PEOPLE = {
    Role.ORGANISER: "Olga",
    Role.SENIOR: "Sami",
    Role.ANNOTATOR: "Anna",
    Role.RED_TEAMER: "Ravi",
    Role.FIELD_TESTER: "Fay",
    Role.ANALYST: "Aino",
    Role.TEAM: "Tove",
}
_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@transaction.atomic
def seed() -> HostedStudy:
    """Make the event with one person for each role, where it is not there yet.

    Each part of the web side adds here what its pages are to show.
    """
    hosted, _ = HostedStudy.objects.get_or_create(
        name="demo", defaults={"title": "TV Spoilers, a demonstration", "state": HostedStudy.State.OPEN}
    )
    for role, name in _PEOPLE.items():
        account, _ = Account.objects.get_or_create(
            email=_ADDRESS.format(slugify(role)), defaults={"name": name, "is_host": role is Role.ORGANISER}
        )
        Membership.objects.get_or_create(account=account, hosted=hosted, role=role)
    return hosted


@open_to_all
def doors(request: HttpRequest) -> HttpResponse:
    """Offer every person of the event."""
    people = [(slugify(role), role, name) for role, name in _PEOPLE.items()]
    return render(request, "web/accounts/demo.html", {"people": people})


@require_POST
def enter(request: HttpRequest, role: str) -> HttpResponse:
    """Sign one in as a person of the event."""
    account = Account.objects.filter(email=_ADDRESS.format(role)).first()
    if account is None:
        raise Http404
    login(request, account, backend=_BACKEND)
    return redirect("home")


open_to_all(enter)
