"""Judges' passes: promoted judges take the places that the study leaves them, and give them back when withdrawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, QuerySet

from theodolite.assessment.queue.judges import is_pass, most_by_judges
from theodolite.domain.annotating.promotion import Promotion, is_model, seat_of
from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.annotation import Outcome
from theodolite.domain.people.event import AnnotationProcess
from theodolite.store.annotating.claims import LIVE, SUBMITTED, give_back, participant_id
from theodolite.store.annotating.given import count_disputed
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import new_token
from theodolite.store.annotating.routes import route_on
from theodolite.store.annotating.standing import held_promotions
from theodolite.store.ledger import CHUNK, database_now
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import QueueRow, ReservationEventRow, ReservationRow, WorkItemRow
from theodolite.store.reading import grouped


class _Free(NamedTuple):
    """An open item with a place for a judge."""

    item: WorkItemRow
    place: int


def let_judges_take(library: Library, queue: QueueRow) -> int:
    """Let promoted judges take the passes that are theirs; the open transaction must hold the queue's lock.

    A judge takes a pass of an item where it has read the dialogue in a run, in the
    version that was promoted and by the guideline as the queue asks it, where a place
    is free, and where people keep one at least (`assessment.judges_in_queue`). It
    never takes a place from somebody who is at work.

    Returns:
        Passes that were taken; count.
    """
    process = library.design(queue.design_id).process
    if not process.judge_passes:
        return 0
    return sum(_take_all(library, queue, process, promotion) for promotion in held_promotions(library, queue))


def _take_all(library: Library, queue: QueueRow, process: AnnotationProcess, promotion: Promotion) -> int:
    had = ReservationRow.objects.filter(item=OuterRef("pk"), participant__key=seat_of(promotion.judge))
    items = WorkItemRow.objects.filter(
        Exists(_readings(promotion).filter(dialogue_id=OuterRef("dialogue_id"))),
        ~Exists(had),
        queue=queue,
        category=promotion.guideline,
        version=promotion.guideline_version,
        state=ItemState.OPEN.value,
        live__lt=F("passes"),
        passes__gt=1,
    )
    numbers, n_taken = list(items.order_by("draw").values_list("id", flat=True)), 0
    for start in range(0, len(numbers), CHUNK):
        chunk = list(WorkItemRow.objects.filter(id__in=numbers[start : start + CHUNK]).select_related("queue"))
        n_taken += _take(library, _free(chunk, process), promotion)
    return n_taken


def _readings(promotion: Promotion) -> QuerySet[AnnotationRow]:
    return AnnotationRow.objects.filter(
        unit__isnull=False,
        guideline=promotion.guideline,
        annotator_version=promotion.judge_version,
        instrument_version=promotion.guideline_version,
    )


def _free(items: Sequence[WorkItemRow], process: AnnotationProcess) -> list[_Free]:
    """Return the items of which a judge may take a pass, with the lowest free place of each."""
    claims = ReservationRow.objects.filter(item__in=items, state__in=LIVE).select_related("participant")
    taken, free = grouped(claims, "item_id"), []
    for item in items:
        others = taken.get(item.pk, [])
        n_judges = sum(is_model(one.participant.key) for one in others)
        if n_judges < most_by_judges(process, item.passes):
            places = {one.place for one in others}
            place = next(number for number in range(1, item.passes + 1) if number not in places)
            free.append(_Free(item, place))
    return free


def _take(library: Library, free: Sequence[_Free], promotion: Promotion) -> int:
    readings = _latest_readings(promotion, [one.item.dialogue_id for one in free])
    who, now = participant_id(seat_of(promotion.judge)), database_now()
    rows = [
        ReservationRow(
            token=new_token(),
            item=item,
            participant_id=who,
            state=SUBMITTED,
            place=place,
            of=item.passes,
            revision=1,
            annotation_id=readings[item.dialogue_id],
            created=now,
            submitted=now,
        )
        for item, place in free
        if item.dialogue_id in readings
    ]
    made = ReservationRow.objects.bulk_create(rows)
    ReservationEventRow.objects.bulk_create(
        ReservationEventRow(reservation=one, state=SUBMITTED, by=seat_of(promotion.judge), created=now) for one in made
    )
    _count(library, [one.item for one in made])
    return len(made)


def _latest_readings(promotion: Promotion, dialogues: Sequence[int]) -> Mapping[int, int]:
    """Return for each dialogue the judge's latest reading that can stand as a pass: dialogue to annotation."""
    rows = _readings(promotion).filter(dialogue_id__in=dialogues)
    latest = dict(rows.order_by("revision", "id").values_list("dialogue_id", "id"))
    outcomes: dict[int, set[Outcome]] = {}
    answers = AnswerRow.objects.filter(annotation_id__in=list(latest.values()))
    for annotation, outcome in answers.values_list("annotation_id", "outcome"):
        outcomes.setdefault(annotation, set()).add(Outcome(outcome))
    return {dialogue: one for dialogue, one in latest.items() if is_pass(outcomes.get(one, ()))}


def _count(library: Library, items: Iterable[WorkItemRow]) -> None:
    """Count the new passes; what is complete by them is compared and sent on as if a person had been the last."""
    for item in items:
        item.live, item.done = item.live + 1, item.done + 1
        if item.done >= item.passes:
            item.state = ItemState.COMPLETE.value
        item.save()
        if item.state == ItemState.COMPLETE.value:
            count_disputed(library, item)
            route_on(library, item)


def take_back(queue: QueueRow, judge: str, *, by: str, reason: str) -> int:
    """Make a judge's passes void, but those under review: people are asked in its place. Returns their count.

    What it said stays on record, beside people as a shadow.
    """
    claims = ReservationRow.objects.filter(item__queue=queue, participant__key=seat_of(judge), state=SUBMITTED)
    rows = list(claims.exclude(item__state=ItemState.FROZEN.value).select_related("item"))
    for row in rows:
        give_back(row, ReservationState.VOIDED, by=by, reason=reason)
    return len(rows)
