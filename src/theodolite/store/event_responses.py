"""The repository of codings: codes, resolutions and quote releases of open answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TypeVar

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from theodolite.domain.annotation import Answer
from theodolite.domain.coding import Coding, CodingResolution, HiddenStretch, OpenAnswer, QuoteRelease
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.event_record import BlindingGuess, GuessedThing
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.session import SessionState
from theodolite.store.event_sessions import profiles_of, session_id
from theodolite.store.executor import Repository, reads, writes
from theodolite.store.models.events import (
    CodingCodeRow,
    CodingResolutionRow,
    CodingRow,
    CodingTalkerRow,
    GuessRow,
    LiveDialogueRow,
    QuoteReleaseRow,
    QuoteStretchRow,
    ResolvedCodeRow,
    ResponseAnswerRow,
    ResponseRow,
    SessionRow,
)
from theodolite.store.results import answer_of, ids_of_participants, number_in
from theodolite.store.statements import database_now, grouped, one_at_a_time, rows_of

CodedRow = TypeVar("CodedRow", CodingRow, CodingResolutionRow, QuoteReleaseRow)


class CodingRepository(Repository):
    """Codings of open answers, their resolutions and quote releases; every revision is stored."""

    @writes
    def add_coding(self, coding: Coding, *, choose: Callable[[Mapping[int, str]], int]) -> None:
        """Store another revision of a coder's codes for an answer.

        Args:
            coding: The coding.
            choose: From the coders of the answer by slot to the slot of this coder; called under the lock of the
                session. A `Conflict` that it raises cancels the call.

        Raises:
            Conflict: If that revision exists already.
            NotFound: If there is no such session.
        """
        one_at_a_time(f"coding {coding.answer.session}")
        session, (coder,) = _session(coding.answer), ids_of_participants({coding.coder}).values()
        earlier = _about(CodingRow.objects.filter(session=session), coding.answer)
        slot = choose(dict(earlier.order_by("id").values_list("slot", "coder__key")))
        _require_next_revision(earlier.filter(slot=slot), coding.revision)
        row = CodingRow.objects.create(
            session=session,
            questionnaire=coding.answer.questionnaire,
            question=coding.answer.question,
            slot=slot,
            coder_id=coder,
            codebook=coding.codebook,
            revision=coding.revision,
            memo=coding.memo,
            created=database_now(),
        )
        CodingCodeRow.objects.bulk_create(
            CodingCodeRow(coding=row, position=index, code=code) for index, code in enumerate(coding.codes)
        )

    @reads
    def codings(self, study: str) -> list[Coding]:
        """Return the latest coding of each coder and answer of a study, ordered by answer and coder."""
        rows = _valid(CodingRow.objects.filter(session__study=study)).select_related("coder")
        latest = {(*_key(row), row.slot): row for row in rows.order_by("id")}
        codes = grouped(CodingCodeRow.objects.filter(coding__in=latest.values()).order_by("position"), "coding_id")
        return [
            Coding(
                answer=_answer(row),
                coder=row.coder.key,
                codes=tuple(code.code for code in codes.get(row.pk, [])),
                codebook=row.codebook,
                memo=row.memo,
                revision=row.revision,
                at=row.created,
            )
            for _, row in sorted(latest.items())
        ]

    @writes
    def add_resolution(self, resolution: CodingResolution) -> None:
        """Store another revision of the resolution of a disputed answer.

        Raises:
            Conflict: If that revision exists already.
            NotFound: If there is no such session.
        """
        one_at_a_time(f"coding {resolution.answer.session}")
        session, people = _session(resolution.answer), ids_of_participants(set(resolution.participants))
        earlier = _about(CodingResolutionRow.objects.filter(session=session), resolution.answer)
        _require_next_revision(earlier, resolution.revision)
        row = CodingResolutionRow.objects.create(
            session=session,
            questionnaire=resolution.answer.questionnaire,
            question=resolution.answer.question,
            codebook=resolution.codebook,
            revision=resolution.revision,
            is_agreed=resolution.codes is not None,
            rationale=resolution.rationale,
            created=database_now(),
        )
        ResolvedCodeRow.objects.bulk_create(
            ResolvedCodeRow(resolution=row, position=index, code=code)
            for index, code in enumerate(resolution.codes or ())
        )
        CodingTalkerRow.objects.bulk_create(
            CodingTalkerRow(resolution=row, participant_id=people[key]) for key in resolution.participants
        )

    @reads
    def resolutions(self, study: str) -> list[CodingResolution]:
        """Return the latest resolution of each discussed answer of a study, in the order of answers."""
        rows = _valid(CodingResolutionRow.objects.filter(session__study=study))
        latest = {_key(row): row for row in rows.order_by("id")}
        result = list(latest.values())
        codes = grouped(ResolvedCodeRow.objects.filter(resolution__in=result).order_by("position"), "resolution_id")
        talkers = CodingTalkerRow.objects.filter(resolution__in=result).select_related("participant").order_by("id")
        people = grouped(talkers, "resolution_id")
        return [
            CodingResolution(
                answer=_answer(row),
                codebook=row.codebook,
                codes=tuple(code.code for code in codes.get(row.pk, [])) if row.is_agreed else None,
                participants=tuple(person.participant.key for person in people.get(row.pk, [])),
                rationale=row.rationale,
                revision=row.revision,
            )
            for _, row in sorted(latest.items())
        ]

    @writes
    def add_quote_release(self, release: QuoteRelease) -> None:
        """Store another revision of the permission to quote an answer.

        Raises:
            Conflict: If that revision exists already.
            NotFound: If there is no such session.
        """
        one_at_a_time(f"coding {release.answer.session}")
        session, (by,) = _session(release.answer), ids_of_participants({release.by}).values()
        earlier = _about(QuoteReleaseRow.objects.filter(session=session), release.answer)
        _require_next_revision(earlier, release.revision)
        row = QuoteReleaseRow.objects.create(
            session=session,
            questionnaire=release.answer.questionnaire,
            question=release.answer.question,
            by_id=by,
            revision=release.revision,
            is_given=release.is_given,
            created=database_now(),
        )
        QuoteStretchRow.objects.bulk_create(
            QuoteStretchRow(release=row, start=one.start, end=one.end) for one in release.hidden
        )

    @reads
    def quote_releases(self, study: str) -> list[QuoteRelease]:
        """Return the latest permission to quote, granted or revoked, of each reviewed answer of a study."""
        rows = _valid(QuoteReleaseRow.objects.filter(session__study=study)).select_related("by")
        latest = {_key(row): row for row in rows.order_by("id")}
        hidden = grouped(QuoteStretchRow.objects.filter(release__in=latest.values()).order_by("start"), "release_id")
        return [
            QuoteRelease(
                answer=_answer(row),
                by=row.by.key,
                hidden=tuple(HiddenStretch(start=one.start, end=one.end) for one in hidden.get(row.pk, [])),
                is_given=row.is_given,
                revision=row.revision,
            )
            for _, row in sorted(latest.items())
        ]


def forget_codings(sessions: Iterable[int]) -> None:
    """Delete all codings of the answers of some sessions.

    Args:
        sessions: Ids of the sessions' rows.
    """
    ids = list(sessions)
    for rows in (CodingRow, CodingResolutionRow, QuoteReleaseRow):
        rows.objects.filter(session_id__in=ids).delete()


def mask_notes(sessions: Iterable[int], mask: Callable[[str], str]) -> None:
    """Mask identifying details in memos and rationales about the answers of some sessions.

    Args:
        sessions: Ids of the sessions' rows.
        mask: Masks them in a text.
    """
    ids = list(sessions)
    for coding in CodingRow.objects.filter(session_id__in=ids).exclude(memo=""):
        coding.memo = mask(coding.memo)
        coding.save(update_fields=["memo"])
    for resolution in CodingResolutionRow.objects.filter(session_id__in=ids).exclude(rationale=""):
        resolution.rationale = mask(resolution.rationale)
        resolution.save(update_fields=["rationale"])


def _session(answer: OpenAnswer) -> SessionRow:
    session = SessionRow.objects.filter(key=answer.session).exclude(state=SessionState.WITHDRAWN.value).first()
    if session is None:
        message = f"no session has the key {answer.session}"
        raise NotFound(message)
    return session


def _about(rows: QuerySet[CodedRow], answer: OpenAnswer) -> QuerySet[CodedRow]:
    return rows.filter(questionnaire=answer.questionnaire, question=answer.question)


def _require_next_revision(earlier: QuerySet[CodedRow], revision: int) -> None:
    last = earlier.aggregate(last=Max("revision"))["last"] or 0
    if revision != last + 1:
        message = f"somebody was faster: revision {last} is there, and {revision} does not follow it; look again"
        raise Conflict(message)


def _valid(rows: QuerySet[CodedRow]) -> QuerySet[CodedRow]:
    return rows.exclude(session__state=SessionState.WITHDRAWN.value).select_related("session")


def _key(row: CodedRow) -> tuple[int, str, str]:
    return row.session_id, row.questionnaire, row.question


def _answer(row: CodedRow) -> OpenAnswer:
    return OpenAnswer(session=row.session.key, questionnaire=row.questionnaire, question=row.question)


class ResponseRepository(Repository):
    """Questionnaire responses, of which every revision is stored, and guesses about the blinding."""

    @writes
    def add(self, response: QuestionnaireResponse) -> None:
        """Store another revision of a response.

        Raises:
            Conflict: If that revision exists already, or an earlier one was submitted.
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
    def about(
        self, study: str, applications: Mapping[str, str], scenarios: Mapping[str, str], questionnaire: str = ""
    ) -> list[QuestionnaireResponse]:
        """Return the same for sessions with a dialogue about some versions of applications and scenarios.

        Args:
            study: Name of the study.
            applications: Version of each application by name.
            scenarios: Version of each scenario by name.
            questionnaire: Name of the questionnaire; empty for all.
        """
        rows = _about_versions(study, applications, scenarios)
        return _latest(rows.filter(questionnaire=questionnaire) if questionnaire else rows)

    @reads
    def count_by_questionnaire(
        self, study: str, applications: Mapping[str, str], scenarios: Mapping[str, str]
    ) -> dict[str, int]:
        """Return the number of sessions with a response to each questionnaire, about the same sessions; counts."""
        rows = _about_versions(study, applications, scenarios).order_by().values_list("questionnaire")
        return dict(rows.annotate(n=Count("session_id", distinct=True)))

    @reads
    def counts(self, study: str) -> tuple[int, int]:
        """Return the number of guesses and submitted responses of a study; counts."""
        guesses = GuessRow.objects.filter(session__study=study).count()
        return guesses, ResponseRow.objects.filter(session__study=study, submitted=True).count()

    @writes
    def add_guess(self, guess: BlindingGuess) -> None:
        """Store a tester's guess about a session.

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


def about_current(applications: Mapping[str, str], scenarios: Mapping[str, str], prefix: str = "") -> Q:
    """Return the condition that a session is about one of some versions, as `testing.people.counted` requires.

    Args:
        applications: Version of each application by name.
        scenarios: Version of each scenario by name.
        prefix: Lookup from the rows to their session, e.g. `session__`; empty for sessions.
    """

    def one_of(column: str, versions: Mapping[str, str]) -> Q:
        pairs = (Q(**{prefix + column: name, f"{prefix}{column}_version": one}) for name, one in versions.items())
        return reduce(or_, pairs, Q(pk__in=()))

    return one_of("application", applications) & one_of("scenario", scenarios)


def _about_versions(study: str, applications: Mapping[str, str], scenarios: Mapping[str, str]) -> QuerySet[ResponseRow]:
    """Return all revisions of the responses to sessions with a dialogue about some versions."""
    rows = ResponseRow.objects.filter(about_current(applications, scenarios, "session__"), session__study=study)
    met = Exists(LiveDialogueRow.objects.filter(session=OuterRef("session")))
    return rows.exclude(session__state=SessionState.WITHDRAWN.value).filter(met)


def _latest(rows: QuerySet[ResponseRow]) -> list[QuestionnaireResponse]:
    valid = rows.exclude(session__state=SessionState.WITHDRAWN.value).select_related("session__participant")
    latest = {(row.session_id, row.questionnaire): row for row in valid.order_by("session_id", "revision")}
    ids = [row.id for row in latest.values()]
    answers = grouped(rows_of(ResponseAnswerRow, "response_id", ids, "response_id", "position"), "response_id")
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
    result: dict[int, list[str]] = defaultdict(list)
    for session, unit in rows.values_list("session_id", "unit__key"):
        result[session].append(unit)
    return result


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
