from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.fakes.builders import categories, guideline, question, rule

from theodolite.assessment.judge.judging import Race, Stakes, is_settled, majority, pays, races
from theodolite.domain.annotation import Answer, Outcome, Vote
from theodolite.domain.annotator import StopRule, Voting
from theodolite.domain.instrument import Condition, Operator, QuestionLevel, Scale, ScaleKind
from theodolite.measurement.proportion import beta_below_half

ASKED = guideline(question("label", categories("yes", "no", "partly")))
TEXT = Scale(kind=ScaleKind.TEXT)
OPENED = Condition(question="label", operator=Operator.EQUAL, values=("yes",))


def answer(value, name="label", turn=None):
    known = value if isinstance(value, Outcome) else Outcome.ANSWERED
    return Answer(question=name, outcome=known, value=None if known is value else value, turn=turn, reasoning="so")


def votes(*values, **more):
    return tuple(Vote(replicate=n, answers=(answer(value, **more),)) for n, value in enumerate(values, start=1))


def decided(*values):
    (only,) = majority(votes(*values), ASKED)
    return only.outcome, only.value


@pytest.mark.parametrize(
    ("values", "outcome", "value"),
    [
        (("yes",), Outcome.ANSWERED, "yes"),
        (("no", "yes", "no"), Outcome.ANSWERED, "no"),
        (("yes", "no"), Outcome.MISSING, None),
        (("yes", "no", "partly"), Outcome.ANSWERED, "no"),
        (("yes", "no", Outcome.REFUSED), Outcome.MISSING, None),
        (("yes", "yes", "no", Outcome.REFUSED, Outcome.REFUSED), Outcome.ANSWERED, "yes"),
        (("yes", "yes", "no", "partly"), Outcome.ANSWERED, "yes"),
        ((Outcome.UNPARSEABLE, Outcome.UNPARSEABLE, "yes"), Outcome.UNPARSEABLE, None),
        ((Outcome.REFUSED, "no", "no"), Outcome.ANSWERED, "no"),
        ((Outcome.REFUSED, "no"), Outcome.MISSING, None),
        ((Outcome.NOT_APPLICABLE,) * 2, Outcome.NOT_APPLICABLE, None),
    ],
)
def test_the_majority_decides_and_without_one_there_is_no_label(values, outcome, value):
    assert decided(*values) == (outcome, value)


def test_a_tie_states_the_count_of_each_vote():
    (only,) = majority(votes("yes", "no"), ASKED)

    assert only.reasoning == "tied votes: yes 1, no 1"


def test_the_reason_is_that_of_the_first_reading_with_the_majority():
    first, *rest = votes("no", "yes", "yes")
    (only,) = majority((first, *rest), ASKED)

    assert (only.reasoning, only.replicate) == ("so", 1)


def test_a_follow_up_is_decided_among_the_readings_that_opened_it():
    asked = guideline(question("label"), question("who", categories("a", "b"), when=OPENED))
    given = [("yes", "a"), ("yes", "a"), ("yes", "b"), ("no", Outcome.NOT_APPLICABLE), ("no", Outcome.NOT_APPLICABLE)]
    cast = tuple(
        Vote(replicate=n, answers=(answer(label), answer(who, "who"))) for n, (label, who) in enumerate(given, start=1)
    )

    assert [each.value for each in majority(cast, asked)] == ["yes", "a"]
    assert [each.outcome for each in majority(cast[3:], asked)] == [Outcome.ANSWERED, Outcome.NOT_APPLICABLE]


def test_free_text_is_that_of_a_reading_with_the_majority():
    asked = guideline(question("label"), question("why", TEXT))
    cast = tuple(
        Vote(replicate=n, answers=(answer(label), answer(text, "why")))
        for n, (label, text) in enumerate([("no", "x"), ("yes", "y"), ("yes", "z")], start=1)
    )

    assert [each.value for each in majority(cast, asked)] == ["yes", "y"]


def test_each_turn_has_its_own_majority():
    asked = guideline(question("label", level=QuestionLevel.TURN))
    rows = [("yes", "no"), ("yes", "yes"), ("no", "yes")]
    cast = [
        Vote(replicate=n, answers=tuple(answer(v, turn=t) for t, v in enumerate(row, 1)))
        for n, row in enumerate(rows, 1)
    ]
    cast.append(Vote(replicate=4, answers=(answer(Outcome.REFUSED),)))

    assert [(each.turn, each.value) for each in majority(cast, asked)] == [(1, "yes"), (2, "yes")]


def test_vote_counts_are_those_of_the_deciding_questions():
    asked = guideline(question("label"), question("extra"), rules=[rule(Operator.EQUAL, "yes")])
    cast = tuple(
        Vote(replicate=n, answers=(answer(label), answer("yes", "extra")))
        for n, label in enumerate(("yes", "no", "yes"), start=1)
    )

    assert races(cast, asked) == (Race(first=2, second=1, read=3, defects=2, cast=3),)


def walked(voting, draw):
    """Return the label and the number of readings of one vote whose answers are drawn one by one."""
    cast = ()
    while not cast or not is_settled(voting, races(cast, ASKED), beta_below_half):
        cast = (*cast, Vote(replicate=len(cast) + 1, answers=(answer(draw()),)))
    return majority(cast, ASKED)[0].value, len(cast)


