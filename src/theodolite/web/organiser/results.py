"""The page on which analysts begin."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.role import Role
from theodolite.web.access import Here, allowed


@allowed(Role.ORGANISER, Role.ANALYST)
def results(request: HttpRequest, here: Here) -> HttpResponse:
    """Show where analysts begin."""
    return render(request, "web/organiser/results.html", {"here": here})
