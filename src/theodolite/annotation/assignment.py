"""Assignment: which item an annotator gets next, and releasing it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Case, Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Value, When

from theodolite.annotation.quality import qualified_for
from theodolite.annotation.queues import let_judges_take, suggested_answers
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import comes_backwards, minutes_at_work, minutes_left, most_items, next_order
from theodolite.domain.annotating.work import AnnotatorState, ItemState, QueueDesign, Reservation, ReservationState
from theodolite.domain.choices import TopicWeight
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import LATELY_H, AnnotationProcess
from theodolite.domain.identity import keyed_draw
from theodolite.domain.shown_order import NOT_VARIED, ShownOrder, shown_order_of
from theodolite.domain.study_parts import heavy_scenarios, scenarios_of, topics_in
from theodolite.store.annotation_queue import (
    BY_JUDGE,
    LIVE,
    RESERVED,
    SUBMITTED,
    end_of,
    expire,
    give_back,
    new_token,
    note,
    own_reservation,
    participant_id,
    queue_of,
    reservation_of,
    reserve,
)
from theodolite.store.event_sessions import avoided_topics_of
from theodolite.store.models.annotating import (
    DraftRow,
    GoldRow,
    QueueRow,
    ReservationEventRow,
    ReservationRow,
    RoomVoteRow,
    WorkItemRow,
)
from theodolite.store.statements import database_now, one_at_a_time

NO_ANSWER_MIN = 30
"""Time without a saved answer from which an annotator with a reserved dialogue counts as stuck; minutes."""

NOT_ACCEPTED_H = 24
"""Time from which an annotator with an offered dialogue and no action counts as stuck; hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckAnnotator:
    """An annotator with assigned dialogues and no answer for too long.

    Attributes:
        participant: Opaque key of the annotator.
        n_reserved: Reservations that have not expired; count.
        n_offered: Offers that the annotator has not accepted; count.
        for_s: Time since the last answer, or since the assignment if there is none; seconds.
    """

    participant: str
    n_reserved: int
    n_offered: int
    for_s: float


def stuck_annotators(queue: str, *, now: datetime) -> list[StuckAnnotator]:
    """Return the annotators of a queue with assigned dialogues and no answer for too long, the longest first.

    Only actions of the annotators themselves count: saved and submitted answers, and reservations.
    """
    assigned = Q(state=RESERVED, until__gt=now) | Q(state=ReservationState.OFFERED.value)
    # Two steps, because SQLite would join all submitted annotations first; few are assigned at a time.
    ids = list(ReservationRow.objects.filter(assigned).values_list("id", flat=True))
    rows = ReservationRow.objects.filter(id__in=ids, item__queue__token=queue).exclude(BY_JUDGE).order_by()
    open_work = rows.values_list("participant_id", "participant__key").annotate(
        n_reserved=Count("id", filter=Q(state=RESERVED)),
        n_offered=Count("id", filter=Q(state=ReservationState.OFFERED.value)),
        since=Max("created"),
    )
    waiting = list(open_work)
    people = [number for number, *_ in waiting]
    own = Q(reservation__participant_id__in=people, reservation__item__queue__token=queue)
    answers = dict(DraftRow.objects.filter(own).values_list("reservation__participant_id").annotate(Max("created")))
    acts = ReservationEventRow.objects.filter(own, state__in=LIVE)
    acted = dict(acts.values_list("reservation__participant_id").annotate(Max("created")))
    result = []
    for number, key, n_reserved, n_offered, since in waiting:
        last = max(moment for moment in (since, answers.get(number), acted.get(number)) if moment is not None)
        for_s = (now - last).total_seconds()
        if for_s >= (NO_ANSWER_MIN * 60 if n_reserved else NOT_ACCEPTED_H * 3600):
            result.append(StuckAnnotator(participant=key, n_reserved=n_reserved, n_offered=n_offered, for_s=for_s))
    return sorted(result, key=lambda annotator: -annotator.for_s)


def order_of_next(records: RecordCache, design: QueueDesign, item: WorkItemRow, participant: str) -> ShownOrder:
    """Return the order in which an annotator will be shown an item that is new to them.

    Args:
        records: Store of the guidelines.
        design: Design of the queue.
        item: The item of the assignment.
        participant: Opaque key of the annotator.
    """
    process = design.process
    suggestions = _has_suggestions(records, process, item)
    if not process.order.is_varied:
        return replace(NOT_VARIED, suggestions=suggestions)
    mine = ReservationRow.objects.filter(item__queue_id=item.queue_id, item__category=item.category)
    order = next_order(
        process,
        records.guideline(item.version).instrument,
        sitting=f"{item.dialogue.unit.key} {item.category} {participant}",
        of_dialogue=_orders(ReservationRow.objects.filter(item=item).values_list("shown", flat=True)),
        of_annotator=_orders(mine.filter(participant__key=participant).values_list("shown", flat=True)),
        backwards=from_the_end(item.queue, participant, process),
    )
    return replace(order, suggestions=suggestions)


