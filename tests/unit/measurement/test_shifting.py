"""The shift between answers given one way and the other, and what it does not pretend to know."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.measurement.shifting import FEW, NO_SPREAD, ONE_WAY, order_shift


def drawn(rng: np.random.Generator, people: int, dialogues: int, moved: float) -> Estimate | Undefined:
    """Let two people answer each dialogue, one each way, with habits and dialogues of their own."""
    habits, harms = rng.normal(0, 0.7, people), rng.normal(0, 1.0, dialogues)
    who = np.array([rng.permutation(people)[:2] for _ in range(dialogues)]).ravel()
    what, way = np.repeat(np.arange(dialogues), 2), np.tile([0, 1], dialogues)
    chance = 1 / (1 + np.exp(1.4 - habits[who] - harms[what] - moved * way))
    said = rng.random(len(what)) < chance
    return order_shift(
        said.astype(float).tolist(), way.astype(bool).tolist(), annotators=who.tolist(), dialogues=what.tolist()
    )


def test_no_shift_is_found_where_there_is_none_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(20261122)
    found = [drawn(rng, 6, 60, 0.0) for _ in range(200)]
    held = [one.low <= 0 <= one.high for one in found if isinstance(one, Estimate)]
    assert len(held) == 200
    assert 0.92 <= np.mean(held) <= 0.99


def test_a_shift_is_found_where_there_is_one() -> None:
    rng = np.random.default_rng(1)
    found = [drawn(rng, 10, 200, 1.5) for _ in range(20)]
    assert all(isinstance(one, Estimate) and one.low > 0 for one in found)


def test_the_value_is_the_plain_difference_of_means() -> None:
    shift = order_shift([1, 0, 1, 1], [False, False, True, True], annotators="abab", dialogues=[1, 2, 3, 4])
    assert isinstance(shift, Estimate)
    assert (shift.value, shift.n, shift.n_clusters) == (0.5, 4, 2)


@pytest.mark.parametrize(
    ("values", "ways", "reason"),
    [
        ([1, 0, 1], [True, True, True], ONE_WAY),
        ([1, 0, 1], [False, False, True], FEW),
        ([0, 0, 0, 0], [False, False, True, True], NO_SPREAD),
        ([0, 0, 1, 1], [False, False, True, True], NO_SPREAD),
    ],
)
def test_what_cannot_be_told_is_undefined_in_words(values: list[float], ways: list[bool], reason: str) -> None:
    n = len(values)
    shift = order_shift(values, ways, annotators=["a"] * n, dialogues=list(range(n)))
    assert isinstance(shift, Undefined)
    assert shift.reason == reason


def test_answers_without_a_way_are_refused() -> None:
    with pytest.raises(InputError):
        order_shift([1, 0], [True], annotators="ab", dialogues=[1, 2])
