"""Acts on many work items at once: each item by the rules of the single act, each told of by itself.

Every act is one transaction under the queue's lock, so that nobody takes a dialogue
between the question whether it may be done and the deed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from django.db import transaction

from theodolite.domain.annotating.bulk import BulkLine
from theodolite.domain.annotating.room import RoomState
from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.errors import InputError
from theodolite.store.annotating.claims import RESERVED, expire, give_back
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.many import in_chunks, locked, rows_under
from theodolite.store.annotating.offering import OFFERED, take_back_offers
from theodolite.store.annotating.queues import new_token, queue_of
from theodolite.store.ledger import database_now
from theodolite.store.models.annotating import (
    ReservationRow,
    ResolutionRow,
    ReviewWishRow,
    RoomRow,
    RoomVoteRow,
    WorkItemRow,
)

MOST_ROOMS = 30
"""Rooms that are opened at once; count. Each of them takes people an hour."""

Items = Sequence[str]
"""Tokens of work items; those that are not of the queue are passed over."""


def put_first(queue: str, items: Items) -> list[BulkLine]:
    """Let items go before all others, to whoever comes."""

    def refused(item: WorkItemRow) -> str:
        if item.is_first:
            return "it goes first already"
        return "" if item.state == ItemState.OPEN.value else f"it is {item.state}"

    row = queue_of(queue)
    with locked(row):
        lines, done = _split(rows_under(row, items), refused)
        _change(done, is_first=True)
    return lines


def send_back(queue: str, items: Items, *, by: str) -> list[BulkLine]:
    """Take back what was offered or is reserved, and let items go in their turn again; drafts and submissions stay."""
    row = queue_of(queue)
    with locked(row):
        expire(row)
        rows = rows_under(row, items)
        held: defaultdict[int, list[ReservationRow]] = defaultdict(list)
        for numbers in in_chunks(item.pk for item in rows):
            for claim in ReservationRow.objects.filter(item_id__in=numbers, state__in=[OFFERED, RESERVED]):
                held[claim.item_id].append(claim)
        lines, done = _split(rows, lambda item: _not_back(item, held[item.pk]))
        claims = [claim for item in done for claim in held[item.pk]]
        take_back_offers([claim for claim in claims if claim.state == OFFERED], by)
        for claim in [claim for claim in claims if claim.state == RESERVED]:
            give_back(claim, ReservationState.RELEASED, by=by)
        _change(done, is_first=False)
    return lines


def _not_back(item: WorkItemRow, claims: Sequence[ReservationRow]) -> str:
    return "" if claims or item.is_first else "nobody holds it, and it was offered to nobody"


def open_rooms(library: Library, queue: str, items: Items, *, by: str) -> list[BulkLine]:
    """Open a calibration room on each item, in the version that the queue asks now.

    Raises:
        InputError: If they are more than can be talked about.
    """
    row = queue_of(queue)
    design, now = library.design(row.design_id), database_now()
    with locked(row):
        rows = rows_under(row, items)
        if len(rows) > MOST_ROOMS:
            message = f"at most {MOST_ROOMS} rooms are opened at once, since people sit in each; got {len(rows)}"
            raise InputError(message)
        live = RoomRow.objects.filter(queue=row).exclude(state=RoomState.CLOSED.value)
        known = set(live.values_list("dialogue_id", "category"))

        def refused(item: WorkItemRow) -> str:
            if design.category(item.category) is None:
                return "the queue no longer asks that category"
            return "a room on it is open already" if (item.dialogue_id, item.category) in known else ""

        lines, done = _split(rows, refused)
        made = RoomRow.objects.bulk_create(
            RoomRow(
                token=new_token(),
                queue=row,
                dialogue_id=item.dialogue_id,
                category=item.category,
                version=named.version,
                by=by,
                created=now,
            )
            for item in done
            if (named := design.category(item.category)) is not None
        )
    tokens = {item.token: room.token for item, room in zip(done, made, strict=True)}
    return [replace(line, made=tokens.get(line.item, "")) for line in lines]


def ask_for_checks(queue: str, items: Items, *, by: str) -> list[BulkLine]:
    """Let seniors look at whatever was submitted for items, beside what the plan draws."""
    row, now = queue_of(queue), database_now()
    with locked(row):
        known = set(ReviewWishRow.objects.filter(item__queue=row).values_list("item_id", flat=True))

        def refused(item: WorkItemRow) -> str:
            if item.pk in known:
                return "it is in the plan of quality checks already"
            return "" if item.done else "nobody has submitted it yet"

        lines, done = _split(rows_under(row, items), refused)
        ReviewWishRow.objects.bulk_create(ReviewWishRow(item=item, by=by, created=now) for item in done)
    return lines


def open_reviews(queue: str, items: Items) -> list[BulkLine]:
    """Begin the formal review of items: from now on nobody changes their answers."""

    def refused(item: WorkItemRow) -> str:
        if item.state == ItemState.FROZEN.value:
            return "its review was begun before"
        return "" if item.state == ItemState.COMPLETE.value else f"passes are still outstanding: it is {item.state}"

    row = queue_of(queue)
    with locked(row):
        lines, done = _split(rows_under(row, items), refused)
        _change(done, state=ItemState.FROZEN.value)
    return lines


def undo_first(queue: str, items: Collection[str]) -> int:
    """Let items go in their turn again; return how many went first until now."""
    row = queue_of(queue)
    with locked(row):
        done = [item for item in rows_under(row, list(items)) if item.is_first]
        _change(done, is_first=False)
    return len(done)


def undo_rooms(queue: str, made: Collection[str]) -> int:
    """Close those rooms in which nobody has voted; return their count."""
    voted = RoomVoteRow.objects.values("room_id")
    rooms = RoomRow.objects.filter(queue__token=queue, token__in=list(made), state=RoomState.VOTING.value)
    with transaction.atomic():
        return rooms.exclude(id__in=voted).update(state=RoomState.CLOSED.value)


def undo_checks(queue: str, items: Collection[str]) -> int:
    """Leave it to the plan again which annotations of items are looked at; return how many items there are."""
    row = queue_of(queue)
    with locked(row):
        wishes = [ReviewWishRow.objects.filter(item__queue=row, item__token__in=tokens) for tokens in in_chunks(items)]
        return sum(found.delete()[0] for found in wishes)


def undo_reviews(queue: str, items: Collection[str]) -> int:
    """End the freeze of items of which the review has said nothing yet; return their count."""
    row = queue_of(queue)
    with locked(row):
        frozen = [item for item in rows_under(row, list(items)) if item.state == ItemState.FROZEN.value]
        said = {
            number
            for numbers in in_chunks([item.pk for item in frozen])
            for number in ResolutionRow.objects.filter(item_id__in=numbers, current=True).values_list(
                "item_id", flat=True
            )
        }
        done = [item for item in frozen if item.pk not in said]
        whole = [item for item in done if item.done >= item.passes]
        _change(whole, state=ItemState.COMPLETE.value)
        _change([item for item in done if item not in whole], state=ItemState.OPEN.value)
    return len(done)


def _split(
    rows: Iterable[WorkItemRow], refused: Callable[[WorkItemRow], str]
) -> tuple[list[BulkLine], list[WorkItemRow]]:
    """Return what becomes of each item, and those with which something is done."""
    told = [(item, refused(item)) for item in rows]
    lines = [BulkLine(item=item.token or "", made="" if why else item.token or "", refused=why) for item, why in told]
    return lines, [item for item, why in told if not why]


def _change(rows: Iterable[WorkItemRow], **values: object) -> None:
    for numbers in in_chunks(item.pk for item in rows):
        WorkItemRow.objects.filter(id__in=numbers).update(**values)
