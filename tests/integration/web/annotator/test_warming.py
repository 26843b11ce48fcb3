"""Figures that a server computes at its start, so that requests do not wait."""

from __future__ import annotations

from threading import Event

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.fakes.annotated_event import submitted
from theodolite.domain.event import Role
from theodolite.web.annotator import home
from theodolite.web.senior.home import warm

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def n_readings(client, event) -> int:
    """Open the pages that are worked out of answers; return how many queries read any."""
    with CaptureQueriesContext(connection) as queries:
        for page in ("agreement", "people"):
            assert client.get(reverse(f"senior:{page}", args=[event.token])).status_code == 200
    return sum('FROM "store_answer"' in one["sql"] for one in queries)


def test_pages_read_no_answers_after_the_cache_is_filled(event, client_as):
    submitted(event)
    sami, over, ended = client_as(Role.SENIOR), Event(), Event()
    ended.set()
    home._records_of.cache_clear()
    warm(ended)
    assert n_readings(sami, event) > 0

    home._records_of.cache_clear()
    warm(over)

    assert n_readings(sami, event) == 0
