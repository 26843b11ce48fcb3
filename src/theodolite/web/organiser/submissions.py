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

from theodolite.bootstrap.connections import answer_alone
from theodolite.domain.application import Claim
from theodolite.domain.errors import ContentRefused, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.flow import FILTERED_TEXT, Exchange, SayToApplication
from theodolite.domain.study import Study
from theodolite.web.access import AccessContext, allowed
from theodolite.web.asgi_handler import by_crew, fill, once
from theodolite.web.events import event_of
from theodolite.web.middleware import PLAIN
from theodolite.web.models import Submission
from theodolite.web.safe_text import safe_html
from theodolite.web.teams.connecting import claims_of, prepared, script_lines, study_lines

_State = Submission.State

_DECISIONS = {"accept": _State.ACCEPTED, "return": _State.RETURNED, "decline": _State.DECLINED}


class DecisionForm(forms.Form):
    """The decision about a submission."""

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
        """Return the decision; a rejection needs a reason, an acceptance needs a test for each claim."""
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
    row = get_object_or_404(handed_in, token=submission, hosted=access.hosted)
    form = DecisionForm(request.POST or None, claims=claims_of(row))
    if request.method == "POST" and row.state == _State.SUBMITTED and form.is_valid():
        decided = _decide(access, row, form)
        messages.success(request, f"{decided.name}: {decided.state}.")
        return redirect("organiser:submission", study=access.hosted.token, submission=row.token)
    context = {
        "access": access,
        "submission": row,
        "form": form,
        "claims": claims_of(row),
        "lines": study_lines(row) if row.state == _State.ACCEPTED else "",
        "scripts": script_lines(row) if row.state == _State.ACCEPTED else "",
    }
    return render(request, "web/organiser/submission.html", context, status=422 if form.errors else 200)


@transaction.atomic
def _decide(access: AccessContext, submission: Submission, form: DecisionForm) -> Submission:
    locked = submission.held(_State.SUBMITTED)
    decision, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
    locked.state, locked.reason, locked.decided_at = _DECISIONS[decision], reason, timezone.now()
    if locked.state == _State.ACCEPTED:
        locked.claim_tests = form.claim_tests()
    if locked.state == _State.DECLINED:
        locked.sealed = b""
    locked.save()
    access.audit(f"decided: {decision}", f"submission {locked.token}", reason=reason)
    return locked


MOST_LETTERS = 4000
"""Of one message; count."""


MOST_TURNS = 20
"""Of one conversation; count."""


PATIENCE_S = 120.0
"""Timeout of a reply; seconds."""

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
        return [(turn, safe_html(turn.response)) for turn in self.turns]


@allowed(Role.ORGANISER)
def try_submission(request: HttpRequest, access: AccessContext, submission: str) -> HttpResponse:
    """Show the conversation with the new reply."""
    conversation, study = _opened(access, submission)
    page = _TrialPage(
        request=request, access=access, submission=conversation, study=study, trial=_trial_from(request, study)
    )
    prompt = request.POST.get("text", "").strip()
    if request.method != "POST":
        return page.shown()
    if not prompt or len(prompt) > MOST_LETTERS or page.trial.is_full:
        return page.shown(fault=f"Enter a message of at most {MOST_LETTERS} characters.", text=prompt[:MOST_LETTERS])
    access.audit("tried application", f"submission {conversation.token}")
    answer = HttpResponse()
    return once(answer, partial(_answered, answer, page, prompt))


@dataclass(frozen=True, slots=True, kw_only=True)
class _TrialPage:
    """The page of one trial conversation."""

    request: HttpRequest
    access: AccessContext
    submission: Submission
    study: Study
    trial: Trial

    def shown(self, **more: object) -> HttpResponse:
        """Return the page with what is new on it; `fault` says what went wrong."""
        scenarios = [scenario.name for scenario in self.study.scenarios]
        context = {
            "access": self.access,
            "submission": self.submission,
            "scenarios": scenarios,
            "trial": self.trial,
            **more,
        }
        with translation.override(PLAIN):  # the thread speaks for others next
            return render(self.request, "web/organiser/try.html", context, status=422 if "fault" in more else 200)


async def _answered(answer: HttpResponse, page: _TrialPage, prompt: str) -> None:
    """Ask the application, which takes as long as it takes and no thread, and fill the answer with the page."""
    began, trial = monotonic(), page.trial
    try:
        reply = await _reply(page.submission, page.study, trial, prompt)
    except (TheodoliteError, TimeoutError) as error:
        error_text = str(error) or f"no reply within {PATIENCE_S:.0f} s"
        fill(answer, await by_crew(page.shown, fault=error_text, text=prompt))
        return
    further = replace(trial, turns=(*trial.turns, Exchange(prompt=prompt, response=reply)))
    fill(answer, await by_crew(replace(page, trial=further).shown, took_s=monotonic() - began))


def _opened(access: AccessContext, submission: str) -> tuple[Submission, Study]:
    handed_in = Submission.objects.select_related("hosted").filter(state__in=_TRIED)
    return get_object_or_404(handed_in, token=submission, hosted=access.hosted), event_of(access.hosted).study


def _trial_from(request: HttpRequest, study: Study) -> Trial:
    """Return the conversation that a page sent along; a new one where it sent none.

    Raises:
        Http404: If it is none that a page of ours would send.
    """
    prompts, heard = request.POST.getlist("said"), request.POST.getlist("heard")
    names: Sequence[str] = [scenario.name for scenario in study.scenarios]
    scenario = request.POST.get("scenario", names[0] if names else "")
    if len(prompts) != len(heard) or len(prompts) > MOST_TURNS or (scenario and scenario not in names):
        raise Http404
    turns = tuple(Exchange(prompt=prompt, response=response) for prompt, response in zip(prompts, heard, strict=True))
    return Trial(key=request.POST.get("key", "") or secrets.token_hex(16), scenario=scenario, turns=turns)


async def _reply(submission: Submission, study: Study, trial: Trial, text: str) -> str:
    """Return what the application answers; what its own filter withheld is an answer, too."""
    application, environ = await by_crew(prepared, submission)
    say_to_application = SayToApplication(
        application=submission.name,
        prompt=text,
        turn=len(trial.turns) + 1,
        history=trial.turns,
        context=study.scenario(trial.scenario).context if trial.scenario else "",
    )
    folder = Path(submission.hosted.folder or ".")
    try:
        async with asyncio.timeout(PATIENCE_S):
            return (
                await answer_alone(application, say_to_application, session=trial.key, folder=folder, environ=environ)
            ).text
    except ContentRefused:
        return FILTERED_TEXT
