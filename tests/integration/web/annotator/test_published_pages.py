"""Pages at the size of published labels: raters, disagreement and distributions, with the published figures."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.fakes.published_queue import convabuse, dices, guideline, published_queue
from theodolite.domain.event import Role
from theodolite.store.models.annotating import QueueRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SEVERITY = ("-3", "-2", "-1", "0", "1")


@dataclass
class Looked:
    """A response and its number of queries."""

    context: dict
    text: str
    n_queries: int


@pytest.fixture
def look(event, client_as):
    """Return a function that opens a page of seniors."""
    QueueRow.objects.filter(name=event.token).update(name="put away")
    client = client_as(Role.SENIOR)

    def look_at(name, /, **asked):
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(reverse(f"senior:{name}", args=[event.token]), asked)
        assert answer.status_code == 200
        return Looked(answer.context, answer.content.decode(), len(queries))

    return look_at


def test_123_raters_their_disagreement_and_distributions_are_shown(event, look):
    published_queue(event, guideline("safety", "YNU"), dices())

    whole = look("agreement", category="safety")
    close = look("raters", category="safety", question="safety")
    one = look("raters", category="safety", question="safety", annotator="7", page="2")

    assert close.context["found"].alpha.value == pytest.approx(0.16086021565770, abs=1e-12)
    assert "123 annotators, 350 answered" in whole.text
    assert (len(close.context["raters"]), close.context["pairs"], len(one.context["pairs"])) == (123, [], 122)
    assert (close.context["pages"].words, one.context["pages"].words) == ("1 to 25 of 350", "26 to 50 of 350")
    assert close.context["divided"][0].n == 123
    assert "r17" not in whole.text + close.text + one.text


def test_repeated_annotations_of_a_person_are_compared(event, look):
    published_queue(event, guideline("abuse", SEVERITY, ordered=True), convabuse())

    found = look("raters", category="abuse", question="abuse")

    _, itself, n_again = found.context["again"]
    assert (itself.words.split(" ")[0], n_again) == (".90", 345)
    assert found.context["found"].n_annotators == 8
    assert all(one.alpha.words for one in found.context["pairs"])
    assert found.n_queries < 40
