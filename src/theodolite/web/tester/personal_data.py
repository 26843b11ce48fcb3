"""Personal data of a tester: shown, exported as a file, withdrawn."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_GET

from theodolite.domain.event_record import Withdrawal
from theodolite.domain.persona import AttemptOutcome
from theodolite.events.results import stored_data, time_text
from theodolite.web.access import audit, open_to_all
from theodolite.web.events import event_of
from theodolite.web.languages import page_languages, speak
from theodolite.web.models import Membership
from theodolite.web.safe_text import safe_html
from theodolite.web.session_end import end_participation, withdraw_participant
from theodolite.web.tester.context import TesterContext, alias_words, for_testers
from theodolite.web.tester.texts import outcome_word, way_title


def personal_data(membership: Membership) -> dict[str, Any]:
    """Return the personal data of a tester of one study as plain values; applications appear under their aliases.

    Args:
        membership: The membership of the tester, who must not have withdrawn, because nothing leads to the data then.
    """
    hosted = membership.hosted
    stored = stored_data(
        event_of(hosted), membership.participant, context_of=lambda session: event_of(hosted, session.edition)
    )
    return {"event": str(hosted), "as": membership.role, "since": time_text(membership.joined_at), **stored}


_KEEP = "keep"
_WISHES = {_KEEP, Withdrawal.ANONYMISE.value, Withdrawal.REMOVE.value}


@for_testers()
def leave(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask what happens to the tester's texts, and end the participation."""
    wish = request.POST.get("what", "")
    if request.method != "POST" or wish not in _WISHES:
        error = _("Choose what happens to your data.") if request.method == "POST" else ""
        status = 422 if error else 200
        return render(request, "web/tester/leave.html", {"access": tester.access, "fault": error}, status=status)
    if wish == _KEEP:
        end_participation(tester.access.membership)
    else:
        withdraw_participant(tester.access.membership, Withdrawal(wish))
    audit(request.user, "left", wish, hosted=tester.access.hosted)
    return redirect("tester:left", study=tester.access.hosted.token)


def left(request: HttpRequest, study: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Confirm the end of the participation, without any detail."""
    speak(request, page_languages())
    return render(request, "web/tester/left.html")


open_to_all(left)


_WORDS = {
    "kind of user": lazy("kind of user"),
    "expertise": lazy("expertise"),
    "languages": lazy("languages"),
    "consent": lazy("consent"),
    "content warning": lazy("content warning"),
    "instructions": lazy("instructions"),
    "waiting": lazy("waiting"),
    "active": lazy("active"),
    "complete": lazy("complete"),
    "interrupted": lazy("interrupted"),
    "failed": lazy("failed"),
}
"""Terms of the file in the language of the page."""

FILE = "what-is-kept-of-me.json"


@for_testers()
@require_GET
def mine(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show a tester the personal data; guesses are in the file alone, because they name applications."""
    data = personal_data(tester.access.membership)
    data["about_you"] = {str(_WORDS.get(name, name)): value for name, value in data["about_you"].items()}
    for text in data["agreed_to"]:
        text["shown"] = str(_WORDS.get(text["text"], text["text"]))
    for session in data["sessions"]:
        session["shown"] = session["with"] and alias_words(session["with"])
        session["state"] = str(_WORDS.get(session["state"], session["state"]))
        for dialogue in session["dialogues"]:
            for turn in dialogue["turns"]:
                turn["html"] = safe_html(turn["reply"])
            for strategy in dialogue["tried"]:
                strategy["way"] = way_title(tester.event.study, strategy["strategy"])
                strategy["brought"] = outcome_word(AttemptOutcome(strategy["outcome"]))
    has_topics = bool(tester.event.study.topics)
    return render(request, "web/tester/mine.html", {"access": tester.access, "kept": data, "has_topics": has_topics})


@for_testers()
@require_GET
def mine_as_file(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Return the personal data as a file."""
    audit(request.user, "downloaded own data", "", hosted=tester.access.hosted)
    return personal_data_file(personal_data(tester.access.membership))


def personal_data_file(data: dict[str, object]) -> JsonResponse:
    """Return personal data as a file to be saved."""
    headers = {"Content-Disposition": f'attachment; filename="{FILE}"'}
    return JsonResponse(data, headers=headers, json_dumps_params={"indent": 2, "ensure_ascii": False})
