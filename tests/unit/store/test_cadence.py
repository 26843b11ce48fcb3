"""Batches wait for others while that brings any."""

from __future__ import annotations

import pytest

from theodolite.store.cadence import BATCHES_LEFT, PERIOD_S, Cadence


def test_the_first_batch_goes_at_once() -> None:
    assert Cadence().wait_s(1, 0.0) <= 0


def test_whoever_writes_seldom_never_waits() -> None:
    cadence = Cadence()
    cadence.handed_over(1, 0.0)

    assert cadence.wait_s(1, PERIOD_S) <= 0


def test_a_batch_soon_after_another_waits_for_the_rest_of_the_period() -> None:
    cadence = Cadence()
    cadence.handed_over(1, 1.0)

    assert cadence.wait_s(1, 1.0 + PERIOD_S / 4) == pytest.approx(0.75 * PERIOD_S)


def test_while_others_come_batches_go_on_waiting() -> None:
    cadence = Cadence()
    cadence.handed_over(1, 0.0)
    cadence.wait_s(2, 0.001)
    cadence.handed_over(3, PERIOD_S)

    assert cadence.wait_s(1, PERIOD_S + 0.001) > 0


def test_after_waiting_for_nobody_batches_go_at_once_for_a_while() -> None:
    cadence, waits = Cadence(), []
    cadence.handed_over(1, 0.0)
    cadence.wait_s(2, 0.001)
    for _ in range(BATCHES_LEFT + 1):
        cadence.handed_over(2, 0.001)
        waits.append(cadence.wait_s(2, 0.001) > 0)

    assert waits == [False] * BATCHES_LEFT + [True]
