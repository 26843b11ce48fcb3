"""The seeded event of `serve --demo`: one click makes one any of its people. On loopback only."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth import login, logout
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from theodolite.bootstrap.demo import kitchen_of
from theodolite.domain.people.role import Role
from theodolite.web.access import open_to_all
from theodolite.web.accounts.inviting import invitation_path
from theodolite.web.analyst.seeding import seed_combined_review, seed_testers
from theodolite.web.analyst.seeding_labels import seed_labels
from theodolite.web.annotator.seeding import seed_annotation
from theodolite.web.hosting import host_study
from theodolite.web.models import Account, HostedStudy, Invitation, Membership
from theodolite.web.organiser.seeding import seed_approval, seed_pool, seed_screened
from theodolite.web.organiser.seeding_kitchen import seed_kitchen
from theodolite.web.senior.seeding import seed_review
from theodolite.web.teams.seeding import seed_submissions

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
_AT_THE_GATE = {
    "hugo": ("Hugo", "let in, comes tomorrow"),
    "greta": ("Greta", "screened out"),
    "nils": ("Nils", "invited, not here yet"),
}
"""Invented testers of the event, by the name in the address: who they are, and where they stand."""

_IN_THE_KITCHEN = {
    "omar": ("Omar", "runs it"),
    "mona": ("Mona", "tests, and is asked what she would rather not meet"),
}
"""People of the second event, in the same manner."""

_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def seed(folder: str) -> HostedStudy:
    """Make the event with one person for each role, where it is not there yet.

    Each part of the web side adds here what its pages are to show.

    Args:
        folder: Where the event's study was laid out.
    """
    people = {role: _person(slugify(role), name, is_host=role is Role.ORGANISER) for role, name in _PEOPLE.items()}
    hosted = host_study(folder, people[Role.ORGANISER])
    with transaction.atomic():
        for role, account in people.items():
            Membership.objects.get_or_create(account=account, hosted=hosted, role=role)
        HostedStudy.objects.filter(pk=hosted.pk).update(state=HostedStudy.State.OPEN)
        seed_submissions(hosted)
        seed_approval(hosted)
        seed_screened(hosted)
    seed_annotation(hosted)
    seed_testers(hosted)
    return hosted


def furnish(hosted: HostedStudy) -> None:
    """Fill the pages of those who come after others: what people have answered, flagged, asked and labelled already."""
    seed_review(hosted)
    seed_labels(hosted)
    seed_combined_review(hosted)
    seed_pool(hosted)
    omar, mona = (_person(slug, name) for slug, (name, _) in _IN_THE_KITCHEN.items())
    seed_kitchen(kitchen_of(Path(hosted.folder)), omar, mona)


def _person(slug: str, name: str, *, is_host: bool = False) -> Account:
    account = Account.objects.filter(email=_ADDRESS.format(slug)).first()
    return account or Account.objects.create_user(_ADDRESS.format(slug), name=name, is_host=is_host)


@open_to_all
def doors(request: HttpRequest) -> HttpResponse:
    """Offer every person of the event."""
    told = {
        "people": [(slugify(role), role, name) for role, name in _PEOPLE.items()],
        "gate": [(slug, stands, name) for slug, (name, stands) in _AT_THE_GATE.items()],
        "kitchen": [(slug, does, name) for slug, (name, does) in _IN_THE_KITCHEN.items()],
    }
    return render(request, "web/accounts/demo.html", told)


@require_POST
def enter(request: HttpRequest, role: str) -> HttpResponse:
    """Sign one in as a person of the event; who has only been invited finds the invitation."""
    account = Account.objects.filter(email=_ADDRESS.format(role)).first()
    if account is None and role in _AT_THE_GATE:
        name, _ = _AT_THE_GATE[role]
        invited = Invitation.objects.filter(name=name, hosted__isnull=False).order_by("pk").first()
        if invited is not None and invited.used_at is None:
            logout(request)
            return redirect(invitation_path(invited))
        came = invited.membership if invited else Membership.objects.filter(account__name=name).order_by("pk").first()
        account = came.account if came else None
    if account is None:
        raise Http404
    login(request, account, backend=_BACKEND)
    return redirect("home")


open_to_all(enter)
