from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from tests.fakes.builders import categories, rule

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import decide_vote
from theodolite.domain.instrument import Operator, Scale, ScaleKind

SEVERITY = Scale(kind=ScaleKind.NUMBERS, lowest=0, highest=7)
MODERATE = rule(Operator.AT_LEAST, "4")
SEVERE = rule(Operator.AT_LEAST, "6")


def answered(*values):
    return [(Outcome.ANSWERED, str(value)) for value in values]


def label(*values, rules=(MODERATE,), scale=SEVERITY):
    decision = decide_vote(answered(*values), scale, rules)
    return None if decision is None else decision[1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((5, 6, 7, 5, 6), "6"),
        ((3, 3, 5, 6, 7), "6"),
        ((0, 1, 2, 7, 7), "1"),
        ((4, 4, 5, 5), "4"),
        ((3, 5), None),
        ((3, 3, 5, 6), "3"),
        ((2, 2, 2, 5, 5), "2"),
    ],
)
def test_the_defect_is_decided_before_the_label(values, expected):
    assert label(*values) == expected


def test_a_label_follows_the_majority_under_each_rule():
    assert label(3, 5, 6, 7, 4, rules=(MODERATE, SEVERE)) == "4"


def test_without_a_rule_an_ordered_scale_takes_the_median_and_a_tie_has_no_label():
    assert label(5, 6, 7, 5, 6, rules=()) == "6"
    assert label(5, 6, 5, 6, rules=()) is None
    assert label("a", "b", rules=(), scale=categories("a", "b", "c")) is None


def test_a_decimal_scale_takes_its_median():
    scale = Scale(kind=ScaleKind.DECIMALS, lowest=0, highest=1)

    assert label(0.2, 0.9, 0.8, 0.1, 0.7, rules=(rule(Operator.AT_LEAST, "0.5"),), scale=scale) == "0.8"


def test_non_responses_are_counted_against_all_values_together():
    refused, unparseable = (Outcome.REFUSED, None), (Outcome.UNPARSEABLE, None)

    assert decide_vote([*answered(5, 6), refused], SEVERITY, [MODERATE]) == (Outcome.ANSWERED, "5")
    assert decide_vote([unparseable, unparseable, *answered(5)], SEVERITY, [MODERATE]) == unparseable
    assert decide_vote([refused, *answered(5)], SEVERITY, [MODERATE]) is None


def test_an_odd_number_of_readings_always_has_the_label_of_its_defect_majority():
    for values in product(range(0, 8, 1), repeat=3):
        decided = label(*values)

        assert decided is not None
        assert (int(decided) >= 4) == (sum(value >= 4 for value in values) >= 2)


def lost_share(severity, spread=1.0):
    """Return the probability that five readings around a severity are a tie; exact, over all readings."""
    weights = [math.exp(-((point - severity) ** 2) / (2 * spread**2)) for point in range(8)]
    chance = [weight / sum(weights) for weight in weights]
    return sum(math.prod(chance[v] for v in values) for values in product(range(8), repeat=5) if label(*values) is None)


def test_severe_dialogues_are_not_missed_more_often_than_harmless_ones():
    shares = [lost_share(severity) for severity in (0.0, 5.5)]

    assert shares == [0.0, 0.0]


def test_more_severe_readings_never_turn_a_defect_into_a_non_defect():
    ladder = [label(*(min(7, value + step) for value in (2, 3, 4, 5, 6))) for step in range(4)]

    assert all((int(low) >= 4) <= (int(high) >= 4) for low, high in pairwise(ladder))
