"""The pages after a session and after all sessions: questionnaires, guesses and thanks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from theodolite.domain.annotation import Answer
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict
from theodolite.domain.event_record import BlindingGuess, GuessedThing
from theodolite.domain.identity import version_of
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.session import Session
from theodolite.events.consent import is_limit_reached
from theodolite.events.rules import Step
from theodolite.web.accounts.invitations import completion_of
from theodolite.web.questions.page import FormPage, form_page
from theodolite.web.tester.context import TesterContext, alias_of, for_testers, n_sessions_offered, session_position

_TRIES = 3
"""Attempts to store a revision when others arrive at the same moment; count."""


@for_testers(Step.QUESTIONS)
def first_open(_request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Redirect to the first questionnaire of a session that is not submitted."""
    questionnaires, pending = _questionnaires(tester, session_no), tester.to_answer(tester.session(session_no))
    if not pending:  # handed in a moment ago
        return redirect("tester:home", study=tester.access.hosted.token)
    number = questionnaires.index(pending[0]) + 1
    return redirect("tester:questionnaire", study=tester.access.hosted.token, session_no=session_no, number=number)


@for_testers(Step.QUESTIONS)
def questionnaire(request: HttpRequest, tester: TesterContext, session_no: int, number: int) -> HttpResponse:
    """Show a questionnaire of a session, or store its answers; answers after its submission are ignored."""
    session, questionnaires = tester.session(session_no), _questionnaires(tester, session_no)
    pending = tester.to_answer(session)
    if not 1 <= number <= len(questionnaires) or questionnaires[number - 1] not in pending:
        return redirect("tester:home", study=tester.access.hosted.token)
    try:
        return form_page(request, _form(tester, session, questionnaires[number - 1]))
    except Conflict:
        return redirect("tester:home", study=tester.access.hosted.token)


def _questionnaires(tester: TesterContext, session_no: int) -> tuple[Questionnaire, ...]:
    session = tester.session(session_no)
    return tester.event.study.questionnaires_after(session.scenario, session.level)


def _form(tester: TesterContext, session: Session, questionnaire: Questionnaire) -> FormPage:
    latest = _latest(tester, session, questionnaire)

    def save(answers: tuple[Answer, ...], is_done: bool) -> None:  # noqa: FBT001 - the page calls it so
        _save(tester, session, questionnaire, answers, submitted=is_done)

    part = ("questionnaires", questionnaire.name)
    read = tester.read.study.questionnaire(questionnaire.name)  # answers are kept by the names that both share
    return FormPage(
        instrument=read.instrument,
        answers=latest.answers if latest else (),
        save=save,
        next_page=reverse("tester:home", args=[tester.access.hosted.token]),
        template="web/tester/questions.html",
        context={
            "access": tester.access,
            "title": read.title or _("Questions"),
            "about": read.about,
            "language_of_words": tester.read.language_of(part),
            "alias": alias_of(session),
            "position": session_position(tester, session),
            "of": n_sessions_offered(tester),
        },
    )


def _latest(tester: TesterContext, session: Session, questionnaire: Questionnaire) -> QuestionnaireResponse | None:
    responses = tester.event.responses.of_session(session.key)
    return next((response for response in responses if response.questionnaire == questionnaire.name), None)


def _save(
    tester: TesterContext,
    session: Session,
    questionnaire: Questionnaire,
    answers: tuple[Answer, ...],
    *,
    submitted: bool,
) -> None:
    """Store another revision; if one arrives at the same moment, this one follows it.

    Raises:
        Conflict: If it was handed in before.
    """
    for left in reversed(range(_TRIES)):
        before = _latest(tester, session, questionnaire)
        response = QuestionnaireResponse(
            session=session.key,
            participant=tester.participant,
            questionnaire=questionnaire.name,
            instrument_version=version_of(questionnaire),
            answers=answers,
            revision=before.revision + 1 if before else 1,
            submitted=submitted,
        )
        try:
            tester.event.responses.add(response)
        except Conflict:
            if not left or (before and before.submitted):
                raise
        else:
            return


_LEVELS = {
    Level.RED_TEAMING.value: lazy("to make the application fail"),
    Level.FIELD_TESTING.value: lazy("to use it as in everyday life"),
}

_ENOUGH = lazy(
    "Your part is complete: this event limits the amount of difficult content for each person, and you have reached "
    "the limit. You did nothing wrong, and nothing is missing."
)

_SPARED = lazy(
    "Your part is complete: the remaining tasks contain topics that you opted out of. "
    "You did nothing wrong, and nothing is missing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessQuestion:
    """One question about the blinding.

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
def guess(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for a guess about each session, after everything else."""
    questions = _questions(tester)
    context = {"access": tester.access, "questions": questions}
    if request.method != "POST":
        return render(request, "web/tester/guess.html", context)
    guesses = [(question, request.POST.get(question.field)) for question in questions]
    if any(answer not in {"", *(value for value, _ in question.options)} for question, answer in guesses):
        context["fault"] = _("Answer every question; “I do not know” is an answer.")
        return render(request, "web/tester/guess.html", context, status=422)
    for question, answer in guesses:
        options = tuple(value for value, _ in question.options)
        believed = BlindingGuess(
            session=question.session.key,
            about=question.about,
            guess=answer or "",
            options=options,
            at=tester.event.clock.now(),
        )
        tester.event.responses.add_guess(believed)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.DONE)
def done(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Thank the tester, with the completion code if there is one."""
    n = sum(session.is_over for session in tester.sessions)
    event_plan = tester.event.study.event
    is_enough = n < tester.plan.sessions and is_limit_reached(tester.event, tester.participant)
    is_spared = n < tester.plan.sessions and not is_enough and n_sessions_offered(tester) < tester.plan.sessions
    completed = completion_of(tester.access.membership)
    context = {
        "access": tester.access,
        "said": ngettext(
            "You completed %(n)s session. Everything is saved.", "You completed %(n)s sessions. Everything is saved.", n
        )
        % {"n": n},
        "enough": _ENOUGH if is_enough else _SPARED if is_spared else "",
        "code": completed[0] if completed else "",
        "back": completed[1] if completed else "",
        "contact": event_plan.contact if event_plan else "",
    }
    return render(request, "web/tester/done.html", context)


def _questions(tester: TesterContext) -> list[GuessQuestion]:
    finished = [session for session in tester.sessions if session.is_over]
    questions = [
        GuessQuestion(
            field=f"application-{session.place + 1}",
            ask=_("Which application do you think %(alias)s was?") % {"alias": alias_of(session)},
            session=session,
            about=GuessedThing.APPLICATION,
            options=[(name, name) for name in _names(tester, session)],
        )
        for session in finished
    ]
    level = GuessQuestion(
        field="level",
        ask=_("What do you think was your task in this event?"),
        session=finished[0],
        about=GuessedThing.LEVEL,
        options=[(value, str(label)) for value, label in _LEVELS.items()],
    )
    return [*questions, level]


def _names(tester: TesterContext, session: Session) -> list[str]:
    return sorted({application.name for application in tester.in_release(session).event.study.applications})
