"""Seen texts: many dialogues at once in the words that annotators of any category may see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef, Q, QuerySet

from theodolite.assessment.blinding import mask_for, masked
from theodolite.assessment.redacting import redacted
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.store.annotating.cases import redactions_in
from theodolite.store.annotating.library import Library
from theodolite.store.dialogues import dialogues_of
from theodolite.store.models import DialogueRow, JournalEntryRow, TurnRow
from theodolite.store.models.annotating import QueueRow

SHORTEST = 3
"""Letters of words that are sought, at least; count."""

MOST_SOUGHT = 400
"""Dialogues that are looked through for words at most; count."""

EVERYWHERE = ""
"""Stands for no category: what is hidden from anybody is hidden."""


def seen_dialogues(
    library: Library, queue: QueueRow, rows: Sequence[DialogueRow], *, turn: int | None = None
) -> dict[int, Dialogue]:
    """Return dialogues, redacted and masked, by the number of their row; as many queries as for one.

    Args:
        library: Where study and dialogues are read.
        queue: Whose study says which names are masked.
        rows: The dialogues.
        turn: Number of the only turn that is wanted; None for all.
    """
    mask = mask_for(library.study(queue.study_content_id))
    hidden = redactions_in([row.pk for row in rows])
    told = dialogues_of([row.unit_id for row in rows], library.contents)
    return {
        row.pk: masked(redacted(_only(dialogue, turn), hidden.get(row.pk, ()), EVERYWHERE), mask)
        for row, dialogue in zip(rows, told, strict=True)
    }


def _only(dialogue: Dialogue, turn: int | None) -> Dialogue:
    kept = tuple(replace(one, context="") for one in dialogue.turns if turn is None or one.number == turn)
    return replace(dialogue, turns=kept, context="")


def speaking_of(library: Library, queue: QueueRow, rows: QuerySet[DialogueRow], words: str) -> tuple[int, ...]:
    """Return the numbers of those dialogues in which some words stand as annotators see them.

    The database finds the words where they were said; what it finds is looked at
    again redacted and masked, so that nobody learns by searching what is hidden from them.

    Raises:
        InputError: If the words are too short, or stand in too many dialogues to be looked through.
    """
    sought = " ".join(words.split())
    if len(sought) < SHORTEST:
        message = f"words to search for have {SHORTEST} letters at least; got {sought!r}"
        raise InputError(message)
    said = list(rows.filter(_says(sought)).order_by("id")[: MOST_SOUGHT + 1])
    if len(said) > MOST_SOUGHT:
        message = (
            f"{sought!r} stands in more than {MOST_SOUGHT} of these dialogues; search for more words, or filter more"
        )
        raise InputError(message)
    told = seen_dialogues(library, queue, said)
    return tuple(number for number, dialogue in told.items() if _stands_in(sought, dialogue))


def _says(sought: str) -> Q:
    # SQLite compares letters without regard to case in ASCII alone.
    found = Q()
    for written in {sought, sought.lower(), sought.upper(), sought.capitalize()}:
        turns = TurnRow.objects.filter(Q(prompt__icontains=written) | Q(response__icontains=written))
        replies = JournalEntryRow.objects.filter(unit=OuterRef("unit"), text__icontains=written)
        found |= Q(Exists(turns.filter(dialogue=OuterRef("pk")))) | Q(Exists(replies))
    return found


def _stands_in(sought: str, dialogue: Dialogue) -> bool:
    return any(sought.casefold() in " ".join(text.split()).casefold() for text in _texts(dialogue))


def _texts(dialogue: Dialogue) -> Iterator[str]:
    for turn in dialogue.turns:
        yield turn.prompt
        yield turn.response
