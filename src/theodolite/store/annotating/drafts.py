"""The repository of drafts: every saved answer of a reservation, the current ones, and their quotes."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max

from theodolite.domain.annotation import Answer, Outcome, Quote
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import DraftQuoteRow, DraftRow, ReservationRow
from theodolite.store.reading import grouped


def add_draft(reservation: ReservationRow, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    """Add a draft as the current one of its question and turn, and return when; earlier ones stay on record."""
    last = DraftRow.objects.filter(reservation=reservation).aggregate(last=Max("number"))["last"] or 0
    DraftRow.objects.filter(reservation=reservation, question=row.question, turn=row.turn, current=True).update(
        current=False
    )
    saved = database_now()
    row.reservation, row.number, row.current, row.created = reservation, last + 1, True, saved
    row.save()
    DraftQuoteRow.objects.bulk_create(
        DraftQuoteRow(draft=row, position=position, turn=quote.turn, text=quote.text)
        for position, quote in enumerate(quotes)
    )
    return saved


def draft_rows(reservation: ReservationRow) -> list[DraftRow]:
    """Return every draft of a reservation, in order of saving."""
    return list(DraftRow.objects.filter(reservation=reservation).order_by("number"))


def quotes_of(row: DraftRow | None) -> tuple[Quote, ...]:
    """Return the quotes of a draft; none without a draft."""
    if row is None:
        return ()
    found = DraftQuoteRow.objects.filter(draft=row).order_by("position")
    return tuple(Quote(turn=quote.turn, text=quote.text) for quote in found)


def current_answers(reservation: ReservationRow) -> tuple[Answer, ...]:
    """Return the answers that count now, in the order of their first saving."""
    rows = list(DraftRow.objects.filter(reservation=reservation, current=True).exclude(outcome="").order_by("number"))
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


def saved_at(reservation: ReservationRow) -> datetime | None:
    """Return when anything was saved last."""
    moment: datetime | None = DraftRow.objects.filter(reservation=reservation).aggregate(last=Max("created"))["last"]
    return moment