def _has_suggestions(records: RecordCache, process: AnnotationProcess, item: WorkItemRow) -> bool | None:
    """Return whether annotators of an item see suggestions; None for gold items and items without a judge's answers.

    All annotators of a dialogue have the same draw, so that the other dialogues remain blind.
    """
    plan = process.pre_annotation
    if plan is None or GoldRow.objects.filter(item=item).exists() or not suggested_answers(records, item):
        return None
    return keyed_draw(process.seed, "suggestions", item.dialogue.unit.key) < plan.share


def _orders(texts: Iterable[str]) -> list[ShownOrder]:
    return [shown_order_of(text) for text in texts if text]


def from_the_end(queue: QueueRow, participant: str, process: AnnotationProcess) -> bool | None:
    """Return whether an annotator gets the queue from its end; None if all get it from its start.

    Annotators continue the work that they started.
    """
    if not process.order.dialogues:
        return None
    dialogues = ReservationRow.objects.filter(item__queue=queue, shown__contains="dialogues")
    shown_orders = dialogues.order_by().values_list("participant__key", "shown").distinct()
    result = {person: bool(shown_order_of(text).dialogues) for person, text in shown_orders}
    own = result.pop(participant, None)
    return comes_backwards(process, participant, list(result.values())) if own is None else own


def avoided_scenarios(records: RecordCache, queue: QueueRow, participant: str) -> frozenset[str]:
    """Return the scenarios with topics that an annotator prefers to avoid."""
    return scenarios_of(records.study(queue.study_content_id).topics, avoided_topics_of(queue.study, participant))


def is_after(queue: QueueRow, participant: str, heavy: Collection[str]) -> bool:
    """Return whether the dialogue that an annotator submitted last touches a heavy topic.

    Args:
        queue: Where.
        participant: Opaque key of the annotator.
        heavy: Scenarios that touch a heavy topic.
    """
    own = ReservationRow.objects.filter(item__queue=queue, participant__key=participant, state=SUBMITTED)
    last = own.order_by("-submitted", "-id").values_list("item__dialogue__scenario", flat=True).first()
    return last in heavy


def n_passed_over(records: RecordCache, queue: str, participant: str) -> int:
    """Return the open items with topics that an annotator prefers to avoid; count."""
    row = queue_of(queue)
    return n_waiting_in(queue, avoided_scenarios(records, row, participant))


def n_waiting_in(queue: str, scenarios: Collection[str]) -> int:
    """Return the items of some scenarios that wait for a pass; count."""
    waiting = WorkItemRow.objects.filter(queue__token=queue, state=ItemState.OPEN.value, live__lt=F("passes"))
    return waiting.filter(dialogue__scenario__in=scenarios).count()


def let_go(records: RecordCache, queue: str, participant: str) -> int:
    """Release reservations with topics that an annotator prefers to avoid, without a reason; return the count."""
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        matches = ReservationRow.objects.filter(item__queue=row, participant__key=participant, state=RESERVED)
        rows = list(matches.filter(item__dialogue__scenario__in=avoided_scenarios(records, row, participant)))
        for reservation in rows:
            give_back(reservation, ReservationState.RELEASED, by=participant)
    return len(rows)


def scenario_of(reservation: str) -> str:
    """Return the scenario of a reservation's dialogue; empty if there is no such reservation."""
    row = ReservationRow.objects.filter(token=reservation).values_list("item__dialogue__scenario", flat=True).first()
    return row or ""


def n_heavy_lately(records: RecordCache, queue: str) -> dict[str, dict[str, int]]:
    """Return the number of recently submitted dialogues of each heavy topic, by annotator's key and topic."""
    row, since = queue_of(queue), database_now() - timedelta(hours=LATELY_H)
    topics = [topic for topic in records.study(row.study_content_id).topics if topic.weight is TopicWeight.HEAVY]
    heavy = heavy_scenarios(topics)
    own = ReservationRow.objects.filter(item__queue=row, state=SUBMITTED, submitted__gte=since).exclude(BY_JUDGE)
    rows = own.filter(item__dialogue__scenario__in=heavy).values_list("participant__key", "item__dialogue__scenario")
    result: dict[str, dict[str, int]] = {}
    for who, scenario, n in rows.annotate(n=Count("item__dialogue", distinct=True)).order_by():
        mine = result.setdefault(who, {})
        for topic in topics_in(topics, scenario):
            mine[topic.name] = mine.get(topic.name, 0) + n
    return result


