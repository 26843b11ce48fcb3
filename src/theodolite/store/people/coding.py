"""Codings of answers in own words: every revision stays, the latest one of a coder counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import transaction
from django.db.models import Max, QuerySet

from theodolite.domain.codings.coding import (
    CODERS,
    Coding,
    CodingResolution,
    HiddenStretch,
    OpenAnswer,
    QuoteRelease,
)
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.people.session import SessionState
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.coding import (
    CodingCodeRow,
    CodingResolutionRow,
    CodingRow,
    CodingTalkerRow,
    QuoteReleaseRow,
    QuoteStretchRow,
    ResolvedCodeRow,
)
from theodolite.store.models.people import SessionRow
from theodolite.store.reading import grouped
from theodolite.store.results import ids_of_participants

Named = TypeVar("Named", CodingRow, CodingResolutionRow, QuoteReleaseRow)


def keep_coding(given: Coding, instead_of: str = "") -> None:
    """Store a further revision of what a coder sees in an answer.

    Args:
        given: The coding.
        instead_of: Coder whose place this one takes from now on; empty for nobody's.

    Raises:
        Conflict: If that revision is there already, so many others have coded the answer that nobody else
            is to, or `instead_of` has no place there.
        NotFound: If there is no such session.
    """
    with transaction.atomic():
        one_at_a_time(f"coding {given.answer.session}")
        session, (coder,) = _session(given.answer), ids_of_participants({given.coder}).values()
        earlier = _about(CodingRow.objects.filter(session=session), given.answer)
        slot = _place_of(given.coder, instead_of, earlier)
        _next_revision(earlier.filter(slot=slot), given.revision)
        row = CodingRow.objects.create(
            session=session,
            questionnaire=given.answer.questionnaire,
            question=given.answer.question,
            slot=slot,
            coder_id=coder,
            codebook=given.codebook,
            revision=given.revision,
            memo=given.memo,
            created=database_now(),
        )
        CodingCodeRow.objects.bulk_create(
            CodingCodeRow(coding=row, position=place, code=code) for place, code in enumerate(given.codes)
        )


def _place_of(coder: str, instead_of: str, earlier: QuerySet[CodingRow]) -> int:
    """Return the place of a coder at an answer: their own, that of whom they stand in for, or the next one."""
    holders = dict(earlier.order_by("id").values_list("slot", "coder__key"))
    places = {holder: slot for slot, holder in holders.items()}
    if instead_of and instead_of not in places:
        message = "somebody else has taken that place meanwhile; take another answer"
        raise Conflict(message)
    slot = places.get(coder) or (places[instead_of] if instead_of else len(places) + 1)
    if slot > CODERS:
        message = f"{CODERS} people have coded this answer; take another one"
        raise Conflict(message)
    return slot


def codings(study: str) -> list[Coding]:
    """Return the latest coding of each coder and answer of a study, in the order of answers and coders."""
    rows = _valid(CodingRow.objects.filter(session__study=study)).select_related("coder")
    latest = {(*_place(row), row.slot): row for row in rows.order_by("id")}
    codes = grouped(CodingCodeRow.objects.filter(coding__in=latest.values()).order_by("position"), "coding_id")
    return [
        Coding(
            answer=_answer(row),
            coder=row.coder.key,
            codes=tuple(one.code for one in codes.get(row.pk, [])),
            codebook=row.codebook,
            memo=row.memo,
            revision=row.revision,
            at=row.created,
        )
        for _, row in sorted(latest.items())
    ]


def keep_coding_resolution(given: CodingResolution) -> None:
    """Store a further revision of what came of talking about an answer.

    Raises:
        Conflict: If that revision is there already.
        NotFound: If there is no such session.
    """
    with transaction.atomic():
        one_at_a_time(f"coding {given.answer.session}")
        session, people = _session(given.answer), ids_of_participants(set(given.participants))
        earlier = _about(CodingResolutionRow.objects.filter(session=session), given.answer)
        _next_revision(earlier, given.revision)
        row = CodingResolutionRow.objects.create(
            session=session,
            questionnaire=given.answer.questionnaire,
            question=given.answer.question,
            codebook=given.codebook,
            revision=given.revision,
            is_agreed=given.codes is not None,
            rationale=given.rationale,
            created=database_now(),
        )
        ResolvedCodeRow.objects.bulk_create(
            ResolvedCodeRow(resolution=row, position=place, code=code) for place, code in enumerate(given.codes or ())
        )
        CodingTalkerRow.objects.bulk_create(
            CodingTalkerRow(resolution=row, participant_id=people[key]) for key in given.participants
        )


def coding_resolutions(study: str) -> list[CodingResolution]:
    """Return the latest resolution of each answer of a study that was talked about, in the order of answers."""
    rows = _valid(CodingResolutionRow.objects.filter(session__study=study))
    latest = {_place(row): row for row in rows.order_by("id")}
    found = list(latest.values())
    codes = grouped(ResolvedCodeRow.objects.filter(resolution__in=found).order_by("position"), "resolution_id")
    talkers = CodingTalkerRow.objects.filter(resolution__in=found).select_related("participant").order_by("id")
    people = grouped(talkers, "resolution_id")
    return [
        CodingResolution(
            answer=_answer(row),
            codebook=row.codebook,
            codes=tuple(one.code for one in codes.get(row.pk, [])) if row.is_agreed else None,
            participants=tuple(one.participant.key for one in people.get(row.pk, [])),
            rationale=row.rationale,
            revision=row.revision,
        )
        for _, row in sorted(latest.items())
    ]


def keep_quote_release(given: QuoteRelease) -> None:
    """Store a further revision of the leave to show an answer.

    Raises:
        Conflict: If that revision is there already.
        NotFound: If there is no such session.
    """
    with transaction.atomic():
        one_at_a_time(f"coding {given.answer.session}")
        session, (by,) = _session(given.answer), ids_of_participants({given.by}).values()
        earlier = _about(QuoteReleaseRow.objects.filter(session=session), given.answer)
        _next_revision(earlier, given.revision)
        row = QuoteReleaseRow.objects.create(
            session=session,
            questionnaire=given.answer.questionnaire,
            question=given.answer.question,
            by_id=by,
            revision=given.revision,
            is_given=given.is_given,
            created=database_now(),
        )
        QuoteStretchRow.objects.bulk_create(
            QuoteStretchRow(release=row, start=one.start, end=one.end) for one in given.hidden
        )


def quote_releases(study: str) -> list[QuoteRelease]:
    """Return the latest leave, given or taken back, for each answer of a study that somebody read for it."""
    rows = _valid(QuoteReleaseRow.objects.filter(session__study=study)).select_related("by")
    latest = {_place(row): row for row in rows.order_by("id")}
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
    """Delete what was said about the answers of some sessions.

    Args:
        sessions: Numbers of the sessions' rows.
    """
    ids = list(sessions)
    for rows in (CodingRow, CodingResolutionRow, QuoteReleaseRow):
        rows.objects.filter(session_id__in=ids).delete()


def mask_notes(sessions: Iterable[int], mask: Callable[[str], str]) -> None:
    """Take out of memos and reasons about the answers of some sessions what tells who wrote them.

    Args:
        sessions: Numbers of the sessions' rows.
        mask: Takes it out of a text.
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


def _about(rows: QuerySet[Named], answer: OpenAnswer) -> QuerySet[Named]:
    return rows.filter(questionnaire=answer.questionnaire, question=answer.question)


def _next_revision(earlier: QuerySet[Named], revision: int) -> None:
    last = earlier.aggregate(last=Max("revision"))["last"] or 0
    if revision != last + 1:
        message = f"somebody was faster: revision {last} is there, and {revision} does not follow it; look again"
        raise Conflict(message)


def _valid(rows: QuerySet[Named]) -> QuerySet[Named]:
    return rows.exclude(session__state=SessionState.WITHDRAWN.value).select_related("session")


def _place(row: Named) -> tuple[int, str, str]:
    return row.session_id, row.questionnaire, row.question


def _answer(row: Named) -> OpenAnswer:
    return OpenAnswer(session=row.session.key, questionnaire=row.questionnaire, question=row.question)
