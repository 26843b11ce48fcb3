"""The query for the next item follows the documented rules."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.fakes.annotation_queue import Venue, next_of, no
from theodolite.annotation.assignment import candidates, from_the_end, next_work, offer, release, skip
from theodolite.annotation.queues import add_dialogues
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotating.work import AnnotatorState, ItemState, WorkItem
from theodolite.domain.choices import TopicWeight
from theodolite.domain.dialogue import TesterType
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.shown_order import OrderPlan
from theodolite.domain.study_parts import SensitiveTopic
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PROCESS = AnnotationProcess(passes=2, pass_mark=0.0, most_share=0.6, apart=True)
FROM_BOTH_ENDS = replace(PROCESS, order=OrderPlan(dialogues=True))
GRIM = SensitiveTopic(name="grim", weight=TopicWeight.HEAVY, scenarios=("forum",))
CATEGORIES = ("risk", "style", "utility")


def items() -> list[WorkItem]:
    return [
        WorkItem(
            key=str(row.pk),
            dialogue=str(row.dialogue_id),
            category=row.category,
            passes=row.passes,
            n_live=row.live,
            is_first=row.is_first,
            draw=row.draw,
            tester=row.tester,
            scenario=row.dialogue.scenario,
            is_heavy=row.dialogue.scenario == "forum",
            state=ItemState(row.state),
        )
        for row in WorkItemRow.objects.select_related("dialogue")
    ]


def at_work(who: str) -> AnnotatorState:
    claims = list(ReservationRow.objects.filter(participant__key=who).select_related("item__dialogue"))
    live = [one for one in claims if one.state in {"reserved", "submitted"}]
    met = {str(one.item.dialogue_id): set() for one in live}
    for one in live:
        met[str(one.item.dialogue_id)].add(one.item.category)
    return AnnotatorState(
        participant=who,
        qualified=frozenset(CATEGORIES),
        had=frozenset(str(c.item_id) for c in claims if c in live or (c.state == "released" and c.reason)),
        met={dialogue: frozenset(names) for dialogue, names in met.items()},
        n_taken=Counter(one.item.category for one in live),
        n_items=Counter(WorkItemRow.objects.values_list("category", flat=True)),
        offered=frozenset(str(one.item_id) for one in claims if one.state == "offered"),
        avoided=frozenset({"forum"}) if who == "p-3" else frozenset(),
    )


def is_after_heavy(who: str) -> bool:
    submitted = ReservationRow.objects.filter(participant__key=who, submitted__isnull=False)
    last = submitted.select_related("item__dialogue").order_by("-submitted", "-pk").first()
    return last is not None and last.item.dialogue.scenario == "forum"


def step(venue: Venue, queue: str, who: str, chance: random.Random) -> None:
    """Assign the next item to an annotator and process it."""
    work = next_work(venue.records, queue, who)
    if work is None:
        return
    what = chance.choice(["submit", "skip", "release", "hold"])
    if what == "skip":
        skip(work.token, who, "known")
    elif what == "release":
        release(work.token, who)
    elif what == "submit" and work.category == "risk":
        save_answer(work.token, who, no("released"))
        submit(venue.records, work.token, who)


@pytest.mark.parametrize(("seed", "process"), [(1, PROCESS), (2, FROM_BOTH_ENDS)])
def test_the_query_chooses_the_item_that_the_rules_choose(venue: Venue, seed: int, process: AnnotationProcess) -> None:
    chance = random.Random(seed)  # noqa: S311  # a draw of a test
    venue.study = replace(venue.study, topics=(GRIM,))
    venue.store.events.participants.set_avoided_topics("spoilers", "p-3", ["grim"])
    venue.hold(2, scenario="forum")
    venue.hold(1, held_by=TesterType.PERSON, cluster="p-1")
    queue = venue.queue(process=process, first="")
    add_dialogues(venue.records, queue, venue.keys)
    offer(queue, [(venue.keys[1], "style")], "p-2")
    WorkItemRow.objects.filter(dialogue__unit__key=venue.keys[2], category="utility").update(is_first=True)
    row, compared = QueueRow.objects.get(token=queue), 0
    for _ in range(15):
        for who in ("p-1", "p-2", "p-3"):
            chosen = candidates(venue.records, row, who).first()
            back = bool(from_the_end(row, who, process))
            state = replace(at_work(who), backwards=back)
            wanted = next_of(items(), state, process, after_heavy=is_after_heavy(who))
            assert (chosen and str(chosen.pk)) == (wanted and wanted.key)
            compared += wanted is not None
        step(venue, queue, chance.choice(["p-1", "p-2", "p-3"]), chance)

    assert compared > 10


def test_a_reversed_annotator_starts_with_the_last_items_of_others(venue: Venue) -> None:
    venue.hold(7)
    process = replace(PROCESS, order=OrderPlan(dialogues=True), most_share=1.0, apart=False)
    queue = venue.queue(process=process, first="")
    met: dict[str, list[float]] = {}
    for who in ("p-1", "p-2"):
        for _ in range(4):
            work = next_work(venue.records, queue, who, category="style")
            assert work is not None
            skip(work.token, who, "known")
            met.setdefault(who, []).append(ReservationRow.objects.get(token=work.token).item.draw)
    ways = [values == sorted(values) for values in met.values()]
    assert sorted(ways) == [False, True], "one from either end, and each stays there"
    assert all(values in (sorted(values), sorted(values, reverse=True)) for values in met.values())
