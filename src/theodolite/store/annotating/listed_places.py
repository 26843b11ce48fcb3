"""Listed places: cases and rooms with what tells one from the other; as many queries for many as for one."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Case, Count, IntegerField, Value, When

from theodolite.assessment.blinding import MASKED, blind_name
from theodolite.domain.annotating.case import CaseView, FlagKind, SensitiveCase
from theodolite.domain.annotating.listing import ListedCase, ListedRoom
from theodolite.domain.annotating.room import RoomState
from theodolite.domain.blocking import BLOCK
from theodolite.domain.dialogue import Dialogue
from theodolite.store.annotating.cases import case_page
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.listing import opening_of
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.seen_texts import seen_dialogues
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import QueueRow, RoomRow, RoomVoteRow

ROOMS = 20
"""Rooms on one page of the list; count."""

_AROUND = 45
"""Letters on either side of what is hidden; count."""


def case_lines(library: Library, queue: str, view: CaseView, *, reader: str, page: int = 0) -> list[ListedCase]:
    """Return one page of the cases of a queue's study, the latest first, for one reader's eyes."""
    row = queue_of(queue)
    found = case_page(row.study, view, page)
    told = _told(library, row, {one.dialogue for one in found})
    return [
        ListedCase(
            case=one,
            name=blind_name(one.dialogue, reader, row.salt),
            scenario=told[one.dialogue].scenario,
            words=_around_hidden(told[one.dialogue], one),
        )
        for one in found
    ]


def _told(library: Library, queue: QueueRow, keys: Collection[str]) -> dict[str, Dialogue]:
    rows = list(DialogueRow.objects.filter(unit__key__in=keys))
    return {dialogue.key: dialogue for dialogue in seen_dialogues(library, queue, rows).values()}


def _around_hidden(dialogue: Dialogue, case: SensitiveCase) -> str:
    """Return what stands around the first hidden words of a case; empty where it hides none."""
    turns = [turn for turn in dialogue.turns if case.flag.turn in {None, turn.number}]
    names_itself = case.flag.kind is FlagKind.SELF_IDENTIFICATION
    hidden = [BLOCK] * bool(case.redactions) + [MASKED] * names_itself
    for mark in hidden:
        for text in (text for turn in turns for text in (turn.prompt, turn.response)):
            if mark in text:
                return _excerpt(text, text.index(mark), mark)
    return ""


def _excerpt(text: str, start: int, mark: str) -> str:
    end = start
    while text.startswith(mark, end):
        end += len(mark)
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    return ("… " if first else "") + text[first:last].strip() + (" …" if last < len(text) else "")


def room_lines(library: Library, queue: str, *, reader: str, page: int = 0) -> list[ListedRoom]:
    """Return one page of the rooms of a queue, those that are open first, then the latest."""
    row = queue_of(queue)
    is_over = Case(When(state=RoomState.CLOSED.value, then=Value(1)), default=Value(0), output_field=IntegerField())
    rows = RoomRow.objects.filter(queue=row).select_related("dialogue").order_by(is_over, "-id")
    shown = list(rows[page * ROOMS : (page + 1) * ROOMS])
    votes = RoomVoteRow.objects.filter(room__in=shown).values_list("room_id")
    n_voted = dict(votes.annotate(n=Count("participant_id", distinct=True)).order_by())
    told = seen_dialogues(library, row, list({one.dialogue_id: one.dialogue for one in shown}.values()), turn=1)
    return [
        ListedRoom(
            token=one.token,
            category=one.category,
            state=RoomState(one.state),
            name=blind_name(told[one.dialogue_id].key, reader, row.salt),
            scenario=told[one.dialogue_id].scenario,
            opening=opening_of(told[one.dialogue_id]),
            n_voted=n_voted.get(one.pk, 0),
            opened=one.created,
        )
        for one in shown
    ]


def n_rooms(queue: str) -> int:
    """Return how many rooms a queue has; count."""
    return RoomRow.objects.filter(queue__token=queue).count()
