"""A team's application: written down, checked, signed, submitted, withdrawn."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from theodolite.domain.errors import Conflict
from theodolite.domain.people.role import Role
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.models import Submission
from theodolite.web.models.submission import OPEN_STATES
from theodolite.web.teams.conformance import check
from theodolite.web.teams.forms import AgreementForm, SubmissionForm
from theodolite.web.teams.terms import TERMS, terms_version

_State = Submission.State


def own(access: AccessContext, submission: str) -> Submission:
    """Return a submission of the team that asks; for everybody else's the page does not exist."""
    return get_object_or_404(Submission.objects.select_related("hosted"), token=submission, team=access.membership)


@allowed(Role.TEAM)
def new(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Begin a submission."""
    return _written(request, access, Submission(hosted=access.hosted, team=access.membership))


@allowed(Role.TEAM)
def edit(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Change a submission that is still open."""
    found = own(access, submission)
    return _written(request, access, found) if found.is_open else redirect(_page(access, found))


def _written(request: HttpRequest, access: AccessContext, submission: Submission) -> HttpResponse:
    form = SubmissionForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            if submission.pk:
                submission.held(*OPEN_STATES)
            kept = form.save()
            sealed = bool(form.cleaned_data["credentials"])
            audit(
                access.account, "wrote submission", f"submission {kept.token}", hosted=access.hosted, credentials=sealed
            )
        messages.success(request, "Saved. Next: the conformance check.")
        return redirect(_page(access, kept))
    told = {"access": access, "form": form, "submission": submission}
    return render(request, "web/teams/edit.html", told, status=422 if form.errors else 200)


@allowed(Role.TEAM)
def page(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show where a submission stands and what can be done with it."""
    return _shown(request, access, own(access, submission), AgreementForm())


def _shown(
    request: HttpRequest, access: AccessContext, submission: Submission, form: AgreementForm, status: int = 200
) -> HttpResponse:
    told = {"access": access, "submission": submission, "form": form, "terms": TERMS}
    return render(request, "web/teams/submission.html", told, status=status)


@allowed(Role.TEAM)
async def examine(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Begin the conformance check."""
    found = await sync_to_async(own)(access, submission)
    if request.method == "POST" and found.is_open:
        await sync_to_async(audit)(
            access.account, "began conformance check", f"submission {found.token}", hosted=access.hosted
        )
        await check(found)
    return redirect(_page(access, found))


@allowed(Role.TEAM)
def submit(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Sign the terms and hand the application in; one that does not conform stays open."""
    found = own(access, submission)
    form = AgreementForm(request.POST or None)
    if request.method != "POST" or not found.is_open:
        return redirect(_page(access, found))
    if not found.conforms:
        form.add_error(None, "The application can be submitted once a conformance check has found no fault.")
    if not form.is_valid():
        return _shown(request, access, found, form, status=422)
    with transaction.atomic():
        found = found.held(*OPEN_STATES)
        if not found.conforms:
            message = "the application was changed a moment ago; check it once more, then submit it"
            raise Conflict(message)
        found.state, found.reason = _State.SUBMITTED, ""
        found.agreed_by, found.agreed_at = form.cleaned_data["name"], timezone.now()
        found.agreed_version = terms_version()
        found.save()
        audit(
            access.account, "submitted", f"submission {found.token}", hosted=access.hosted, terms=found.agreed_version
        )
    messages.success(request, "Submitted. The organisers look at it now.")
    return redirect(_page(access, found))


@allowed(Role.TEAM)
def withdraw(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Take a submission back until it has been decided; its credentials are deleted."""
    found = own(access, submission)
    if request.method == "POST" and (found.is_open or found.state == _State.SUBMITTED):
        with transaction.atomic():
            found = found.held(*OPEN_STATES, _State.SUBMITTED)
            found.state, found.sealed = _State.WITHDRAWN, b""
            found.save()
            audit(access.account, "withdrew", f"submission {found.token}", hosted=access.hosted)
        messages.success(request, "Withdrawn. Its credentials are deleted.")
    return redirect("teams:home", study=access.hosted.token)


def _page(access: AccessContext, submission: Submission) -> str:
    return reverse("teams:submission", kwargs={"study": access.hosted.token, "submission": submission.token})
