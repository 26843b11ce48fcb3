"""Taking work: the next dialogue for an annotator, and giving it back."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Value, When

from theodolite.assessment.queue.queueing import most_items
from theodolite.domain.annotating.work import ItemState, Reservation, ReservationState
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.people.topic import heavy_scenarios
from theodolite.store.annotating.claims import (
    LIVE,
    RESERVED,
    SUBMITTED,
    claim_of,
    end_of,
    expire,
    give_back,
    note,
    participant_id,
    reservation_of,
    take,
)
from theodolite.store.annotating.judge_passes import let_judges_take
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.lighter import avoided_scenarios, is_after
from theodolite.store.annotating.orders import from_the_end
from theodolite.store.annotating.qualified import qualified_for
from theodolite.store.annotating.queues import new_token, queue_of
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.annotating import QueueRow, ReservationRow, RoomVoteRow, WorkItemRow

HISTORY = 10
"""Submissions that an annotator may look at and change again; count."""


def next_work(library: Library, queue: str, participant: str, *, category: str = "") -> Reservation | None:
    """Return the work that an annotator holds, or reserve the next one; None where nothing is left for them.

    One transaction: claims whose time is over end, then the item is chosen by
    the rules of `assessment.queueing`, then its place is taken.

    Args:
        library: Where the queue's design is kept.
        queue: Token of the queue.
        participant: Opaque key of the annotator.
        category: Only this category; empty for any.
    """
    row = queue_of(queue)
    process = library.design(row.design_id).process
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        expire(row)
        let_judges_take(library, row)
        held = _held(row, participant, category)
        if held is not None:
            return reservation_of(_renewed(held, process))
        item = candidates(library, row, participant, category).first()
        return None if item is None else reservation_of(take(library, item, participant))


def _held(queue: QueueRow, participant: str, category: str) -> ReservationRow | None:
    rows = ReservationRow.objects.filter(item__queue=queue, participant__key=participant, state=RESERVED)
    rows = rows.filter(item__category=category) if category else rows
    return rows.select_related("item").order_by("id").first()


def _renewed(row: ReservationRow, process: AnnotationProcess) -> ReservationRow:
    row.until = end_of(process.reserve_min)
    row.save()
    return row


def candidates(library: Library, queue: QueueRow, participant: str, category: str = "") -> QuerySet[WorkItemRow]:
    """Return what an annotator may take, the next item first; the rules of `assessment.queueing` as one query."""
    process = library.design(queue.design_id).process
    own = ReservationRow.objects.filter(participant__key=participant, item=OuterRef("pk"))
    had = own.filter(Q(state__in=[*LIVE, "voided"]) | Q(state="released") & ~Q(reason=""))
    names = _categories(queue, participant, process, qualified_for(library, queue, participant))
    items = WorkItemRow.objects.filter(
        queue=queue,
        state=ItemState.OPEN.value,
        live__lt=F("passes"),
        category__in=names & {category or name for name in names},
    )
    discussed = RoomVoteRow.objects.filter(participant__key=participant, room__dialogue=OuterRef("dialogue"))
    items = items.exclude(tester=participant).filter(~Exists(had), ~Exists(discussed))
    if process.apart:
        elsewhere = ReservationRow.objects.filter(participant__key=participant, state__in=LIVE)
        other = elsewhere.filter(item__queue=queue, item__dialogue=OuterRef("dialogue"))
        items = items.filter(~Exists(other.exclude(item__category=OuterRef("category"))))
    topics = library.study(queue.study_content_id).topics
    if topics:
        items = items.exclude(dialogue__scenario__in=avoided_scenarios(library, queue, participant))
    offered = Exists(own.filter(state=ReservationState.OFFERED.value))
    heavy, order = heavy_scenarios(topics), ["-offered", "-is_first", "live"]
    if heavy and is_after(queue, participant, heavy):
        items = items.annotate(weighs=Case(When(dialogue__scenario__in=heavy, then=Value(1)), default=Value(0)))
        order.insert(1, "weighs")
    draw = "-draw" if from_the_end(queue, participant, process) else "draw"
    return items.annotate(offered=offered).order_by(*order, draw)


def _categories(queue: QueueRow, participant: str, process: AnnotationProcess, qualified: Collection[str]) -> set[str]:
    """Return the categories of which an annotator has not had their share."""
    if process.most_share >= 1:
        return set(qualified)
    n_items = dict(WorkItemRow.objects.filter(queue=queue).values_list("category").annotate(n=Count("id")))
    mine = ReservationRow.objects.filter(item__queue=queue, participant__key=participant, state__in=LIVE)
    n_taken = dict(mine.values_list("item__category").annotate(n=Count("id")))
    return {name for name in qualified if n_taken.get(name, 0) < most_items(n_items.get(name, 0), process)}


def resume(library: Library, token: str, participant: str) -> Reservation:
    """Come back to one's work: a claim that ended is taken again if a place is free.

    Raises:
        Conflict: If somebody else has taken it; the answers are kept all the same.
        NotFound: If it is not one's own.
    """
    row = claim_of(token, participant)
    process = library.design(row.item.queue.design_id).process
    with transaction.atomic():
        one_at_a_time(f"queue {row.item.queue.token}")
        expire(row.item.queue)
        row = claim_of(token, participant)
        if row.state == RESERVED:
            return reservation_of(_renewed(row, process))
        if row.state in {ReservationState.EXPIRED.value, ReservationState.RELEASED.value}:
            return reservation_of(take(library, row.item, participant))
    return reservation_of(row)


def release(token: str, participant: str, *, reason: str = "") -> None:
    """Give work back without penalty; with a reason it is a skip, and is not offered to this annotator again.

    Raises:
        Conflict: If it was submitted before.
        NotFound: If it is not one's own.
    """
    row = claim_of(token, participant)
    with transaction.atomic():
        one_at_a_time(f"queue {row.item.queue.token}")
        row = claim_of(token, participant)
        if row.state == SUBMITTED:
            message = "this dialogue was submitted; open it again from your last ones to change an answer"
            raise Conflict(message)
        give_back(row, ReservationState.RELEASED, by=participant, reason=reason.strip())


def skip(token: str, participant: str, reason: str) -> None:
    """Give work back for good, with a reason that seniors read.

    Raises:
        InputError: If there is no reason.
        NotFound: If it is not one's own.
    """
    if not reason.strip():
        message = "a dialogue is skipped with a reason; expected some words, got none"
        raise InputError(message)
    release(token, participant, reason=reason)


def offer(queue: str, items: Iterable[tuple[str, str]], participant: str, *, by: str = "") -> int:
    """Offer items to one annotator before anything else; takes no pass until they come.

    Args:
        queue: Token of the queue.
        items: Dialogue's key and category of each.
        participant: Opaque key of the annotator.
        by: Who offers.

    Returns:
        Offers that are new; count.
    """
    row, who, n_new = queue_of(queue), participant_id(participant), 0
    with transaction.atomic():
        for dialogue, category in items:
            item = WorkItemRow.objects.filter(queue=row, dialogue__unit__key=dialogue, category=category).first()
            if item is None or ReservationRow.objects.filter(item=item, participant_id=who).exists():
                continue
            made = ReservationRow.objects.create(
                token=new_token(), item=item, participant_id=who, state="offered", created=database_now()
            )
            note(made, by=by)
            n_new += 1
    return n_new


def void(token: str, *, by: str, reason: str) -> None:
    """Make a claim void, submitted or not: its pass is open for somebody else, its annotation stays on record.

    Raises:
        NotFound: If there is no such claim.
    """
    found = ReservationRow.objects.filter(token=token).values_list("participant__key", flat=True).first()
    row = claim_of(token, found or "")
    with transaction.atomic():
        one_at_a_time(f"queue {row.item.queue.token}")
        give_back(claim_of(token, row.participant.key), ReservationState.VOIDED, by=by, reason=reason)


def last_ones(queue: str, participant: str) -> list[Reservation]:
    """Return an annotator's last submissions, the latest first; each says whether it may still be changed."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, participant__key=participant, state=SUBMITTED)
    return [reservation_of(row) for row in rows.select_related("item").order_by("-submitted", "-id")[:HISTORY]]


def n_left(library: Library, queue: str, participant: str) -> int:
    """Return how many items wait that this annotator may take now; count."""
    return candidates(library, queue_of(queue), participant).count()


def next_is_heavy(library: Library, queue: str, participant: str) -> bool | None:
    """Tell whether the next item touches a heavy topic, after one that did; None where the last one did not.

    Nothing is told either where no item is left.
    """
    row = queue_of(queue)
    heavy = heavy_scenarios(library.study(row.study_content_id).topics)
    if not is_after(row, participant, heavy):
        return None
    coming = candidates(library, row, participant).values_list("dialogue__scenario", flat=True).first()
    return None if coming is None else coming in heavy
