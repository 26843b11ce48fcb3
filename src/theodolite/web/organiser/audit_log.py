"""The audit log of a study: names in place of tokens, filters, and export."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import date_format

from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, allowed
from theodolite.web.models import Account, AuditEntry, HostedStudy, PersonalCode
from theodolite.web.organiser.operations import csv_file

_ON_A_PAGE = 100


_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry of the audit log as the page shows it.

    Attributes:
        at: When.
        who: Name of the person; `the server` if there is none.
        verb: The action.
        subject: The object of the action.
        facts: Further facts, as text.
    """

    at: datetime
    who: str
    verb: str
    subject: str
    facts: str

    @property
    def short_subject(self) -> str:
        """The subject with content hashes cut to 12 digits, for the table; the CSV file has them whole."""
        return _HASH.sub(lambda found: found[0][:12], self.subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """A filter of the audit log; empty fields match everything.

    Attributes:
        by: Token of the account that acted, or `server`.
        verb: The action.
        since: First day, UTC.
        until: Last day, UTC.
    """

    by: str = ""
    verb: str = ""
    since: date | None = None
    until: date | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> AuditFilter:
        """Return the filter of an address; invalid dates count as empty."""
        sent = request.GET
        return cls(
            by=sent.get("by", "")[:32],
            verb=sent.get("verb", "")[:200],
            since=_day(sent.get("since", "")),
            until=_day(sent.get("until", "")),
        )

    @property
    def query(self) -> str:
        """The filter as part of an address; empty for none."""
        parts = {
            "by": self.by,
            "verb": self.verb,
            "since": self.since.isoformat() if self.since else "",
            "until": self.until.isoformat() if self.until else "",
        }
        return urlencode({name: part for name, part in parts.items() if part})

    def entries(self, hosted: HostedStudy) -> QuerySet[AuditEntry]:
        """Return the matching entries of a study, latest first."""
        rows = AuditEntry.objects.filter(hosted=hosted)
        if self.by:
            rows = rows.filter(actor="" if self.by == SERVER else self.by)
        if self.verb:
            rows = rows.filter(verb=self.verb)
        if self.since:
            rows = rows.filter(at__gte=datetime.combine(self.since, time(), tzinfo=UTC))
        if self.until:
            rows = rows.filter(at__lt=datetime.combine(self.until, time(), tzinfo=UTC) + timedelta(days=1))
        return rows


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


SERVER = "server"
"""Name of the server in a filter by actor."""


@allowed(Role.ORGANISER)
def audit_log(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the audit log of the study with filters, latest entry first, or return all matching entries as CSV."""
    wanted = AuditFilter.of(request)
    entries = wanted.entries(access.hosted)
    if request.GET.get("as") == "csv":
        lines = _lines(access.hosted, list(entries))
        rows = [
            (line.at.isoformat(timespec="seconds"), line.who, line.verb, line.subject, line.facts) for line in lines
        ]
        return csv_file("audit-log.csv", ("time (UTC)", "who", "action", "subject", "details"), rows)
    page = Paginator(entries, _ON_A_PAGE).get_page(request.GET.get("page"))
    everything = AuditEntry.objects.filter(hosted=access.hosted).order_by()
    actors = set(everything.values_list("actor", flat=True).distinct())
    people = Account.objects.filter(token__in=actors).order_by("name")
    shown = {
        "access": access,
        "page": page,
        "lines": _lines(access.hosted, list(page)),
        "filter": wanted,
        "verbs": sorted(set(everything.values_list("verb", flat=True).distinct())),
        "people": [
            *((person.token, str(person)) for person in people),
            *([(SERVER, "the server")] if "" in actors else []),
        ],
    }
    return render(request, "web/organiser/audit_log.html", shown)


def _lines(hosted: HostedStudy, entries: list[AuditEntry]) -> list[Line]:
    people = {
        account.token: str(account) for account in Account.objects.filter(token__in={entry.actor for entry in entries})
    }
    names = _names_of_tokens(hosted, entries)
    return [
        Line(
            at=entry.at,
            who=people.get(entry.actor, "former member") if entry.actor else "the server",
            verb=entry.verb,
            subject=_with_name(entry.subject, names),
            facts=", ".join(f"{name}: {names.get((name, str(value)), value)}" for name, value in entry.facts.items()),
        )
        for entry in entries
    ]


def _with_name(subject: str, names: Mapping[tuple[str, str], str]) -> str:
    """Return a subject with the name in place of its token; a deleted one keeps the token."""
    kind, _, token = subject.partition(" ")
    return f"{kind} {names[kind, token]}" if (kind, token) in names else subject


def _names_of_tokens(hosted: HostedStudy, entries: Iterable[AuditEntry]) -> dict[tuple[str, str], str]:
    """Return the names of the records of this study that entries point to, by kind and token."""
    tokens: dict[str, set[str]] = {}
    for entry in entries:
        kind_of_subject, _, token_of_subject = entry.subject.partition(" ")
        for kind, token in ((kind_of_subject, token_of_subject), *entry.facts.items()):
            if isinstance(token, str):
                tokens.setdefault(kind, set()).add(token)
    result = {("study", hosted.token): str(hosted)}
    for kind, (rows, name) in _audited(hosted).items():
        if kind in tokens:
            result |= {(kind, row.token): name(row) for row in rows.filter(token__in=tokens[kind])}
    return result


def _audited(hosted: HostedStudy) -> dict[str, tuple[QuerySet[Any], Callable[[Any], str]]]:
    """Return the records, and a function for their name, for each kind of subject with an account or a setting."""
    codes = PersonalCode.objects.filter(membership__hosted=hosted)
    return {
        "membership": (hosted.memberships.select_related("account"), lambda row: str(row.account)),
        "code": (codes.select_related("membership__account"), lambda row: f"of {row.membership.account}"),
        "invitation": (hosted.invitations.all(), lambda row: row.name or row.email or "without a name"),
        "submission": (hosted.submissions.all(), lambda row: row.name),
        "link": (hosted.recruit_links.all(), lambda row: row.name or "without a name"),
        "slot": (hosted.time_slots.all(), str),
        "view": (hosted.saved_views.all(), lambda row: row.name),
        "measurement": (hosted.measurements.all(), lambda row: f"of {date_format(row.asked_at, 'j M Y, H:i')} UTC"),
        "batch": (hosted.batches.select_related("account"), lambda row: f"of {row.account}"),
    }
