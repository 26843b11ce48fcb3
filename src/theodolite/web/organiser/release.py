"""The public release of an event: its preparation, and the decisions about identifiers of people in its texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from theodolite.bootstrap.events import RELEASE
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.releases import REVIEW, read_review, review_text
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.release import IdentifierFinding, ReviewDecision
from theodolite.web.access import AccessContext, allowed
from theodolite.web.models import HostedStudy
from theodolite.web.organiser.results import measure


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """An identifier with its decision on the page.

    Attributes:
        finding: The identifier.
        problem: Why the sent decision was not accepted; empty if it was.
    """

    finding: IdentifierFinding
    problem: str = ""


@allowed(Role.ORGANISER)
@require_POST
def release(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Start the preparation of the public release of a closed event."""
    _prepare(request, access)
    return redirect("organiser:results", study=access.hosted.token)


def _prepare(request: HttpRequest, access: AccessContext) -> None:
    """Start the preparation, and show why it did not start."""
    if access.hosted.state != HostedStudy.State.CLOSED:
        messages.warning(request, "Nothing was prepared: close the event first.")
        return
    try:
        is_started = async_to_sync(measure)(access.hosted, access.account, RELEASE)
    except TheodoliteError as error:
        messages.warning(request, f"Nothing was prepared: {error}")
        return
    if is_started:
        access.audit("prepared public release", f"study {access.hosted.token}")
    else:
        messages.info(request, "A measurement is running. Prepare the release when it has finished.")


@allowed(Role.ORGANISER)
@require_http_methods(["GET", "POST"])
def identifiers(request: HttpRequest, access: AccessContext, measurement: str) -> HttpResponse:
    """List the identifiers in the texts of a release, or store decisions and prepare the release again."""
    row = access.hosted.measurements.filter(token=measurement).first()
    if row is None or not (row.folder / REVIEW).is_file():
        raise Http404
    known = _decisions(access.hosted)
    findings = [_decided(identifier_finding, known) for identifier_finding in read_review(row.folder / REVIEW).values()]
    if request.method != "POST":
        return _page(request, access, [FindingRow(finding=finding) for finding in findings])
    reviewer = str(access.account)
    rows = [_sent(finding, request.POST, reviewer) for finding in findings]
    if any(line.problem for line in rows):
        return _page(request, access, rows, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    _store(access.hosted, {**known, **{line.finding.key: line.finding for line in rows}})
    n_decided = sum(line.finding.is_decided for line in rows)
    access.audit("decided about identifiers", f"measurement {row.token}", decided=n_decided, found=len(rows))
    messages.success(request, f"{n_decided} of {len(rows)} identifiers are decided.")
    _prepare(request, access)
    return redirect("organiser:results", study=access.hosted.token)


def _decisions(hosted: HostedStudy) -> Mapping[str, IdentifierFinding]:
    """Return the stored decisions; `theodolite release` reads and writes the same file."""
    file = Path(hosted.folder) / REVIEW
    return read_review(file) if file.is_file() else {}


def _store(hosted: HostedStudy, decided: Mapping[str, IdentifierFinding]) -> None:
    """Store decisions without the texts, so that a withdrawal leaves none in the study's folder."""
    file = Path(hosted.folder) / REVIEW
    write_whole(file, review_text(replace(finding, words="", context="") for finding in decided.values()))
    file.chmod(0o600)


def _decided(finding: IdentifierFinding, known: Mapping[str, IdentifierFinding]) -> IdentifierFinding:
    """Return a finding with its stored decision."""
    stored = known.get(finding.key, finding)
    return replace(finding, decision=stored.decision, reason=stored.reason, reviewer=stored.reviewer)


def _sent(finding: IdentifierFinding, sent: Mapping[str, str], reviewer: str) -> FindingRow:
    """Return a finding with the decision that a form states."""
    word, reason = sent.get(f"decision:{finding.key}", ""), sent.get(f"reason:{finding.key}", "").strip()
    if not word and sent.get("act") == "redact_rest":
        word = ReviewDecision.REDACT.value
    if word not in {decision.value for decision in ReviewDecision}:
        return FindingRow(finding=finding, problem="Choose redact or keep.")
    decided = replace(finding, decision=ReviewDecision(word), reason=reason, reviewer=reviewer if word else "")
    if decided.decision is ReviewDecision.KEEP and not reason:
        return FindingRow(finding=decided, problem="State why this text may be published.")
    return FindingRow(finding=decided)


def _page(
    request: HttpRequest, access: AccessContext, rows: Sequence[FindingRow], status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    context = {"access": access, "rows": rows}
    return render(request, "web/organiser/identifiers.html", context, status=status)
