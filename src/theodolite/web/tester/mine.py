"""What is kept of a tester, on a page and as a file, for the person alone."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.web.audit import audit
from theodolite.web.kept import kept_of
from theodolite.web.safe_text import safe_html
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit

FILE = "what-is-kept-of-me.json"


@for_testers()
@require_GET
def mine(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show a person everything that hangs on the person's key; guesses stand in the file alone, since they name."""
    kept = kept_of(visit.here.membership)
    for session in kept["sessions"]:
        for dialogue in session["dialogues"]:
            for turn in dialogue["turns"]:
                turn["html"] = safe_html(turn["reply"])
    return render(request, "web/tester/mine.html", {"here": visit.here, "kept": kept})


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
