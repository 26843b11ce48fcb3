"""Criteria are entered on a page, and annotators state their preferences."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import participant_of
from theodolite.domain.event import Role
from theodolite.usecases.measuring import criteria_of
from theodolite.web.events import server_store
from theodolite.web.models import AuditEntry

pytestmark = pytest.mark.integration


@pytest.fixture
def address(event):
    return reverse("organiser:criteria", args=[event.token])


def test_statements_are_stored_with_their_authors(event, client_as, address):
    organiser, senior = client_as(Role.ORGANISER), client_as(Role.SENIOR)
    organiser.post(address, {"about": "selection", "text": "Readers of English.", "follows": "0"})
    late = senior.post(address, {"about": "selection", "text": "Others.", "follows": "0", "why": "x"})
    senior.post(address, {"about": "selection", "text": "Fluent readers.", "follows": "1", "why": "Slang."})
    page = senior.get(address).content.decode()

    assert (late.status_code, "revision 1 meanwhile" in late.content.decode()) == (422, True)
    assert [one.text for one in criteria_of(server_store(), event.name)] == ["Readers of English.", "Fluent readers."]
    assert all(words in page for words in ("Fluent readers.", "by Sami: Slang.", "by Olga", "Readers of English."))
    assert AuditEntry.objects.filter(verb="stated criteria").count() == 2


def test_an_annotator_states_preferences_and_can_change_them(event, client_as):
    anna, place = client_as(Role.ANNOTATOR), reverse("annotator:about", args=[event.token])
    odd = anna.post(place, {"groups": "forty"})
    anna.post(place, {"languages": "en, de", "groups": "age: 40 to 49"})
    said = server_store().profile(participant_of(event))
    page = anna.get(place).content.decode()
    anna.post(place, {"skip": "yes"})

    assert (odd.status_code, "no colon" in odd.content.decode()) == (422, True)
    assert (said.languages, said.groups) == (("en", "de"), {"age": "40 to 49"})
    assert "age: 40 to 49" in page
    assert "user_type" not in page
    assert server_store().profile(participant_of(event)).groups == {}
