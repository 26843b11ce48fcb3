"""Where teams begin: what is asked of them, and their own applications."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.models import Submission
from theodolite.web.teams.kit import KIT_NAME, kit_archive
from theodolite.web.teams.terms import CRITERIA, TERMS, public_packets


@allowed(Role.TEAM)
def home(request: HttpRequest, here: Here) -> HttpResponse:
    """Show a team its applications and the way to another one."""
    own = Submission.objects.filter(team=here.membership)
    return render(request, "web/teams/home.html", {"here": here, "submissions": own})


@allowed(Role.TEAM, Role.ORGANISER)
def criteria(request: HttpRequest, here: Here) -> HttpResponse:
    """Show what an application must meet, what is agreed to, and what it will be tested on as far as that is public."""
    packets = public_packets(here.hosted)
    told = {"here": here, "criteria": CRITERIA, "terms": TERMS, "packets": packets}
    return render(request, "web/teams/criteria.html", told)


@allowed(Role.TEAM, Role.ORGANISER)
def kit(_request: HttpRequest, here: Here) -> HttpResponse:  # noqa: ARG001 - the guard passes it
    """Hand out the interface kit."""
    answer = HttpResponse(kit_archive(), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{KIT_NAME}.zip"'
    return answer
