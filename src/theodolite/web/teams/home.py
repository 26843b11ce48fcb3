"""Where teams begin: what is asked of them, and their own applications."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.people.role import Role
from theodolite.web.access import AccessContext, allowed
from theodolite.web.models import Submission
from theodolite.web.teams.kit import KIT_NAME, kit_archive
from theodolite.web.teams.terms import CRITERIA, TERMS, public_packets


@allowed(Role.TEAM)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show a team its applications and the way to another one."""
    own = Submission.objects.filter(team=access.membership)
    return render(request, "web/teams/home.html", {"access": access, "submissions": own})


@allowed(Role.TEAM, Role.ORGANISER)
def criteria(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show what an application must meet, what is agreed to, and what it will be tested on as far as that is public."""
    packets = public_packets(access.hosted)
    told = {"access": access, "criteria": CRITERIA, "terms": TERMS, "packets": packets}
    return render(request, "web/teams/criteria.html", told)


@allowed(Role.TEAM, Role.ORGANISER)
def kit(_request: HttpRequest, access: AccessContext) -> HttpResponse:  # noqa: ARG001 - the guard passes it
    """Hand out the interface kit."""
    answer = HttpResponse(kit_archive(), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{KIT_NAME}.zip"'
    return answer
