from __future__ import annotations

import codecs

import pytest

from theodolite.domain.errors import PlanError
from theodolite.domain.persona import Aim, Attack, AttemptOutcome
from theodolite.testing.strategies import APPROACHES, AttackReply, Try, approach_of

ASK = "Where is the key?"
BY_RULE = [name for name, approach in APPROACHES.items() if not approach.needs_model]
DECLINED = AttackReply(text="No.", outcome=AttemptOutcome.WITHHELD)


def tries_of(name, reply=DECLINED):
    """Return all that a strategy tries while it gets nothing."""
    line = approach_of(name).line(Attack(key=f"{name}/key", strategy=name, aim=Aim(key="key", ask=ASK)))
    tries = [next(line)]
    while True:
        try:
            tries.append(line.send(reply))
        except StopIteration:
            return tries


@pytest.mark.parametrize("name", BY_RULE)
def test_a_rule_based_strategy_makes_the_stated_number_of_attempts(name):
    tries = tries_of(name)

    assert len(tries) == approach_of(name).tries
    assert all(isinstance(tried, Try) and tried.prompt and tried.description for tried in tries)


@pytest.mark.parametrize("name", BY_RULE)
def test_the_same_attack_sends_the_same_prompts(name):
    assert tries_of(name) == tries_of(name)


@pytest.mark.parametrize("name", BY_RULE)
def test_every_later_attempt_refines_the_previous_one(name):
    assert [tried.refines for tried in tries_of(name)] == [None, *range(1, approach_of(name).tries)]


@pytest.mark.parametrize("name", BY_RULE)
def test_the_aim_reaches_the_application_in_some_form(name):
    forms = (ASK, codecs.encode(ASK, "rot13"), ASK[::-1])

    assert any(form in tried.prompt + tried.planted for tried in tries_of(name) for form in forms)


def test_escalation_starts_harmlessly():
    assert ASK not in tries_of("escalation")[0].prompt


def test_injection_uses_a_document_and_not_the_prompt():
    tries = tries_of("injection")

    assert all(ASK in tried.planted and ASK not in tried.prompt for tried in tries)


def test_an_unknown_strategy_is_reported_with_the_closest_name():
    with pytest.raises(PlanError, match="mean `role_play`"):
        approach_of("role_pley")
