"""Trying a submitted application: organisers talk to it before they decide; nothing of it is stored."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import SafeString

from theodolite.bootstrap.examining import answer_alone
from theodolite.domain.errors import ContentRefused, TheodoliteError
from theodolite.domain.flow import FILTERED_TEXT, Exchange, SayToApplication
from theodolite.domain.role import Role
from theodolite.domain.study import Study
from theodolite.web.access import Here, allowed
from theodolite.web.audit import audit
from theodolite.web.models import Submission
from theodolite.web.safe_text import safe_html
from theodolite.web.teams.conformance import prepared
from theodolite.web.venues import venue_of

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
async def try_submission(request: HttpRequest, here: Here, submission: str) -> HttpResponse:
    """Show the conversation so far, with the reply to what was said now."""
    found, study = await sync_to_async(_opened)(here, submission)
    trial = _trial_from(request, study)
    shown: dict[str, object] = {"here": here, "submission": found, "scenarios": [one.name for one in study.scenarios]}
    words = request.POST.get("text", "").strip()
    if request.method == "POST" and words and len(words) <= MOST_LETTERS and not trial.is_full:
        await sync_to_async(audit)(here.account, "tried application", f"submission {found.token}", hosted=here.hosted)
        began = monotonic()
        try:
            reply = await _reply(found, study, trial, words)
            trial = Trial(
                key=trial.key, scenario=trial.scenario, turns=(*trial.turns, Exchange(prompt=words, response=reply))
            )
            shown["took_s"] = monotonic() - began
        except (TheodoliteError, TimeoutError) as error:
            shown |= {"fault": str(error) or f"no reply within {PATIENCE_S:.0f} s", "text": words}
    elif request.method == "POST":
        shown |= {"fault": f"Write something, {MOST_LETTERS} letters at most.", "text": words[:MOST_LETTERS]}
    return await sync_to_async(render)(
        request, "web/organiser/try.html", {**shown, "trial": trial}, status=422 if "fault" in shown else 200
    )


def _opened(here: Here, submission: str) -> tuple[Submission, Study]:
    handed_in = Submission.objects.select_related("hosted").filter(state__in=_TRIED)
    return get_object_or_404(handed_in, token=submission, hosted=here.hosted), venue_of(here.hosted).study


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
    application, environ = await sync_to_async(prepared)(found)
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
