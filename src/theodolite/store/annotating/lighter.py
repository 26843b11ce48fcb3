"""Lighter work: what somebody would rather not read, and what comes after a heavy dialogue."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, F

from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.choices import TopicWeight
from theodolite.domain.people.exposure import LATELY_H
from theodolite.domain.people.topic import heavy_scenarios, scenarios_of, topics_in
from theodolite.store.annotating.claims import BY_JUDGE, RESERVED, SUBMITTED, give_back
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow
from theodolite.store.people.persons import avoided_by


def avoided_scenarios(library: Library, queue: QueueRow, participant: str) -> frozenset[str]:
    """Return the scenarios that touch what an annotator would rather not meet."""
    return scenarios_of(library.study(queue.study_content_id).topics, avoided_by(queue.study, participant))


def is_after(queue: QueueRow, participant: str, heavy: Collection[str]) -> bool:
    """Tell whether the dialogue that an annotator submitted last is about something heavy.

    Args:
        queue: Where.
        participant: Opaque key of the annotator.
        heavy: Scenarios that touch a heavy topic.
    """
    own = ReservationRow.objects.filter(item__queue=queue, participant__key=participant, state=SUBMITTED)
    last = own.order_by("-submitted", "-id").values_list("item__dialogue__scenario", flat=True).first()
    return last in heavy


def n_passed_over(library: Library, queue: str, participant: str) -> int:
    """Return the items that wait for a pass and touch what an annotator would rather not meet; count."""
    row = queue_of(queue)
    return n_waiting_in(row, avoided_scenarios(library, row, participant))


def n_waiting_in(queue: QueueRow, scenarios: Collection[str]) -> int:
    """Return the items of some scenarios that wait for a pass; count."""
    waiting = WorkItemRow.objects.filter(queue=queue, state=ItemState.OPEN.value, live__lt=F("passes"))
    return waiting.filter(dialogue__scenario__in=scenarios).count()


def let_go(library: Library, queue: str, participant: str) -> int:
    """Take back what an annotator holds of what they would rather not meet, without a reason; return how many."""
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        held = ReservationRow.objects.filter(item__queue=row, participant__key=participant, state=RESERVED)
        rows = list(held.filter(item__dialogue__scenario__in=avoided_scenarios(library, row, participant)))
        for claim in rows:
            give_back(claim, ReservationState.RELEASED, by=participant)
    return len(rows)


def scenario_of(claim: str) -> str:
    """Return the scenario of the dialogue that a claim is about; empty for no such claim."""
    found = ReservationRow.objects.filter(token=claim).values_list("item__dialogue__scenario", flat=True).first()
    return found or ""


def n_heavy_lately(library: Library, queue: str) -> dict[str, dict[str, int]]:
    """Return how many dialogues of each heavy topic people submitted lately, by annotator's key and topic; counts."""
    row, since = queue_of(queue), database_now() - timedelta(hours=LATELY_H)
    topics = [one for one in library.study(row.study_content_id).topics if one.weight is TopicWeight.HEAVY]
    heavy = heavy_scenarios(topics)
    own = ReservationRow.objects.filter(item__queue=row, state=SUBMITTED, submitted__gte=since).exclude(BY_JUDGE)
    rows = own.filter(item__dialogue__scenario__in=heavy).values_list("participant__key", "item__dialogue__scenario")
    found: dict[str, dict[str, int]] = {}
    for who, scenario, n in rows.annotate(n=Count("item__dialogue", distinct=True)).order_by():
        mine = found.setdefault(who, {})
        for topic in topics_in(topics, scenario):
            mine[topic.name] = mine.get(topic.name, 0) + n
    return found
