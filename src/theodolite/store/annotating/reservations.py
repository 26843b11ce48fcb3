"""The repository of reservations: their rows, and the one place where these change state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q

from theodolite.domain.annotating.promotion import seat_of
from theodolite.domain.annotating.work import ItemState, Reservation, ReservationState
from theodolite.domain.errors import Conflict, NotFound
from theodolite.store.annotating.queues import new_token
from theodolite.store.ledger import CHUNK, database_now
from theodolite.store.models import ParticipantRow
from theodolite.store.models.annotating import QueueRow, ReservationEventRow, ReservationRow, WorkItemRow

RESERVED, SUBMITTED = ReservationState.RESERVED.value, ReservationState.SUBMITTED.value
LIVE = (RESERVED, SUBMITTED)

BY_JUDGE = Q(participant__key__startswith=seat_of(""))
"""Which reservations are those of promoted judges; figures of people leave them out."""


def participant_id(key: str) -> int:
    """Return the number of a participant's row, made where it is missing."""
    return ParticipantRow.objects.get_or_create(key=key)[0].pk


def own_reservation(token: str, participant: str) -> ReservationRow:
    """Return one's own reservation.

    Raises:
        NotFound: If there is none, or it is somebody else's.
    """
    rows = ReservationRow.objects.select_related("item__queue", "item__dialogue", "participant")
    row = rows.filter(token=token, participant__key=participant).first()
    if row is None:
        message = f"no reservation has the token `{token}` for this annotator"
        raise NotFound(message)
    return row


def reserve(item: WorkItemRow, participant: str, *, minutes: int, shown: Callable[[], str]) -> ReservationRow:
    """Reserve a free place of an item for an annotator; the open transaction must hold the queue's lock.

    Args:
        item: The work item.
        participant: Opaque key of the annotator.
        minutes: How long the reservation lasts.
        shown: Returns the order that the annotator sees for good; called at the first reservation only.

    Raises:
        Conflict: If all its places are taken.
    """
    who = participant_id(participant)
    row = ReservationRow.objects.filter(item=item, participant_id=who).first()
    is_first = row is None or row.state == ReservationState.OFFERED.value
    if row is None:
        row = ReservationRow(token=new_token(), item=item, participant_id=who, created=database_now())
    if is_first:
        row.shown = shown()
    row.place, row.of = free_place(item), item.passes
    row.state, row.until, row.reason = RESERVED, end_of(minutes), ""
    row.save()
    WorkItemRow.objects.filter(pk=item.pk).update(live=F("live") + 1)
    note(row, by=participant)
    return row


def free_place(item: WorkItemRow) -> int:
    """Return the lowest free place of an item, from 1.

    Raises:
        Conflict: If all its places are taken.
    """
    taken = set(ReservationRow.objects.filter(item=item, state__in=LIVE).values_list("place", flat=True))
    free = next((place for place in range(1, item.passes + 1) if place not in taken), None)
    if free is None or item.state != ItemState.OPEN.value:
        message = "somebody else has taken this dialogue meanwhile; your answers are kept"
        raise Conflict(message)
    return free


def give_back(row: ReservationRow, state: ReservationState, *, by: str = "", reason: str = "") -> None:
    """End a reservation without an annotation, or make one void; its place is free at once, its drafts stay."""
    was_live, was_done = row.state in LIVE, row.state == SUBMITTED
    row.state, row.place, row.until, row.reason = state.value, None, None, reason
    row.save()
    item = WorkItemRow.objects.get(pk=row.item_id)
    item.live -= int(was_live)
    item.done -= int(was_done)
    if was_done and item.state == ItemState.COMPLETE.value:
        item.state = ItemState.OPEN.value
    item.save()
    note(row, by=by, reason=reason)


def expire(queue: QueueRow) -> int:
    """End the reservations of a queue whose time is over; what was submitted never expires. Returns their count."""
    stale = ReservationRow.objects.filter(state=RESERVED, until__lt=database_now(), item__queue=queue)
    rows = list(stale.order_by("id"))
    for row in rows:
        give_back(row, ReservationState.EXPIRED)
    return len(rows)


def end_of(minutes: int) -> datetime:
    """Return when a reservation that begins or is renewed now will end; by the database's clock."""
    return database_now() + timedelta(minutes=minutes)


def note(row: ReservationRow, *, by: str = "", reason: str = "") -> None:
    """Write down what happened to a reservation."""
    ReservationEventRow.objects.create(reservation=row, state=row.state, by=by, reason=reason, created=database_now())


def reservation_of(row: ReservationRow) -> Reservation:
    """Return a reservation as a record."""
    state, item = ReservationState(row.state), row.item
    shut = item.state in {ItemState.FROZEN.value, ItemState.ASIDE.value} or state is ReservationState.VOIDED
    return Reservation(
        token=row.token,
        category=item.category,
        version=item.version,
        state=state,
        until=row.until,
        submitted=row.submitted,
        reason=row.reason,
        is_open=not shut,
    )


def note_all(reservations: Sequence[ReservationRow], by: str) -> None:
    """Write down what happened to reservations."""
    now = database_now()
    ReservationEventRow.objects.bulk_create(
        (ReservationEventRow(reservation=one, state=one.state, by=by, created=now) for one in reservations),
        batch_size=CHUNK,
    )
