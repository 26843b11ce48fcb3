"""By what annotators are sought, chosen and given work: stated in words, every statement kept."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from theodolite.domain.criteria import CriteriaSubject, StatedCriteria
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.role import Role
from theodolite.usecases.stating_criteria import criteria_of, state_criteria
from theodolite.web.access import Here, allowed
from theodolite.web.audit import audit
from theodolite.web.models import Account
from theodolite.web.venues import server_store

LONGEST = 10_000
"""Letters of a statement at most; count."""

_ASKED = {
    CriteriaSubject.RECRUITMENT: "Where and how are annotators sought, and what are they told and paid?",
    CriteriaSubject.SELECTION: "Who may annotate: knowledge, languages, tests, what keeps somebody out?",
    CriteriaSubject.ASSIGNMENT: "Who gets which category and dialogue, how many passes, and what is kept apart?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBefore:
    """What was stated about one subject.

    Attributes:
        about: The subject.
        asked: What the statement should say.
        statements: The latest first, each with who made it, in words.
    """

    about: CriteriaSubject
    asked: str
    statements: tuple[tuple[StatedCriteria, str], ...]

    @property
    def last(self) -> StatedCriteria | None:
        """The statement that holds."""
        return self.statements[0][0] if self.statements else None


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
def criteria(request: HttpRequest, here: Here) -> HttpResponse:
    """Show what was stated, and keep another statement."""
    if request.method != "POST":
        return _page(request, here)
    sent = request.POST
    about = next((one for one in CriteriaSubject if one.value == sent.get("about")), CriteriaSubject.RECRUITMENT)
    try:
        made = state_criteria(
            server_store(),
            here.hosted.name,
            about,
            sent.get("text", "").replace("\r\n", "\n")[:LONGEST],
            by=here.account.token,
            now=timezone.now(),
            why=sent.get("why", "")[:500],
            follows=int(sent["follows"]) if sent.get("follows", "").isdecimal() else 0,
        )
    except (Conflict, InputError) as error:
        return _page(request, here, problem=f"Not kept: {error}.", text=sent.get("text", ""), about=about)
    facts = {"about": about.value, "revision": made.revision}
    audit(here.account, "stated criteria", f"study {here.hosted.token}", hosted=here.hosted, **facts)
    messages.success(request, f"Kept as statement {made.revision} about {about.value}.")
    return redirect("organiser:criteria", study=here.hosted.token)


def _page(
    request: HttpRequest,
    here: Here,
    *,
    problem: str = "",
    text: str = "",
    about: CriteriaSubject | None = None,
) -> HttpResponse:
    found = criteria_of(server_store(), here.hosted.name)
    names = dict(Account.objects.filter(token__in={one.by for one in found}).values_list("token", "name"))
    stated = [
        StatedBefore(
            about=subject,
            asked=asked,
            statements=tuple((one, names.get(one.by, "somebody")) for one in reversed(found) if one.about is subject),
        )
        for subject, asked in _ASKED.items()
    ]
    context = {"here": here, "stated": stated, "problem": problem, "text": text, "faulty": about}
    return render(request, "web/organiser/criteria.html", context, status=422 if problem else 200)
