"""Content opt-outs of annotators, and the item after a sensitive dialogue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.annotation_queue import OPEN_TO_ALL, Venue, no
from theodolite.annotation.assignment import (
    let_go,
    n_heavy_lately,
    n_passed_over,
    next_is_heavy,
    next_work,
    scenario_of,
)
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotating.work import Reservation
from theodolite.domain.choices import TopicWeight
from theodolite.domain.study_parts import SensitiveTopic

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

GRIM = SensitiveTopic(name="grim", weight=TopicWeight.HEAVY, scenarios=("forum",))


def a_queue(venue: Venue, n_grim: int = 2) -> str:
    venue.study = replace(venue.study, topics=(GRIM,))
    venue.hold(n_grim, scenario="forum")
    return venue.queue(process=replace(OPEN_TO_ALL, passes=1), on_violation=(), otherwise=())


def work(venue: Venue, queue: str) -> Reservation:
    found = next_work(venue.records, queue, "p-1")
    assert found is not None
    return found


def submitted(venue: Venue, claim: Reservation) -> None:
    save_answer(claim.token, "p-1", no("released"))
    assert not submit(venue.records, claim.token, "p-1").open


def test_an_assignment_is_released_without_a_reason_and_not_offered_again(venue: Venue) -> None:
    queue = a_queue(venue, n_grim=1)
    while scenario_of((held := work(venue, queue)).token) != "forum":
        submitted(venue, held)
    venue.store.events.participants.set_avoided_topics("spoilers", "p-1", ["grim"])

    assert let_go(venue.records, queue, "p-1") == 1
    assert n_passed_over(venue.records, queue, "p-1") == 1
    left = next_work(venue.records, queue, "p-1")
    assert left is None or scenario_of(left.token) != "forum"


def test_sensitive_dialogues_alternate_with_others_while_there_are_others(venue: Venue) -> None:
    queue, met = a_queue(venue), []
    for _ in range(5):
        told, held = next_is_heavy(venue.records, queue, "p-1"), work(venue, queue)
        met.append((told, scenario_of(held.token)))
        submitted(venue, held)

    grim = [at for at, (_, scenario) in enumerate(met) if scenario == "forum"]
    assert len(grim) == 2
    assert grim[1] - grim[0] > 1 or grim[1] == 4
    assert [told for at, (told, _) in enumerate(met) if at - 1 in grim] == [
        met[at][1] == "forum" for at in range(5) if at - 1 in grim
    ]


def test_exposure_to_a_topic_is_counted_by_dialogue(venue: Venue) -> None:
    queue = a_queue(venue)
    for _ in range(5):
        submitted(venue, work(venue, queue))

    assert n_heavy_lately(venue.records, queue) == {"p-1": {"grim": 2}}
