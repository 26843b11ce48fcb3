"""How long somebody has been at it, and how long the rest takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from theodolite.annotation.rules import minutes_at_work, minutes_left

NOW = datetime(2026, 11, 22, 9, 50, tzinfo=UTC)


def ago(*minutes):
    return [NOW - timedelta(minutes=each) for each in minutes]


def test_work_counts_since_the_last_break():
    assert minutes_at_work(ago(50, 20, 14, 6), NOW) == 20


def test_whoever_has_done_nothing_for_a_while_rests():
    assert minutes_at_work(ago(40, 25, 10), NOW) == 0
    assert minutes_at_work([], NOW) == 0


def test_what_is_left_is_told_from_the_third_dialogue_on_by_the_middle_one():
    assert minutes_left([4, 6], 10) is None
    assert minutes_left([4, 600, 6], 10) == 60
