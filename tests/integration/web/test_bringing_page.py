"""Organisers bring dialogues in that were held elsewhere: sent, looked at, brought into evidence and queue."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from tests.browser_pages import assert_accessible
from tests.integration.web.editing import published
from theodolite.domain.role import Role
from theodolite.store.models import DialogueRow, TurnRow
from theodolite.store.models.annotating import QueueRow, WorkItemRow
from theodolite.web.models import AuditEntry
from theodolite.web.venues import venue_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

LOG = "chat,n,said,reply\nk7,1,Who dies?,I may not say.\nk7,2,Please.,The boatman.\nk8,1,Is it good?,Very.\n"
MEANS = {"prompt": "said", "response": "reply", "id": "chat", "turn": "n", "held_by": "person"}


@pytest.fixture
def at(event):
    return reverse("organiser:bringing", args=[event.token])


@pytest.fixture
def means(event):
    study = venue_of(event).study
    return MEANS | {
        "of_application": study.applications[0].name,
        "of_scenario": study.scenarios[0].name,
        "of_level": "red teaming",
    }


def send(client, at, text=LOG, name="log.csv"):
    return client.post(at, {"file": SimpleUploadedFile(name, text.encode())}, follow=True)


def uploads():
    return list((Path(str(settings.WORKSPACE)) / "uploads").glob("*"))


def open_own_queue(event, client_as):
    """Put the queue of the demonstration away, publish the study as it is, and open its own queue."""
    QueueRow.objects.filter(name=event.token).update(name="put away")
    published(event)
    client_as(Role.SENIOR).post(reverse("senior:fill", args=[event.token]))


def test_a_table_is_looked_at_and_brought_into_evidence_and_queue(event, client_as, at, means):
    client = client_as(Role.ORGANISER)
    open_own_queue(event, client_as)
    before = WorkItemRow.objects.count()
    assert "needs a column that is the prompt" in send(client, at).content.decode()

    shown = client.post(at, means | {"look": "1"}).content.decode()
    assert "2 dialogues with 3 turns, no fault" in shown
    assert not DialogueRow.objects.filter(unit__label="p001", held_by="recorded").exists()
    told = client.post(at, means | {"bring": "1"}, follow=True).content.decode()

    assert "2 dialogues brought in" in told
    assert TurnRow.objects.filter(response="The boatman.", dialogue__level="red teaming").exists()
    assert WorkItemRow.objects.count() == before + 2
    assert AuditEntry.objects.filter(verb="brought dialogues in").exists()
    assert uploads() == []


def test_faults_are_told_by_line_and_nothing_is_stored(event, client_as, at, means):
    client, before = client_as(Role.ORGANISER), DialogueRow.objects.count()
    send(client, at, LOG.replace("k8,1", "k8,one"))

    answered = client.post(at, means | {"of_application": "no such bot", "bring": "1"})

    text = answered.content.decode()
    assert answered.status_code == 422
    assert "line 4 has `one` in column `n`" in text
    assert "line 2 names the application `no such bot`" in text
    assert DialogueRow.objects.count() == before


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("log.exe", LOG, "choose a file that ends in .csv"),
        ("log.csv", "", "is empty"),
        ("log.jsonl", "[1, 2]\nx", "is no JSON object"),
        ("log.csv", "\x00\xff\x00", "needs a column that is the prompt"),
    ],
    ids=["ending", "empty", "no objects", "no table"],
)
def test_what_is_no_table_is_said_to_be_none(event, client_as, at, name, text, said):
    assert said in send(client_as(Role.ORGANISER), at, text, name).content.decode()


def test_a_file_waits_for_its_sender_alone_and_goes_when_told(event, client_as, at, means):
    client = client_as(Role.ORGANISER)
    send(client, at)
    send(client, at)
    assert len(uploads()) == 1

    stranger = client_as(Role.ORGANISER).get(at).content.decode()
    client.post(at, {"drop": "1"})

    assert "log.csv" not in stranger
    assert uploads() == []
    assert client.post(at, means | {"bring": "1"}).status_code == 422


def test_the_pages_of_exchange_are_free_of_barriers(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True)
    page.locator('a[href*="/organise/"]').first.click()
    page.goto(f"{page.url.split('/organise/')[0]}/organise/exchange/")
    assert_accessible(page)
    page.get_by_role("link", name="Bring dialogues in").click()
    assert_accessible(page)
    page.get_by_label("Table of dialogues").set_input_files(
        {"name": "log.csv", "mimeType": "text/csv", "buffer": LOG.encode()}
    )
    page.get_by_role("button", name="Look into it").click()
    assert_accessible(page)
