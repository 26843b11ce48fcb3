"""The audit log of a study, for its organisers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.models import Account, AuditEntry

_ON_A_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One act as it is shown.

    Attributes:
        at: When.
        who: Name of the person; `the server` where nobody did it.
        verb: What was done.
        subject: To what.
        facts: What else is to be known, in words.
    """

    at: datetime
    who: str
    verb: str
    subject: str
    facts: str


@allowed(Role.ORGANISER)
def audit_log(request: HttpRequest, here: Here) -> HttpResponse:
    """Show who did what in this study, the latest first."""
    entries = AuditEntry.objects.filter(hosted=here.hosted)
    page = Paginator(entries, _ON_A_PAGE).get_page(request.GET.get("page"))
    shown = {"here": here, "page": page, "lines": _lines(list(page))}
    return render(request, "web/organiser/audit_log.html", shown)


def _lines(entries: list[AuditEntry]) -> list[Line]:
    people = {each.token: str(each) for each in Account.objects.filter(token__in={entry.actor for entry in entries})}
    return [
        Line(
            at=entry.at,
            who=people.get(entry.actor, "somebody who is gone") if entry.actor else "the server",
            verb=entry.verb,
            subject=entry.subject,
            facts=", ".join(f"{name}: {value}" for name, value in entry.facts.items()),
        )
        for entry in entries
    ]
