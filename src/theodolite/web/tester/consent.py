"""Consent and content warning; then, who likes, something about oneself."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.domain.consent import Acknowledgement
from theodolite.domain.participant import PersonProfile, UserType
from theodolite.testing.steps import Step
from theodolite.web.audit import audit
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit

_TYPES = (
    (UserType.EVERYDAY, "As one of many tools of everyday life"),
    (UserType.DOMAIN_EXPERT, "As somebody who knows the subject well"),
    (UserType.ADVERSARIAL, "As somebody who looks for their weak spots"),
)


@for_testers(Step.CONSENT)
def consent(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the texts, or keep what a person agreed to: which version, and when."""
    event = visit.venue.study.event
    context = {"here": visit.here, "texts": visit.texts, "contact": event.contact if event else ""}
    if request.method != "POST":
        return render(request, "web/tester/consent.html", context)
    if any(request.POST.get(text.field) != text.version for text in visit.texts):
        context["fault"] = "Each of the boxes has to be ticked before you can take part. Nobody has to."
        return render(request, "web/tester/consent.html", context, status=422)
    for text in visit.texts:
        visit.venue.store.acknowledge(
            Acknowledgement(
                participant=visit.participant,
                study=visit.venue.study.name,
                subject=text.subject,
                version=text.version,
                at=visit.venue.clock.now(),
            )
        )
        audit(request.user, "agreed", f"{text.subject.value} {text.version}", hosted=visit.here.hosted)
    return redirect("tester:home", study=visit.here.hosted.token)


@for_testers(Step.PROFILE)
def profile(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask what a person likes to say of oneself; saying nothing is an answer, too."""
    context = {"here": visit.here, "types": [(kind.value, words) for kind, words in _TYPES]}
    if request.method != "POST":
        return render(request, "web/tester/profile.html", context)
    given = {} if request.POST.get("skip") else request.POST
    groups, odd = _groups(given.get("groups", ""))
    if odd:
        context |= {
            "fault": f"“{odd}”: please put a colon between what and which, as in “age: 40 to 49”.",
            "given": given,
        }
        return render(request, "web/tester/profile.html", context, status=422)
    said = PersonProfile(
        user_type=_type_of(given.get("user_type", "")),
        expertise=given.get("expertise", "")[:300].strip(),
        languages=tuple(filter(None, (word.strip() for word in given.get("languages", "")[:120].split(",")))),
        groups=groups,
    )
    visit.venue.store.keep_profile(visit.participant, said, now=visit.venue.clock.now())
    return redirect("tester:home", study=visit.here.hosted.token)


def _type_of(word: str) -> UserType:
    return UserType(word) if word in {kind.value for kind in UserType} else UserType.EVERYDAY


def _groups(text: str) -> tuple[dict[str, str], str]:
    """Return what stands on the lines of a text, and the first line that cannot be read; empty for none."""
    groups: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text[:600].splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (name and colon and value):
            return {}, line
        groups[name] = value
    return groups, ""
