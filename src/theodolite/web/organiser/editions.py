"""Editions of a study: what has changed since the last one, and publishing."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.config.loading import StudyFaults
from theodolite.config.places import render_faults
from theodolite.domain.identity import version_of
from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.editions import changes_since, publish, study_in_files
from theodolite.web.published import last_edition


@allowed(Role.ORGANISER)
def editions(request: HttpRequest, here: Here) -> HttpResponse:
    """Show editions and what another one would change; publish it."""
    try:
        if request.method == "POST":
            edition = publish(here.hosted, here.account, request.POST.get("version", ""))
            messages.success(request, f"Edition {edition.number} is published.")
            return redirect("organiser:editions", here.hosted.token)
        shown = _compared(here)
    except StudyFaults as faults:
        shown = {"faults": render_faults(faults.placed, limit=None, ending="Nothing was published.")}
    known = here.hosted.editions.select_related("made_by").order_by("-number")
    return render(request, "web/organiser/editions.html", {"here": here, "editions": known, **shown})


def _compared(here: Here) -> dict[str, object]:
    loaded = study_in_files(here.hosted)
    version, last = version_of(loaded.study), last_edition(here.hosted)
    is_new = last is None or last.version != version
    changes = changes_since(last, loaded.study) if last is not None and is_new else ()
    notes = render_faults(loaded.notes, limit=None) if loaded.notes else ""
    return {"version": version, "is_new": is_new, "changes": changes, "notes": notes}
