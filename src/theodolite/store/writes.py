"""Writes: what the hot path asks the writer to store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.identity import SHORT
from theodolite.domain.replay import JournalEntry
from theodolite.domain.run import Lease, Run, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepReply:
    """A reply of a unit."""

    unit: str
    entry: JournalEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepDialogue:
    """What a session brought; `leased` is filled with the annotations that are leased with it."""

    unit: Unit
    dialogue: Dialogue
    journalled: bool
    lease: Lease | None = None
    leased: list[Unit] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAnnotation:
    """What an annotator answered."""

    unit: Unit
    annotation: Annotation


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepFailure:
    """Why a unit brought nothing."""

    unit: Unit
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAdjudications:
    """Final labels that a file brought."""

    run: Run
    adjudications: tuple[Adjudication, ...]


Write = KeepReply | KeepDialogue | KeepAnnotation | KeepFailure | KeepAdjudications
"""Anything that the writer stores."""


def described(write: Write) -> str:
    """Return a write in words, for people who want to know what was stored last."""
    match write:
        case KeepReply():
            return f"reply {write.entry.position + 1} of unit {write.unit[:SHORT]}"
        case KeepDialogue():
            return f"the dialogue `{write.dialogue.label}`"
        case KeepAnnotation():
            return f"the annotation of `{write.unit.label}` by `{write.annotation.annotator}`"
        case KeepFailure():
            return f"the failure of `{write.failure.label}`"
        case KeepAdjudications():
            return f"{len(write.adjudications)} final labels of the study `{write.run.study}`"
        case _:
            assert_never(write)
