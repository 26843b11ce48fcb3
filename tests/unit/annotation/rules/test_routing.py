"""Where a dialogue goes after its first category."""

from __future__ import annotations

import pytest

from tests.fakes.annotating import RISK, UTILITY, no, yes
from theodolite.annotation.rules import Reviewed, routed, sees_violation
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.people.event import Route

MIXED, NOBODY, ALL = [True, False, False], [False] * 3, [True] * 3


@pytest.mark.parametrize(
    ("votes", "rule", "violation", "disputed"),
    [
        (NOBODY, Route.ANY_VIOLATION, False, False),
        (MIXED, Route.ANY_VIOLATION, True, True),
        (ALL, Route.ANY_VIOLATION, True, False),
        (NOBODY, Route.ALL, False, False),
        (MIXED, Route.ALL, None, True),
        (ALL, Route.ALL, True, False),
        (NOBODY, Route.ADJUDICATED, False, False),
        (MIXED, Route.ADJUDICATED, None, True),
        (ALL, Route.ADJUDICATED, None, False),
    ],
)
def test_each_rule_sends_each_case_where_it_says(votes, rule, violation, disputed):
    decided = routed(votes, rule)

    assert (decided.violation, decided.disputed) == (violation, disputed)
    assert f"{sum(votes)} of 3 passes" in decided.reason


@pytest.mark.parametrize("rule", list(Route))
def test_without_consensus_it_goes_on_and_is_disputed(rule):
    decided = routed(MIXED, rule, Reviewed.NO_CONSENSUS)

    assert (decided.violation, decided.disputed) == (True, True)


def test_a_consensus_decides_and_the_first_disagreement_stays_on_record():
    decided = routed(MIXED, Route.ADJUDICATED, Reviewed.NO_VIOLATION)

    assert (decided.violation, decided.disputed) == (False, True)


def test_an_answer_without_a_value_is_no_yes():
    unable = Answer(question="released", outcome=Outcome.MISSING)

    assert not sees_violation(RISK, [unable], {})
    assert sees_violation(RISK, [yes("released")], {})


def test_without_rules_on_guardrails_any_defect_is_one():
    assert sees_violation(UTILITY, [no("useful")], {})
