"""The repository of questionnaire responses and of guesses about the blinding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils import timezone

from theodolite.domain.annotation import Answer
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.domain.people.session import SessionState
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.store.events.participants import profiles_of, session_id
from theodolite.store.executor import Repository, reads, writes
from theodolite.store.models.people import (
    GuessRow,
    LiveDialogueRow,
    ResponseAnswerRow,
    ResponseRow,
    SessionRow,
)
from theodolite.store.reading import grouped
from theodolite.store.results import number_in
from theodolite.store.votes import answer_of


class ResponseRepository(Repository):
    """Questionnaire responses, of which every revision is stored, and guesses about the blinding."""

    @writes
    def add(self, response: QuestionnaireResponse) -> None:
        """Store another revision of a response.

        Raises:
            Conflict: If that revision is there already, or an earlier one was submitted.
            NotFound: If there is no such session.
        """
        session = SessionRow.objects.select_for_update().filter(key=response.session).first()
        if session is None:
            message = f"no session has the key {response.session}"
            raise NotFound(message)
        earlier = ResponseRow.objects.filter(session=session, questionnaire=response.questionnaire)
        if earlier.filter(submitted=True).exists() or session.state == SessionState.WITHDRAWN.value:
            message = (
                f"the response to `{response.questionnaire}` was handed in before, or taken back; it stays as it is"
            )
            raise Conflict(message)
        row = ResponseRow.objects.create(
            session=session,
            questionnaire=response.questionnaire,
            instrument_version=response.instrument_version,
            revision=response.revision,
            submitted=response.submitted,
            created=timezone.now(),
        )
        ResponseAnswerRow.objects.bulk_create(
            _answer_row(row, position, answer) for position, answer in enumerate(response.answers)
        )

    @reads
    def of_session(self, session: str) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response to a session."""
        return _latest(ResponseRow.objects.filter(session__key=session))

    @reads
    def in_study(self, study: str) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response to the sessions of a study, of all releases and runs."""
        return _latest(ResponseRow.objects.filter(session__study=study))

    @reads
    def counts(self, study: str) -> tuple[int, int]:
        """Return how many guesses and submitted responses a study has; counts."""
        guesses = GuessRow.objects.filter(session__study=study).count()
        return guesses, ResponseRow.objects.filter(session__study=study, submitted=True).count()

    @writes
    def add_guess(self, guess: BlindingGuess) -> None:
        """Store what a tester guesses about a session.

        Raises:
            Conflict: If the tester has guessed that before.
            NotFound: If there is no such session.
        """
        GuessRow.objects.create(
            session_id=session_id(guess.session),
            about=guess.about.value,
            guess=guess.guess,
            options="\n".join(guess.options),
            at=guess.at,
        )

    @reads
    def guesses(self, study: str) -> list[BlindingGuess]:
        """Return the guesses of a study's testers, the oldest first."""
        rows = GuessRow.objects.filter(session__study=study).select_related("session").order_by("id")
        return [
            BlindingGuess(
                session=row.session.key,
                about=GuessedThing(row.about),
                guess=row.guess,
                options=tuple(row.options.splitlines()),
                at=row.at,
            )
            for row in rows
        ]


def _latest(rows: QuerySet[ResponseRow]) -> list[QuestionnaireResponse]:
    valid = rows.exclude(session__state=SessionState.WITHDRAWN.value).select_related("session__participant")
    latest = {(row.session_id, row.questionnaire): row for row in valid.order_by("session_id", "revision")}
    answer_rows = ResponseAnswerRow.objects.filter(response_id__in=[row.id for row in latest.values()])
    answers = grouped(answer_rows.order_by("response_id", "position"), "response_id")
    dialogues = _dialogues([row.session_id for row in latest.values()])
    people = profiles_of([row.session.participant.key for row in latest.values()])
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
    """Return the keys of the completed dialogues of the given sessions, in order."""
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
