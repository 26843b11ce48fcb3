"""Saving one answer reads the task once and renders only its questions."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

pytestmark = pytest.mark.integration

SCRIPT = {"HTTP_ACCEPT": "application/json"}

AROUND = ("store_thread", "store_quality_review", "store_onboarding", "store_practice", "store_qualification")
"""Tables of what stands around the questions: threads, returned work, how many dialogues wait."""


def statements(do):
    """Return the statements of a request that succeeds."""
    with CaptureQueriesContext(connection) as queries:
        assert do().status_code == 200
    return [query["sql"] for query in queries.captured_queries]


@pytest.fixture
def save(anna, address):
    def send(value):
        return anna.post(f"{address}answer/", {"key": "released@1", "a:released@1": value}, **SCRIPT)

    return send


@pytest.fixture
def saving(save):
    """The statements of saving one answer in place of another."""
    save("yes")
    return statements(lambda: save("no"))


def test_saving_reads_the_answers_once(saving):
    read = [one for one in saving if one.startswith("SELECT") and 'FROM "store_draft"' in one and '"current"' in one]

    assert len(read) == 1


def test_saving_reads_only_the_questions(saving):
    assert [one for one in saving if any(f'"{table}"' in one for table in AROUND)] == []


def test_saving_takes_few_statements(saving):
    assert len(saving) <= 17


def test_undo_reads_only_the_questions(anna, address, save):
    save("yes")
    undone = statements(lambda: anna.post(f"{address}undo/", **SCRIPT))

    assert [one for one in undone if any(f'"{table}"' in one for table in AROUND)] == []


def test_the_page_shows_the_context_of_the_questions(anna, address):
    assert any('"store_thread"' in one for one in statements(lambda: anna.get(address)))