HISTORY = 10
"""Number of submissions that an annotator may view and change; count."""


def next_work(
    records: RecordCache, queue: str, participant: str, *, category: str = "", is_sequence: bool = False
) -> Reservation | None:
    """Return the work that an annotator has reserved, or reserve the next; None if no work is left.

    One transaction: expired reservations end, then the item is chosen by
    the rules of `rules`, then its slot is taken.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        participant: Opaque key of the annotator.
        category: Only this category; empty for any.
        is_sequence: Whether all other categories of the dialogue that the annotator may take are reserved too.
    """
    row = queue_of(queue)
    process = records.design(row.design_id).process
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        expire(row)
        let_judges_take(records, row)
        reserved = _reserved(row, participant, category)
        if reserved is not None:
            return reservation_of(_renewed(reserved, process))
        item = candidates(records, row, participant, category).first()
        if item is None:
            return None
        taken = take(records, item, participant)
        if is_sequence and not category:
            for other in candidates(records, row, participant).filter(dialogue=item.dialogue_id, again=item.again):
                take(records, other, participant)
        return reservation_of(taken)


def sequence_of(records: RecordCache, token: str, participant: str) -> tuple[str, ...]:
    """Return the tokens of the reservations that are annotated together with one, including itself.

    These are the annotator's reservations on the same dialogue, in the order of the queue's
    categories. Expired ones are included, so that no saved answer disappears from the page.
    A submitted or released reservation is separate.

    Raises:
        NotFound: If the reservation belongs to another annotator.
    """
    row = own_reservation(token, participant)
    states = [RESERVED, ReservationState.EXPIRED.value]
    if row.state not in states:
        return (token,)
    own = ReservationRow.objects.filter(
        item__queue=row.item.queue_id,
        item__dialogue=row.item.dialogue_id,
        item__again=row.item.again,
        participant__key=participant,
        state__in=states,
    )
    by_category = dict(own.order_by("-id").values_list("item__category", "token"))
    categories = [category.name for category in records.design(row.item.queue.design_id).categories]
    return tuple(by_category[name] for name in categories if name in by_category)


def _reserved(queue: QueueRow, participant: str, category: str) -> ReservationRow | None:
    rows = ReservationRow.objects.filter(item__queue=queue, participant__key=participant, state=RESERVED)
    rows = rows.filter(item__category=category) if category else rows
    return rows.select_related("item").order_by("id").first()


def take(records: RecordCache, item: WorkItemRow, participant: str) -> ReservationRow:
    """Reserve a free slot of an item for an annotator; the open transaction must hold the queue's lock.

    The annotator's order of presentation is fixed at the first reservation.

    Raises:
        Conflict: If no slot is free.
    """
    design = records.design(item.queue.design_id)
    return reserve(
        item,
        participant,
        minutes=design.process.reserve_min,
        shown=lambda: order_of_next(records, design, item, participant).text,
    )


def _renewed(row: ReservationRow, process: AnnotationProcess) -> ReservationRow:
    row.until = end_of(process.reserve_min)
    row.save()
    return row


def annotator_state(
    records: RecordCache, queue: QueueRow, participant: str, own: Sequence[ReservationRow]
) -> AnnotatorState:
    """Return the facts that decide whether an annotator may take an item; see `rules.why_not`.

    Args:
        records: Store of the queue's design.
        queue: The queue.
        participant: Opaque key of the annotator.
        own: Reservations of the annotator, with their items.
    """
    met: defaultdict[str, set[str]] = defaultdict(set)
    for reservation in own:
        if reservation.state in LIVE:
            met[str(reservation.item.dialogue_id)].add(reservation.item.category)
    voided, released = ReservationState.VOIDED.value, ReservationState.RELEASED.value
    had = [
        reservation
        for reservation in own
        if reservation.state in {*LIVE, voided} or (reservation.state == released and reservation.reason)
    ]
    taken = {*LIVE, ReservationState.OFFERED.value}
    return AnnotatorState(
        participant=participant,
        qualified=qualified_for(records, queue, participant),
        had=frozenset(str(one.item_id) for one in had),
        met={dialogue: frozenset(names) for dialogue, names in met.items()},
        n_taken=Counter(reservation.item.category for reservation in own if reservation.state in taken),
        n_items=Counter(WorkItemRow.objects.filter(queue=queue).values_list("category", flat=True)),
    )


