"""Drawing orders: balanced over dialogues and annotators, and the same again from the same seed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from theodolite.annotation.rules import comes_backwards, next_order
from theodolite.domain.instrument import YES_NO, Instrument, Question
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.shown_order import NOT_VARIED, OrderPlan, QuestionOrder, ShownOrder

ASKED = Instrument(name="n", questions=tuple(Question(name=name, text=name, scale=YES_NO) for name in "abc"))
VARIED = OrderPlan(questions=QuestionOrder.BALANCED, options=True, turns=True)
PROCESS = AnnotationProcess(seed=7, order=VARIED)
PEOPLE = ("ana", "ben", "cy")


def played(process: AnnotationProcess, n_dialogues: int = 24, passes: int = 2) -> dict[tuple[str, int], ShownOrder]:
    """Let people annotate dialogue by dialogue, in turns."""
    sat: dict[tuple[str, int], ShownOrder] = {}
    for dialogue in range(n_dialogues):
        for turn in range(passes):
            who = PEOPLE[(dialogue + turn) % len(PEOPLE)]
            sat[who, dialogue] = next_order(
                process,
                ASKED,
                sitting=f"{dialogue} {who}",
                of_dialogue=[order for (_, met), order in sat.items() if met == dialogue],
                of_annotator=[order for (person, _), order in sat.items() if person == who],
            )
    return sat


def test_what_is_not_varied_is_as_written() -> None:
    assert next_order(AnnotationProcess(), ASKED, sitting="d a") == NOT_VARIED


def test_the_seed_draws_the_same_orders_again_and_another_seed_others() -> None:
    assert played(PROCESS) == played(PROCESS)
    assert played(PROCESS) != played(replace(PROCESS, seed=8))


def test_two_who_annotate_a_dialogue_see_it_both_ways() -> None:
    by_dialogue = defaultdict(list)
    for (_, dialogue), order in played(PROCESS).items():
        by_dialogue[dialogue].append(order)
    for orders in by_dialogue.values():
        assert {order.options for order in orders} == {order.turns for order in orders} == {False, True}
        assert len({order.row for order in orders}) == 2


@pytest.mark.parametrize("part", ["options", "turns"])
def test_each_annotator_sees_about_as_many_of_both(part: str) -> None:
    for who in PEOPLE:
        counts = Counter(getattr(order, part) for (person, _), order in played(PROCESS).items() if person == who)
        assert abs(counts[True] - counts[False]) <= 6, counts


def test_what_is_drawn_of_one_thing_says_little_of_another() -> None:
    pairs = Counter((order.options, order.turns) for order in played(PROCESS, n_dialogues=120).values())
    assert min(pairs.values()) > 0.15 * sum(pairs.values()), pairs


def test_annotators_come_from_the_end_as_often_as_from_the_beginning() -> None:
    ways: list[bool] = []
    for number in range(10):
        ways.append(comes_backwards(PROCESS, f"p{number}", ways))
        assert abs(2 * sum(ways) - len(ways)) <= 1
