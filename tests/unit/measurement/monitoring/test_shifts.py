from __future__ import annotations

from datetime import UTC, datetime

from theodolite.domain.monitoring.history import History, Score
from theodolite.measurement.monitoring.shifts import instrument_changes, plain_name

JUNE, JULY = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)


def history(*months, names=None):
    scores = [
        Score(value=value, at=at, application=f"{prefix}{place}", instruments=instruments)
        for at, prefix, values, instruments in months
        for place, value in enumerate(values)
    ]
    return History(name="h", scores=tuple(scores), lowest=0, highest=10)


def test_a_declared_change_says_what_moved_there():
    june, july = (JUNE, "m", [5, 5, 5, 5], {"judge": "1"}), (JULY, "m", [4, 4, 6, 5], {"judge": "2"})

    (change,) = instrument_changes(history(june, july))

    assert (change.part, change.before, change.after, change.position, change.at) == ("judge", "1", "2", 4, JULY)
    assert (change.n_lower, change.n_higher, change.n_equal, change.median_shift) == (2, 1, 1, -0.5)
    assert not change.is_suspected


def test_two_parts_may_change_at_once():
    june, july = (JUNE, "m", [5], {"judge": "1", "data": "a"}), (JULY, "m", [4], {"judge": "2", "data": "b"})

    assert {change.part for change in instrument_changes(history(june, july))} == {"judge", "data"}


def test_all_applications_moving_one_way_at_once_are_suspicious():
    (change,) = instrument_changes(history((JUNE, "GPT ", [5] * 20, {}), (JULY, "gpt-", [4] * 20, {})))

    assert (change.is_suspected, change.n_lower, change.position) == (True, 20, 20)
    assert change.p_value <= 2 * 0.5**20


def test_many_moving_both_ways_are_suspicious_where_hardly_any_moves_otherwise():
    quiet = [(datetime(2026, month, 1, tzinfo=UTC), "m", [5] * 20, {}) for month in range(1, 6)]

    (change,) = instrument_changes(history(*quiet, (JUNE, "m", [4, 6] * 10, {}), (JULY, "m", [4, 6] * 10, {})))

    assert (change.at, change.n_lower, change.n_higher) == (JUNE, 10, 10)


def test_moves_both_ways_or_of_a_few_are_not():
    months = [(datetime(2026, month, 1, tzinfo=UTC), "m", [5 + month % 2, 6] * 10, {}) for month in range(1, 6)]
    both = history(
        *months[:1],
        (JULY, "m", [4, 7] * 10, {}),
        *((JULY.replace(day=day), "m", [day, 9 - day] * 10, {}) for day in (2, 3, 4)),
    )
    few = history((JUNE, "m", [5] * 7, {}), (JULY, "m", [4] * 7, {}))

    assert instrument_changes(both) == instrument_changes(few) == ()


def test_a_change_without_common_applications_has_no_moves():
    (change,) = instrument_changes(history((JUNE, "a", [5], {"judge": "1"}), (JULY, "b", [4], {"judge": "2"})))

    assert (change.median_shift, change.p_value) == (None, None)


def test_names_are_compared_without_case_and_marks():
    assert plain_name("GPT 4-Turbo_1") == plain_name("gpt-4 turbo 1")
