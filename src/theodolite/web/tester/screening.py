"""Questions before anything else, and what people are told whom the study has no place for."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.wording import SCREENING
from theodolite.testing.steps import Step
from theodolite.web.accounts.recruiting import screened_out_code
from theodolite.web.audit import audit
from theodolite.web.models import Screening
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit

_ANSWERS = {"yes": True, "no": False}

_OUT_WORDS = lazy(
    "Thank you for answering. This study looks for people in another situation than yours; that says nothing about "
    "you. Your answers were not kept."
)
_OUT = (lazy("This study looks for other people"), _OUT_WORDS)
_FULL_WORDS = lazy(
    "As many people as the study has room for have taken part or are taking part. Thank you for coming. "
    "If a place becomes free for you, the people who invited you will tell you."
)
_FULL = (lazy("All places are taken"), _FULL_WORDS)


@for_testers(Step.SCREENING)
def screening(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask what the study asks everybody first; only whether it let the person in is kept."""
    event = visit.read.study.event
    asked = event.screening if event else ()
    given = [request.POST.get(f"q{number}", "") for number in range(1, len(asked) + 1)]
    questions = [(one.text, answer) for one, answer in zip(asked, given, strict=True)]
    context: dict[str, object] = {
        "here": visit.here,
        "questions": questions,
        "language_of_words": visit.read.language_of(SCREENING),
        "contact": event.contact if event else "",
    }
    if request.method != "POST":
        return render(request, "web/tester/screening.html", context)
    if any(answer not in _ANSWERS for answer in given):
        context["fault"] = _("Answer every question with yes or no.")
        return render(request, "web/tester/screening.html", context, status=422)
    passed = all(_ANSWERS[answer] is one.wanted for one, answer in zip(asked, given, strict=True))
    Screening.objects.update_or_create(
        membership=visit.here.membership, defaults={"version": visit.screening_version, "passed": passed}
    )
    verb = "passed screening" if passed else "was screened out"
    audit(request.user, verb, f"membership {visit.here.membership.token}", hosted=visit.here.hosted)
    return redirect("tester:home", study=visit.here.hosted.token)


@for_testers(Step.SCREENED_OUT)
def screened_out(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say that the study looks for others, and hand over the recruiting service's code where there is one."""
    return _told(request, visit, _OUT, handed=screened_out_code(visit.here.membership))


@for_testers(Step.FULL)
def full(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say that all places are taken."""
    return no_place(request, visit)


def no_place(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say it from wherever it was found out."""
    return _told(request, visit, _FULL)


def _told(
    request: HttpRequest, visit: Visit, words: tuple[Any, Any], handed: tuple[str, str] | None = None
) -> HttpResponse:
    event = visit.venue.study.event
    context = {
        "here": visit.here,
        "title": words[0],
        "words": words[1],
        "code": handed[0] if handed else "",
        "back": handed[1] if handed else "",
        "contact": event.contact if event else "",
    }
    return render(request, "web/tester/no_place.html", context)
