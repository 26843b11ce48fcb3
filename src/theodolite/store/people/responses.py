"""Questionnaire responses: every revision stays, the latest one counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from theodolite.domain.annotation import Answer
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.people.session import SessionState
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.store.models.people import (
    LiveDialogueRow,
    ResponseAnswerRow,
    ResponseRow,
    SessionRow,
)
from theodolite.store.people.persons import profiles
from theodolite.store.reading import grouped
from theodolite.store.results import number_in
from theodolite.store.votes import answer_of


def keep_response(given: QuestionnaireResponse) -> None:
    """Store a further revision of a response.

    Raises:
        Conflict: If that revision is there already, or an earlier one was submitted.
        NotFound: If there is no such session.
    """
    with transaction.atomic():
        session = SessionRow.objects.select_for_update().filter(key=given.session).first()
        if session is None:
            message = f"no session has the key {given.session}"
            raise NotFound(message)
        earlier = ResponseRow.objects.filter(session=session, questionnaire=given.questionnaire)
        if earlier.filter(submitted=True).exists() or session.state == SessionState.WITHDRAWN.value:
            message = f"the response to `{given.questionnaire}` was handed in before, or taken back; it stays as it is"
            raise Conflict(message)
        row = ResponseRow.objects.create(
            session=session,
            questionnaire=given.questionnaire,
            instrument_version=given.instrument_version,
            revision=given.revision,
            submitted=given.submitted,
            created=timezone.now(),
        )
        ResponseAnswerRow.objects.bulk_create(
            _answer_row(row, position, answer) for position, answer in enumerate(given.answers)
        )


def responses(run: str) -> list[QuestionnaireResponse]:
    """Return the latest revision of every response to the sessions of a run, in the order of the sessions.

    Args:
        run: Key of the run.
    """
    return _latest(ResponseRow.objects.filter(session__run__key=run))


def responses_to(session: str) -> list[QuestionnaireResponse]:
    """Return the latest revision of every response after one session."""
    return _latest(ResponseRow.objects.filter(session__key=session))


def study_responses(study: str) -> list[QuestionnaireResponse]:
    """Return the latest revision of every response to the sessions of a study, whichever edition and run."""
    return _latest(ResponseRow.objects.filter(session__study=study))


def _latest(rows: QuerySet[ResponseRow]) -> list[QuestionnaireResponse]:
    valid = rows.exclude(session__state=SessionState.WITHDRAWN.value).select_related("session__participant")
    latest = {(row.session_id, row.questionnaire): row for row in valid.order_by("session_id", "revision")}
    answer_rows = ResponseAnswerRow.objects.filter(response_id__in=[row.id for row in latest.values()])
    answers = grouped(answer_rows.order_by("response_id", "position"), "response_id")
    dialogues = _dialogues([row.session_id for row in latest.values()])
    people = profiles([row.session.participant.key for row in latest.values()])
    return [
        QuestionnaireResponse(
            session=row.session.key,
            participant=row.session.participant.key,
            questionnaire=row.questionnaire,
            instrument_version=row.instrument_version,
            answers=tuple(answer_of(answer) for answer in answers.get(row.id, [])),
            revision=row.revision,
            submitted=row.submitted,
            application=row.session.application,
            scenario=row.session.scenario,
            level=Level(row.session.level),
            dialogues=tuple(dialogues.get(row.session_id, ())),
            groups=people[row.session.participant.key].attributes if row.session.participant.key in people else {},
        )
        for row in latest.values()
    ]


def _dialogues(sessions: Sequence[int]) -> dict[int, list[str]]:
    """Return the keys of the dialogues that some sessions brought, in order; those without a unit brought none."""
    rows = LiveDialogueRow.objects.filter(session_id__in=sessions, unit__isnull=False).order_by("session_id", "number")
    found: dict[int, list[str]] = defaultdict(list)
    for session, unit in rows.values_list("session_id", "unit__key"):
        found[session].append(unit)
    return found


def _answer_row(response: ResponseRow, position: int, answer: Answer) -> ResponseAnswerRow:
    return ResponseAnswerRow(
        response=response,
        position=position,
        question=answer.question,
        outcome=answer.outcome.value,
        value=answer.value,
        number=number_in(answer.value),
        turn=answer.turn,
        replicate=answer.replicate,
        reasoning=answer.reasoning,
        raw=answer.raw,
    )
