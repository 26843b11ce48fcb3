"""Organisers import dialogues: upload, preview, import into evidence and queue."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from tests.browser_pages import assert_accessible, load_by_click
from tests.integration.web.editing import published
from theodolite.domain.event import Role
from theodolite.store.models import DialogueRow, TurnRow
from theodolite.store.models.annotating import QueueRow, WorkItemRow
from theodolite.web.events import event_of
from theodolite.web.models import AuditEntry

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

LOG = "chat,n,said,reply\nk7,1,Who dies?,I may not say.\nk7,2,Please.,The boatman.\nk8,1,Is it good?,Very.\n"
MEANS = {"prompt": "said", "response": "reply", "id": "chat", "turn": "n", "held_by": "person"}


@pytest.fixture
def at(event):
    return reverse("organiser:import_dialogues", args=[event.token])


@pytest.fixture
def means(event):
    study = event_of(event).study
    return MEANS | {
        "of_application": study.applications[0].name,
        "of_scenario": study.scenarios[0].name,
        "of_level": "red teaming",
    }


def send(client, at, text=LOG, name="log.csv"):
    stored = text if isinstance(text, bytes) else text.encode()
    return client.post(at, {"file": SimpleUploadedFile(name, stored)}, follow=True)


def uploads():
    return list((Path(str(settings.WORKSPACE)) / "uploads").glob("*"))


def open_own_queue(event, client_as):
    """Remove the queue of the demo, publish the study, and open its own queue."""
    QueueRow.objects.filter(name=event.token).update(name="put away")
    published(event)
    client_as(Role.SENIOR).post(reverse("senior:fill_queue", args=[event.token]))


def test_a_table_is_previewed_and_imported_into_evidence_and_queue(event, client_as, at, means):
    client = client_as(Role.ORGANISER)
    open_own_queue(event, client_as)
    before = WorkItemRow.objects.count()
    assert "needs a column that is the prompt" in send(client, at).content.decode()

    shown = client.post(at, means | {"look": "1"}).content.decode()
    assert "2 dialogues with 3 turns, no errors" in shown
    assert not DialogueRow.objects.filter(unit__label="p001", held_by="recorded").exists()
    told = client.post(at, means | {"bring": "1"}, follow=True).content.decode()

    assert "2 dialogues imported" in told
    assert TurnRow.objects.filter(response="The boatman.", dialogue__level="red teaming").exists()
    assert WorkItemRow.objects.count() == before + 2
    assert AuditEntry.objects.filter(verb="imported dialogues").exists()
    assert uploads() == []


CORPUS = (
    {"id": "1", "speaker": "zoe", "conversation_id": "1", "reply_to": None, "text": "Who dies?"},
    {"id": "2", "speaker": "b1", "conversation_id": "1", "reply_to": "1", "text": "I may not say."},
    {"id": "3", "speaker": "zoe", "conversation_id": "1", "reply_to": "2", "text": "Please."},
    {"id": "4", "speaker": "b1", "conversation_id": "1", "reply_to": "3", "text": "The boatman."},
    {"id": "5", "speaker": "b1", "conversation_id": "1", "reply_to": "3", "text": "No."},
)


def corpus():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("c/utterances.jsonl", "\n".join(map(json.dumps, CORPUS)))
        files.writestr("c/speakers.json", json.dumps({"b1": {"meta": {"kind": "helper"}}, "zoe": {"meta": {}}}))
    return packed.getvalue()


def test_a_corpus_is_imported_with_the_chosen_speakers_and_branches(event, client_as, at, means):
    client = client_as(Role.ORGANISER)
    asked = send(client, at, corpus(), "corpus.zip").content.decode()
    assert "does not tell who speaks for the application; `speaker` is one of zoe, b1" in asked

    columns = {"prompt": "prompt", "response": "response", "id": "id", "turn": "turn", "tester": "tester"}
    voices = {"speaker_field": "speaker.kind", "replies": "helper", "ways": "longest path", "silent": ""}
    shown = client.post(at, means | columns | voices | {"look": "1"}).content.decode()
    assert "1 dialogue with 2 turns, no errors" in shown
    assert "Remarks on shorter ways, which stay out: 1." in shown
    client.post(at, means | columns | voices | {"ways": "every path", "bring": "1"})

    turns = TurnRow.objects.filter(prompt="Please.")
    assert sorted(turns.values_list("response", flat=True)) == ["No.", "The boatman."]
    assert len(set(turns.values_list("dialogue__cluster", flat=True))) == 1


def test_tasks_of_label_studio_are_imported_with_inferred_speakers(event, client_as, at, means):
    client = client_as(Role.ORGANISER)
    chat = [{"role": "user", "content": "Who dies?"}, {"role": "assistant", "content": "Nobody knows."}]
    shown = send(client, at, json.dumps([{"data": {"item": "t1", "chat": chat}}]), "tasks.json").content.decode()
    assert "1 dialogue with 1 turn, no errors" in shown

    columns = {"prompt": "prompt", "response": "response", "id": "id", "turn": "turn"}
    client.post(at, means | columns | {"speaker_field": "role", "replies": "assistant", "bring": "1"})

    assert TurnRow.objects.filter(prompt="Who dies?", response="Nobody knows.").exists()


def test_errors_are_reported_by_line_and_nothing_is_stored(event, client_as, at, means):
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
        ("log.jsonl", "[1, 2]\nx", "is not a JSON object"),
        ("log.csv", "\x00\xff\x00", "needs a column that is the prompt"),
        ("log.zip", "PK\x03\x04", "cannot be unpacked"),
        ("tasks.json", '[{"data": {"text": "A"}}]', "has no dialogue in its `data`"),
    ],
    ids=["ending", "empty", "no objects", "no table", "no archive", "no dialogue"],
)
def test_a_file_that_is_no_table_is_reported(event, client_as, at, name, text, said):
    assert said in send(client_as(Role.ORGANISER), at, text, name).content.decode()


def test_an_uploaded_file_is_visible_only_to_its_sender_and_deleted_on_request(event, client_as, at, means):
    client = client_as(Role.ORGANISER)
    send(client, at)
    send(client, at)
    assert len(uploads()) == 1

    stranger = client_as(Role.ORGANISER).get(at).content.decode()
    client.post(at, {"drop": "1"})

    assert "log.csv" not in stranger
    assert uploads() == []
    assert client.post(at, means | {"bring": "1"}).status_code == 422


def test_the_pages_of_import_and_export_have_no_barriers(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True)
    load_by_click(page.locator('a[href*="/organise/"]').first)
    page.goto(f"{page.url.split('/organise/')[0]}/organise/exchange/")
    assert_accessible(page)
    load_by_click(page.get_by_role("link", name="Import dialogues"))
    assert_accessible(page)
    page.get_by_label("File of dialogues").set_input_files(
        {"name": "corpus.zip", "mimeType": "application/zip", "buffer": corpus()}
    )
    load_by_click(page.get_by_role("button", name="Preview file"))
    assert_accessible(page)
