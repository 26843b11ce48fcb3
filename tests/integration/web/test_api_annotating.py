"""Annotations by the API: tasks of annotators as on the page, labels of programs, and hostile bodies."""

from __future__ import annotations

import json

import pytest

from tests.fakes.annotated_event import participant_of
from tests.integration.web.test_api import ask, secret_of  # noqa: F401 - `ask` is a fixture
from tests.integration.web.test_results import hold_dialogue
from theodolite.annotation import submission
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import QuestionLevel
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import DraftRow, ReservationRow
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of
from theodolite.web.models import Account, AuditEntry, Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]


@pytest.fixture
def tasks(event):
    """The address of the tasks of the event."""
    return f"studies/{event.token}/tasks"


@pytest.fixture
def task(ask, tasks):  # noqa: F811
    """The first task of the annotator."""
    return ask(Role.ANNOTATOR, tasks, "post").json()["task"]


def whole(task: dict, **changes: object) -> dict:
    """Return a body that answers all questions of a task with the last value of each scale."""
    answers = [
        {"question": one["question"], "turn": one["turn"], "value": one["values"][-1] if one["values"] else "x"}
        for one in task["questions"]
        if one["is_asked"] and not one["is_optional"]
    ]
    return {"guideline_version": task["guideline_version"], "answers": answers, **changes}


def sent_until_complete(ask, address: str, task: dict, **changes: object):  # noqa: F811
    """Send answers, and those to the follow-ups that they open, until a task is complete; return the last response."""
    response = ask(Role.ANNOTATOR, address, "put", body=whole(task, submit=False))
    while response.json()["open"]:
        response = ask(Role.ANNOTATOR, address, "put", body=whole(response.json(), submit=False))
    return ask(Role.ANNOTATOR, address, "put", body=whole(response.json(), **changes))


def test_a_task_is_done_by_the_api_as_on_the_page(event, ask, tasks, task):  # noqa: F811
    address = f"{tasks}/{task['id']}"
    assert ask(Role.ANNOTATOR, tasks, "post").json()["task"]["id"] == task["id"]
    done = sent_until_complete(ask, f"{address}/answers", task).json()

    assert (done["state"], done["revision"], done["open"]) == ("submitted", 1, [])
    assert ask(Role.ANNOTATOR, address).json()["answers"] == done["answers"]
    row = ReservationRow.objects.get(token=task["id"])
    assert row.annotation.instrument_version == task["guideline_version"]
    stored = {(one["question"], one["turn"]): one["value"] for one in done["answers"]}
    rows = AnswerRow.objects.filter(annotation=row.annotation, outcome="answered")
    assert {(one.question, one.turn or None): one.value for one in rows}.items() <= stored.items()
    page = submission.task(records(), task["id"], participant_of(event))
    assert page.reservation.state.value == "submitted"
    assert AuditEntry.objects.filter(verb="wrote answers by API").exists()
    assert ask(Role.ANNOTATOR, tasks, "post").json()["task"]["id"] != task["id"]


def test_a_repeated_request_changes_nothing(event, ask, tasks, task):  # noqa: F811
    address = f"{tasks}/{task['id']}/answers"
    done = sent_until_complete(ask, address, task).json()
    body = whole(done)
    n_rows = DraftRow.objects.count(), AnnotationRow.objects.count()

    again = ask(Role.ANNOTATOR, address, "put", body=body)
    assert again.json() == done
    assert (DraftRow.objects.count(), AnnotationRow.objects.count()) == n_rows

    changed = {**body, "answers": [{**body["answers"][0], "note": "Looked again."}, *body["answers"][1:]]}
    assert ask(Role.ANNOTATOR, address, "put", body=changed).json()["revision"] == 2


def test_all_errors_are_named_at_once_and_nothing_is_stored(event, ask, tasks, task):  # noqa: F811
    first = task["questions"][0]
    place = {"question": first["question"], "turn": first["turn"]}
    answers = [
        {**place, "value": "perhaps"},
        {"question": first["question"] + "x", "value": "yes"},
        {**place, "turn": 99, "value": "yes"},
        {**place, "value": first["values"][0]},
    ]
    response = ask(Role.ANNOTATOR, f"{tasks}/{task['id']}/answers", "put", body=whole(task, answers=answers))
    faults = {fault["where"]: fault["expected"] for fault in response.json()["errors"]}

    assert response.status_code == 422
    assert set(faults) == {
        *("body.answers.0.value", "body.answers.1.question", "body.answers.2.turn", "body.answers.3", "body.answers")
    } - (set() if len(task["open"]) > 1 else {"body.answers"})
    assert first["values"][0] in faults["body.answers.0.value"]
    assert f"Did you mean `{first['question']}`?" in faults["body.answers.1.question"]
    assert not DraftRow.objects.filter(reservation__token=task["id"]).exists()


def test_another_version_of_the_questions_is_refused(event, ask, tasks, task):  # noqa: F811
    body = whole(task, guideline_version="0" * 64)
    response = ask(Role.ANNOTATOR, f"{tasks}/{task['id']}/answers", "put", body=body)

    assert response.status_code == 409
    assert task["guideline_version"] in response.json()["detail"]


