"""The page of a series: its plan, the terms of the programme, evidence of validity, feedback and decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.bootstrap.reports import RESULTS
from theodolite.config.load_context import shipped_terms
from theodolite.domain.errors import Conflict, InputError, NotFound, TheodoliteError
from theodolite.domain.event import Role, Series
from theodolite.domain.series_review import DecisionState, EntryKind, FeedbackSource, NumberedEntry, SeriesPart
from theodolite.reporting.citations import CitedResults, plain_text
from theodolite.reporting.documents import review_evidence
from theodolite.reporting.words.descriptions import published_facts
from theodolite.usecases.series_review import (
    add_entry,
    carry_over,
    open_decisions,
    review_of,
    state_terms,
    terms_of,
    update_decision,
)
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import event_of, server_store
from theodolite.web.models import Account, HostedStudy

E = TypeVar("E", bound=StrEnum)

LONGEST = 5000
"""Maximum length of a text; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedPart:
    """A part of the series with its evidence and entries.

    Attributes:
        part: The part.
        evidence: Results of the latest measurement, as text.
        lines: Entries with the names of their authors, oldest first.
    """

    part: SeriesPart
    evidence: tuple[str, ...]
    lines: tuple[tuple[NumberedEntry, str], ...]


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def review(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the series of a study."""
    return _shown(request, access)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_POST
def add(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Store an assessment, feedback or a decision."""
    sent = request.POST
    part = _member(SeriesPart, sent.get("part"))
    kind = _member(EntryKind, sent.get("kind"))
    if part is None or kind is None:
        return _shown(request, access, problem="Choose a part and a kind of entry.")
    source = _member(FeedbackSource, sent.get("source"))
    numbers = [word for word in sent.get("because", "").replace(",", " ").split() if word]
    if not all(word.isdecimal() for word in numbers):
        return _shown(request, access, problem="Not saved: enter numbers of entries, e.g. 1, 3.")
    try:
        add_entry(
            server_store(),
            access.hosted.name,
            part=part,
            kind=kind,
            text=sent.get("text", "").replace("\r\n", "\n")[:LONGEST],
            by=access.account.token,
            now=timezone.now(),
            source=source if kind is EntryKind.FEEDBACK else None,
            evidence=_evidence(access.hosted)[part],
            because=[int(word) for word in numbers],
        )
    except (InputError, NotFound) as error:
        return _shown(request, access, problem=f"Not saved: {error}.")
    access.audit("added review entry", f"study {access.hosted.token}", kind=kind.value, part=part.value)
    messages.success(request, f"Saved: {kind.value} about {part.value}.")
    return redirect("organiser:series", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def decide(request: HttpRequest, access: AccessContext, entry: str) -> HttpResponse:
    """Store the new state of a decision."""
    state = _member(DecisionState, request.POST.get("state"))
    if state not in {DecisionState.DONE, DecisionState.REJECTED, DecisionState.OPEN}:
        return _shown(request, access, problem="Choose the state of the decision.")
    note = request.POST.get("note", "")[:LONGEST]
    try:
        update_decision(
            server_store(), access.hosted.name, entry, state, note=note, by=access.account.token, now=timezone.now()
        )
    except NotFound as error:
        raise Http404 from error
    except InputError as error:
        return _shown(request, access, problem=f"Not saved: {error}.")
    access.audit("updated decision", f"study {access.hosted.token}", state=state.value)
    return redirect("organiser:series", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def carry(request: HttpRequest, access: AccessContext, entry: str) -> HttpResponse:
    """Adopt an open decision of the preceding series."""
    line = next((line for line in _earlier(access) if line.entry.key == entry), None)
    if line is None:
        raise Http404
    try:
        carry_over(server_store(), line, access.hosted.name, by=access.account.token, now=timezone.now())
    except Conflict as error:
        return _shown(request, access, problem=f"Not saved: {error}.")
    access.audit("carried decision over", f"study {access.hosted.token}", from_study=line.entry.study)
    return redirect("organiser:series", study=access.hosted.token)


@allowed(Role.ORGANISER)
@require_POST
def terms(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Store criteria and terms of the programme, one sentence per line."""
    sent, store = request.POST, server_store()
    before = terms_of(store, access.hosted.name, _series(access.hosted), shipped_terms())
    follows = sent.get("follows", "")
    try:
        stated = state_terms(
            store,
            access.hosted.name,
            before,
            criteria=sent.get("criteria", "")[:LONGEST].splitlines(),
            terms=sent.get("terms", "")[:LONGEST].splitlines(),
            by=access.account.token,
            now=timezone.now(),
            why=sent.get("why", "")[:500],
            follows=int(follows) if follows.isdecimal() else -1,
        )
    except (Conflict, InputError) as error:
        return _shown(request, access, problem=f"Not saved: {error}.")
    access.audit("stated terms", f"study {access.hosted.token}", revision=stated.revision, version=stated.version)
    messages.success(request, f"Saved as version {stated.version[:8]}. Submissions from now on are signed under it.")
    return redirect("organiser:series", study=access.hosted.token)


def _shown(request: HttpRequest, access: AccessContext, *, problem: str = "") -> HttpResponse:
    store, series = server_store(), _series(access.hosted)
    lines, evidence = review_of(store, access.hosted.name), _evidence(access.hosted)
    names = dict(Account.objects.filter(token__in={line.entry.by for line in lines}).values_list("token", "name"))
    context = {
        "access": access,
        "is_organiser": access.role is Role.ORGANISER,
        "series_name": _series_name(access.hosted),
        "plan": published_facts(series) if series else (),
        "programme": terms_of(store, access.hosted.name, series, shipped_terms()),
        "parts": [
            ReviewedPart(
                part=part,
                evidence=evidence[part],
                lines=tuple((entry, _author(entry, names)) for entry in lines if entry.entry.part is part),
            )
            for part in SeriesPart
        ],
        "earlier": _earlier(access) if access.role is Role.ORGANISER else (),
        "kinds": [kind.value for kind in EntryKind],
        "sources": [source.value for source in FeedbackSource],
        "states": [DecisionState.DONE.value, DecisionState.REJECTED.value, DecisionState.OPEN.value],
        "problem": problem,
        "sent": request.POST if problem else {},
    }
    return render(request, "web/organiser/series.html", context, status=422 if problem else 200)


def _author(line: NumberedEntry, names: Mapping[str, str]) -> str:
    """Return the author of an entry; testers stay anonymous."""
    if line.entry.source is FeedbackSource.TESTER and line.entry.by not in names:
        return "a tester"
    return names.get(line.entry.by, "former member")


def _series(hosted: HostedStudy) -> Series | None:
    """Return the published series of a study; None without one, or if its files cannot be read now."""
    try:
        return event_of(hosted).study.preregistered
    except (Http404, TheodoliteError):
        return None


def _series_name(hosted: HostedStudy) -> str:
    try:
        return event_of(hosted).study.series
    except (Http404, TheodoliteError):
        return ""


def _earlier(access: AccessContext) -> tuple[NumberedEntry, ...]:
    """Return the open decisions of the preceding series, from studies that the account organises."""
    series = _series(access.hosted)
    if series is None or not series.follows:
        return ()
    own = HostedStudy.objects.filter(
        memberships__account=access.account, memberships__role=Role.ORGANISER.value, memberships__left_at=None
    )
    studies = [study.name for study in own.exclude(pk=access.hosted.pk) if _series_name(study) == series.follows]
    return open_decisions(server_store(), studies)


def _evidence(hosted: HostedStudy) -> dict[SeriesPart, tuple[str, ...]]:
    """Return the results of the latest measurement that concern each part, as text."""
    row = hosted.measurements.filter(problem="").exclude(done_at=None).order_by("-asked_at", "-id").first()
    file = row.folder / RESULTS if row else None
    if file is None or not file.is_file():
        return dict.fromkeys(SeriesPart, ())
    try:
        study = event_of(hosted, row.edition if row else "").study
    except (Http404, TheodoliteError):
        return dict.fromkeys(SeriesPart, ())
    found = review_evidence(study, CitedResults(json.loads(file.read_text(encoding="utf-8"))))
    return {part: tuple(map(plain_text, lines)) for part, lines in found.items()}


def _member(kind: type[E], value: str | None) -> E | None:
    """Return the member of an enumeration with a value; None if there is none."""
    return next((member for member in kind if member.value == value), None)
