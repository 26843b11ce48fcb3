"""The journal: replies, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from theodolite.domain.flow import Reply, SchemaUse
from theodolite.domain.replay import JournalEntry
from theodolite.store.models import JournalEntryRow, UnitRow
from theodolite.store.reading import grouped, rows_of
from theodolite.store.repair import n_repaired
from theodolite.store.statements import Row, insert

_REPLY = (
    "unit_id",
    "position",
    "request_hash",
    "text",
    "withheld",
    "answered_as",
    "finish",
    "tokens_in",
    "tokens_out",
    "cost_microusd",
    "latency_s",
    "attempts",
    "scripted",
    "repaired",
    "schema_use",
    "original",
    "supposed_tokens",
    "supposed_microusd",
)
"""Columns of a reply that make a record."""


def keep_replies(entries: Sequence[tuple[int, JournalEntry]], *, created: datetime) -> None:
    """Store replies of units, given by the numbers of the units' rows."""
    insert(JournalEntryRow, [_row(unit_id, entry, created) for unit_id, entry in entries])


def entries_of(unit: str) -> list[JournalEntry]:
    """Return the replies of a unit in order of position."""
    return [_entry(row) for row in JournalEntryRow.objects.filter(unit__key=unit).order_by("position")]


def journals_of(units: Sequence[str]) -> dict[str, list[JournalEntry]]:
    """Return the replies of some units, or of those whose result they took over, in order of position."""
    rows = UnitRow.objects.filter(key__in=units).values_list("key", "id", "adopted_from_id")
    origins = {key: origin or own for key, own, origin in rows}
    found = grouped(
        rows_of(JournalEntryRow, "unit_id", origins.values(), "unit_id", "position", columns=_REPLY), "unit_id"
    )
    return {unit: [_entry(row) for row in found.get(origins.get(unit, -1), [])] for unit in units}


def texts_of(unit_ids: Sequence[int]) -> dict[tuple[int, int], str]:
    """Return the texts of some units' replies by unit and position."""
    rows = rows_of(JournalEntryRow, "unit_id", unit_ids, columns=("unit_id", "position", "text"))
    return {(row.unit_id, row.position): row.text for row in rows}


def _row(unit_id: int, entry: JournalEntry, created: datetime) -> Row:
    reply = entry.reply
    return {
        "unit_id": unit_id,
        "position": entry.position,
        "request_hash": entry.request_hash,
        "text": reply.text,
        "withheld": reply.withheld,
        "answered_as": reply.answered_as,
        "finish": reply.finish,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost_microusd": reply.cost_microusd,
        "latency_s": reply.latency_s,
        "attempts": reply.attempts,
        "scripted": reply.scripted,
        "repaired": reply.repaired
        + n_repaired(reply.text, reply.withheld, reply.answered_as, reply.finish, reply.original),
        "schema_use": reply.schema_use.value,
        "original": reply.original,
        "supposed_tokens": entry.supposed_tokens or None,
        "supposed_microusd": entry.supposed_microusd or None,
        "created": created,
    }


def _entry(row: JournalEntryRow) -> JournalEntry:
    reply = Reply(
        text=row.text,
        withheld=row.withheld,
        answered_as=row.answered_as,
        finish=row.finish,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_microusd=row.cost_microusd,
        latency_s=row.latency_s,
        attempts=row.attempts,
        scripted=row.scripted,
        repaired=row.repaired,
        schema_use=SchemaUse(row.schema_use),
        original=row.original,
    )
    return JournalEntry(
        position=row.position,
        request_hash=row.request_hash,
        reply=reply,
        supposed_tokens=row.supposed_tokens or 0,
        supposed_microusd=row.supposed_microusd or 0,
    )
