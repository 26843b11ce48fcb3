"""The pages before the first session: screening, consent, profile, content opt-outs and time slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.choices import UserType
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.session import Session
from theodolite.domain.wording import SCREENING
from theodolite.events.consent import acknowledge, opt_out, save_profile
from theodolite.events.context import EventContext
from theodolite.events.rules import Step
from theodolite.web.access import audit
from theodolite.web.accounts.invitations import screened_out_code
from theodolite.web.events import event_of
from theodolite.web.models import Screening
from theodolite.web.profiles import read_profile, told_topics
from theodolite.web.session_end import close_session
from theodolite.web.tester.context import TesterContext, for_testers, has_chosen_topics
from theodolite.web.time_slots import book, booked_slot, offered, span_text, zone_of

_YES_NO = {"yes": True, "no": False}

_OUT_WORDS = lazy(
    "Thank you for your answers. You do not match the criteria of this study. Your answers were not stored."
)
_OUT = (lazy("This study has other criteria"), _OUT_WORDS)
_FULL_WORDS = lazy(
    "All places in the study are taken. Thank you for your interest. "
    "If a place becomes free, the people who invited you will contact you."
)
_FULL = (lazy("All places are taken"), _FULL_WORDS)


@for_testers(Step.SCREENING)
def screening(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask the screening questions; only the result is stored."""
    event_plan = tester.read.study.event
    criteria = event_plan.screening if event_plan else ()
    answers = [request.POST.get(f"q{number}", "") for number in range(1, len(criteria) + 1)]
    questions = [(question.text, answer) for question, answer in zip(criteria, answers, strict=True)]
    context: dict[str, object] = {
        "access": tester.access,
        "questions": questions,
        "language_of_words": tester.read.language_of(SCREENING),
        "contact": event_plan.contact if event_plan else "",
    }
    if request.method != "POST":
        return render(request, "web/tester/screening.html", context)
    if any(answer not in _YES_NO for answer in answers):
        context["fault"] = _("Answer every question with yes or no.")
        return render(request, "web/tester/screening.html", context, status=422)
    passed = all(_YES_NO[answer] is question.wanted for question, answer in zip(criteria, answers, strict=True))
    Screening.objects.update_or_create(
        membership=tester.access.membership, defaults={"version": tester.screening_version, "passed": passed}
    )
    verb = "passed screening" if passed else "was screened out"
    audit(request.user, verb, f"membership {tester.access.membership.token}", hosted=tester.access.hosted)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.SCREENED_OUT)
def screened_out(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show that the tester does not qualify, with the code of the recruiting service if there is one."""
    return _notice(request, tester, _OUT, handed=screened_out_code(tester.access.membership))


@for_testers(Step.FULL)
def full(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show that all slots are occupied."""
    return no_capacity(request, tester)


def no_capacity(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Return the page that all slots are occupied."""
    return _notice(request, tester, _FULL)


def _notice(
    request: HttpRequest, tester: TesterContext, texts: tuple[Any, Any], handed: tuple[str, str] | None = None
) -> HttpResponse:
    event_plan = tester.event.study.event
    context = {
        "access": tester.access,
        "title": texts[0],
        "words": texts[1],
        "code": handed[0] if handed else "",
        "back": handed[1] if handed else "",
        "contact": event_plan.contact if event_plan else "",
    }
    return render(request, "web/tester/no_place.html", context)


_TYPES = (
    (UserType.EVERYDAY, lazy("As an everyday tool")),
    (UserType.DOMAIN_EXPERT, lazy("As an expert in the subject")),
    (UserType.ADVERSARIAL, lazy("To look for weaknesses")),
)


@for_testers(Step.CONSENT)
def consent(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show consent and content warning, or store the agreement to their versions."""
    event_plan = tester.event.study.event
    context = {"access": tester.access, "texts": tester.texts, "contact": event_plan.contact if event_plan else ""}
    if request.method != "POST":
        return render(request, "web/tester/consent.html", context)
    if any(request.POST.get(text.field) != text.version for text in tester.texts):
        context["fault"] = _("Tick each box to take part. Participation is voluntary.")
        return render(request, "web/tester/consent.html", context, status=422)
    for text in tester.texts:
        acknowledge(tester.event, tester.participant, text.subject, text.version)
        audit(request.user, "agreed", f"{text.subject.value} {text.version}", hosted=tester.access.hosted)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.PROFILE)
def profile(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for the profile; an empty profile is an answer."""
    context = {"access": tester.access, "types": [(kind.value, label) for kind, label in _TYPES]}
    if request.method != "POST":
        return render(request, "web/tester/profile.html", context)
    try:
        stated = read_profile(request.POST)
    except InputError as odd:
        context |= {"fault": str(odd), "given": request.POST}
        return render(request, "web/tester/profile.html", context, status=422)
    save_profile(tester.event, tester.participant, stated)
    return redirect("tester:home", study=tester.access.hosted.token)


_ENDED = lazy(
    "The active session was about this topic and has ended. You do not have to give a reason, and no questions follow. "
    "Its messages are kept; you can still withdraw them."
)


@for_testers()
def topics(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for content opt-outs, and end an active session that touches one."""
    study, store = tester.event.study, tester.event.store
    if not study.topics or not (
        tester.sessions or tester.has_agreed()
    ):  # consent worded anew waits for the next session
        return redirect("tester:home", study=tester.access.hosted.token)
    if request.method != "POST":
        avoided = store.events.participants.avoided_topics(study.name, tester.participant)
        context = {
            "access": tester.access,
            "topics": told_topics(tester.read, avoided),
            "has_chosen": has_chosen_topics(tester),
        }
        return render(request, "web/topics.html", context)
    try:
        ended = opt_out(tester.event, tester.participant, request.POST.getlist("topic"), closed=_closing(tester))
    except InputError as odd:  # a topic of an edition that is gone
        messages.error(request, f"{odd}.")
        return redirect("tester:topics", study=tester.access.hosted.token)
    if ended:
        messages.info(request, _ENDED)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.SPARED, waits=False)
def spared(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show that no session without an avoided topic is left."""
    event_plan = tester.event.study.event
    context = {"access": tester.access, "contact": event_plan.contact if event_plan else ""}
    return render(request, "web/tester/spared.html", context)


def _closing(tester: TesterContext) -> Callable[[Session], EventContext]:
    def let_go(session: Session) -> EventContext:
        close_session(tester.access.hosted, session)
        return event_of(tester.access.hosted, session.edition)

    return let_go


_SLOT_STEPS = (Step.SLOT, Step.INSTRUCTIONS)


@for_testers(*_SLOT_STEPS, waits=False)
def slot(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Offer time slots, or book one."""
    membership, now, zone = tester.access.membership, tester.event.clock.now(), zone_of(tester.event.study)
    error = ""
    if request.method == "POST":
        try:
            book(tester.access.account, membership, request.POST.get("slot", ""), now)
            return redirect("tester:home", study=tester.access.hosted.token)
        except Conflict as conflict:
            error = f"{conflict}."
    own = booked_slot(membership, now)
    times = [
        {
            "token": offer.slot.token,
            "when": span_text(offer.slot.begins, offer.slot.ends, zone),
            "where": offer.slot.where,
            "left": offer.left,
            "is_own": own is not None and own.pk == offer.slot.pk,
        }
        for offer in offered(tester.access.hosted, membership.role, now)
    ]
    context = {"access": tester.access, "times": times, "own": own, "fault": error}
    return render(request, "web/tester/slot.html", context, status=409 if error else 200)
