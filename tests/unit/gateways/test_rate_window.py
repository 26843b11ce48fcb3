"""Windows count what they saw, and put tokens right once they are known."""

from __future__ import annotations

import pytest

from theodolite.gateways.rate_window import Window


def enter(window: Window, moment_s: float, tokens: int = 0) -> None:
    """Enter a call that is answered at once."""
    window.settle(window.start(moment_s, tokens), moment_s)


def test_a_start_beyond_the_limit_waits_until_the_oldest_one_expires() -> None:
    window = Window(requests=2)
    enter(window, 0.0)
    enter(window, 10.0)

    assert window.wait_s(20.0) == pytest.approx(40.6)
    assert window.wait_s(60.61) == 0.0


def test_tokens_wait_until_enough_of_them_expire() -> None:
    window = Window(tokens=100)
    for moment_s, tokens in ((0.0, 30), (1.0, 30), (2.0, 40)):
        enter(window, moment_s, tokens)

    assert window.wait_s(10.0, 50) == pytest.approx(1.0 + 60.6 - 10.0)


def test_a_call_larger_than_the_window_goes_alone() -> None:
    window = Window(tokens=100)
    assert window.wait_s(0.0, 500) == 0.0

    enter(window, 0.0, 500)

    assert window.wait_s(1.0, 1) == pytest.approx(59.6)


@pytest.mark.parametrize(("taken", "wait_s"), [(40, 0.0), (60, 60.6)])
def test_tokens_are_corrected_by_the_reply(taken: int, wait_s: float) -> None:
    window = Window(tokens=100)
    start = window.start(0.0, 80)

    window.settle(start, 0.0, taken)

    assert window.wait_s(0.0, 50) == pytest.approx(wait_s)


def test_an_expired_start_is_not_corrected() -> None:
    window = Window(tokens=100)
    start = window.start(0.0, 80)
    window.wait_s(70.0)
    enter(window, 70.0, 10)

    window.settle(start, 70.0, 1_000)

    assert window.wait_s(70.0, 90) == 0.0


@pytest.mark.parametrize(("answered_s", "free_s"), [(0.2, 60.8), (2.0, 62.6), (40.0, 63.6)])
def test_a_call_counts_from_its_arrival_rather_than_from_its_reply(answered_s: float, free_s: float) -> None:
    window = Window(requests=1)
    window.settle(window.start(0.0), answered_s)

    assert answered_s + window.wait_s(answered_s) == pytest.approx(free_s)


def test_a_call_waiting_for_a_running_call_retries_when_that_one_expires() -> None:
    window = Window(tokens=100)
    window.start(0.0, 50)
    window.settle(window.start(0.5, 50), 0.5)

    assert window.wait_s(61.2, 100) == pytest.approx(3.0 + 60.6 - 61.2)
