"""The query that chooses the next item follows the rules as they are written down."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.fakes.annotating import Venue, no
from theodolite.assessment.queueing import next_of
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.work import AtWork, ItemState, WorkItem
from theodolite.store.annotating.drafts import save_answer
from theodolite.store.annotating.queues import add_dialogues
from theodolite.store.annotating.sittings import submit
from theodolite.store.annotating.taking import candidates, next_work, offer, release, skip
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PROCESS = AnnotationProcess(passes=2, pass_mark=0.0, most_share=0.6, apart=True)
CATEGORIES = ("risk", "style", "utility")


def items() -> list[WorkItem]:
    return [
        WorkItem(
            key=str(row.pk),
            dialogue=str(row.dialogue_id),
            category=row.category,
            passes=row.passes,
            n_live=row.live,
            draw=row.draw,
            tester=row.tester,
            state=ItemState(row.state),
        )
        for row in WorkItemRow.objects.all()
    ]


def at_work(who: str) -> AtWork:
    claims = list(ReservationRow.objects.filter(participant__key=who).select_related("item"))
    live = [one for one in claims if one.state in {"reserved", "submitted"}]
    met = {str(one.item.dialogue_id): set() for one in live}
    for one in live:
        met[str(one.item.dialogue_id)].add(one.item.category)
    return AtWork(
        participant=who,
        qualified=frozenset(CATEGORIES),
        had=frozenset(str(c.item_id) for c in claims if c in live or (c.state == "released" and c.reason)),
        met={dialogue: frozenset(names) for dialogue, names in met.items()},
        n_taken=Counter(one.item.category for one in live),
        n_items=Counter(WorkItemRow.objects.values_list("category", flat=True)),
        offered=frozenset(str(one.item_id) for one in claims if one.state == "offered"),
    )


def step(venue: Venue, queue: str, who: str, chance: random.Random) -> None:
    """Let somebody take the next item and do something with it."""
    work = next_work(venue.library, queue, who)
    if work is None:
        return
    what = chance.choice(["submit", "skip", "release", "hold"])
    if what == "skip":
        skip(work.token, who, "known")
    elif what == "release":
        release(work.token, who)
    elif what == "submit" and work.category == "risk":
        save_answer(work.token, who, no("released"))
        submit(venue.library, work.token, who)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_query_chooses_what_the_rules_say(venue: Venue, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # a draw of a test
    venue.hold(1, held_by=HeldBy.PERSON, cluster="p-1")
    queue = venue.queue(process=PROCESS, first="")
    add_dialogues(venue.library, queue, venue.keys)
    offer(queue, [(venue.keys[1], "style")], "p-2")
    row, compared = QueueRow.objects.get(token=queue), 0
    for _ in range(15):
        for who in ("p-1", "p-2", "p-3"):
            chosen = candidates(venue.library, row, who).first()
            wanted = next_of(items(), at_work(who), PROCESS)
            assert (chosen and str(chosen.pk)) == (wanted and wanted.key)
            compared += wanted is not None
        step(venue, queue, chance.choice(["p-1", "p-2", "p-3"]), chance)

    assert compared > 10
