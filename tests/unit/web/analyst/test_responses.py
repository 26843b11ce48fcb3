"""Large pages of responses show figures that the server computed before, with their time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from theodolite.web.analyst import responses
from theodolite.web.analyst.responses import MOST_AGE, MOST_IN_REQUEST, latest_figures, refresh_large_pages

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


def viewed(figures: Computed, at: datetime, n_responses: int = MOST_IN_REQUEST + 1) -> dict[str, object]:
    return latest_figures(("study", "after"), figures, n_responses=n_responses, now=at)


def test_a_small_page_is_computed_in_every_request_and_has_no_age(figures):
    assert [viewed(figures, NOW, MOST_IN_REQUEST) for _ in range(2)] == [{"n": 1}, {"n": 2}]


def test_a_large_page_states_its_time_and_is_never_older_than_the_limit(figures):
    first, later = viewed(figures, NOW), viewed(figures, NOW + MOST_AGE)
    too_late = viewed(figures, NOW + MOST_AGE + timedelta(seconds=1))

    assert first == later == {"n": 1, "as_of": NOW}
    assert too_late == {"n": 2, "as_of": NOW + MOST_AGE + timedelta(seconds=1)}


def test_the_server_computes_recently_viewed_pages_and_drops_the_others(figures, monkeypatch):
    viewed(figures, NOW)
    monkeypatch.setattr(timezone, "now", lambda: NOW + timedelta(minutes=2))
    refresh_large_pages()
    fresh = viewed(figures, NOW + timedelta(minutes=4))
    monkeypatch.setattr(timezone, "now", lambda: NOW + timedelta(minutes=10))
    refresh_large_pages()

    assert fresh == {"n": 2, "as_of": NOW + timedelta(minutes=2)}
    assert responses._large_pages == {}
    assert figures.n == 2
