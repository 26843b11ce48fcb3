"""Questions after a session, one questionnaire after the other; saved answer by answer, handed in once."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from theodolite.domain.annotation import Answer
from theodolite.domain.errors import Conflict
from theodolite.domain.identity import version_of
from theodolite.domain.questionnaire import Questionnaire, QuestionnaireResponse
from theodolite.domain.session import Session
from theodolite.testing.steps import Step
from theodolite.web.questions.sheet import Sheet, sheet_page
from theodolite.web.tester.visit import Visit, for_testers

_TRIES = 3
"""Savings of one person that may come at the same moment; count."""


@for_testers(Step.QUESTIONS)
def page(request: HttpRequest, visit: Visit, place: int) -> HttpResponse:
    """Ask the next questionnaire of a session, or keep what was answered."""
    session = visit.session(place)
    questionnaire = visit.to_answer(session)[0]
    given = _latest(visit, session, questionnaire)

    def keep(answers: tuple[Answer, ...], is_done: bool) -> None:  # noqa: FBT001 - the sheet calls it so
        _keep(visit, session, questionnaire, answers, submitted=is_done)

    sheet = Sheet(
        instrument=questionnaire.instrument,
        answers=given.answers if given else (),
        keep=keep,
        next_page=reverse("tester:home", args=[visit.here.hosted.token]),
        template="web/tester/questions.html",
        context={
            "here": visit.here,
            "title": questionnaire.title or "Questions",
            "about": questionnaire.about,
            "alias": session.alias,
            "place": place,
            "of": visit.plan.sessions,
        },
    )
    return sheet_page(request, sheet)


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
            instrument_version=version_of(questionnaire.instrument),
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
