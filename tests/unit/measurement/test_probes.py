"""Probes: place, length, and how near people come to each other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from scipy.stats import binomtest

from tests.fakes.event import FIELD, RED, a_session, an_open_event
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.event_record import BlindingGuess, GuessedThing
from theodolite.events.results import leaks
from theodolite.measurement.probes import human_ceiling, leak_rate, leaks_of, length_bias, position_bias


def test_a_judge_that_follows_the_content_is_consistent():
    bias = position_bias(["first", "second", "tie", None], ["second", "first", "tie", "first"])

    assert (bias.consistent.value, bias.consistent.n) == (1.0, 3)
    assert isinstance(bias.prefers_first, Undefined)
    assert bias.p_value == 1.0


def test_a_judge_that_follows_the_position_is_detected():
    bias = position_bias(["first"] * 12 + ["second"], ["first"] * 12 + ["second"])

    assert bias.consistent.value == 0.0
    assert (bias.prefers_first.count, bias.prefers_first.n) == (12, 13)
    assert bias.p_value == pytest.approx(2 * (1 + 13) / 2**13)


def test_a_flip_to_a_tie_is_inconsistent_and_not_a_preference():
    bias = position_bias(["first", "first"], ["tie", "second"], clusters=["a", "a"])

    assert bias.consistent.value == 0.5
    assert isinstance(bias.prefers_first, Undefined)


def test_errors_are_compared_with_length_rather_than_scores():
    labels = [1, 2, 3, 4, 5, 1, 2, 3]
    lengths = [1, 2, 3, 4, 5, 6, 7, 8]
    fair = [label + wobble for label, wobble in zip(labels, [0.1, -0.1] * 4, strict=True)]

    assert abs(length_bias(fair, labels, lengths).value) < 0.3
    swayed = [label + length / 10 for label, length in zip(labels, lengths, strict=True)]
    assert length_bias(swayed, labels, lengths).value == pytest.approx(1.0)


def test_a_judge_without_errors_has_no_length_bias_to_measure():
    assert isinstance(length_bias([1, 2, 3], [1, 2, 3], [5, 6, 7]), Undefined)


def test_lists_of_different_length_are_refused():
    with pytest.raises(InputError, match="must be of the same units; got 1, 2, 1"):
        length_bias([1], [1, 2], [1])


def test_a_judge_may_agree_with_people_more_than_they_agree_with_each_other():
    ceiling = human_ceiling(["a"] * 40, [["a"] * 40, ["a", "b"] * 20, ["a", "a", "b", "a"] * 10])

    assert ceiling.judge.value == pytest.approx((1 + 0.5 + 0.75) / 3)
    assert ceiling.people.value < ceiling.judge.value
    assert ceiling.gap.value == pytest.approx(ceiling.judge.value - ceiling.people.value)
    assert ceiling.gap.low <= ceiling.gap.value <= ceiling.gap.high


def test_units_with_one_person_give_no_ceiling():
    ceiling = human_ceiling(["a", "b", None], [["a", "b", "a"], ["b", None, "a"]])

    assert (ceiling.people.n, ceiling.people.value, ceiling.judge.value) == (1, 0.0, 0.5)
    assert isinstance(human_ceiling(["a"], [["a"]]).judge, Undefined)


NOW = datetime(2026, 3, 2, tzinfo=UTC)

APPLICATION, LEVEL = GuessedThing.APPLICATION, GuessedThing.LEVEL


@pytest.mark.parametrize(("right", "guessed", "chance"), [(8, 10, 0.5), (0, 7, 0.25), (7, 7, 1 / 3), (3, 12, 0.5)])
def test_equal_chances_give_the_exact_binomial_test(right: int, guessed: int, chance: float) -> None:
    known = binomtest(right, guessed, chance, alternative="greater")
    interval = binomtest(right, guessed).proportion_ci(method="exact")

    rate, p_value = leak_rate([True] * right + [False] * (guessed - right), [chance] * guessed)

    assert p_value == pytest.approx(known.pvalue)
    assert (rate.low, rate.high) == pytest.approx((interval.low, interval.high))
    assert (rate.value, rate.n, rate.unit) == (right / guessed, guessed, "fraction of testers")


def test_unequal_chances_equal_the_enumerated_result() -> None:
    _, p_value = leak_rate([True, True], [0.5, 0.25])

    assert p_value == pytest.approx(0.125)


def test_without_guesses_blinding_cannot_be_assessed() -> None:
    rate, p_value = leak_rate([], [])

    assert isinstance(rate, Undefined)
    assert p_value is None


@pytest.mark.parametrize("chances", [[], [0.0], [1.5]])
def test_each_guess_needs_its_chance(chances: list[float]) -> None:
    with pytest.raises(InputError):
        leak_rate([True], chances)


def guessed(event, session, guess: str, about=APPLICATION, options=("blue", "green")) -> None:
    event.responses.add_guess(BlindingGuess(session=session.key, about=about, guess=guess, options=options, at=NOW))


def test_the_first_guess_of_each_tester_counts_and_further_ones_are_reported() -> None:
    event = an_open_event()
    first, second = a_session(event, "p1"), a_session(event, "p1", place=1)
    guessed(event, first, first.application)
    guessed(event, second, second.application)
    guessed(event, a_session(event, "p2"), "")

    everybody, red = leaks(event)

    assert (everybody.level, red.level) == (None, RED)
    assert (everybody.rate.value, everybody.rate.n, everybody.chance) == (1.0, 1, 0.5)
    assert (everybody.p_value, everybody.n_unknown, everybody.n_repeated) == (None, 1, 1)


@pytest.mark.parametrize(("n", "p_value"), [(4, None), (5, 0.5**5)])
def test_fewer_than_five_guesses_have_no_p_value(n: int, p_value: float | None) -> None:
    first = a_session(an_open_event(), "p1")
    sessions = [replace(first, key=f"s{number}", participant=f"p{number}") for number in range(n)]
    options = (first.application, "another")
    guesses = [
        BlindingGuess(session=session.key, about=APPLICATION, guess=first.application, options=options, at=NOW)
        for session in sessions
    ]

    everybody, *_ = leaks_of(guesses, sessions)

    assert (everybody.rate.n, everybody.p_value) == (n, p_value)


def test_levels_are_guessed_by_name() -> None:
    event = an_open_event()
    names = (RED.value, FIELD.value)
    guessed(event, a_session(event, "p1"), FIELD.value, LEVEL, names)
    guessed(event, a_session(event, "p2"), RED.value, LEVEL, names)

    assert [leak.rate.value for leak in leaks(event)] == [0.5, 0.5]