def candidates(records: RecordCache, queue: QueueRow, participant: str, category: str = "") -> QuerySet[WorkItemRow]:
    """Return the items open to an annotator, the next one first; the rules of `rules` as one query."""
    process = records.design(queue.design_id).process
    own = ReservationRow.objects.filter(participant__key=participant, item=OuterRef("pk"))
    had = own.filter(Q(state__in=[*LIVE, "voided"]) | Q(state="released") & ~Q(reason=""))
    names = allowed_categories(queue, participant, process, qualified_for(records, queue, participant))
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
    topics = records.study(queue.study_content_id).topics
    if topics:
        items = items.exclude(dialogue__scenario__in=avoided_scenarios(records, queue, participant))
    offered = Exists(own.filter(state=ReservationState.OFFERED.value))
    heavy, order = heavy_scenarios(topics), ["-offered", "-is_first", "live"]
    if heavy and is_after(queue, participant, heavy):
        items = items.annotate(weighs=Case(When(dialogue__scenario__in=heavy, then=Value(1)), default=Value(0)))
        order.insert(1, "weighs")
    draw = "-draw" if from_the_end(queue, participant, process) else "draw"
    return items.annotate(offered=offered).order_by(*order, draw)


def allowed_categories(
    queue: QueueRow, participant: str, process: AnnotationProcess, qualified: Collection[str]
) -> set[str]:
    """Return the categories in which an annotator is qualified and below their quota."""
    if process.most_share >= 1:
        return set(qualified)
    n_items = dict(WorkItemRow.objects.filter(queue=queue).values_list("category").annotate(n=Count("id")))
    mine = ReservationRow.objects.filter(item__queue=queue, participant__key=participant, state__in=LIVE)
    n_taken = dict(mine.values_list("item__category").annotate(n=Count("id")))
    return {name for name in qualified if n_taken.get(name, 0) < most_items(n_items.get(name, 0), process)}


def resume(records: RecordCache, token: str, participant: str) -> Reservation:
    """Resume a reservation: an expired one is renewed if a slot is free.

    Raises:
        Conflict: If another annotator has taken it; the answers are stored nevertheless.
        NotFound: If the reservation belongs to another annotator.
    """
    row = own_reservation(token, participant)
    process = records.design(row.item.queue.design_id).process
    with transaction.atomic():
        one_at_a_time(f"queue {row.item.queue.token}")
        expire(row.item.queue)
        row = own_reservation(token, participant)
        if row.state == RESERVED:
            return reservation_of(_renewed(row, process))
        if row.state in {ReservationState.EXPIRED.value, ReservationState.RELEASED.value}:
            return reservation_of(take(records, row.item, participant))
    return reservation_of(row)


def resume_sequence(records: RecordCache, token: str, participant: str) -> None:
    """Resume all categories of a dialogue; see `resume`. A category that another annotator has taken stays expired.

    Raises:
        Conflict: If another annotator has taken the named one.
        NotFound: If the reservation belongs to another annotator.
    """
    resume(records, token, participant)
    for other in sequence_of(records, token, participant):
        with suppress(Conflict):
            resume(records, other, participant)


def release(token: str, participant: str, *, reason: str = "") -> None:
    """Release work without penalty; with a reason it counts as skipped, and is not offered to this annotator again.

    Raises:
        Conflict: If it was submitted before.
        NotFound: If the reservation belongs to another annotator.
    """
    row = own_reservation(token, participant)
    with transaction.atomic():
        one_at_a_time(f"queue {row.item.queue.token}")
        row = own_reservation(token, participant)
        if row.state == SUBMITTED:
            message = "this dialogue was submitted; reopen it from your last submissions to change an answer"
            raise Conflict(message)
        give_back(row, ReservationState.RELEASED, by=participant, reason=reason.strip())


def skip(token: str, participant: str, reason: str) -> None:
    """Release work permanently, with a reason that seniors read.

    Raises:
        InputError: If there is no reason.
        NotFound: If the reservation belongs to another annotator.
    """
    if not reason.strip():
        message = "a reason is required to skip a dialogue; got none"
        raise InputError(message)
    release(token, participant, reason=reason)


def offer(queue: str, items: Iterable[tuple[str, str]], participant: str, *, by: str = "") -> int:
    """Offer items to one annotator before all others; an offer takes no slot until it is accepted.

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


def last_ones(queue: str, participant: str) -> list[Reservation]:
    """Return an annotator's last submissions, latest first, and whether each may still be changed."""
    rows = ReservationRow.objects.filter(item__queue__token=queue, participant__key=participant, state=SUBMITTED)
    return [reservation_of(row) for row in rows.select_related("item").order_by("-submitted", "-id")[:HISTORY]]


