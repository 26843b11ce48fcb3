"""Repeats of the same task."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import pass_hat_k


def test_tries_that_never_took_place_are_no_failures():
    assert pass_hat_k([[True, None, True], [True, None, None]], 2).n == 1


def test_more_tries_that_must_all_succeed_are_harder():
    tasks = [[True, True, False, True], [True] * 4, [False] * 4]

    values = [pass_hat_k(tasks, k).value for k in (1, 2, 3, 4)]

    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(1 / 3)


def test_tasks_tried_too_seldom_leave_it_undefined():
    result = pass_hat_k([[True]], 2)

    assert isinstance(result, Undefined)
    assert result.reason == "No task was tried 2 times."


def test_no_try_at_all_cannot_be_asked_for():
    with pytest.raises(InputError, match="`k` must be at least 1 try; got 0"):
        pass_hat_k([[True]], 0)
