"""The first page of organisers, settings of an event, and the studies of this server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from theodolite.config.starters import StarterKind, create_study
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.domain.study_parts import CriteriaSubject, StatedCriteria
from theodolite.events.next_steps import RoleStep, step_of_organiser
from theodolite.usecases.measuring import criteria_of, state_criteria
from theodolite.web.access import (
    FACTOR_ROLES,
    AccessContext,
    account_of,
    allowed,
    hosts_only,
    required_by_server,
)
from theodolite.web.events import (
    approval_of,
    changes_since,
    host_new_study,
    host_study,
    last_edition,
    publish,
    server_store,
    study_in_files,
)
from theodolite.web.models import (
    Account,
    EthicsApproval,
    HostedStudy,
)
from theodolite.web.new_study import StudyCreation
from theodolite.web.new_study import new_study as new_study_page
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.organiser.event_steps import EventProgress, progress_of
from theodolite.web.organiser.people import lacking_factor, needing_factor
from theodolite.web.support import n_open_questions

_State = HostedStudy.State


@allowed(Role.ORGANISER)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the next step, the key figures, and all steps of the event."""
    try:
        progress = progress_of(access.hosted)
    except InvalidStudyError:
        messages.warning(request, "The files of this study contain errors. Correct them here first.")
        return redirect("organiser:edit_study", access.hosted.token)
    context = {"access": access, "next_step": _next_step(access.hosted, progress), "progress": progress}
    return render(request, "web/organiser/home.html", context)


def _next_step(hosted: HostedStudy, progress: EventProgress) -> NextStepCard:
    n_questions = n_open_questions(hosted)
    step = step_of_organiser(
        str(hosted.state),
        n_submissions=progress.n_to_decide,
        has_texts=progress.to_write is None,
        is_approved=progress.is_approved,
        has_testers=progress.n_testers > 0,
        n_questions=n_questions,
    )
    n = n_questions if step is RoleStep.ANSWER_TESTERS else progress.n_to_decide
    drafts = f"{reverse('organiser:edit_study', args=[hosted.token])}?at=.&step=publish"
    address = {
        RoleStep.WRITE_TEXTS: progress.to_write.address if progress.to_write else "",
        RoleStep.PUBLISH: drafts if progress.has_drafts else "",
        RoleStep.INVITE_TESTERS: f"{reverse('organiser:people', args=[hosted.token])}#paste_addresses",
    }
    name = progress.to_write.name if progress.to_write else ""
    return next_step_card(step, hosted.token, n=n, name=name, address=address.get(step, ""))


class StudyForm(forms.Form):
    """The form that adds the study of an existing folder."""

    folder = forms.CharField(
        label="Folder on this server", help_text="Path relative to the server's start folder, e.g. spoilers."
    )


@hosts_only
def studies(request: HttpRequest) -> HttpResponse:
    """Show the studies on this server, or add the study of a folder."""
    form, errors = StudyForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST" and form.is_valid():
        try:
            hosted = host_study(form.cleaned_data["folder"], account_of(request))
            return redirect("organiser:editions", hosted.token)
        except InvalidStudyError as error:
            errors = render_diagnostics(error.located_diagnostics, limit=None, ending="No study was added.")
        except InputError as error:
            form.add_error(None, str(error))
    mine = HostedStudy.objects.filter(memberships__account=account_of(request), memberships__role=Role.ORGANISER.value)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if request.method == "POST" else HTTPStatus.OK
    first = NextStepCard(
        text="Create your first study from a template.", button="New study", address=reverse("new_study")
    )
    shown = {"form": form, "errors": errors, "studies": mine.order_by("made_at"), "next_step": first}
    return render(request, "web/organiser/studies.html", shown, status=status)


@hosts_only
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Create a study from a template in a new folder of this server, and open its home page or its editor."""
    root = Path(str(settings.WORKSPACE)).parent

    def create(name: str, kind: StarterKind, answers: Mapping[str, str]) -> str:
        hosted = host_new_study(create_study(root, name, kind, answers), kind, account_of(request))
        page = "organiser:edit_study" if kind is StarterKind.EMPTY else "organiser:home"
        return reverse(page, args=[hosted.token])

    creation = StudyCreation(
        template="web/base.html",
        root=str(root),
        create=create,
        is_server=True,
        allows_private=bool(settings.ALLOW_PRIVATE),
        resolver=settings.HOST_RESOLVER,
    )
    return new_study_page(request, creation)


@allowed(Role.ORGANISER)
def editions(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the releases and the changes of a new one, or publish it."""
    try:
        if request.method == "POST":
            release = publish(access.hosted, access.account, request.POST.get("version", ""))
            messages.success(request, f"Version {release.number} is published.")
            return redirect("organiser:editions", access.hosted.token)
        shown = _compared(access)
    except InvalidStudyError as error:
        shown = {"errors": render_diagnostics(error.located_diagnostics, limit=None, ending="Nothing was published.")}
    known = access.hosted.editions.select_related("made_by").order_by("-number")
    return render(request, "web/organiser/editions.html", {"access": access, "editions": known, **shown})


def _compared(access: AccessContext) -> dict[str, object]:
    loaded = study_in_files(access.hosted)
    version, last = version_of(loaded.study), last_edition(access.hosted)
    is_new = last is None or last.version != version
    changes = changes_since(last, loaded.study) if last is not None and is_new else ()
    notes = render_diagnostics(loaded.notes, limit=None) if loaded.notes else ""
    return {"version": version, "is_new": is_new, "changes": changes, "notes": notes}


class ApprovalForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """An ethics approval with its dates."""

    class Meta:
        """Fields, in the order of the page."""

        model = EthicsApproval
        fields = ("body", "number", "granted", "expires")
        labels = {  # noqa: RUF012 - read once by Django
            "body": "Body that approved the event",
            "number": "Number or text of the decision",
            "granted": "Valid from",
            "expires": "Valid until (optional)",
        }
        widgets = {name: forms.DateInput(attrs={"type": "date"}) for name in ("granted", "expires")}  # noqa: RUF012

    def clean(self) -> dict[str, Any]:
        """Return the cleaned fields; the dates must be in order."""
        filled = super().clean() or {}
        granted, expires = filled.get("granted"), filled.get("expires")
        if granted and expires and expires < granted:
            self.add_error("expires", "The end is before the start.")
        return filled


@allowed(Role.ORGANISER)
def ethics(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the approvals of an event, or record one."""
    form = ApprovalForm(request.POST or None, instance=EthicsApproval(hosted=access.hosted, made_by=access.account))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            approval = form.save()
            access.audit(
                "recorded ethics approval", f"study {access.hosted.token}", body=approval.body, number=approval.number
            )
        messages.success(request, "Recorded. Testers can be invited.")
        return redirect("organiser:people", study=access.hosted.token)
    context = {
        "access": access,
        "form": form,
        "approvals": access.hosted.approvals.all(),
        "holds": approval_of(access.hosted),
    }
    return render(request, "web/organiser/ethics.html", context, status=422 if form.errors else 200)


LONGEST = 10_000
"""Characters of a statement at most; count."""


_ASKED = {
    CriteriaSubject.RECRUITMENT: "How are annotators recruited, informed and paid?",
    CriteriaSubject.SELECTION: "Who can annotate: knowledge, languages, tests, exclusion criteria?",
    CriteriaSubject.ASSIGNMENT: "How are categories and dialogues assigned, how many passes, and which are separated?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBefore:
    """The statements on a subject.

    Attributes:
        about: The subject.
        asked: Required topics of the statement.
        statements: Statements with their authors as text, latest first.
    """

    about: CriteriaSubject
    asked: str
    statements: tuple[tuple[StatedCriteria, str], ...]

    @property
    def last(self) -> StatedCriteria | None:
        """The current statement."""
        return self.statements[0][0] if self.statements else None


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
def criteria(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the stated criteria, or store a statement."""
    if request.method != "POST":
        return _page(request, access)
    sent = request.POST
    about = next(
        (subject for subject in CriteriaSubject if subject.value == sent.get("about")),
        CriteriaSubject.RECRUITMENT,
    )
    try:
        made = state_criteria(
            server_store(),
            access.hosted.name,
            about,
            sent.get("text", "").replace("\r\n", "\n")[:LONGEST],
            by=access.account.token,
            now=timezone.now(),
            why=sent.get("why", "")[:500],
            follows=int(sent["follows"]) if sent.get("follows", "").isdecimal() else 0,
        )
    except (Conflict, InputError) as error:
        return _page(request, access, problem=f"Not saved: {error}.", text=sent.get("text", ""), about=about)
    facts = {"about": about.value, "revision": made.revision}
    access.audit("stated criteria", f"study {access.hosted.token}", **facts)
    messages.success(request, f"Saved as statement {made.revision} about {about.value}.")
    return redirect("organiser:criteria", study=access.hosted.token)


def _page(
    request: HttpRequest,
    access: AccessContext,
    *,
    problem: str = "",
    text: str = "",
    about: CriteriaSubject | None = None,
) -> HttpResponse:
    criteria = criteria_of(server_store(), access.hosted.name)
    names = dict(
        Account.objects.filter(token__in={statement.by for statement in criteria}).values_list("token", "name")
    )
    stated = [
        StatedBefore(
            about=subject,
            asked=asked,
            statements=tuple(
                (statement, names.get(statement.by, "former member"))
                for statement in reversed(criteria)
                if statement.about is subject
            ),
        )
        for subject, asked in _ASKED.items()
    ]
    context = {"access": access, "stated": stated, "problem": problem, "text": text, "faulty": about}
    return render(request, "web/organiser/criteria.html", context, status=422 if problem else 200)


class FactorForm(forms.Form):
    """The roles that need a second factor."""

    roles = forms.MultipleChoiceField(
        label="Roles that need a second factor in this study",
        choices=[(role.value, role.value) for role in FACTOR_ROLES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="People without one must set it up at the next click.",
    )


@allowed(Role.ORGANISER)
def factors(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show or store the roles that need a second factor."""
    form = FactorForm(request.POST or None, initial={"roles": access.hosted.second_factor})
    if request.method == "POST":
        form = FactorForm(request.POST)
        if form.is_valid():
            with transaction.atomic():
                access.hosted.second_factor = form.cleaned_data["roles"]
                access.hosted.save(update_fields=["second_factor"])
                access.audit("set second factors", f"study {access.hosted.token}", roles=access.hosted.second_factor)
            messages.success(request, "Kept.")
            return redirect("organiser:factors", study=access.hosted.token)
    shown = {
        "access": access,
        "form": form,
        "by_server": sorted(role.value for role in required_by_server()),
        "lacking": lacking_factor(access.hosted),
        "n_needed": needing_factor(access.hosted).count(),
    }
    return render(request, "web/organiser/factors.html", shown, status=422 if form.errors else 200)
