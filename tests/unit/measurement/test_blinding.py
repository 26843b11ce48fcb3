from __future__ import annotations

from datetime import UTC, datetime

import pytest
from scipy.stats import binomtest

from tests.fakes.event import FIELD, RED, a_session, an_open_event
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.people.blinding import BlindingGuess, GuessedThing
from theodolite.events.results import leaks
from theodolite.measurement.blinding import leak_rate

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


def test_unequal_chances_are_added_up_by_hand() -> None:
    _, p_value = leak_rate([True, True], [0.5, 0.25])

    assert p_value == pytest.approx(0.125)


def test_without_a_guess_there_is_no_leak_to_tell() -> None:
    rate, p_value = leak_rate([], [])

    assert isinstance(rate, Undefined)
    assert p_value is None


@pytest.mark.parametrize("chances", [[], [0.0], [1.5]])
def test_each_guess_needs_its_chance(chances: list[float]) -> None:
    with pytest.raises(InputError):
        leak_rate([True], chances)


def guessed(event, session, guess: str, about=APPLICATION, options=("blue", "green")) -> None:
    event.responses.add_guess(BlindingGuess(session=session.key, about=about, guess=guess, options=options, at=NOW))


def test_the_first_guess_of_each_tester_counts_and_the_rest_is_named() -> None:
    event = an_open_event()
    first, second = a_session(event, "p1"), a_session(event, "p1", place=1)
    guessed(event, first, first.application)
    guessed(event, second, second.application)
    guessed(event, a_session(event, "p2"), "")

    everybody, red = leaks(event)

    assert (everybody.level, red.level) == (None, RED)
    assert (everybody.rate.value, everybody.rate.n, everybody.chance) == (1.0, 1, 0.5)
    assert (everybody.p_value, everybody.n_unknown, everybody.n_repeated) == (0.5, 1, 1)


def test_levels_are_guessed_by_their_names() -> None:
    event = an_open_event()
    names = (RED.value, FIELD.value)
    guessed(event, a_session(event, "p1"), FIELD.value, LEVEL, names)
    guessed(event, a_session(event, "p2"), RED.value, LEVEL, names)

    assert [leak.rate.value for leak in leaks(event)] == [0.5, 0.5]
