"""Submitted applications: review, acceptance and trial conversations."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone, translation
from django.utils.safestring import SafeString

from theodolite.bootstrap.conformance import answer_alone
from theodolite.domain.application import Claim
from theodolite.domain.errors import ContentRefused, TheodoliteError
from theodolite.domain.flow import FILTERED_TEXT, Exchange, SayToApplication
from theodolite.domain.people.role import Role
from theodolite.domain.study import Study
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.asgi_handler import fill, once
from theodolite.web.events import event_of
from theodolite.web.languages import PLAIN
from theodolite.web.models import Submission
from theodolite.web.safe_text import safe_html
from theodolite.web.teams.connecting import claims_of, prepared, script_lines, study_lines
from theodolite.web.thread_pool import by_crew

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
                help_text="A script: one prompt per line.",
                widget=forms.Textarea(attrs={"rows": 2}),
            )
            self.fields[f"untestable_{number}"] = forms.CharField(
                label=f"Reason why no dialogue can test claim {number}", required=False, max_length=500
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
                    message = "Enter either prompts that test this claim, or the reason why no dialogue can."
                    self.add_error(f"prompts_{number}", message)
        if filled.get("decision") in {"return", "decline"} and not filled.get("reason"):
            self.add_error("reason", "Enter a reason for the team.")
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


MOST_LETTERS = 4000
"""Of one message; count."""


MOST_TURNS = 20
"""Of one conversation; count."""


PATIENCE_S = 120.0
"""How long an application may take; seconds."""

_TRIED = (_State.SUBMITTED, _State.RETURNED, _State.ACCEPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A conversation as the page holds it; the server keeps none.

    Attributes:
        key: Under which the application knows it.
        scenario: Whose material goes along; empty for none.
        turns: What was said so far.
    """

    key: str
    scenario: str = ""
    turns: tuple[Exchange, ...] = ()

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be said in it."""
        return len(self.turns) >= MOST_TURNS

    @property
    def shown(self) -> list[tuple[Exchange, SafeString]]:
        """The turns with the replies as testers would see them."""
        return [(one, safe_html(one.response)) for one in self.turns]


@allowed(Role.ORGANISER)
def try_submission(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show the conversation so far, with the reply to what was said now."""
    found, study = _opened(access, submission)
    page = _Page(request=request, access=access, submission=found, study=study, trial=_trial_from(request, study))
    words = request.POST.get("text", "").strip()
    if request.method != "POST":
        return page.shown()
    if not words or len(words) > MOST_LETTERS or page.trial.is_full:
        return page.shown(fault=f"Enter a message of at most {MOST_LETTERS} characters.", text=words[:MOST_LETTERS])
    audit(access.account, "tried application", f"submission {found.token}", hosted=access.hosted)
    answer = HttpResponse()
    return once(answer, partial(_answered, answer, page, words))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The page of one conversation, for whoever asked for it."""

    request: HttpRequest
    access: AccessContext
    submission: Submission
    study: Study
    trial: Trial

    def shown(self, **more: object) -> HttpResponse:
        """Return the page with what is new on it; `fault` says what went wrong."""
        scenarios = [one.name for one in self.study.scenarios]
        told = {
            "access": self.access,
            "submission": self.submission,
            "scenarios": scenarios,
            "trial": self.trial,
            **more,
        }
        with translation.override(PLAIN):  # the thread speaks for others next
            return render(self.request, "web/organiser/try.html", told, status=422 if "fault" in more else 200)


async def _answered(answer: HttpResponse, page: _Page, words: str) -> None:
    """Ask the application, which takes as long as it takes and no thread, and fill the answer with the page."""
    began, trial = monotonic(), page.trial
    try:
        reply = await _reply(page.submission, page.study, trial, words)
    except (TheodoliteError, TimeoutError) as error:
        fault = str(error) or f"no reply within {PATIENCE_S:.0f} s"
        fill(answer, await by_crew(page.shown, fault=fault, text=words))
        return
    further = replace(trial, turns=(*trial.turns, Exchange(prompt=words, response=reply)))
    fill(answer, await by_crew(replace(page, trial=further).shown, took_s=monotonic() - began))


def _opened(access: AccessContext, submission: str) -> tuple[Submission, Study]:
    handed_in = Submission.objects.select_related("hosted").filter(state__in=_TRIED)
    return get_object_or_404(handed_in, token=submission, hosted=access.hosted), event_of(access.hosted).study


def _trial_from(request: HttpRequest, study: Study) -> Trial:
    """Return the conversation that a page sent along; a new one where it sent none.

    Raises:
        Http404: If it is none that a page of ours would send.
    """
    said, heard = request.POST.getlist("said"), request.POST.getlist("heard")
    names: Sequence[str] = [one.name for one in study.scenarios]
    scenario = request.POST.get("scenario", names[0] if names else "")
    if len(said) != len(heard) or len(said) > MOST_TURNS or (scenario and scenario not in names):
        raise Http404
    turns = tuple(Exchange(prompt=prompt, response=response) for prompt, response in zip(said, heard, strict=True))
    return Trial(key=request.POST.get("key", "") or secrets.token_hex(16), scenario=scenario, turns=turns)


async def _reply(found: Submission, study: Study, trial: Trial, words: str) -> str:
    """Return what the application answers; what its own filter withheld is an answer, too."""
    application, environ = await by_crew(prepared, found)
    said = SayToApplication(
        application=found.name,
        prompt=words,
        turn=len(trial.turns) + 1,
        history=trial.turns,
        context=study.scenario(trial.scenario).context if trial.scenario else "",
    )
    folder = Path(found.hosted.folder or ".")
    try:
        async with asyncio.timeout(PATIENCE_S):
            return (await answer_alone(application, said, session=trial.key, folder=folder, environ=environ)).text
    except ContentRefused:
        return FILTERED_TEXT
