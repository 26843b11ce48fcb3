"""Questions after a session, one questionnaire after the other; saved answer by answer, handed in once."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from theodolite.domain.annotation import Answer
from theodolite.domain.errors import Conflict
from theodolite.domain.identity import version_of
from theodolite.domain.people.session import Session
from theodolite.domain.questionnaire import Questionnaire, QuestionnaireResponse
from theodolite.testing.steps import Step
from theodolite.web.questions.sheet import Sheet, sheet_page
from theodolite.web.tester.aliases import alias_of
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.order import n_offered, nth
from theodolite.web.tester.visit import Visit

_TRIES = 3
"""Savings of one person that may come at the same moment; count."""


@for_testers(Step.QUESTIONS)
def first_open(_request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Lead to the first questionnaire of a session that is not handed in."""
    asked, pending = _asked(visit, place), visit.to_answer(visit.session(place))
    if not pending:  # handed in a moment ago
        return redirect("tester:home", study=visit.here.hosted.token)
    number = asked.index(pending[0]) + 1
    return redirect("tester:questionnaire", study=visit.here.hosted.token, place=place, number=number)


@for_testers(Step.QUESTIONS)
def page(request: HttpRequest, visit: Visit, place: int, number: int) -> HttpResponse:
    """Ask a questionnaire of a session, or keep what was answered; what comes after it was handed in is let go."""
    session, asked = visit.session(place), _asked(visit, place)
    pending = visit.to_answer(session)
    if not 1 <= number <= len(asked) or asked[number - 1] not in pending:
        return redirect("tester:home", study=visit.here.hosted.token)
    try:
        return sheet_page(request, _sheet(visit, session, asked[number - 1]))
    except Conflict:
        return redirect("tester:home", study=visit.here.hosted.token)


def _asked(visit: Visit, place: int) -> tuple[Questionnaire, ...]:
    session = visit.session(place)
    return visit.venue.study.questionnaires_after(session.scenario, session.level)


def _sheet(visit: Visit, session: Session, questionnaire: Questionnaire) -> Sheet:
    given = _latest(visit, session, questionnaire)

    def keep(answers: tuple[Answer, ...], is_done: bool) -> None:  # noqa: FBT001 - the sheet calls it so
        _keep(visit, session, questionnaire, answers, submitted=is_done)

    part = ("questionnaires", questionnaire.name)
    read = visit.read.study.questionnaire(questionnaire.name)  # answers are kept by the names that both share
    return Sheet(
        instrument=read.instrument,
        answers=given.answers if given else (),
        keep=keep,
        next_page=reverse("tester:home", args=[visit.here.hosted.token]),
        template="web/tester/questions.html",
        context={
            "here": visit.here,
            "title": read.title or _("Questions"),
            "about": read.about,
            "language_of_words": visit.read.language_of(part),
            "alias": alias_of(session),
            "place": nth(visit, session),
            "of": n_offered(visit),
        },
    )


def _latest(visit: Visit, session: Session, questionnaire: Questionnaire) -> QuestionnaireResponse | None:
    given = visit.venue.store.responses_to(session.key)
    return next((one for one in given if one.questionnaire == questionnaire.name), None)


def _keep(
    visit: Visit, session: Session, questionnaire: Questionnaire, answers: tuple[Answer, ...], *, submitted: bool
) -> None:
    """Store a further revision; one that came at the same moment makes this one the next.

    Raises:
        Conflict: If it was handed in before.
    """
    for left in reversed(range(_TRIES)):
        before = _latest(visit, session, questionnaire)
        response = QuestionnaireResponse(
            session=session.key,
            participant=visit.participant,
            questionnaire=questionnaire.name,
            instrument_version=version_of(questionnaire),
            answers=answers,
            revision=before.revision + 1 if before else 1,
            submitted=submitted,
        )
        try:
            visit.venue.store.keep_response(response)
        except Conflict:
            if not left or (before and before.submitted):
                raise
        else:
            return
