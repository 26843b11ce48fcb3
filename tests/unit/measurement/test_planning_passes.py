"""The planner: passes and dialogues for a wanted interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.fakes.answers import GivenAnswer
from tests.unit.measurement.test_annotating import BAD, YES, given
from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Undefined
from theodolite.domain.instrument import Label, Question, Scale, ScaleKind
from theodolite.measurement.answer_arrays import answer_arrays
from theodolite.measurement.planning_passes import planned_passes


def test_the_planner_meets_the_width_it_promises():
    rng = np.random.default_rng(5)
    levels = rng.normal(5.0, 1.0, 4000)
    answers = [
        GivenAnswer(f"p{person}", unit, unit, str(int(np.clip(round(level + rng.normal(0, 1.0)), 1, 10))))
        for unit, level in enumerate(levels)
        for person in range(2)
    ]
    one, two = planned_passes(BAD, answer_arrays(answers), 0.2, most_passes=2)

    spread = {k: [np.mean(levels_of(answers, unit)[:k]) for unit in range(4000)] for k in (1, 2)}
    for plan in (one, two):
        reached = 1.96 * np.std(spread[plan.passes]) / math.sqrt(plan.n_dialogues)
        assert reached == pytest.approx(0.2, rel=0.05)
    assert two.n_dialogues < one.n_dialogues
    assert two.n_annotations == 2 * two.n_dialogues


def levels_of(answers, unit):
    return [int(one.value) for one in answers[2 * unit : 2 * unit + 2]]


def test_perfect_agreement_makes_a_second_pass_worthless():
    plans = planned_passes(YES, answer_arrays(given({"anna": "ynyn" * 5, "ben": "ynyn" * 5})), 0.1)

    assert len({plan.n_dialogues for plan in plans}) == 1


def test_what_cannot_be_planned_is_said():
    three = Question(
        name="t", text="?", scale=Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=v) for v in "abc"))
    )
    assert isinstance(planned_passes(YES, answer_arrays(given({"anna": "yn"})), 0.1), Undefined)
    for question, width in ((YES, 0.0), (three, 0.1)):
        with pytest.raises(InputError):
            planned_passes(question, answer_arrays(given()), width)
