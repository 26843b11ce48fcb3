"""The pages of an application team: criteria, terms, starter kit and its submissions."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from theodolite.config.load_context import shipped_files
from theodolite.domain.errors import Conflict, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.identity import digest
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.events import event_of
from theodolite.web.models import HostedStudy, Submission
from theodolite.web.models.submission import OPEN_STATES
from theodolite.web.teams.connecting import check
from theodolite.web.teams.forms import AgreementForm, SubmissionForm

_State = Submission.State


def own(access: AccessContext, submission: str) -> Submission:
    """Return a submission of the team that asks; for everybody else's the page does not exist."""
    return get_object_or_404(Submission.objects.select_related("hosted"), token=submission, team=access.membership)


@allowed(Role.TEAM)
def new(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Create a submission."""
    return _written(request, access, Submission(hosted=access.hosted, team=access.membership))


@allowed(Role.TEAM)
def edit(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Change a submission that is still open."""
    row = own(access, submission)
    return _written(request, access, row) if row.is_open else redirect(_page(access, row))


def _written(request: HttpRequest, access: AccessContext, submission: Submission) -> HttpResponse:
    form = SubmissionForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            if submission.pk:
                submission.held(*OPEN_STATES)
            saved = form.save()
            sealed = bool(form.cleaned_data["credentials"])
            audit(
                access.account,
                "wrote submission",
                f"submission {saved.token}",
                hosted=access.hosted,
                credentials=sealed,
            )
        messages.success(request, "Saved. Next: the conformance check.")
        return redirect(_page(access, saved))
    context = {"access": access, "form": form, "submission": submission}
    return render(request, "web/teams/edit.html", context, status=422 if form.errors else 200)


@allowed(Role.TEAM)
def page(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show where a submission stands and what can be done with it."""
    return _shown(request, access, own(access, submission), AgreementForm())


def _shown(
    request: HttpRequest, access: AccessContext, submission: Submission, form: AgreementForm, status: int = 200
) -> HttpResponse:
    context = {"access": access, "submission": submission, "form": form, "terms": TERMS}
    return render(request, "web/teams/submission.html", context, status=status)


@allowed(Role.TEAM)
async def examine(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Start the conformance check."""
    row = await sync_to_async(own)(access, submission)
    if request.method == "POST" and row.is_open:
        await sync_to_async(audit)(
            access.account, "began conformance check", f"submission {row.token}", hosted=access.hosted
        )
        await check(row)
    return redirect(_page(access, row))


@allowed(Role.TEAM)
def submit(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Sign the terms and hand the application in; one that does not conform stays open."""
    row = own(access, submission)
    form = AgreementForm(request.POST or None)
    if request.method != "POST" or not row.is_open:
        return redirect(_page(access, row))
    if not row.conforms:
        form.add_error(None, "You can submit the application after a conformance check without errors.")
    if not form.is_valid():
        return _shown(request, access, row, form, status=422)
    with transaction.atomic():
        row = row.held(*OPEN_STATES)
        if not row.conforms:
            message = "the application has changed; run the check again, then submit it"
            raise Conflict(message)
        row.state, row.reason = _State.SUBMITTED, ""
        row.agreed_by, row.agreed_at = form.cleaned_data["name"], timezone.now()
        row.agreed_version = terms_version()
        row.save()
        audit(access.account, "submitted", f"submission {row.token}", hosted=access.hosted, terms=row.agreed_version)
    messages.success(request, "Submitted. The organisers will review it.")
    return redirect(_page(access, row))


@allowed(Role.TEAM)
def withdraw(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Withdraw an undecided submission; its credentials are deleted."""
    row = own(access, submission)
    if request.method == "POST" and (row.is_open or row.state == _State.SUBMITTED):
        with transaction.atomic():
            row = row.held(*OPEN_STATES, _State.SUBMITTED)
            row.state, row.sealed = _State.WITHDRAWN, b""
            row.save()
            audit(access.account, "withdrew", f"submission {row.token}", hosted=access.hosted)
        messages.success(request, "Withdrawn. Its credentials are deleted.")
    return redirect("teams:home", study=access.hosted.token)


def _page(access: AccessContext, submission: Submission) -> str:
    return reverse("teams:submission", kwargs={"study": access.hosted.token, "submission": submission.token})


@allowed(Role.TEAM)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show a team its applications and the way to another one."""
    own = Submission.objects.filter(team=access.membership)
    return render(request, "web/teams/home.html", {"access": access, "submissions": own})


@allowed(Role.TEAM, Role.ORGANISER)
def criteria(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show what an application must meet, what is agreed to, and what it will be tested on as far as that is public."""
    packets = public_packets(access.hosted)
    context = {"access": access, "criteria": CRITERIA, "terms": TERMS, "packets": packets}
    return render(request, "web/teams/criteria.html", context)


@allowed(Role.TEAM, Role.ORGANISER)
def kit(_request: HttpRequest, access: AccessContext) -> HttpResponse:  # noqa: ARG001 - the guard passes it
    """Hand out the interface kit."""
    answer = HttpResponse(kit_archive(), content_type="application/zip")
    answer.headers["Content-Disposition"] = f'attachment; filename="{KIT_NAME}.zip"'
    return answer


KIT_NAME = "theodolite-interface-kit"
"""Name of the archive and of the folder in it."""


_EPOCH = (1980, 1, 1, 0, 0, 0)


def kit_archive() -> bytes:
    """Return the kit as a ZIP archive; the same bytes each time."""
    bytes_i_o = BytesIO()
    with ZipFile(bytes_i_o, "w", ZIP_DEFLATED) as archive:
        for name, text in shipped_files("kit"):
            archive.writestr(ZipInfo(f"{KIT_NAME}/{name}", _EPOCH), text)
    return bytes_i_o.getvalue()


CRITERIA = (
    "It replies to text with text within 60 seconds, at a public address or as a class installed by the operator.",
    "It separates the dialogues of different sessions, and starts each session without knowledge of any other.",
    "It does not reveal its maker or its model unless any other reply would be false: testers must not know them.",
    "It does not change while the event is open. A change is a new version and must be submitted again.",
    "It can fail: an error is recorded as an error, never as a refusal.",
    "Its capabilities and limitations are listed below; both are tested.",
)
"""The criteria that an application must meet."""


TERMS = (
    "Testers, scripts and simulated users may call the application while the event is open.",
    "Its replies are stored, annotated and measured, and may be published without names of people.",
    "Results describe the application as it was submitted. They are not a certificate, an endorsement or a ranking.",
    "You get the results of your own application and may dispute them publicly.",
    "Credentials are used only for these calls, are stored encrypted, and are deleted with the submission.",
    "You may withdraw the application until the event opens; earlier dialogues stay on record.",
)
"""The terms of participation."""


def terms_version() -> str:
    """Return the content hash of criteria and terms, as a signature names it."""
    return digest("terms of submission", *CRITERIA, *TERMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPacket:
    """The public part of a scenario before the event, without scripts, signs and aims.

    Attributes:
        scenario: Its name.
        goal: What people will want of the application.
        permitted: What must be possible.
        prohibited: What must not occur.
    """

    scenario: str
    goal: str
    permitted: tuple[str, ...]
    prohibited: tuple[str, ...]


def public_packets(hosted: HostedStudy) -> tuple[PublicPacket, ...]:
    """Return the public part of the test packets of what was published; none where it cannot be read at present."""
    try:
        study = event_of(hosted).study
    except (Http404, TheodoliteError):
        return ()
    return tuple(
        PublicPacket(
            scenario=scenario.name,
            goal="" if "{{" in scenario.goal else scenario.goal,
            permitted=scenario.packet.permitted,
            prohibited=scenario.packet.prohibited,
        )
        for scenario in study.scenarios
    )
