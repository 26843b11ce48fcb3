"""Submitted applications, as organisers look at them and decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from theodolite.domain.application import Claim
from theodolite.domain.people.role import Role
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.models import Submission
from theodolite.web.teams.connecting import claims_of, script_lines, study_lines

_State = Submission.State
_DECISIONS = {"accept": _State.ACCEPTED, "return": _State.RETURNED, "decline": _State.DECLINED}


class DecisionForm(forms.Form):
    """What becomes of a submission."""

    decision = forms.ChoiceField(
        label="Decision",
        choices=[("accept", "Accept"), ("return", "Return for changes"), ("decline", "Decline")],
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        label="Reason", required=False, help_text="The team reads it.", widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, *args: Any, claims: Sequence[Claim] = (), **keywords: Any) -> None:
        """Ask for each claim how it is tested.

        Args:
            args: What forms are given.
            claims: Claims of the submission.
            keywords: Likewise.
        """
        super().__init__(*args, **keywords)
        self._claims = tuple(claims)
        for number, claim in enumerate(self._claims, start=1):
            self.fields[f"prompts_{number}"] = forms.CharField(
                label=f"Prompts that test claim {number}: {claim.text}",
                required=False,
                help_text="A script: one prompt a line.",
                widget=forms.Textarea(attrs={"rows": 2}),
            )
            self.fields[f"untestable_{number}"] = forms.CharField(
                label=f"Why no dialogue can test claim {number}", required=False, max_length=500
            )

    def claim_tests(self) -> dict[str, dict[str, object]]:
        """Return how each claim is tested: prompts, or why there are none."""
        tests = {}
        for number, claim in enumerate(self._claims, start=1):
            prompts = [line.strip() for line in self.cleaned_data[f"prompts_{number}"].splitlines() if line.strip()]
            tests[claim.text] = {"prompts": prompts, "untestable": self.cleaned_data[f"untestable_{number}"].strip()}
        return tests

    def clean(self) -> dict[str, object]:
        """Return the decision; whoever does not accept says why, and whoever accepts says how claims are tested."""
        filled = super().clean() or {}
        if filled.get("decision") == "accept":
            for number, test in enumerate(self.claim_tests().values(), start=1):
                if bool(test["prompts"]) == bool(test["untestable"]):
                    message = "Write prompts that test this claim, or below them why no dialogue can; one of the two."
                    self.add_error(f"prompts_{number}", message)
        if filled.get("decision") in {"return", "decline"} and not filled.get("reason"):
            self.add_error("reason", "Say why, so that the team can do something about it.")
        return filled


@allowed(Role.ORGANISER)
def submissions(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List what teams have handed in; drafts are the teams' own."""
    handed_in = Submission.objects.filter(hosted=access.hosted).exclude(state=_State.DRAFT).select_related("team")
    return render(request, "web/organiser/submissions.html", {"access": access, "submissions": handed_in})


@allowed(Role.ORGANISER)
def submission(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show one submission without its credentials, and decide about it."""
    handed_in = Submission.objects.exclude(state=_State.DRAFT).select_related("team__account", "hosted")
    found = get_object_or_404(handed_in, token=submission, hosted=access.hosted)
    form = DecisionForm(request.POST or None, claims=claims_of(found))
    if request.method == "POST" and found.state == _State.SUBMITTED and form.is_valid():
        decided = _decide(access, found, form)
        messages.success(request, f"{decided.name}: {decided.state}.")
        return redirect("organiser:submission", study=access.hosted.token, submission=found.token)
    told = {
        "access": access,
        "submission": found,
        "form": form,
        "claims": claims_of(found),
        "lines": study_lines(found) if found.state == _State.ACCEPTED else "",
        "scripts": script_lines(found) if found.state == _State.ACCEPTED else "",
    }
    return render(request, "web/organiser/submission.html", told, status=422 if form.errors else 200)


@transaction.atomic
def _decide(access: AccessContext, submission: Submission, form: DecisionForm) -> Submission:
    found = submission.held(_State.SUBMITTED)
    decision, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
    found.state, found.reason, found.decided_at = _DECISIONS[decision], reason, timezone.now()
    if found.state == _State.ACCEPTED:
        found.claim_tests = form.claim_tests()
    if found.state == _State.DECLINED:
        found.sealed = b""
    found.save()
    audit(access.account, f"decided: {decision}", f"submission {found.token}", hosted=access.hosted, reason=reason)
    return found