def test_a_task_hides_the_source_and_belongs_to_its_annotator(event, ask, tasks, task):  # noqa: F811
    text = json.dumps(task)
    study = event_of(event).study
    assert not [application.name for application in study.applications if application.name in text]
    assert "level" not in task["dialogue"]

    other = Account.objects.create_user("second@example.org", name="Second")
    Membership.objects.create(account=other, hosted=event, role=Role.ANNOTATOR.value)
    secret = secret_of(other)
    for method, path, body in (
        ("get", task["id"], None),
        ("put", f"{task['id']}/answers", whole(task)),
        ("post", f"{task['id']}/release", None),
    ):
        assert ask(None, f"{tasks}/{path}", method, secret=secret, body=body).status_code == 404
    assert ask(None, tasks, "post", secret=secret).json() == {"task": None}  # not qualified yet


def test_a_task_is_released_and_frozen_dialogues_refuse_answers(event, ask, tasks, task):  # noqa: F811
    released = ask(Role.ANNOTATOR, f"{tasks}/{task['id']}/release", "post").json()
    assert released["state"] == "released"

    again = ask(Role.ANNOTATOR, tasks, "post").json()["task"]
    ReservationRow.objects.get(token=again["id"]).item.__class__.objects.update(state="frozen")
    response = ask(Role.ANNOTATOR, f"{tasks}/{again['id']}/answers", "put", body=whole(again, submit=False))
    assert response.status_code == 409
    assert "review of this dialogue has started" in response.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe{}", 400),
        (b"[" * 100_000, 400),
        (b"[]", 422),
        (b"null", 422),
        (b'{"guideline_version": "x", "answers": [], "role": "organiser"}', 422),
        (b'{"guideline_version": "x", "answers": [{"question": "q", "value": true}]}', 422),
        (b'{"guideline_version": "x", "answers": [{"question": "q", "value": NaN}]}', 409),
        (b'{"guideline_version": "x", "answers": [{"question": "q", "value": "\\ud800"}]}', 422),
        (b'{"guideline_version": "x", "answers": [{"question": "q", "value": "a\\u0000"}]}', 422),
        (b'{"guideline_version": "x", "answers": [{"question": "q", "turn": 1e99, "value": "a"}]}', 422),
        (b'{"guideline_version": "x", "answers": [' + b"1," * 300 + b"1]}", 422),
        (b'{"guideline_version": "' + b"x" * 3_000_000 + b'", "answers": []}', 413),
    ],
    ids=[
        *("no JSON", "no UTF-8", "deep", "list", "null", "extra key", "boolean", "not a number", "surrogate"),
        *("null character", "far turn", "many faults", "huge"),
    ],
)
def test_a_hostile_body_is_a_problem_document(ask, tasks, task, body, status):  # noqa: F811
    response = ask(Role.ANNOTATOR, f"{tasks}/{task['id']}/answers", "put", body=body)

    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    assert len(response.content) < 100_000


@pytest.fixture
def labels(event):
    """A body of labels by a person with another tool, about a dialogue of the event."""
    hold_dialogue(event)
    guideline = event_of(event).study.guidelines[0]
    question = next(one for one in guideline.instrument.questions if one.level is QuestionLevel.DIALOGUE)
    value = question.scale.categories[0]
    dialogue = {"guideline": guideline.name, "guideline_version": version_of(guideline)}
    dialogue |= {
        "dialogue": "p001",
        "answers": [{"question": question.name, "value": value, "reason": "He names the ending."}],
    }
    return {"annotator": "ana", "annotations": [dialogue]}


def test_labels_from_another_tool_are_stored_once(event, ask, labels):  # noqa: F811
    address = f"studies/{event.token}/labels"
    first, again = (ask(Role.ANALYST, address, "post", body=labels).json() for _ in range(2))

    assert (first, again) == (
        {"new": 1, "revised": 0, "unchanged": 0},
        {"new": 0, "revised": 0, "unchanged": 1},
    )
    listed = ask(Role.ANALYST, f"studies/{event.token}/annotations", limit=200).json()["items"]
    (stored,) = [one for one in listed if "He names the ending." in json.dumps(one) or one["annotator"] == "P001"]
    assert stored["annotator_kind"] == "person"
    assert AuditEntry.objects.filter(verb="imported labels by API").count() == 2


