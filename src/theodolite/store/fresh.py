"""Fresh: what was stored a moment ago and need not be read back.

Whatever is remembered here stands in the database too; whoever finds nothing asks
there. A transaction that fails leaves nothing behind: it is remembered what was
committed, and not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from threading import Lock

from django.db import transaction

from theodolite.domain.replay import JournalEntry
from theodolite.store.repair import repaired_text

KEPT = 10_000
"""Rows whose numbers are remembered; the oldest ones are forgotten first. Count."""


class RowNumbers:
    """Numbers of rows by the keys of the units that they belong to; neither ever changes."""

    def __init__(self, *, kept: int = KEPT) -> None:
        """Remember nothing yet, and so many at most."""
        self._kept = kept
        self._known: dict[str, int] = {}
        self._lock = Lock()  # units are leased on one thread and worked on by another

    def of(self, keys: Iterable[str]) -> dict[str, int]:
        """Return those numbers that are remembered."""
        with self._lock:
            return {key: self._known[key] for key in keys if key in self._known}

    def enter(self, found: Mapping[str, int]) -> None:
        """Remember numbers once the transaction that is open has committed."""
        transaction.on_commit(partial(self._enter, dict(found)))

    def _enter(self, found: Mapping[str, int]) -> None:
        with self._lock:
            self._known.update(found)
            for key in list(islice(self._known, max(0, len(self._known) - self._kept))):
                del self._known[key]


class ReplyTexts:
    """Texts of the replies of units under way, which a dialogue is made of."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._texts: dict[int, dict[int, str]] = {}

    def enter(self, entries: Iterable[tuple[int, JournalEntry]]) -> None:
        """Remember the replies of units, given by number, once the transaction that is open has committed."""
        transaction.on_commit(partial(self._enter, tuple(entries)))

    def take(self, unit_ids: Iterable[int]) -> dict[tuple[int, int], str]:
        """Return what is remembered of units that have come to their end, by unit and position, and forget it."""
        return {
            (unit_id, position): text for unit_id in unit_ids for position, text in self._texts.pop(unit_id, {}).items()
        }

    def _enter(self, entries: Iterable[tuple[int, JournalEntry]]) -> None:
        for unit_id, entry in entries:
            self._texts.setdefault(unit_id, {})[entry.position] = repaired_text(entry.reply.text)
