"""What is kept of a tester, on a page and as a file, for the person alone."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from theodolite.domain.strategy import AttemptOutcome
from theodolite.web.audit import audit
from theodolite.web.kept import kept_of
from theodolite.web.safe_text import safe_html
from theodolite.web.tester.aliases import alias_words
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.notes import outcome_word, way_title
from theodolite.web.tester.visit import Visit

_KEPT = {
    "kind of user": _("kind of user"),
    "expertise": _("expertise"),
    "languages": _("languages"),
    "consent": _("consent"),
    "content warning": _("content warning"),
    "instructions": _("instructions"),
    "waiting": _("waiting"),
    "active": _("active"),
    "complete": _("complete"),
    "interrupted": _("interrupted"),
    "failed": _("failed"),
}
"""Words of the file, in the language of the page."""

FILE = "what-is-kept-of-me.json"


@for_testers()
@require_GET
def mine(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a person everything that hangs on the person's key; guesses stand in the file alone, since they name."""
    kept = kept_of(visit.here.membership)
    kept["about_you"] = {str(_KEPT.get(name, name)): words for name, words in kept["about_you"].items()}
    for one in kept["agreed_to"]:
        one["shown"] = str(_KEPT.get(one["text"], one["text"]))
    for session in kept["sessions"]:
        session["shown"] = session["with"] and alias_words(session["with"])
        session["state"] = str(_KEPT.get(session["state"], session["state"]))
        for dialogue in session["dialogues"]:
            for turn in dialogue["turns"]:
                turn["html"] = safe_html(turn["reply"])
            for one in dialogue["tried"]:
                one["way"] = way_title(visit.venue.study, one["strategy"])
                one["brought"] = outcome_word(AttemptOutcome(one["outcome"]))
    has_topics = bool(visit.venue.study.topics)
    return render(request, "web/tester/mine.html", {"here": visit.here, "kept": kept, "has_topics": has_topics})


@for_testers()
@require_GET
def mine_as_file(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Give the same as a file that programs can read."""
    audit(request.user, "took own data along", "", hosted=visit.here.hosted)
    return kept_file(kept_of(visit.here.membership))


def kept_file(kept: dict[str, object]) -> JsonResponse:
    """Return what is kept of a person as a file to be saved."""
    headers = {"Content-Disposition": f'attachment; filename="{FILE}"'}
    return JsonResponse(kept, headers=headers, json_dumps_params={"indent": 2, "ensure_ascii": False})
