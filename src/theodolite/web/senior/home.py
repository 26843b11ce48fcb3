"""The page on which this role begins."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.role import Role
from theodolite.web.access import Here, allowed


@allowed(Role.SENIOR)
def home(request: HttpRequest, here: Here) -> HttpResponse:
    """Show where this role begins."""
    return render(request, "web/senior/home.html", {"here": here})
