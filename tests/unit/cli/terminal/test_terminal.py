"""The line that says how far a long table is."""

from __future__ import annotations

import io

import pytest

from theodolite.cli.terminal import RowProgress


class Screen(io.StringIO):
    """Standard error that is a terminal, or is none."""

    def __init__(self, *, watched: bool) -> None:
        super().__init__()
        self._watched = watched

    def isatty(self) -> bool:
        return self._watched


@pytest.mark.parametrize(("watched", "seen"), [(True, True), (False, False)])
def test_progress_is_shown_on_a_terminal_only(monkeypatch, watched, seen):
    screen = Screen(watched=watched)
    monkeypatch.setattr("sys.stderr", screen)

    with RowProgress() as told:
        told("Reading rows.csv", 20_000)

    assert ("Reading rows.csv: 20,000 rows" in screen.getvalue()) is seen


def test_the_line_is_cleared_at_the_end(monkeypatch):
    screen = Screen(watched=True)
    monkeypatch.setattr("sys.stderr", screen)

    with RowProgress() as told:
        told("Reading rows.csv", 20_000)
        told("Checking", 40_000)

    assert screen.getvalue().split("\r")[-2].strip() == ""
    assert screen.getvalue().endswith("\r")
