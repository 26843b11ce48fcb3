"""The first page after signing in: one's studies, and what one does in them."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.people.role import Role
from theodolite.web.access import account_of, signed_in
from theodolite.web.models import Membership
from theodolite.web.role_home import role_home
from theodolite.web.roles import role_words


@dataclass(frozen=True, slots=True)
class Door:
    """A way into a study.

    Attributes:
        study: What people are told that the study is called.
        role: What one is there.
        address: Where it begins.
    """

    study: str
    role: Role
    address: str

    @property
    def role_words(self) -> str:
        """What the role is called on pages."""
        return role_words(self.role)


@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """Show one's studies; who has one door only goes through it."""
    doors = [
        Door(str(held.hosted), held.as_role, role_home(held))
        for held in Membership.objects.select_related("hosted")
        .filter(account=account_of(request), left_at=None)
        .order_by("hosted__made_at", "id")
    ]
    if len(doors) == 1 and not account_of(request).is_host:
        return redirect(doors[0].address)
    return render(request, "web/accounts/home.html", {"doors": doors})