def own_today(queue: str, participant: str, since: datetime) -> tuple[int, int]:
    """Return the number of items that an annotator has submitted since a time, and has reserved now; counts."""
    mine = ReservationRow.objects.filter(item__queue__token=queue, participant__key=participant)
    return mine.filter(state=SUBMITTED, submitted__gte=since).count(), mine.filter(state=RESERVED).count()


def n_left(records: RecordCache, queue: str, participant: str) -> int:
    """Return the number of items that this annotator may take now; count."""
    return candidates(records, queue_of(queue), participant).count()


def next_is_heavy(records: RecordCache, queue: str, participant: str) -> bool | None:
    """Return whether the next item touches a heavy topic after one that did.

    None if the last one did not, or if no item is left.
    """
    row = queue_of(queue)
    heavy = heavy_scenarios(records.study(row.study_content_id).topics)
    if not is_after(row, participant, heavy):
        return None
    coming = candidates(records, row, participant).values_list("dialogue__scenario", flat=True).first()
    return None if coming is None else coming in heavy


BREAK_WINDOW_H = 12
"""Period before now that is searched for a break; hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryCount:
    """Progress of one annotator in a category.

    Attributes:
        name: Name of the category.
        version: Content hash of its guideline.
        is_qualified: Whether the annotator may work in it.
        n_done: Dialogues submitted; count.
        n_today: Dialogues submitted since midnight UTC; count.
        n_left: Dialogues that the annotator may take now; count.
        is_held: Whether the annotator has reserved one now.
    """

    name: str
    version: str
    is_qualified: bool
    n_done: int = 0
    n_today: int = 0
    n_left: int = 0
    is_held: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPace:
    """How one annotator works.

    Attributes:
        at_work: Time of work without a break; minutes.
        left: Estimated time for their open items at their pace so far; minutes, None if data are too few.
    """

    at_work: float
    left: float | None


def own_pace(queue: str, participant: str, n_left: int) -> OwnPace:
    """Return how an annotator works in a queue.

    Args:
        queue: Token of the queue.
        participant: Opaque key of the annotator.
        n_left: Dialogues that wait for them; count.
    """
    mine = Q(reservation__item__queue__token=queue, reservation__participant__key=participant)
    now = database_now()
    lately = mine & Q(created__gte=now - timedelta(hours=BREAK_WINDOW_H))
    acts = ReservationEventRow.objects.filter(lately).exclude(state=ReservationState.EXPIRED.value)
    answers = DraftRow.objects.filter(lately)
    moments = [*acts.values_list("created", flat=True), *answers.values_list("created", flat=True)]
    times = ReservationEventRow.objects.filter(mine, reservation__state=ReservationState.SUBMITTED.value)
    spans = times.values_list("reservation_id").annotate(
        begun=Min("created", filter=Q(state=ReservationState.RESERVED.value)),
        ended=Min("created", filter=Q(state=ReservationState.SUBMITTED.value)),
    )
    spent = [(ended - started).total_seconds() / 60 for _, started, ended in spans if started and ended]
    return OwnPace(at_work=minutes_at_work(moments, now), left=minutes_left(spent, n_left))


def own_counts(records: RecordCache, queue: str, participant: str) -> tuple[CategoryCount, ...]:
    """Return an annotator's progress in each category of a queue, in the queue's order.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        participant: Opaque key of the annotator.
    """
    row = queue_of(queue)
    qualified = qualified_for(records, row, participant)
    mine = ReservationRow.objects.filter(item__queue=row, participant__key=participant)
    is_done = Q(state=ReservationState.SUBMITTED.value)
    midnight = database_now().replace(hour=0, minute=0, second=0, microsecond=0)
    done = {
        name: counts
        for name, *counts in mine.values_list("item__category").annotate(
            done=Count("id", filter=is_done),
            today=Count("id", filter=is_done & Q(submitted__gte=midnight)),
            held=Count("id", filter=Q(state=ReservationState.RESERVED.value)),
        )
    }
    waiting = candidates(records, row, participant).order_by().values_list("category").annotate(n=Count("id"))
    left = dict(waiting)
    return tuple(
        CategoryCount(
            name=category.name,
            version=category.version,
            is_qualified=category.name in qualified,
            n_done=done.get(category.name, [0])[0],
            n_today=done.get(category.name, [0, 0])[1],
            n_left=left.get(category.name, 0),
            is_held=bool(done.get(category.name, [0, 0, 0])[2]),
        )
        for category in records.design(row.design_id).categories
    )