def test_labels_with_errors_are_refused_as_a_whole(event, ask, labels):  # noqa: F811
    address, (dialogue,) = f"studies/{event.token}/labels", labels["annotations"]
    (answer,) = dialogue["answers"]
    wrong = [
        {**dialogue, "answers": [answer | {"value": "perhaps"}, answer | {"question": "qq"}, answer | {"turn": 77}]},
        {**dialogue, "dialogue": "p999"},
        dialogue,
    ]
    response = ask(Role.ANALYST, address, "post", body=labels | {"annotations": wrong})
    assert response.status_code == 422
    assert [fault["where"] for fault in response.json()["errors"]] == [
        *(f"body.annotations.0.answers.{position}" for position in range(3)),
        "body.annotations.1.answers.0",
    ]

    judge = ask(Role.ANALYST, address, "post", body=labels | {"annotator": "signs"})
    assert "judges answer in runs" in judge.json()["detail"]
    for change in ({"guideline": "x"}, {"guideline_version": "0" * 64}):
        response = ask(Role.ANALYST, address, "post", body=labels | {"annotations": [dialogue | change]})
        assert response.json()["errors"][0]["where"] == f"body.annotations.0.{next(iter(change))}"
    assert ask(Role.ANALYST, address, "post", body=labels).json()["new"] == 1


def test_an_annotator_cannot_post_labels_past_the_queue(event, ask, labels):  # noqa: F811
    response = ask(Role.ANNOTATOR, f"studies/{event.token}/labels", "post", body=labels)

    assert response.status_code == 404


@pytest.fixture
def queue(event):
    """The address of the annotation queue."""
    return f"studies/{event.token}/queue"


def test_seniors_page_through_the_queue_as_their_pages_show_it(event, ask, queue, client_as):  # noqa: F811
    whole_list = ask(Role.SENIOR, queue, limit=200).json()
    single, cursor = [], ""
    while cursor is not None:
        page = ask(Role.SENIOR, queue, limit=3, cursor=cursor).json()
        single += page["items"]
        cursor = page["next"]
    shown = client_as(Role.SENIOR).get(f"/s/{event.token}/review/dialogues/").content.decode()

    assert single == whole_list["items"]
    assert whole_list["next"] is None
    assert len({dialogue["name"] for dialogue in single}) == len(single) > 3
    assert all(dialogue["name"] in shown for dialogue in single)
    assert all(item["id"] in shown for dialogue in single for item in dialogue["items"])
    assert AuditEntry.objects.filter(verb="listed queue by API").count() == 2, "one for each list, not for each page"


def test_seniors_read_without_sources_and_organisers_with_the_level(event, ask, queue):  # noqa: F811
    (seen, known) = (ask(role, queue, limit=200).json()["items"] for role in (Role.SENIOR, Role.ORGANISER))
    study, item = event_of(event).study, seen[0]["items"][0]
    details = ask(Role.SENIOR, f"{queue}/{item['id']}").json()
    text = json.dumps([seen, details])

    assert {dialogue["level"] for dialogue in seen} == {None}
    assert None not in {dialogue["level"] for dialogue in known}
    assert {one["name"] for one in seen}.isdisjoint(one["name"] for one in known), "each reader has names of their own"
    assert [name for name in (one.name for one in study.applications) if name in text] == []
    assert [one for one in event.memberships.all() if one.participant and one.participant in text] == []
    assert (details["category"], details["dialogue"]["name"]) == (item["category"], seen[0]["name"])
    assert details["dialogue"]["turns"][0]["prompt"].startswith(seen[0]["opening"])
    refused = ask(Role.SENIOR, queue, level="red teaming")
    assert refused.status_code == 403
    assert ask(Role.ORGANISER, queue, level="red teaming").status_code == 200
    assert ask(Role.ORGANISER, f"{queue}/{item['id']}").status_code == 404, "as the page of the review"


def test_the_queue_is_filtered(event, ask, queue):  # noqa: F811
    everything = ask(Role.SENIOR, queue, limit=200).json()["items"]
    for stage in {item["stage"] for dialogue in everything for item in dialogue["items"]}:
        found = ask(Role.SENIOR, queue, limit=200, stage=stage).json()["items"]
        expected = [one["name"] for one in everything if stage in {item["stage"] for item in one["items"]}]
        assert [one["name"] for one in found] == expected
    disputed = ask(Role.SENIOR, queue, limit=200, disputed="true").json()["items"]
    assert all(any(item["disputed"] for item in one["items"]) for one in disputed)
    words = everything[0]["opening"][:20]
    assert everything[0]["name"] in {one["name"] for one in ask(Role.SENIOR, queue, text=words).json()["items"]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"category": "nothing", "scenario": "nowhere"}, "query.scenario"),
        ({"stage": "done"}, "query.stage"),
        ({"group": "genre"}, "a name, `=` and a value"),
        ({"text": "a"}, "at least 3 characters"),
        ({"cursor": "MS4x"}, "of this queue"),
        ({"cursor": "%"}, "Start without `cursor`"),
        ({"limit": 201}, "query.limit"),
    ],
)
def test_a_wrong_filter_of_the_queue_says_what_is_expected(ask, queue, data, words):  # noqa: F811
    response = ask(Role.SENIOR, queue, **data)

    assert response.status_code == 422
    assert words in response.content.decode()


def test_an_item_of_another_queue_is_not_there(event, ask, queue):  # noqa: F811
    for item in ("none", "x" * 300, "..%2F..%2Fruns"):
        assert ask(Role.SENIOR, f"{queue}/{item}").status_code == 404