@pytest.mark.parametrize(
    ("voting", "values", "n"),
    [
        (Voting(most=1), "y", 1),
        (Voting(rule=StopRule.FIXED, most=5), "yyyyy", 5),
        (Voting(most=5), "yyyyy", 3),
        (Voting(most=5), "ynyny", 5),
        (Voting(most=5), "ynyyn", 4),
        (Voting(rule=StopRule.LEAD, most=5), "yyyyy", 2),
        (Voting(rule=StopRule.LEAD, most=5), "ynyyn", 4),
        (Voting(rule=StopRule.LEAD, most=7, lead=3), "yyyyy", 3),
        (Voting(rule=StopRule.BAYES, most=15, price=0.2), "yyyyy", 1),
        (Voting(rule=StopRule.BAYES, most=3, price=0.001), "ynyyn", 3),
    ],
)
def test_a_vote_ends_by_its_stopping_rule(voting, values, n):
    words = iter({"y": "yes", "n": "no"}[each] for each in values)

    assert walked(voting, lambda: next(words))[1] == n


MIXTURE = ((0.85, 0.98), (0.10, 0.80), (0.05, 0.55))
"""Share of items, and how often a reading of theirs gives the item's modal label: study/measurement, section 3."""


def simulated(voting, share, rng):
    """Return whether one vote came to the modal label, and its number of readings."""
    yes = no = 0
    while not (yes + no) or not is_settled(voting, [race(yes, no)], beta_below_half):
        yes, no = (yes + 1, no) if rng.random() < share else (yes, no + 1)
    return yes > no, yes + no


def faithful(voting, *, items=60_000, seed=7):
    """Return the share of items whose label is the modal one, and the mean number of readings."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([p for _, p in MIXTURE], size=items, p=[w for w, _ in MIXTURE])
    found = [simulated(voting, share, rng) for share in shares]
    return sum(right for right, _ in found) / items, sum(n for _, n in found) / items


def test_a_lead_of_two_is_as_accurate_as_five_readings_at_less_than_half_the_calls():
    fixed, five = faithful(Voting(rule=StopRule.FIXED, most=5))
    leading, calls = faithful(Voting(rule=StopRule.LEAD, most=5, lead=2))

    assert five == 5
    assert calls <= 2.3
    assert leading >= fixed - 0.003


def expected_calls(share, voting):
    """Return the exact mean number of readings where each says yes with a probability."""
    total, reach = 0.0, {(0, 0): 1.0}
    while reach:
        total += sum(reach.values())
        nxt: dict[tuple[int, int], float] = {}
        for (yes, no), p in reach.items():
            for step, q in (((yes + 1, no), share), ((yes, no + 1), 1 - share)):
                nxt[step] = nxt.get(step, 0.0) + p * q
        reach = {state: p for state, p in nxt.items() if not is_settled(voting, [race(*state)], beta_below_half)}
    return total


def race(yes, no):
    return Race(first=max(yes, no), second=min(yes, no), read=yes + no, defects=yes, cast=yes + no)


@pytest.mark.parametrize(
    ("most", "share", "calls"), [(5, 0.5, 4.125), (5, 0.8, 3.634), (5, 0.9, 3.319), (7, 0.9, 4.439)]
)
def test_curtailed_votes_take_the_expected_number_of_calls(most, share, calls):
    assert expected_calls(share, Voting(most=most)) == pytest.approx(calls, abs=5e-4)


@pytest.mark.parametrize(
    ("lead", "share", "calls"), [(2, 0.8, 2.941), (2, 0.9, 2.439), (3, 0.8, 4.846), (3, 0.9, 3.740)]
)
def test_a_lead_takes_the_calls_of_the_gamblers_ruin_formula(lead, share, calls):
    voting = Voting(rule=StopRule.LEAD, most=101, lead=lead)

    assert expected_calls(share, voting) == pytest.approx(calls, abs=5e-4)


@pytest.mark.parametrize(("price", "calls"), [(0.01, 1.64), (0.005, 2.99)])
def test_a_price_buys_the_number_of_calls_from_the_benchmark(price, calls):
    prior, most = (0.12, 0.88), 15
    stakes = Stakes(price=price, prior=prior, below_half=beta_below_half)
    total, reach = 0.0, {(0, 0): 1.0}
    for _ in range(most):
        total += sum(reach.values())
        nxt: dict[tuple[int, int], float] = {}
        for (n, k), p in reach.items():
            share = (k + prior[0]) / (n + 1)
            for step, q in (((n + 1, k + 1), share), ((n + 1, k), 1 - share)):
                nxt[step] = nxt.get(step, 0.0) + p * q
        reach = {s: p for s, p in nxt.items() if pays(*s, left=most - s[0], stakes=stakes)}

    assert total == pytest.approx(calls, abs=0.01)


def test_a_more_expensive_call_is_not_made_more_often():
    bought = []
    for price in (0.001, 0.01, 0.1):
        stakes = Stakes(price=price, prior=(0.5, 0.5), below_half=beta_below_half)
        bought.append(sum(pays(n, k, left=9, stakes=stakes) for n in range(1, 9) for k in range(n + 1)))

    assert all(more >= less for more, less in pairwise(bought))
