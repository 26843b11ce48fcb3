"""The end of the way: what a tester believes to have met, and thanks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from theodolite.domain.dialogue import Level
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.session import Session
from theodolite.testing.steps import Step
from theodolite.usecases.people.exposure import has_had_enough
from theodolite.web.accounts.recruiting import completion_of
from theodolite.web.tester.aliases import alias_of
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.order import n_offered
from theodolite.web.tester.visit import Visit

_LEVELS = {
    Level.RED_TEAMING.value: lazy("to make the application fail"),
    Level.FIELD_TESTING.value: lazy("to use it as people do in everyday life"),
}

_ENOUGH = lazy(
    "Your part ends here, and it is complete: this event has a limit on how much anybody is asked to bear, and you "
    "have come to it. You did nothing wrong, and nothing is missing."
)

_SPARED = _(
    "What is left touches something that you would rather not meet, so your part ends here, and it is complete. "
    "You did nothing wrong, and nothing is missing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessQuestion:
    """One guess that is asked for.

    Attributes:
        field: Its name in the form.
        ask: Its words.
        session: The session that it is about.
        about: What is guessed.
        options: Values and words, in an order that tells nothing.
    """

    field: str
    ask: str
    session: Session
    about: GuessedThing
    options: Sequence[tuple[str, str]]


@for_testers(Step.GUESS)
def guess(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask what a tester believes to have met, once for each session, when all else is over."""
    questions = _questions(visit)
    context = {"here": visit.here, "questions": questions}
    if request.method != "POST":
        return render(request, "web/tester/guess.html", context)
    given = [(question, request.POST.get(question.field)) for question in questions]
    if any(answer not in {"", *(value for value, _ in question.options)} for question, answer in given):
        context["fault"] = _("Answer every question; “I do not know” is an answer.")
        return render(request, "web/tester/guess.html", context, status=422)
    for question, answer in given:
        options = tuple(value for value, _ in question.options)
        believed = BlindingGuess(
            session=question.session.key,
            about=question.about,
            guess=answer or "",
            options=options,
            at=visit.venue.clock.now(),
        )
        visit.venue.store.keep_guess(believed)
    return redirect("tester:home", study=visit.here.hosted.token)


@for_testers(Step.DONE)
def done(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say thank you, and hand over the completion code where there is one."""
    n = sum(session.is_over for session in visit.sessions)
    event = visit.venue.study.event
    is_enough = n < visit.plan.sessions and has_had_enough(visit.venue, visit.participant)
    is_spared = n < visit.plan.sessions and not is_enough and n_offered(visit) < visit.plan.sessions
    completed = completion_of(visit.here.membership)
    context = {
        "here": visit.here,
        "said": ngettext(
            "You held %(n)s session. Everything is stored.", "You held %(n)s sessions. Everything is stored.", n
        )
        % {"n": n},
        "enough": _ENOUGH if is_enough else _SPARED if is_spared else "",
        "code": completed[0] if completed else "",
        "back": completed[1] if completed else "",
        "contact": event.contact if event else "",
    }
    return render(request, "web/tester/done.html", context)


def _questions(visit: Visit) -> list[GuessQuestion]:
    held = [session for session in visit.sessions if session.is_over]
    asked = [
        GuessQuestion(
            field=f"application-{session.place + 1}",
            ask=_("Which application was %(alias)s, do you think?") % {"alias": alias_of(session)},
            session=session,
            about=GuessedThing.APPLICATION,
            options=[(name, name) for name in _names(visit, session)],
        )
        for session in held
    ]
    level = GuessQuestion(
        field="level",
        ask=_("What do you think this event wanted of you?"),
        session=held[0],
        about=GuessedThing.LEVEL,
        options=[(value, str(words)) for value, words in _LEVELS.items()],
    )
    return [*asked, level]


def _names(visit: Visit, session: Session) -> list[str]:
    return sorted({application.name for application in visit.seated(session).venue.study.applications})
