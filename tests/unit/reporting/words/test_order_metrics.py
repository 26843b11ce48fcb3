from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import OrderEffect, OrderFactor, OrderSide
from theodolite.measurement.order_profile import relevance_profile
from theodolite.measurement.ranking import ranking_agreement
from theodolite.reporting.words.order_metrics import (
    moved_text,
    p_text,
    pen_text,
    profile_text,
    ranking_text,
    shift_text,
    side_text,
)


def test_permutation_entropy_is_shown_in_both_units_with_their_names():
    text = pen_text(relevance_profile([5, 4] * 4))

    assert text.startswith("PEN 0.6931 nats, 0.39 normalised (medium, in a gap of the published table; ")


def test_a_different_pattern_is_named():
    assert "order 4, delay 2" in pen_text(relevance_profile([5, 4] * 6, order=4, delay=2))


def test_equal_scores_state_that_their_order_is_uninformative():
    assert profile_text(relevance_profile([5] * 8)).endswith("all scores are equal, so their order says nothing")


def test_undefined_metrics_state_their_reason():
    assert profile_text(Undefined(reason="Too few.")) == "undefined: too few"
    assert ranking_text(Undefined(reason="Too few.")) == "undefined: too few"


def test_a_ranking_is_shown_with_its_intervals():
    text = ranking_text(ranking_agreement(range(10), [1, 0, *range(2, 10)]), "dialogue")

    assert "tau .96 (" in text
    assert "CIN 1 of 45 pairs (" in text
    assert text.endswith("; 10 dialogues")


@pytest.mark.parametrize(("p", "text"), [(0.0004, "p < .001"), (0.0431, "p = .043"), (1.0, "p = 1")])
def test_a_p_value_has_three_digits(p, text):
    assert p_text(p) == text


SHIFT = Estimate(
    value=0.083, low=-0.021, high=0.187, confidence=0.95, n=120, unit="difference of shares", method="m", n_clusters=6
)

EFFECT = OrderEffect(
    guideline="risk",
    question="released",
    factor=OrderFactor.QUESTIONS,
    measured='share of "yes"',
    first=OrderSide(shown="asked earlier", n=60, n_without_value=2, given=(("yes", 12), ("no", 48))),
    second=OrderSide(shown="asked later", n=60, n_without_value=0, given=(("yes", 17), ("no", 43))),
    shift=SHIFT,
    n_annotators=6,
    n_dialogues=60,
    n_between=3,
)


def test_a_condition_states_its_labels_and_missing_ones() -> None:
    assert side_text(EFFECT.first) == "asked earlier: 12 yes, 48 no (60, 2 without a value)"
    assert side_text(replace(EFFECT.first, n=0, given=(), n_without_value=0)) == "asked earlier: no answer (0)"


def test_a_shift_states_its_subject_and_its_data() -> None:
    words = 'share of "yes": +8.3 points (-2.1 to +18.7), 120 answers, 6 annotators, 60 dialogues'
    assert shift_text(EFFECT) == words
    assert moved_text(EFFECT) == f"asked later, beside asked earlier: {words}"


def test_a_shift_in_ranks_is_not_expressed_in_points() -> None:
    assert shift_text(replace(EFFECT, measured="ordinal shift")).startswith("ordinal shift: +.08 (-.02 to +.19), 120")


def test_an_undefined_shift_states_its_reason() -> None:
    undefined = replace(EFFECT, shift=Undefined(reason="All went one way."))
    assert shift_text(undefined) == "undefined: all went one way"


def test_an_interval_that_excludes_0_is_clear() -> None:
    assert not EFFECT.is_clear
    assert replace(EFFECT, shift=replace(SHIFT, low=0.01)).is_clear
    assert replace(EFFECT, shift=replace(SHIFT, high=-0.01, low=-0.2, value=-0.1)).is_clear
