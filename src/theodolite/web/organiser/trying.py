"""Trying a submitted application: organisers talk to it before they decide; nothing of it is stored."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import translation
from django.utils.safestring import SafeString

from theodolite.bootstrap.examining import answer_alone
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
from theodolite.web.teams.conformance import prepared
from theodolite.web.thread_pool import by_crew

MOST_LETTERS = 4000
"""Of one message; count."""

MOST_TURNS = 20
"""Of one conversation; count."""

PATIENCE_S = 120.0
"""How long an application may take; seconds."""

_State = Submission.State
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
        return page.shown(fault=f"Write something, {MOST_LETTERS} letters at most.", text=words[:MOST_LETTERS])
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
