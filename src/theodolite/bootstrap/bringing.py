"""Bringing in, from a file's bytes to dialogues of a study; the command and the page call the same."""

from __future__ import annotations

from theodolite.config.bringing import BringColumns, ReadBrought, guessed_columns, read_brought
from theodolite.config.loading import StudyFaults
from theodolite.config.tables import Table, table_of
from theodolite.domain.brought import BroughtIn
from theodolite.usecases.bringing import bring_in
from theodolite.usecases.people.venue import Venue


def look_into(
    stored: bytes, name: str, venue: Venue, means: BringColumns | None = None
) -> tuple[ReadBrought, BringColumns]:
    """Return what a table would bring, its faults, and what its columns mean; guessed where nobody says.

    Args:
        stored: The bytes of a CSV, TSV or JSON Lines file.
        name: Its name, as people are shown it.
        venue: The study.
        means: What its columns mean.
    """
    table: Table = table_of(stored, name)
    columns = means or guessed_columns(table, venue.study)
    return read_brought(table, columns, venue.study), columns


def bring_file(stored: bytes, name: str, venue: Venue, means: BringColumns, *, store: bool = True) -> BroughtIn:
    """Bring the dialogues of a table in, all or nothing.

    Args:
        stored: The bytes of a CSV, TSV or JSON Lines file.
        name: Its name, as people are shown it.
        venue: The study.
        means: What its columns mean.
        store: Whether to keep them; else the file is only checked.

    Raises:
        StudyFaults: If it holds faults; says all of them.
        Conflict: If people began dialogues while these were entered.
    """
    read, _ = look_into(stored, name, venue, means)
    if read.faults:
        raise StudyFaults(read.faults, ending="Nothing was stored.")
    return bring_in(venue, read.dialogues, store=store)
