"""Doors of the seeded event: one click signs a visitor in as one of its people. On loopback only."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from theodolite.demo.people import account_of, people_file
from theodolite.web.access import open_to_all
from theodolite.web.accounts.invitations import invitation_path
from theodolite.web.models import Account, Invitation, Membership
from theodolite.web.urls import urlpatterns as web_addresses

_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@open_to_all
def doors(request: HttpRequest) -> HttpResponse:
    """Offer every person of the event."""
    told = people_file()
    offered = {
        "people": [(slugify(role), role, name) for role, name in told["people"].items()],
        "gate": [(slug, one["says"], one["name"]) for slug, one in told["gate"].items()],
        "kitchen": [(slug, one["says"], one["name"]) for slug, one in told["kitchen"]["doors"].items()],
    }
    return render(request, "web/accounts/demo.html", offered)


@require_POST
def enter(request: HttpRequest, role: str) -> HttpResponse:
    """Sign one in as a person of the event; who has only been invited finds the invitation."""
    account: Account | None = account_of(role)
    gate = people_file()["gate"]
    if account is None and role in gate:
        name = gate[role]["name"]
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

urlpatterns = [
    *web_addresses,
    path("demo/", doors, name="demo"),
    path("demo/as/<slug:role>/", enter, name="demo_enter"),
]
