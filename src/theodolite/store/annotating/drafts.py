"""Drafts: each answer is saved as it is given, nothing is overwritten, and the last one can be taken back."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.domain.errors import Conflict
from theodolite.domain.instrument import OpenQuestion
from theodolite.store.annotating.claims import claim_of
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.annotating import DraftQuoteRow, DraftRow, ReservationRow
from theodolite.store.reading import grouped


def save_answer(token: str, participant: str, answer: Answer) -> datetime:
    """Save an answer and return when; an earlier one to the same question stays on record.

    A claim whose time is over takes answers all the same: nobody loses what they typed.

    Raises:
        Conflict: If the review of this dialogue has begun.
        NotFound: If the claim is not one's own.
    """
    row = DraftRow(
        question=answer.question,
        turn=answer.turn or 0,
        outcome=answer.outcome.value,
        value=answer.value,
        reasoning=answer.reasoning,
    )
    return _append(token, participant, row, answer.evidence)


def clear_answer(token: str, participant: str, question: OpenQuestion) -> datetime:
    """Take an answer back without giving another one; what was said stays on record."""
    return _append(token, participant, DraftRow(question=question.question, turn=question.turn or 0), ())


def undo(token: str, participant: str) -> OpenQuestion | None:
    """Take back the last thing that was saved and return which question it was; None where nothing is left.

    Taking back is a further row too; undoing again goes one step further back.
    """
    with transaction.atomic():
        claim = _open_claim(token, participant)
        rows = list(DraftRow.objects.filter(reservation=claim).order_by("number"))
        undone = {row.undoes for row in rows if row.undoes is not None}
        steps = [row for row in rows if row.undoes is None and row.number not in undone]
        if not steps:
            return None
        last = steps[-1]
        before = next((row for row in reversed(steps[:-1]) if _place(row) == _place(last)), None)
        _enter(claim, _restored(last, before), _quotes_of(before))
    return OpenQuestion(question=last.question, turn=last.turn or None)


def _place(row: DraftRow) -> tuple[str, int]:
    return row.question, row.turn


def _restored(last: DraftRow, before: DraftRow | None) -> DraftRow:
    row = DraftRow(question=last.question, turn=last.turn, undoes=last.number)
    if before is not None:
        row.outcome, row.value, row.reasoning = before.outcome, before.value, before.reasoning
    return row


def _quotes_of(row: DraftRow | None) -> tuple[Quote, ...]:
    if row is None:
        return ()
    found = DraftQuoteRow.objects.filter(draft=row).order_by("position")
    return tuple(Quote(turn=quote.turn, text=quote.text) for quote in found)


def _append(token: str, participant: str, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    with transaction.atomic():
        return _enter(_open_claim(token, participant), row, quotes)


def _open_claim(token: str, participant: str) -> ReservationRow:
    one_at_a_time(f"reservation {token}")
    claim = claim_of(token, participant)
    if claim.item.state == ItemState.FROZEN.value or claim.state == ReservationState.VOIDED.value:
        message = "the review of this dialogue has begun; its answers can no longer be changed"
        raise Conflict(message)
    return claim


def _enter(claim: ReservationRow, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    last = DraftRow.objects.filter(reservation=claim).aggregate(last=Max("number"))["last"] or 0
    DraftRow.objects.filter(reservation=claim, question=row.question, turn=row.turn, current=True).update(current=False)
    saved = database_now()
    row.reservation, row.number, row.current, row.created = claim, last + 1, True, saved
    row.save()
    DraftQuoteRow.objects.bulk_create(
        DraftQuoteRow(draft=row, position=position, turn=quote.turn, text=quote.text)
        for position, quote in enumerate(quotes)
    )
    return saved


def current_answers(claim: ReservationRow) -> tuple[Answer, ...]:
    """Return the answers that count now, in the order of their first saving."""
    rows = list(DraftRow.objects.filter(reservation=claim, current=True).exclude(outcome="").order_by("number"))
    quotes = grouped(DraftQuoteRow.objects.filter(draft__in=rows).order_by("position"), "draft_id")
    return tuple(
        Answer(
            question=row.question,
            outcome=Outcome(row.outcome),
            value=row.value,
            turn=row.turn or None,
            reasoning=row.reasoning,
            evidence=tuple(Quote(turn=one.turn, text=one.text) for one in quotes.get(row.pk, [])),
        )
        for row in rows
    )


def saved_at(claim: ReservationRow) -> datetime | None:
    """Return when anything was saved last."""
    moment: datetime | None = DraftRow.objects.filter(reservation=claim).aggregate(last=Max("created"))["last"]
    return moment
