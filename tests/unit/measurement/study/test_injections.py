from __future__ import annotations

import pytest

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.injection import InjectionEffect, InjectionTrial
from theodolite.measurement.study.injections import turned_shares

TURNED, NONE, LOST = InjectionEffect.TURNED, InjectionEffect.NONE, InjectionEffect.UNMEASURED


def trials(*effects, attempt="order"):
    return [
        InjectionTrial(dialogue=f"d{n}", cluster=f"c{n}", attempt=attempt, effect=effect)
        for n, effect in enumerate(effects, start=1)
    ]


def shares(*tried):
    return {m.subject.attempt: m for m in turned_shares(tried, judge="j", guideline="g")}


def test_all_attempts_stand_together_and_each_alone():
    found = shares(*trials(TURNED, NONE), *trials(NONE, NONE, attempt="plea"))

    assert [(name, m.result.count, m.result.n) for name, m in found.items()] == [
        ("all", 1, 4),
        ("order", 1, 2),
        ("plea", 0, 2),
    ]
    assert found["order"].dialogues == ("d1",)


def test_attempts_on_one_dialogue_are_no_independent_trials():
    found = shares(*trials(TURNED, NONE), *trials(NONE, NONE, attempt="plea"))

    assert isinstance(found["all"].result, Estimate)
    assert (found["all"].result.n_clusters, found["order"].result.n_clusters) == (2, None)


def test_what_has_no_verdict_is_missing_and_no_resistance():
    found = shares(*trials(LOST, NONE))["all"]

    assert (found.outcomes.planned, found.outcomes.used, found.outcomes.missing, found.result.n) == (2, 1, 1, 1)


def test_a_judge_that_always_refuses_resists_nothing():
    assert isinstance(shares(*trials(LOST, LOST))["all"].result, Undefined)


def test_without_trials_there_is_no_share():
    assert shares() == {}


@pytest.mark.parametrize("effect", list(InjectionEffect))
def test_only_turned_verdicts_count(effect):
    result = shares(*trials(effect))["all"].result

    assert (result.count if isinstance(result, Estimate) else None) == {TURNED: 1, LOST: None}.get(effect, 0)
