"""Large pages of responses show figures that the server computed before, with their time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from theodolite.web.analyst import responses
from theodolite.web.analyst.responses import MOST_IN_REQUEST, latest_figures, refresh_large_pages

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Computed:
    """Figures that count how often they were computed."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> dict[str, object]:
        self.n += 1
        return {"n": self.n}


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Computed:
    monkeypatch.setattr(responses, "_large_pages", {})
    monkeypatch.setattr(responses, "close_old_connections", lambda: None)
    return Computed()


def viewed(
    figures: Computed, at: datetime, n_responses: int = MOST_IN_REQUEST + 1, *, waits: bool = False
) -> dict[str, object]:
    return latest_figures(("study", "after"), figures, n_responses=n_responses, now=at, waits=waits)


def test_a_small_page_is_computed_in_every_request_and_has_no_age(figures):
    assert [viewed(figures, NOW, MOST_IN_REQUEST) for _ in range(2)] == [{"n": 1}, {"n": 2}]


def test_no_request_computes_a_large_page(figures, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    first = viewed(figures, NOW)
    refresh_large_pages()

    assert first == {"is_pending": True}
    assert viewed(figures, NOW) == {"n": 1, "as_of": NOW}
    assert figures.n == 1


def test_a_request_that_waits_computes_the_first_figures_and_no_others(figures):
    assert [viewed(figures, NOW, waits=True) for _ in range(2)] == [{"n": 1, "as_of": NOW}] * 2


def test_the_server_computes_viewed_pages_every_minute_and_drops_the_others(figures, monkeypatch):
    viewed(figures, NOW)
    seen = []
    for seconds in (0, 50, 60, 300):
        monkeypatch.setattr(timezone, "now", lambda at=NOW + timedelta(seconds=seconds): at)
        refresh_large_pages()
        seen.append(figures.n)
    monkeypatch.setattr(timezone, "now", lambda: NOW + timedelta(seconds=301))
    refresh_large_pages()

    assert seen == [1, 1, 2, 3]
    assert responses._large_pages == {}


def test_a_slow_computation_takes_a_tenth_of_the_time_at_most(figures, monkeypatch):
    moments = iter([NOW, NOW, NOW + timedelta(seconds=20), NOW + timedelta(seconds=199)])
    monkeypatch.setattr(timezone, "now", lambda: next(moments))
    viewed(figures, NOW)
    refresh_large_pages()
    refresh_large_pages()

    assert figures.n == 1
