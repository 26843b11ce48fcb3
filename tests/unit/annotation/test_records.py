"""Figures are worked out once for each state, also where many ask at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from theodolite.annotation.records import MOST_FIGURES, Library
from theodolite.store.contents import Contents


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(Contents(tmp_path))


def test_figures_are_worked_out_anew_for_another_state_alone(library: Library) -> None:
    told = [library.remembered("key", state, lambda last: (last or 0) + 1) for state in ("a", "a", "b", "b", "a")]

    assert told == [1, 1, 2, 2, 3]


def test_many_who_ask_at_once_wait_for_the_first(library: Library) -> None:
    begun, made = Barrier(4), []

    def ask(_: int) -> int:
        begun.wait()
        return library.remembered("key", "state", lambda _: made.append(1) or len(made))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [1, 1, 1, 1]


def test_figures_may_rest_on_other_figures(library: Library) -> None:
    inner = library.remembered("outer", 1, lambda _: library.remembered("inner", 1, lambda _: 7))

    assert inner == 7


def test_what_could_not_be_worked_out_is_tried_again(library: Library) -> None:
    with pytest.raises(ZeroDivisionError):
        library.remembered("key", "state", lambda _: 1 // 0)

    assert library.remembered("key", "state", lambda _: 5) == 5


def test_what_was_asked_for_longest_ago_goes_first(library: Library) -> None:
    for number in range(MOST_FIGURES + 1):
        library.remembered(number, "state", lambda _: "first")

    assert library.remembered(0, "state", lambda _: "again") == "again"
    assert library.remembered(MOST_FIGURES, "state", lambda _: "again") == "first"
