"""Withdrawn texts are in no file, drafts included, for every build of SQLite."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.urls import reverse

from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.domain.event import Role

pytestmark = pytest.mark.integration

CANARY = "CANARY-OF-A-WITHDRAWAL"


@pytest.fixture
def forgetful_sqlite(event):
    """The event on connections that keep deleted texts in the file by default."""
    database = database_settings(settings.WORKSPACE, patience_s=1)
    database["OPTIONS"]["init_command"] = f"PRAGMA secure_delete=OFF; {database['OPTIONS']['init_command']}"
    configure_django(database)
    return settings.WORKSPACE


@pytest.fixture
def tester(event, client_as):
    """A field tester with a draft in her first session."""
    client = client_as(Role.FIELD_TESTER)
    home = reverse("tester:home", args=[event.token])
    page = client.get(home, follow=True)
    boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', page.content.decode()))
    client.post(f"{home}consent/", boxes)
    client.post(f"{home}profile/", {"skip": "yes"})
    task = client.get(f"{home}1/instructions/").content.decode()
    client.post(f"{home}1/instructions/", {"version": re.search(r'name="version" value="(\w+)"', task)[1]})
    return client


def files_with(folder, words):
    return [path.name for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


def test_withdrawn_drafts_and_prompts_are_in_no_file(forgetful_sqlite, event, tester):
    unsent = reverse("tester:unsent", args=[event.token, 1])
    for n in range(20):
        tester.post(unsent, {"text": f"{CANARY} draft {n} " + "and so on " * 400, "number": "1"})
    home = reverse("tester:home", args=[event.token])
    tester.post(f"{home}1/1/say/", {"text": f"{CANARY} said", "number": "1"})
    tester.post(unsent, {"text": f"{CANARY} never sent", "number": "2"})
    assert files_with(forgetful_sqlite, CANARY)

    tester.post(reverse("tester:leave", args=[event.token]), {"what": "remove"})

    assert files_with(forgetful_sqlite, CANARY) == []
