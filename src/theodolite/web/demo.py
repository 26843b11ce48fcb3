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
from theodolite.web.analyst.seeding import seed_combined_review, seed_testers
from theodolite.web.analyst.seeding_labels import seed_labels
from theodolite.web.annotator.seeding import seed_annotation
from theodolite.web.hosting import host_study
from theodolite.web.models import Account, HostedStudy, Membership
from theodolite.web.organiser.seeding import seed_approval, seed_pool, seed_screened
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
_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def seed(folder: str) -> HostedStudy:
    """Make the event with one person for each role, where it is not there yet.

    Each part of the web side adds here what its pages are to show.

    Args:
        folder: Where the event's study was laid out.
    """
    people = {role: _person(role, name) for role, name in _PEOPLE.items()}
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


def _person(role: Role, name: str) -> Account:
    account = Account.objects.filter(email=_ADDRESS.format(slugify(role))).first()
    return account or Account.objects.create_user(
        _ADDRESS.format(slugify(role)), name=name, is_host=role is Role.ORGANISER
    )


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
