"""The repository of codings: codes, resolutions and quote releases of open answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TypeAlias, TypeVar

from django.db import connection
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from theodolite.domain.annotation import Answer
from theodolite.domain.coding import Coding, CodingResolution, GivenCodes, HiddenSpan, OpenAnswer, QuoteRelease
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.event_record import BlindingGuess, GuessedThing
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.session import NOT_ENDED, SessionState
from theodolite.store.event_sessions import profiles_of, session_id
from theodolite.store.executor import Repository, reads, writes
from theodolite.store.models.events import (
    CodingCodeRow,
    CodingResolutionRow,
    CodingRow,
    CodingTalkerRow,
    GuessRow,
    LiveAttemptRow,
    LiveDialogueRow,
    QuoteReleaseRow,
    QuoteStretchRow,
    ResolvedCodeRow,
    ResponseAnswerRow,
    ResponseRow,
    SessionRow,
)
from theodolite.store.models.runs import ParticipantRow
from theodolite.store.results import answer_of, ids_of_participants, number_in
from theodolite.store.statements import database_now, execute, grouped, marks, one_at_a_time, rows_of

AnswerKey: TypeAlias = tuple[int, str, str]
"""Id of a session's row, questionnaire and question."""

ANSWER_KEY = ("session_id", "questionnaire", "question")

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
    def codings(self, study: str, sessions: Sequence[str] | None = None) -> list[Coding]:
        """Return the latest coding of each coder and answer of a study, ordered by answer and coder.

        Args:
            study: Name of the study.
            sessions: Keys of the sessions with the answers; None for all.
        """
        rows = _valid(_of_sessions(CodingRow.objects.filter(session__study=study), sessions)).select_related("coder")
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
    def resolutions(self, study: str, sessions: Sequence[str] | None = None) -> list[CodingResolution]:
        """Return the latest resolution of each discussed answer of a study, in the order of answers.

        Args:
            study: Name of the study.
            sessions: Keys of the sessions with the answers; None for all.
        """
        rows = _valid(_of_sessions(CodingResolutionRow.objects.filter(session__study=study), sessions))
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
            QuoteStretchRow(release=row, start=span.start, end=span.end) for span in release.hidden
        )

    @reads
    def given_codes(self, study: str, sessions: Sequence[str] | None = None) -> dict[AnswerKey, tuple[GivenCodes, ...]]:
        """Return the latest codes of each coder by answer of a study, earliest slot first; codes by name.

        Args:
            study: Name of the study.
            sessions: Keys of the sessions with the answers; None for all.
        """
        keys = [] if sessions is None else [bytes.fromhex(key) for key in sessions]
        among = "" if sessions is None else f"AND key IN ({marks(len(keys))})" if keys else "AND 1 = 0"
        words = _CODINGS.format(joined=_JOINED[connection.vendor], among=among)
        rows = execute(words, [_APART, study, *keys]).fetchall()
        coders = dict(ParticipantRow.objects.filter(id__in={row[4] for row in rows}).values_list("id", "key"))
        known: dict[tuple[int, bytes, str | None], GivenCodes] = {}  # many codings are alike
        result: dict[AnswerKey, dict[int, GivenCodes]] = {}
        for session, questionnaire, question, slot, coder, book, codes in rows:
            kind = coder, bytes(book), codes
            if kind not in known:
                names = tuple(sorted(codes.split(_APART))) if codes is not None else ()
                known[kind] = GivenCodes(coders[coder], kind[1].hex(), names)
            by_slot = result.setdefault((session, questionnaire, question), {})
            by_slot[slot] = known[kind]  # later revisions come later
        return {key: tuple(by_slot[slot] for slot in sorted(by_slot)) for key, by_slot in result.items()}

    @reads
    def resolved_codes(self, study: str, sessions: Sequence[str] | None = None) -> dict[AnswerKey, GivenCodes]:
        """Return the latest outcome of a discussion by answer of a study, or of some sessions."""
        rows = _of_sessions(CodingResolutionRow.objects.filter(session__study=study), sessions).order_by("id")
        codes = _resolved(study)
        return {
            (session, questionnaire, question): GivenCodes(
                "", codebook, tuple(codes.get(number, ())) if is_agreed else None
            )
            for session, questionnaire, question, number, is_agreed, codebook in rows.values_list(
                *ANSWER_KEY, "id", "is_agreed", "codebook"
            )
        }

    @reads
    def checked_for_quotes(self, study: str, sessions: Sequence[str] | None = None) -> dict[AnswerKey, bool]:
        """Return by answer of a study, or of some sessions, whether its latest check permits a quote."""
        rows = _of_sessions(QuoteReleaseRow.objects.filter(session__study=study), sessions).order_by("id")
        return {(*key,): is_given for *key, is_given in rows.values_list(*ANSWER_KEY, "is_given")}

    @reads
    def changed_since(self, study: str, moment: datetime) -> list[str]:
        """Return the keys of the sessions with a coding, a discussion or a check for quotes since a moment."""
        recent = {"session": OuterRef("pk"), "created__gte": moment}
        changed = [Exists(rows.objects.filter(**recent)) for rows in (CodingRow, CodingResolutionRow, QuoteReleaseRow)]
        return list(SessionRow.objects.filter(reduce(or_, changed), study=study).values_list("key", flat=True))

    @reads
    def quote_releases(self, study: str, sessions: Sequence[str] | None = None) -> list[QuoteRelease]:
        """Return the latest permission to quote, granted or revoked, of each reviewed answer of a study.

        Args:
            study: Name of the study.
            sessions: Keys of the sessions with the answers; None for all.
        """
        rows = _valid(_of_sessions(QuoteReleaseRow.objects.filter(session__study=study), sessions)).select_related("by")
        latest = {_key(row): row for row in rows.order_by("id")}
        hidden = grouped(QuoteStretchRow.objects.filter(release__in=latest.values()).order_by("start"), "release_id")
        return [
            QuoteRelease(
                answer=_answer(row),
                by=row.by.key,
                hidden=tuple(HiddenSpan(start=span.start, end=span.end) for span in hidden.get(row.pk, [])),
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


def _of_sessions(rows: QuerySet[CodedRow], sessions: Sequence[str] | None) -> QuerySet[CodedRow]:
    return rows if sessions is None else rows.filter(session__key__in=sessions)


_APART = "\x1f"
"""Separates the codes of a coding in a statement; no form can send it within a line."""

_CODINGS = """
SELECT c.session_id, c.questionnaire, c.question, c.slot, c.coder_id, c.codebook,
    (SELECT {joined}(k.code, %s) FROM store_coding_code AS k WHERE k.coding_id = c.id)
FROM store_coding AS c
WHERE c.session_id IN (SELECT id FROM store_session WHERE study = %s {among}) ORDER BY c.id"""
"""All codings of a study; Django takes five times as long to read them."""

_JOINED = {"sqlite": "GROUP_CONCAT", "postgresql": "STRING_AGG"}


def _resolved(study: str) -> dict[int, list[str]]:
    """Return the codes that were agreed on by the id of their resolution, in order."""
    result: dict[int, list[str]] = defaultdict(list)
    rows = ResolvedCodeRow.objects.filter(resolution__session__study=study).order_by("resolution_id", "position")
    for number, code in rows.values_list("resolution_id", "code"):
        result[number].append(code)
    return result


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
        self,
        study: str,
        applications: Mapping[str, str],
        scenarios: Mapping[str, str],
        questionnaire: str = "",
        sessions: Sequence[str] | None = None,
    ) -> list[QuestionnaireResponse]:
        """Return the same for sessions with a dialogue about some versions of applications and scenarios.

        Args:
            study: Name of the study.
            applications: Version of each application by name.
            scenarios: Version of each scenario by name.
            questionnaire: Name of the questionnaire; empty for all.
            sessions: Keys of the sessions; None for all.
        """
        rows = _about_versions(study, applications, scenarios)
        rows = rows if sessions is None else rows.filter(session__key__in=sessions)
        return _latest(rows.filter(questionnaire=questionnaire) if questionnaire else rows)

    @reads
    def written(
        self,
        study: str,
        applications: Mapping[str, str],
        scenarios: Mapping[str, str],
        asked: tuple[str, str, str],
        sessions: Sequence[str] | None = None,
    ) -> list[tuple[int, str]]:
        """Return id and key of the sessions among these with a submitted text as answer to a question, by id.

        Args:
            study: Name of the study.
            applications: Version of each application by name.
            scenarios: Version of each scenario by name.
            asked: Name and version of the questionnaire, and name of the question.
            sessions: Keys of the sessions; None for all.
        """
        questionnaire, version, question = asked
        text = ResponseAnswerRow.objects.filter(
            response__session=OuterRef("pk"),
            response__questionnaire=questionnaire,
            response__instrument_version=version,
            response__submitted=True,
            question=question,
            value__gt="",
        )
        return _ids_and_keys(_sessions_about(study, applications, scenarios).filter(Exists(text)), sessions)

    @reads
    def noted(
        self,
        study: str,
        applications: Mapping[str, str],
        scenarios: Mapping[str, str],
        sessions: Sequence[str] | None = None,
    ) -> list[tuple[int, str]]:
        """Return id and key of the ended sessions among these in which a tester noted a strategy, by id."""
        attempts = LiveAttemptRow.objects.filter(dialogue__session=OuterRef("pk"))
        ended = _sessions_about(study, applications, scenarios).exclude(state__in=[state.value for state in NOT_ENDED])
        return _ids_and_keys(ended.filter(Exists(attempts)), sessions)

    @reads
    def count_by_questionnaire(
        self, study: str, applications: Mapping[str, str], scenarios: Mapping[str, str]
    ) -> dict[str, int]:
        """Return the number of sessions with a response to each questionnaire, about the same sessions; counts."""
        rows = _about_versions(study, applications, scenarios).order_by().values_list("questionnaire")
        return dict(rows.annotate(n=Count("session_id", distinct=True)))

    @reads
    def count_submitted(self, study: str, applications: Mapping[str, str], scenarios: Mapping[str, str]) -> int:
        """Return the number of submitted responses about the same sessions; count."""
        return _about_versions(study, applications, scenarios).filter(submitted=True).count()

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


def _sessions_about(study: str, applications: Mapping[str, str], scenarios: Mapping[str, str]) -> QuerySet[SessionRow]:
    """Return the sessions with a dialogue about some versions."""
    rows = SessionRow.objects.filter(about_current(applications, scenarios), study=study)
    met = Exists(LiveDialogueRow.objects.filter(session=OuterRef("pk")))
    return rows.exclude(state=SessionState.WITHDRAWN.value).filter(met)


def _ids_and_keys(rows: QuerySet[SessionRow], sessions: Sequence[str] | None) -> list[tuple[int, str]]:
    own = rows if sessions is None else rows.filter(key__in=sessions)
    return list(own.order_by("id").values_list("id", "key"))


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
