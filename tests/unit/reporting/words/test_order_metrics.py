from __future__ import annotations

import pytest

from theodolite.domain.estimate import Undefined
from theodolite.measurement.order_profile import relevance_profile
from theodolite.measurement.ranking import ranking_agreement
from theodolite.reporting.words.order_metrics import p_text, pen_text, profile_text, ranking_text


def test_permutation_entropy_is_told_in_both_units_with_their_names():
    text = pen_text(relevance_profile([5, 4] * 4))

    assert text.startswith("PEN 0.6931 nats, 0.39 normalised (medium, in a gap of the published table; ")


def test_another_pattern_is_named():
    assert "order 4, delay 2" in pen_text(relevance_profile([5, 4] * 6, order=4, delay=2))


def test_equal_scores_say_that_their_order_says_nothing():
    assert profile_text(relevance_profile([5] * 8)).endswith("all scores are equal, so their order says nothing")


def test_what_is_undefined_says_why():
    assert profile_text(Undefined(reason="Too few.")) == "undefined: too few"
    assert ranking_text(Undefined(reason="Too few.")) == "undefined: too few"


def test_a_ranking_is_told_with_its_intervals():
    text = ranking_text(ranking_agreement(range(10), [1, 0, *range(2, 10)]), "dialogue")

    assert "tau .96 (" in text
    assert "CIN 1 of 45 pairs (" in text
    assert text.endswith("; 10 dialogues")


@pytest.mark.parametrize(("p", "text"), [(0.0004, "p < .001"), (0.0431, "p = .043"), (1.0, "p = 1")])
def test_a_p_value_has_three_digits(p, text):
    assert p_text(p) == text
