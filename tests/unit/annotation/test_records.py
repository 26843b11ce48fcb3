"""Figures are worked out once for each state, also where many ask at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from theodolite.annotation.records import MOST_FIGURES, RecordCache
from theodolite.store.contents import Contents


@pytest.fixture
def records(tmp_path: Path) -> RecordCache:
    return RecordCache(Contents(tmp_path))


def test_figures_are_computed_again_only_when_the_state_changes(records: RecordCache) -> None:
    told = [records.figure("key", state, lambda last: (last or 0) + 1) for state in ("a", "a", "b", "b", "a")]

    assert told == [1, 1, 2, 2, 3]


def test_concurrent_requests_wait_for_the_first_computation(records: RecordCache) -> None:
    begun, made = Barrier(4), []

    def ask(_: int) -> int:
        begun.wait()
        return records.figure("key", "state", lambda _: made.append(1) or len(made))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [1, 1, 1, 1]


def test_figures_may_depend_on_other_figures(records: RecordCache) -> None:
    inner = records.figure("outer", 1, lambda _: records.figure("inner", 1, lambda _: 7))

    assert inner == 7


def test_a_computation_that_failed_is_tried_again(records: RecordCache) -> None:
    with pytest.raises(ZeroDivisionError):
        records.figure("key", "state", lambda _: 1 // 0)

    assert records.figure("key", "state", lambda _: 5) == 5


def test_the_longest_waiting_request_is_computed_first(records: RecordCache) -> None:
    for number in range(MOST_FIGURES + 1):
        records.figure(number, "state", lambda _: "first")

    assert records.figure(0, "state", lambda _: "again") == "again"
    assert records.figure(MOST_FIGURES, "state", lambda _: "again") == "first"
