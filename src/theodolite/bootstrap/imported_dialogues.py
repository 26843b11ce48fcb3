"""Import of dialogues into a study."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

from theodolite.config.dialogue_imports import (
    PARTS,
    BringColumns,
    ReadBrought,
    guessed_columns,
    is_corpus,
    is_tasks,
    read_brought,
    read_corpus,
    read_tasks,
)
from theodolite.config.tables import table_of, unreadable
from theodolite.config.threads import Remarks, Voices, turns_of, with_guess
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.live import BroughtIn
from theodolite.events.context import EventContext, import_dialogues

_NOTHING_STORED = "Nothing was stored."


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What a file would bring, and how it was read.

    Attributes:
        read: Its dialogues and faults.
        means: What its columns mean; guessed where nobody said.
        remarks: What was said, where the file is a corpus or holds tasks; None for a table.
        voices: Who speaks for the application there; guessed where nobody said.
        notes: How remarks became turns.
    """

    read: ReadBrought
    means: BringColumns
    remarks: Remarks | None = None
    voices: Voices | None = None
    notes: tuple[str, ...] = ()


def look_into(
    stored: bytes, name: str, event: EventContext, means: BringColumns | None = None, voices: Voices | None = None
) -> Looked:
    """Return what a file would bring, its faults, and what its columns mean; guessed where nobody says.

    Args:
        stored: The bytes of a table (CSV, TSV, JSON Clients), of a corpus of ConvoKit, or of Label Studio's tasks.
        name: Its name, as people are shown it; its ending tells tasks.
        event: The study.
        means: What its columns mean.
        voices: Who speaks for the application, where the file is no table; guessed as far as it does not say.
    """
    remarks = _remarks_in(stored, name)
    if remarks is None:
        table = table_of(stored, name)
        columns = means or guessed_columns(table, event.study)
        return Looked(read=read_brought(table, columns, event.study), means=columns)
    speaking = with_guess(voices or Voices(), remarks)
    told = turns_of(remarks, speaking)
    columns = means or guessed_columns(told.table, event.study)
    read = read_brought(told.table, columns, event.study)
    return Looked(read=read, means=columns, remarks=remarks, voices=speaking, notes=told.notes)


def _remarks_in(stored: bytes, name: str) -> Remarks | None:
    if is_corpus(stored, name):
        return read_corpus(stored, name)
    return read_tasks(stored, name) if is_tasks(name) else None


def columns_for(stored: bytes, name: str, means: BringColumns) -> BringColumns:
    """Return columns as they are meant for a file: where it is no table, its turns name their dialogue and tester."""
    if not (is_corpus(stored, name) or is_tasks(name)):
        return means
    return replace(means, id=means.id or "id", turn=means.turn or "turn", tester=means.tester or "tester")


def stored_of(path: Path) -> bytes:
    """Return a file's bytes; a folder is read as an archive of the corpus that lies in it.

    Raises:
        InvalidStudyError: If it cannot be read.
    """
    try:
        if not path.is_dir():
            return path.read_bytes()
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as files:
            for name in PARTS:
                if (path / name).is_file():
                    files.writestr(name, (path / name).read_bytes())
    except OSError as error:
        fault = LocatedDiagnostic(file=str(path), message=f"cannot be read: {unreadable(error)}")
        raise InvalidStudyError((fault,), ending=_NOTHING_STORED) from error
    return archive.getvalue()


def bring_looked(looked: Looked, event: EventContext, *, store: bool = True) -> BroughtIn:
    """Bring the dialogues of a file in, all or nothing.

    Args:
        looked: What the file holds.
        event: The study.
        store: Whether to keep them; else the file is only checked.

    Raises:
        InvalidStudyError: If it holds faults; says all of them.
        Conflict: If people began dialogues while these were entered.
    """
    if looked.read.faults:
        raise InvalidStudyError(looked.read.faults, ending=_NOTHING_STORED)
    return import_dialogues(event, looked.read.dialogues, store=store)
