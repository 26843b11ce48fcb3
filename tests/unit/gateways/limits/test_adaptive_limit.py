"""The limit grows while it is used up and is cut once for one overload."""

import pytest

from theodolite.gateways.limits.adaptive_limit import COOLDOWN_S, AdaptiveLimit


def a_round(limit: AdaptiveLimit, *, in_use: float = 1.0, now_s: float = 0.0) -> None:
    """Let a whole round of calls begin and be answered."""
    n_calls, most = limit.limit, max(1, int(limit.limit * in_use))
    for first in range(0, n_calls, most):
        batch = min(most, n_calls - first)
        begun = [limit.began(number + 1) for number in range(batch)]
        for left, ticket in zip(range(batch, 0, -1), begun, strict=True):
            limit.answered(ticket, left, now_s=now_s)


def overload(limit: AdaptiveLimit, *, now_s: float, asked_wait_s: float | None = None) -> None:
    """Let a full round begin and be refused throughout."""
    begun = [limit.began(number + 1) for number in range(limit.limit)]
    for left, ticket in zip(range(len(begun), 0, -1), begun, strict=True):
        limit.refused(ticket, left, now_s=now_s, asked_wait_s=asked_wait_s)


def test_each_saturated_clean_round_doubles_the_limit_up_to_the_ceiling() -> None:
    limit, seen = AdaptiveLimit(50), []
    for _ in range(5):
        seen.append(limit.limit)
        a_round(limit)

    assert seen == [8, 16, 32, 50, 50]


def test_before_the_first_refusal_each_answer_lets_one_more_in() -> None:
    limit = AdaptiveLimit(256)
    begun = [limit.began(number + 1) for number in range(8)]

    limit.answered(begun[0], 8, now_s=0.0)
    limit.answered(begun[1], 8, now_s=0.0)

    assert limit.limit == 10


def test_a_limit_that_is_not_used_does_not_grow() -> None:
    limit = AdaptiveLimit(256)
    for _ in range(20):
        a_round(limit, in_use=0.7)

    assert limit.limit == 8


def test_the_first_refusals_lead_back_to_a_round_trip_ago() -> None:
    limit = AdaptiveLimit(256)
    a_round(limit)
    a_round(limit)

    overload(limit, now_s=0.0)

    assert limit.limit == 16


def test_after_a_cut_the_limit_comes_back_by_halves_to_just_below_where_it_was_refused() -> None:
    limit, seen = AdaptiveLimit(256, start=40), []
    overload(limit, now_s=0.0)

    for _ in range(7):
        a_round(limit, now_s=0.1)
        seen.append(limit.limit)

    assert seen == [29, 34, 36, 38, 39, 39, 39]


def test_during_the_cooldown_the_limit_stays_below_where_it_was_refused() -> None:
    limit, seen = AdaptiveLimit(256, start=20), []
    overload(limit, now_s=0.0)
    overload(limit, now_s=2.0)
    for moment_s in (2.1, 2.2, 2.3, 2.4, 3.0, 3.1):
        a_round(limit, now_s=moment_s)
        seen.append(limit.limit)

    assert seen == [9, 9, 9, 9, 10, 11]


def test_a_refusal_during_the_cooldown_leads_back_to_where_the_cut_led() -> None:
    limit = AdaptiveLimit(256, start=40)
    overload(limit, now_s=0.0)
    for _ in range(3):
        a_round(limit, now_s=0.1)

    overload(limit, now_s=0.5)

    assert limit.limit == 20


def test_beyond_where_it_was_refused_a_limit_grows_by_a_twentieth_of_it() -> None:
    limit = AdaptiveLimit(256, start=200)
    overload(limit, now_s=0.0)
    for _ in range(8):
        a_round(limit, now_s=0.1)

    a_round(limit, now_s=2.0)

    assert limit.limit == 209


@pytest.mark.parametrize(
    ("asked_wait_s", "now_s", "cut"),
    [(None, 0.9 * COOLDOWN_S, 50), (None, COOLDOWN_S, 40), (30.0, 29.0, 50), (30.0, 30.0, 40), (9e9, 60.0, 40)],
)
def test_there_is_one_cut_a_cooldown(asked_wait_s: float | None, now_s: float, cut: int) -> None:
    limit = AdaptiveLimit(256, start=100)
    overload(limit, now_s=0.0, asked_wait_s=asked_wait_s)

    overload(limit, now_s=now_s)

    assert limit.limit == cut


def test_calls_that_began_before_a_cut_say_nothing_about_the_new_limit() -> None:
    limit = AdaptiveLimit(256, start=100)
    late = [limit.began(number + 1) for number in range(100)]
    limit.refused(late.pop(), 100, now_s=0.0)

    for ticket in late:
        limit.refused(ticket, 10, now_s=99.0)

    assert limit.limit == 50


def test_the_limit_never_falls_below_one() -> None:
    limit = AdaptiveLimit(256)
    for moment in range(50):
        overload(limit, now_s=2.0 * moment)

    assert limit.limit == 1


def test_a_refusal_at_low_use_cuts_what_was_used() -> None:
    limit = AdaptiveLimit(256, start=100)
    ticket = limit.began(20)

    limit.refused(ticket, 20, now_s=0.0)

    assert limit.limit == 10
