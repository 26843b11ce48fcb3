"""Orders of assignments: drawn once, kept over expiry and revision, stored with annotations, shown in figures."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.fakes.annotation_queue import Venue, how_bad, no, yes
from theodolite.annotation.agreement import orders
from theodolite.annotation.assignment import next_work, offer, resume
from theodolite.annotation.submission import save_answer, submit, task
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.findings.order import OrderFactor
from theodolite.domain.shown_order import NOT_VARIED, OrderPlan, shown_order_of
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import ReservationRow
from theodolite.store.results import annotations_in

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

VARIED = AnnotationProcess(passes=2, pass_mark=0.0, order=OrderPlan(options=True, turns=True))


def take(venue: Venue, queue: str, who: str) -> str:
    found = next_work(venue.records, queue, who, category="risk")
    assert found is not None
    return found.token


def annotate(venue: Venue, queue: str, who: str) -> str:
    token = take(venue, queue, who)
    shown = task(venue.records, token, who).order
    save_answer(token, who, (yes if shown.options else no)("released"))
    if shown.options:
        save_answer(token, who, how_bad("4"))
    submit(venue.records, token, who)
    return token


def test_an_assignment_shows_the_same_order_after_it_expires(venue: Venue) -> None:
    queue = venue.queue(process=VARIED)
    token = take(venue, queue, "p-1")
    before = task(venue.records, token, "p-1").order
    ReservationRow.objects.update(until=ReservationRow.objects.get(token=token).until - timedelta(days=1))
    take(venue, queue, "p-2")
    resume(venue.records, token, "p-1")

    assert None not in {before.options, before.turns}
    assert task(venue.records, token, "p-1").order == before


def test_the_order_of_an_offered_item_is_drawn_at_its_assignment(venue: Venue) -> None:
    queue = venue.queue(process=VARIED)
    offer(queue, [(venue.keys[2], "risk")], "p-1")
    assert not ReservationRow.objects.get().shown
    assert task(venue.records, take(venue, queue, "p-1"), "p-1").order.turns is not None


def test_two_annotators_see_both_orders_and_unvaried_parts_as_written(venue: Venue) -> None:
    queue = venue.queue(process=VARIED)
    for who in ("p-1", "p-2"):
        for _ in venue.keys:
            annotate(venue, queue, who)
    shown = [shown_order_of(row.shown) for row in AnnotationRow.objects.order_by("dialogue_id", "id")]
    assert [{one.options for one in shown[at : at + 2]} for at in (0, 2, 4)] == [{False, True}] * 3

    plain = venue.queue("other", process=AnnotationProcess(passes=1, pass_mark=0.0))
    assert task(venue.records, take(venue, plain, "p-9"), "p-9").order == NOT_VARIED


def test_the_annotation_states_order_and_number_and_a_revision_keeps_them(venue: Venue) -> None:
    queue = venue.queue(process=VARIED)
    tokens = [annotate(venue, queue, "p-1") for _ in range(2)]
    save_answer(tokens[0], "p-1", no("released"))
    submit(venue.records, tokens[0], "p-1")

    kept = annotations_in(list(AnnotationRow.objects.order_by("id")))
    assert [(one.sitting, one.revision) for one in kept] == [(1, 1), (2, 1), (1, 2)]
    assert kept[0].shown == kept[2].shown != NOT_VARIED


def test_the_figures_show_the_effects_of_orders(venue: Venue) -> None:
    queue = venue.queue(process=VARIED)
    for who in ("p-1", "p-2"):
        for _ in venue.keys:
            annotate(venue, queue, who)
    (effect,) = (one for one in orders(venue.records, queue, "risk")["released"] if one.factor is OrderFactor.OPTIONS)
    assert dict(effect.second.given) == {"yes": 3, "no": 0}
    assert dict(effect.first.given) == {"yes": 0, "no": 3}
