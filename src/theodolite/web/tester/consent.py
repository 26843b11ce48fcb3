"""Consent and content warning; then, who likes, something about oneself."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from theodolite.domain.choices import UserType
from theodolite.domain.errors import InputError
from theodolite.domain.people.consent import Acknowledgement
from theodolite.testing.steps import Step
from theodolite.web.audit import audit
from theodolite.web.profiles import read_profile
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.visit import Visit

_TYPES = (
    (UserType.EVERYDAY, _("As one of many tools of everyday life")),
    (UserType.DOMAIN_EXPERT, _("As somebody who knows the subject well")),
    (UserType.ADVERSARIAL, _("As somebody who looks for their weak spots")),
)


@for_testers(Step.CONSENT)
def consent(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the texts, or keep what a person agreed to: which version, and when."""
    event = visit.venue.study.event
    context = {"here": visit.here, "texts": visit.texts, "contact": event.contact if event else ""}
    if request.method != "POST":
        return render(request, "web/tester/consent.html", context)
    if any(request.POST.get(text.field) != text.version for text in visit.texts):
        context["fault"] = gettext("Each of the boxes has to be ticked before you can take part. Nobody has to.")
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
    try:
        said = read_profile(request.POST)
    except InputError as odd:
        context |= {"fault": str(odd), "given": request.POST}
        return render(request, "web/tester/profile.html", context, status=422)
    visit.venue.store.keep_profile(visit.participant, said, now=visit.venue.clock.now())
    return redirect("tester:home", study=visit.here.hosted.token)
