"""What an annotator says of themselves, if they like; it is told of groups of three people at least."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from theodolite.domain.errors import InputError
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.events import server_store
from theodolite.web.profiles import read_profile

_PURPOSE = "helps to tell who annotated, and whether people of one kind answer otherwise than others."


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
def about(request: HttpRequest, here: Here) -> HttpResponse:
    """Ask what an annotator likes to say of themselves; a later answer takes the place of the earlier one."""
    key, store = here.membership.participant, server_store()
    context: dict[str, object] = {"here": here, "purpose": _PURPOSE, "given": _as_sent(store.profile(key))}
    if request.method != "POST":
        return render(request, "web/tester/profile.html", context)
    try:
        said = read_profile(request.POST)
    except InputError as odd:
        context |= {"fault": str(odd), "given": request.POST}
        return render(request, "web/tester/profile.html", context, status=422)
    store.add_profile(key, said, now=timezone.now())
    messages.success(request, "Noted. You can change it here at any time.")
    return redirect("annotator:home", study=here.hosted.token)


def _as_sent(said: PersonProfile | None) -> dict[str, str]:
    """Return what was said before as the form holds it."""
    if said is None:
        return {}
    groups = "\n".join(f"{name}: {value}" for name, value in said.groups.items())
    return {"expertise": said.expertise, "languages": ", ".join(said.languages), "groups": groups}
