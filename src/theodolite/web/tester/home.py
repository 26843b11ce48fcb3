"""The page on which testers begin."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.role import Role
from theodolite.web.access import Here, allowed


@allowed(Role.RED_TEAMER, Role.FIELD_TESTER)
def home(request: HttpRequest, here: Here) -> HttpResponse:
    """Show where testers begin."""
    return render(request, "web/tester/home.html", {"here": here})
