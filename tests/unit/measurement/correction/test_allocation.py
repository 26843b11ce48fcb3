"""Which dialogues to label next."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement import corrected_rate, plan_labels

VERDICTS = [True] * 60 + [False] * 940
PILOT = [True] * 9 + [False] * 3 + [None] * 48 + [True] + [False] * 49 + [None] * 890


def test_dialogues_are_drawn_from_each_heap_without_those_that_have_a_label():
    plan = plan_labels(VERDICTS, PILOT, budget=100, seed=3)

    assert sum(plan.take.values()) == len(set(plan.dialogues)) == 100
    assert all(PILOT[place] is None for place in plan.dialogues)
    assert sum(VERDICTS[place] for place in plan.dialogues) == plan.take["defect"]


def test_most_labels_go_where_missed_defects_weigh():
    plan = plan_labels(VERDICTS, PILOT, budget=200)

    assert plan.take["sound"] > plan.take["defect"] > 0


def test_planned_labels_narrow_the_interval_more_than_random_ones():
    verdicts, pilot = [True] * 70 + [False] * 930, [True] * 4 + [False] * 6 + [None] * 60 + [False] * 20 + [None] * 910
    plan = plan_labels(verdicts, pilot, budget=200)

    assert plan.width < plan.width_at_random < plan.width_now


def test_the_width_now_is_that_of_the_corrected_rate():
    rate = corrected_rate(VERDICTS, PILOT)

    assert plan_labels(VERDICTS, PILOT, budget=1).width_now == pytest.approx(rate.high - rate.low, abs=1e-6)


def test_every_heap_is_looked_at_first():
    plan = plan_labels(["a"] * 97 + ["b", "c", "d"], [None] * 100, budget=4)

    assert plan.take == {"a": 1, "b": 1, "c": 1, "d": 1}
    assert plan.width_now == 1.0


def test_the_same_seed_draws_the_same_dialogues():
    assert plan_labels(VERDICTS, PILOT, budget=20, seed=1) == plan_labels(VERDICTS, PILOT, budget=20, seed=1)
    assert plan_labels(VERDICTS, PILOT, budget=20, seed=1) != plan_labels(VERDICTS, PILOT, budget=20, seed=2)


def test_more_than_there_are_cannot_be_labelled():
    with pytest.raises(InputError, match="`budget` must be at most the 2 dialogues without a label; got 3"):
        plan_labels([True, False], [None, None], budget=3)
