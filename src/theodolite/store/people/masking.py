"""Masking: what is kept of a person who withdrew loses what tells who it was, wherever it was repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.db.models import Model, QuerySet

from theodolite.store.models import (
    AnswerRow,
    DialogueRow,
    JournalEntryRow,
    QuoteRow,
    TurnRow,
    UnitRow,
    VoteRow,
)
from theodolite.store.models.annotating import (
    CaseRow,
    DraftQuoteRow,
    DraftRow,
    PostRow,
    ResolutionRow,
    RoomPostRow,
    ThreadRow,
)
from theodolite.store.models.people import LiveAttemptRow, LiveDialogueRow, LiveTurnRow, ResponseAnswerRow

Mask = Callable[[str], str]
"""From a text to the same text without what tells who wrote it; its length stays, so that quotes still fit."""


def mask_dialogues(dialogues: Sequence[LiveDialogueRow], mask: Mask) -> None:
    """Mask some dialogues of people, both sides, and what was written about them.

    An application that repeats an address, and an annotator who quotes it, tell as
    much as the person did.

    Args:
        dialogues: As they were held.
        mask: Takes out of a text what tells who wrote it.
    """
    live, units = [row.id for row in dialogues], [row.unit_id for row in dialogues if row.unit_id is not None]
    _mask(LiveTurnRow.objects.filter(dialogue_id__in=live), ("prompt", "response", "cause", "claims"), mask)
    _mask(LiveAttemptRow.objects.filter(dialogue_id__in=live), ("description",), mask)
    kept = list(DialogueRow.objects.filter(unit_id__in=units).values_list("id", flat=True))
    _mask(TurnRow.objects.filter(dialogue_id__in=kept), ("prompt", "response"), mask)
    _mask_what_was_said_about(kept, mask)
    subjects = list(UnitRow.objects.filter(id__in=units).values_list("key", flat=True))
    _mask(JournalEntryRow.objects.filter(unit__subject__in=subjects), ("text",), mask)


def mask_answers(sessions: Sequence[int], mask: Mask) -> int:
    """Mask what a person answered after some sessions, and return how many answers were looked at."""
    answers = ResponseAnswerRow.objects.filter(response__session_id__in=sessions)
    return _mask(answers, ("value", "raw", "reasoning"), mask)


def _mask_what_was_said_about(dialogues: Sequence[int], mask: Mask) -> None:
    """Mask answers, quotes and notes of judges and people about some dialogues."""
    _mask(AnswerRow.objects.filter(annotation__dialogue_id__in=dialogues), ("reasoning", "raw"), mask)
    _mask(VoteRow.objects.filter(annotation__dialogue_id__in=dialogues), ("reasoning", "raw"), mask)
    _mask(QuoteRow.objects.filter(answer__annotation__dialogue_id__in=dialogues), ("text",), mask)
    held = {"reservation__item__dialogue_id__in": dialogues}
    _mask(DraftRow.objects.filter(**held), ("reasoning",), mask)
    _mask(DraftQuoteRow.objects.filter(draft__reservation__item__dialogue_id__in=dialogues), ("text",), mask)
    _mask(ThreadRow.objects.filter(**held), ("text",), mask)
    _mask(PostRow.objects.filter(thread__reservation__item__dialogue_id__in=dialogues), ("text",), mask)
    _mask(RoomPostRow.objects.filter(room__dialogue_id__in=dialogues), ("text",), mask)
    _mask(ResolutionRow.objects.filter(item__dialogue_id__in=dialogues), ("rationale",), mask)
    _mask(CaseRow.objects.filter(dialogue_id__in=dialogues), ("words", "note"), mask)


def _mask(rows: QuerySet[Model], fields: Iterable[str], mask: Mask) -> int:
    """Mask some fields of rows, write those that changed, and return how many rows there were."""
    names, n_rows = tuple(fields), 0
    for row in rows:
        n_rows += 1
        known = {name: getattr(row, name) for name in names}
        changed = {name: masked for name, text in known.items() if text and (masked := mask(text)) != text}
        for name, text in changed.items():
            setattr(row, name, text)
        if changed:
            row.save(update_fields=list(changed))
    return n_rows
