"""Bulk operations: one transaction, one result per item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from theodolite.annotation.assignment import annotator_state, candidates
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import why_not
from theodolite.domain.annotating.discrepancy import RoomState
from theodolite.domain.annotating.work import AnnotatorState, BulkLine, ItemState, ReservationState, WorkItem
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.shown_order import has_suggestions
from theodolite.store.annotation_queue import (
    RESERVED,
    expire,
    give_back,
    in_chunks,
    locked,
    new_token,
    note_all,
    participant_id,
    queue_of,
    rows_under,
)
from theodolite.store.ledger import CHUNK
from theodolite.store.models.annotating import (
    QueueRow,
    ReservationRow,
    ResolutionRow,
    ReviewWishRow,
    RoomRow,
    RoomVoteRow,
    WorkItemRow,
)
from theodolite.store.statements import database_now

OFFERED, _RELEASED = ReservationState.OFFERED.value, ReservationState.RELEASED.value


def offer_many(records: RecordCache, queue: str, items: Sequence[str], participant: str, *, by: str) -> list[BulkLine]:
    """Offer items to one annotator with priority, if they may take them.

    An offer uses no pass until it is accepted, and counts towards the annotator's quota.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        items: Tokens of the offered items; items of other queues are skipped.
        participant: Opaque key of the annotator.
        by: Who offers.
    """
    row = queue_of(queue)
    with locked(row):
        offering = _Offering.to(records, row, participant)
        lines = [offering.line(item) for item in rows_under(row, items)]
        offering.write(by)
    return lines


@dataclass(slots=True, kw_only=True)
class _Offering:
    """Offers to one annotator, one after the other.

    Attributes:
        row: The queue.
        process: Its rules.
        number: Number of the annotator's row.
        now: The present moment.
        who: The annotator as a member of the queue; each offer raises the quota.
        free: Numbers of the items that the annotator may take now.
        own: Their reservations by item.
        new: Reservations that start with an offer.
        again: Reservations to offer again.
    """

    row: QueueRow
    process: AnnotationProcess
    number: int
    now: datetime
    who: AnnotatorState
    free: Collection[int]
    own: Mapping[int, ReservationRow]
    new: list[ReservationRow]
    again: list[ReservationRow]

    @classmethod
    def to(cls, records: RecordCache, row: QueueRow, participant: str) -> _Offering:
        """Look up the facts that decide whether an annotator may take something."""
        own = list(ReservationRow.objects.filter(item__queue=row, participant__key=participant).select_related("item"))
        who = annotator_state(records, row, participant, own)
        free = set(candidates(records, row, participant).order_by().values_list("id", flat=True))
        process = records.design(row.design_id).process
        return cls(
            row=row,
            process=process,
            number=participant_id(participant),
            now=database_now(),
            who=who,
            free=free,
            own={reservation.item_id: reservation for reservation in own},
            new=[],
            again=[],
        )

    def line(self, item: WorkItemRow) -> BulkLine:
        """Offer one item, or return why it is not offered."""
        reservation = self.own.get(item.pk)
        refused = self._refused(item, reservation)
        if refused:
            return BulkLine(item=item.token or "", refused=refused)
        made = reservation or ReservationRow(token=new_token(), item=item, participant_id=self.number, created=self.now)
        made.state = OFFERED
        (self.again if reservation else self.new).append(made)
        self.who.n_taken[item.category] = self.who.n_taken.get(item.category, 0) + 1
        position = str(item.dialogue_id)
        self.who.met[position] = self.who.met.get(position, frozenset()) | {item.category}
        return BulkLine(item=item.token or "", made=made.token)

    def _refused(self, item: WorkItemRow, reservation: ReservationRow | None) -> str:
        if reservation is not None and reservation.state == OFFERED:
            return "it is already offered to this annotator"
        reason = why_not(_record(item), self.who, self.process)
        return reason or ("" if item.pk in self.free else "it is not for them")

    def write(self, by: str) -> None:
        """Write the offers down."""
        made = ReservationRow.objects.bulk_create(self.new)
        ReservationRow.objects.bulk_update(self.again, ["state"], batch_size=CHUNK)
        note_all([*made, *self.again], by)


def _record(item: WorkItemRow) -> WorkItem:
    return WorkItem(
        key=str(item.pk),
        dialogue=str(item.dialogue_id),
        category=item.category,
        passes=item.passes,
        n_live=item.live,
        tester=item.tester,
        state=ItemState(item.state),
    )


def undo_offers(queue: str, made: Collection[str], *, by: str) -> int:
    """Withdraw offers that were not accepted; return their count."""
    row = queue_of(queue)
    with locked(row):
        rows = [
            reservation
            for tokens in in_chunks(made)
            for reservation in ReservationRow.objects.filter(token__in=tokens, item__queue=row, state=OFFERED)
        ]
        take_back_offers(rows, by)
    return len(rows)


def take_back_offers(offers: Sequence[ReservationRow], by: str) -> None:
    """Withdraw offers; the same annotators may get them again."""
    for reservation in offers:
        reservation.state = _RELEASED
    ReservationRow.objects.bulk_update(offers, ["state"], batch_size=CHUNK)
    note_all(offers, by)


MOST_ROOMS = 30
"""Maximum number of calibration sessions opened together; count. Each takes people an hour."""

Items = Sequence[str]
"""Tokens of work items; those outside the queue are skipped."""


def put_first(queue: str, items: Items) -> list[BulkLine]:
    """Prioritise items for all annotators."""

    def refused(item: WorkItemRow) -> str:
        if item.is_first:
            return "it already has priority"
        return "" if item.state == ItemState.OPEN.value else f"it is {item.state}"

    row = queue_of(queue)
    with locked(row):
        lines, done = _split(rows_under(row, items), refused)
        _change(done, is_first=True)
    return lines


def send_back(queue: str, items: Items, *, by: str) -> list[BulkLine]:
    """Withdraw offers or reservations, and return the items to the queue; drafts and submissions are kept."""
    row = queue_of(queue)
    with locked(row):
        expire(row)
        rows = rows_under(row, items)
        held_reservations: defaultdict[int, list[ReservationRow]] = defaultdict(list)
        for numbers in in_chunks(item.pk for item in rows):
            for reservation in ReservationRow.objects.filter(item_id__in=numbers, state__in=[OFFERED, RESERVED]):
                held_reservations[reservation.item_id].append(reservation)
        lines, done = _split(rows, lambda item: _not_back(item, held_reservations[item.pk]))
        reservations = [reservation for item in done for reservation in held_reservations[item.pk]]
        take_back_offers([reservation for reservation in reservations if reservation.state == OFFERED], by)
        for reservation in [reservation for reservation in reservations if reservation.state == RESERVED]:
            give_back(reservation, ReservationState.RELEASED, by=by)
        _change(done, is_first=False)
    return lines


def _not_back(item: WorkItemRow, reservations: Sequence[ReservationRow]) -> str:
    return "" if reservations or item.is_first else "it is neither reserved nor offered"


def open_rooms(records: RecordCache, queue: str, items: Items, *, by: str) -> list[BulkLine]:
    """Open a calibration session on each item, with the queue's current version.

    Raises:
        InputError: If there are more items than people can discuss.
    """
    row = queue_of(queue)
    design, now = records.design(row.design_id), database_now()
    with locked(row):
        rows = rows_under(row, items)
        if len(rows) > MOST_ROOMS:
            message = f"at most {MOST_ROOMS} calibration sessions can be opened at once; got {len(rows)}"
            raise InputError(message)
        live = RoomRow.objects.filter(queue=row).exclude(state=RoomState.CLOSED.value)
        known = set(live.values_list("dialogue_id", "category"))
        shown = ReservationRow.objects.filter(item__in=rows).values_list("item_id", "shown")
        assisted = {number for number, text in shown if has_suggestions(text)}

        def refused(item: WorkItemRow) -> str:
            if item.pk in assisted:
                return "annotators saw suggestions of a judge in it"
            if design.category(item.category) is None:
                return "the queue no longer contains this category"
            return "it already has an open calibration session" if (item.dialogue_id, item.category) in known else ""

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
    """Send all submissions for items to review, in addition to the planned sample."""
    row, now = queue_of(queue), database_now()
    with locked(row):
        known = set(ReviewWishRow.objects.filter(item__queue=row).values_list("item_id", flat=True))

        def refused(item: WorkItemRow) -> str:
            if item.pk in known:
                return "it is already sampled for quality checks"
            return "" if item.done else "it has no submitted annotation yet"

        lines, done = _split(rows_under(row, items), refused)
        ReviewWishRow.objects.bulk_create(ReviewWishRow(item=item, by=by, created=now) for item in done)
    return lines


def open_reviews(queue: str, items: Items) -> list[BulkLine]:
    """Start the formal review of items, which freezes their answers."""

    def refused(item: WorkItemRow) -> str:
        if item.state == ItemState.FROZEN.value:
            return "its review has already started"
        return "" if item.state == ItemState.COMPLETE.value else f"passes are still missing: it is {item.state}"

    row = queue_of(queue)
    with locked(row):
        lines, done = _split(rows_under(row, items), refused)
        _change(done, state=ItemState.FROZEN.value)
    return lines


def undo_first(queue: str, items: Collection[str]) -> int:
    """Remove the priority of items, and return their number."""
    row = queue_of(queue)
    with locked(row):
        done = [item for item in rows_under(row, list(items)) if item.is_first]
        _change(done, is_first=False)
    return len(done)


def undo_rooms(queue: str, made: Collection[str]) -> int:
    """Close the rooms without votes; return their count."""
    voted = RoomVoteRow.objects.values("room_id")
    rooms = RoomRow.objects.filter(queue__token=queue, token__in=list(made), state=RoomState.VOTING.value)
    with transaction.atomic():
        return rooms.exclude(id__in=voted).update(state=RoomState.CLOSED.value)


def undo_checks(queue: str, items: Collection[str]) -> int:
    """Sample again which annotations of items are reviewed; return the number of items."""
    row = queue_of(queue)
    with locked(row):
        wishes = [ReviewWishRow.objects.filter(item__queue=row, item__token__in=tokens) for tokens in in_chunks(items)]
        return sum(result.delete()[0] for result in wishes)


def undo_reviews(queue: str, items: Collection[str]) -> int:
    """Unfreeze items whose review has no outcome yet; return their number."""
    row = queue_of(queue)
    with locked(row):
        frozen = [item for item in rows_under(row, list(items)) if item.state == ItemState.FROZEN.value]
        answered = {
            number
            for numbers in in_chunks([item.pk for item in frozen])
            for number in ResolutionRow.objects.filter(item_id__in=numbers, current=True).values_list(
                "item_id", flat=True
            )
        }
        done = [item for item in frozen if item.pk not in answered]
        whole = [item for item in done if item.done >= item.passes]
        _change(whole, state=ItemState.COMPLETE.value)
        _change([item for item in done if item not in whole], state=ItemState.OPEN.value)
    return len(done)


def _split(
    rows: Iterable[WorkItemRow], refused: Callable[[WorkItemRow], str]
) -> tuple[list[BulkLine], list[WorkItemRow]]:
    """Return the outcome of each item, and the items that need an action."""
    decided = [(item, refused(item)) for item in rows]
    lines = [
        BulkLine(item=item.token or "", made="" if why else item.token or "", refused=why) for item, why in decided
    ]
    return lines, [item for item, why in decided if not why]


def _change(rows: Iterable[WorkItemRow], **values: object) -> None:
    for numbers in in_chunks(item.pk for item in rows):
        WorkItemRow.objects.filter(id__in=numbers).update(**values)
