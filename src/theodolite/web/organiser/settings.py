"""Settings of an event: releases, ethics approval, annotator criteria and second factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.domain.study_parts import CriteriaSubject, StatedCriteria
from theodolite.usecases.measuring import criteria_of, state_criteria
from theodolite.web.access import FACTOR_ROLES, AccessContext, allowed, audit, required_by_server, required_roles
from theodolite.web.events import changes_since, last_edition, publish, server_store, study_in_files
from theodolite.web.hosting import approval_of
from theodolite.web.models import Account, EthicsApproval, HostedStudy, Membership


@allowed(Role.ORGANISER)
def editions(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the releases and the changes of a new one, or publish it."""
    try:
        if request.method == "POST":
            release = publish(access.hosted, access.account, request.POST.get("version", ""))
            messages.success(request, f"Version {release.number} is published.")
            return redirect("organiser:editions", access.hosted.token)
        shown = _compared(access)
    except InvalidStudyError as faults:
        shown = {"faults": render_diagnostics(faults.placed, limit=None, ending="Nothing was published.")}
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
            audit(access.account, "recorded ethics approval", f"study {access.hosted.token}", hosted=access.hosted,
                  body=approval.body, number=approval.number)  # fmt: skip
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
    """The statements about one subject.

    Attributes:
        about: The subject.
        asked: What the statement should say.
        statements: The latest first, each with who made it, in words.
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
    audit(access.account, "stated criteria", f"study {access.hosted.token}", hosted=access.hosted, **facts)
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
                audit(access.account, "set second factors", f"study {access.hosted.token}", hosted=access.hosted,
                      roles=access.hosted.second_factor)  # fmt: skip
            messages.success(request, "Kept.")
            return redirect("organiser:factors", study=access.hosted.token)
    shown = {
        "access": access,
        "form": form,
        "by_server": sorted(role.value for role in required_by_server()),
        "lacking": lacking_factor(access.hosted),
        "n_needed": _needing(access.hosted).count(),
    }
    return render(request, "web/organiser/factors.html", shown, status=422 if form.errors else 200)


def lacking_factor(hosted: HostedStudy) -> list[Membership]:
    """Return the memberships of a study that need a second factor and have none."""
    having = Authenticator.objects.values("user_id")
    return list(_needing(hosted).exclude(account_id__in=having).order_by("id"))


def _needing(hosted: HostedStudy) -> QuerySet[Membership]:
    needed = [role.value for role in required_roles(hosted)]
    return hosted.memberships.filter(left_at=None, role__in=needed).select_related("account")
