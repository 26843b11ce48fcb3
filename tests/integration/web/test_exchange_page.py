"""Organisers export answers and import labels like the commands."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.integration.web.test_results import hold_dialogue
from theodolite.domain.event import Role
from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow
from theodolite.web.events import event_of
from theodolite.web.models import AuditEntry

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def at(event):
    hold_dialogue(event)
    return f"/s/{event.token}/organise/exchange/"


def zipped(answer):
    with zipfile.ZipFile(io.BytesIO(answer.content)) as files:
        return {name: files.read(name) for name in files.namelist()}


def files_of(answer):
    return {name: content.decode() for name, content in zipped(answer).items()}


def take_in(client, at, event, **changes):
    guideline = event_of(event).study.guideline("dialogue-utility")
    asked = next(one for one in guideline.instrument.questions if one.level.value == "dialogue")
    label = DialogueRow.objects.exclude(label__contains="/e").order_by("-id")[0].label
    table = f"which,who,what\n{label},zoe,{asked.scale.categories[0]}\n"
    sent = {
        "dialogue": "which",
        "annotator": "who",
        "answers": f"{asked.name}=what",
        "file": SimpleUploadedFile("labels.csv", table.encode()),
    }
    return client.post(at, sent | changes, follow=True)


def test_imported_labels_count_and_are_exported_without_names(event, client_as, at):
    analyst = client_as(Role.ANALYST)
    checked = take_in(analyst, at, event, check="1")
    assert "not stored" in checked.content.decode()
    assert not AnnotationRow.objects.filter(annotator__startswith="zoe").exists()

    assert "1 new" in take_in(analyst, at, event).content.decode()
    packed = files_of(analyst.get(f"{at}answers/"))

    rows = list(csv.DictReader(io.StringIO(packed["answers.csv"])))
    assert [row["annotator"] for row in rows if row["annotator_kind"] == "person"] == ["P001"]
    assert not any("zoe" in text for text in packed.values())
    assert set(AuditEntry.objects.values_list("verb", flat=True)) >= {"imported labels", "exported answers"}


def test_tasks_for_label_studio_are_blind(event, client_as, at):
    packed = files_of(client_as(Role.ORGANISER).get(f"{at}label-studio/dialogue-utility/"))

    tasks = json.loads(packed["tasks.json"])
    assert "May I hear the end?" in [task["data"]["dialogue"][0]["text"] for task in tasks]
    assert "<View>" in packed["config.xml"]
    assert not any(one.name in packed["tasks.json"] for one in event_of(event).study.applications)


def test_answers_are_exported_with_typed_columns_and_for_argilla(event, client_as, at):
    organiser = client_as(Role.ORGANISER)
    typed, told = (zipped(organiser.get(f"{at}answers/?form={form}")) for form in ("answers-parquet", "argilla"))

    rows = pq.read_table(io.BytesIO(typed["answers.parquet"])).to_pylist()
    assert len(rows) == len(list(csv.DictReader(io.StringIO(told["answers.csv"].decode()))))
    assert {"argilla/dialogue-utility/.argilla/settings.json", "argilla/users.csv"} <= set(told)
    assert not any(
        one.name.encode() in told["argilla/dialogue-utility/records.json"] for one in event_of(event).study.applications
    )
    assert organiser.get(f"{at}answers/?form=xlsx").status_code == 404


def test_labels_of_label_studio_are_imported_on_the_page(event, client_as, at):
    analyst = client_as(Role.ANALYST)
    take_in(analyst, at, event)
    tasks = json.loads(files_of(analyst.get(f"{at}label-studio/dialogue-utility/"))["tasks.json"])
    labelled = [task for task in tasks if any(one["result"] for one in task["annotations"])]
    for one in (each for task in labelled for each in task["annotations"]):
        one["completed_by"] = {"email": "kim"}
    back = SimpleUploadedFile("project.json", json.dumps(labelled).encode())

    told = analyst.post(at, {"file": back}, follow=True).content.decode()

    assert f"{len(labelled)} new, 0 revised" in told
    (there,) = AnnotationRow.objects.filter(annotator__startswith="zoe")
    (came,) = AnnotationRow.objects.filter(annotator__startswith="kim")
    assert answers_of(came) == answers_of(there)


def answers_of(row):
    rows = AnswerRow.objects.filter(annotation=row)
    return sorted(rows.values_list("question", "turn", "value", "outcome"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answers": "useful"}, "each line has the form NAME=VALUE"),
        ({"file": SimpleUploadedFile("labels.exe", b"x")}, "choose a file that ends in .csv"),
        ({"dialogue": "nothing"}, "nothing"),
    ],
)
def test_unreadable_files_are_reported_and_nothing_is_stored(event, client_as, at, changes, said):
    answered = take_in(client_as(Role.ANALYST), at, event, **changes)

    assert answered.status_code == 422
    assert said in answered.content.decode()
    assert not AnnotationRow.objects.filter(annotator__startswith="zoe").exists()
