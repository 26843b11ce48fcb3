"""The OpenAPI document: whole, with examples that fit their schemas, and refusals that requests really meet."""

from __future__ import annotations

import json

import jsonschema
import pytest
from django.conf import settings
from django.utils import timezone

from tests.integration.web.test_api import (  # noqa: F401 - three are fixtures
    address_of,
    ask,
    body_of,
    measurement,
    method_of,
    no_process,
    operation_of,
    person,
    secret_of,
)
from tests.integration.web.test_api_annotating import sent_until_complete, whole
from tests.integration.web.test_api_runs import JUDGES, lease, living, number_of
from tests.integration.web.test_topics import sensitive  # noqa: F401 - a fixture
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.demo.people import design_of
from theodolite.domain.event import Role
from theodolite.store.models import DialogueRow
from theodolite.web.annotator.home import records
from theodolite.web.api.document import TAGS
from theodolite.web.api.operations import openapi_document
from theodolite.web.api.requests import PERMISSIONS
from theodolite.web.events import event_of
from theodolite.web.models import HostedStudy, Measurement, Scope

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

TEXT_OF_OTHERS = "the secret name of another study"

OPERATIONS = {one["operationId"]: one for methods in openapi_document()["paths"].values() for one in methods.values()}

REFUSALS = (400, 401, 403, 404, 413, 422, 429)
"""Statuses that the same kind of request gets from every operation that documents them."""


def is_valid(value: object, schema: dict) -> bool:
    whole_document = {**openapi_document(), **schema}
    return jsonschema.Draft202012Validator(whole_document).is_valid(value)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_examples_of_an_operation_fit_its_schemas(name):
    operation = OPERATIONS[name]
    contents = [content for response in operation["responses"].values() for content in response["content"].items()]
    contents += operation.get("requestBody", {"content": {}})["content"].items()

    for kind, content in contents:
        is_table = kind not in {"application/json", "application/problem+json"}
        assert content["example"] if is_table else is_valid(content["example"], content["schema"]), kind
    for parameter in operation.get("parameters", ()):
        assert is_valid(parameter["example"], parameter["schema"]), parameter["name"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_describes_itself_its_parameters_and_its_responses(name):
    operation = OPERATIONS[name]
    parts = [*operation.get("parameters", ()), *operation["responses"].values()]

    assert operation["summary"]
    assert operation["description"].endswith(".")
    assert [tag for tag in operation["tags"] if tag in TAGS] == operation["tags"] != []
    assert [part for part in parts if not part.get("description", "").endswith(".")] == []
    assert {int(status) for status in operation["responses"] if status > "3"} == {*PERMISSIONS[name].refusals}


@pytest.mark.parametrize("name", openapi_document()["components"]["schemas"])
def test_a_record_describes_its_fields_and_has_a_whole_example(name):
    schema = openapi_document()["components"]["schemas"][name]
    fields = schema.get("properties", {})

    assert schema["description"].endswith(".")
    assert [field for field, value in fields.items() if not value.get("description", "").endswith(".")] == []
    if fields:
        (example,) = schema["examples"]
        assert set(example) == set(fields)
        assert is_valid(example, schema)


def refused(name: str, status: int, event, ask, measurement, monkeypatch):  # noqa: F811
    """Send a request that an operation refuses with a status."""
    role = (PERMISSIONS[name].roles or (Role.ANALYST,))[0]
    address, method = address_of(name, event, measurement), method_of(name)
    body = {400: b'{"a": ', 413: b'"' + b"x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE}.get(status, body_of(name))
    match status:
        case 401:
            return ask(role, address, method, secret="tdl_0123_wrong", body=body)
        case 403 if PERMISSIONS[name].scope:
            return ask(role, address, method, secret=secret_of(person(event, role), []), body=body)
        case 403:
            event.second_factor = [one.value for one in Role]
            event.save()
        case 404:
            address = address.replace(event.token, HostedStudy.objects.create(name="another").token)
        case 422:
            address += "?unknown=1"
        case 429:
            monkeypatch.setitem(settings.ACCOUNT_RATE_LIMITS, "token_used", "1/m/key")
            ask(role, "studies")
    return ask(role, address, method, body=body)


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("status", REFUSALS)
def test_a_documented_refusal_is_a_real_one(event, ask, measurement, monkeypatch, status):  # noqa: F811
    monkeypatch.setitem(settings.ACCOUNT_RATE_LIMITS, "token_failed", "1000/m/ip")
    for name in [name for name, operation in OPERATIONS.items() if str(status) in operation["responses"]]:
        response = refused(name, status, event, ask, measurement, monkeypatch)

        assert response.status_code == status, name
        assert response.headers["Content-Type"] == "application/problem+json"
        assert operation_of(response) == OPERATIONS[name]
        assert set(OPERATIONS[name]["responses"][str(status)].get("headers", ())) <= set(response.headers)


def conflict(name: str, event, ask):  # noqa: F811
    """Send a request that the state of a study refuses."""
    tasks = f"studies/{event.token}/tasks"
    match name:
        case "next_task":  # of a study with topics to avoid, which nobody has chosen
            study = event_of(event).study
            queue = open_queue(records(), event.token, study, design_of(study), by="server")
            add_dialogues(records(), queue, list(DialogueRow.objects.values_list("unit__key", flat=True)))
            return ask(Role.ANNOTATOR, tasks, "post")
        case "start_measurement":
            Measurement.objects.create(hosted=event, edition="0" * 64)
            return ask(Role.ANALYST, f"studies/{event.token}/measurements", "post")
        case "start_run" | "stop_run":
            runs = f"studies/{event.token}/runs"
            number = number_of(ask, runs)
            if name == "stop_run":
                lease(event, number)
                return ask(Role.ORGANISER, f"{runs}/{number}/stop", "post")
            with living(event, "theodolite run other"):
                return ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES)
    task = ask(Role.ANNOTATOR, tasks, "post").json()["task"]
    if name == "write_answers":
        body = whole(task, guideline_version="0" * 64)
        return ask(Role.ANNOTATOR, f"{tasks}/{task['id']}/answers", "put", body=body)
    sent_until_complete(ask, f"{tasks}/{task['id']}/answers", task)
    return ask(Role.ANNOTATOR, f"{tasks}/{task['id']}/release", "post")


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("name", [name for name, permission in PERMISSIONS.items() if permission.conflict])
def test_a_documented_conflict_is_a_real_one(request, own, ask, name):  # noqa: F811
    if name == "next_task":
        request.getfixturevalue("sensitive")
    response = conflict(name, own, ask)

    assert response.status_code == 409
    assert operation_of(response) == OPERATIONS[name]


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("role", list(Role), ids=str)
def test_every_scope_role_and_study_is_refused_without_names(event, ask, measurement, role):  # noqa: F811
    """All that a token must not do: with the scope alone and with all other scopes, in the own study and in another."""
    other = HostedStudy.objects.create(name=TEXT_OF_OTHERS)
    only = {scope: secret_of(person(event, role), [scope]) for scope in Scope}
    others = {scope: secret_of(person(event, role), [one for one in Scope if one is not scope]) for scope in Scope}
    for name, permission in PERMISSIONS.items():
        address = address_of(name, event, measurement)
        elsewhere = [address.replace(event.token, other.token)] if permission.roles else []
        own = [address] if permission.roles and role not in permission.roles else []
        cases = [(only.get(permission.scope, only[Scope.READ_RESULTS]), 404, [*own, *elsewhere])]
        cases += [(others[permission.scope], 403, [address, *elsewhere])] if permission.scope else []
        for secret, status, targets in cases:
            for target in targets:
                response = ask(role, target, method_of(name), secret=secret, body=body_of(name))
                assert response.status_code == status, f"{name} as {role}"
                text = response.content.decode()
                assert TEXT_OF_OTHERS not in text
                assert event.name not in text


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("change", [{"revoked": True}, {"expired": True}, {"left": True}], ids=str)
def test_no_operation_answers_a_token_that_is_over_or_a_person_who_left(
    event,
    ask,  # noqa: F811
    measurement,  # noqa: F811
    monkeypatch,
    change,
):
    monkeypatch.setitem(settings.ACCOUNT_RATE_LIMITS, "token_failed", "1000/m/ip")
    past = timezone.make_aware(timezone.datetime(2020, 1, 1))
    times = {"revoked_at": past} if "revoked" in change else {"expires_at": past} if "expired" in change else {}
    for name, permission in PERMISSIONS.items():
        role = (permission.roles or (Role.ANALYST,))[0]
        account = person(event, role)
        if "left" in change:
            account.memberships.filter(hosted=event).update(left_at=past)
        secret = secret_of(account, **times)
        response = ask(role, address_of(name, event, measurement), method_of(name), secret=secret, body=body_of(name))
        expected = 401 if times else 404 if permission.roles else 200
        assert response.status_code == expected, name
        if "left" in change:
            assert event.name not in response.content.decode()
            account.memberships.filter(hosted=event).update(left_at=None)


BODIES = {
    "no JSON": b"stage=score",
    "half": b'{"stage": "score"',
    "not UTF-8": b'{"stage": "\xff"}',
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "a text": b'"score"',
    "null": b"null",
    "no number": b'{"budget_usd": NaN}',
    "infinite": b'{"budget_usd": 1e999}',
    "huge": b'{"limit": 99999999999999999999999999}',
    "negative": b'{"concurrency": -1}',
    "another type": b'{"confirm_cost": "perhaps"}',
    "unknown field": b'{"confirm_costs": true}',
    "unknown stage": b'{"stage": "score; rm -rf /"}',
    "an option": b'{"stage": "--new-run"}',
    "null character": b'{"stage": "score\\u0000"}',
    "half a pair": b'{"stage": "\\ud800"}',
}


def test_a_wrong_body_starts_nothing_and_is_a_problem(own, ask, no_process):  # noqa: F811
    for name, body in BODIES.items():
        response = ask(Role.ORGANISER, f"studies/{own.token}/runs/1", "put", body=body)

        assert response.status_code in {400, 422}, name
        assert response.headers["Content-Type"] == "application/problem+json"
        assert json.loads(response.content)["detail"]
    assert no_process == []


def test_a_number_without_a_run_is_refused(own, ask, no_process):  # noqa: F811
    for number in ("0", "-1", "1.5", "x", "9" * 30):
        for method, path in (("get", number), ("put", number), ("post", f"{number}/stop")):
            body = JUDGES if method == "put" else None
            response = ask(Role.ORGANISER, f"studies/{own.token}/runs/{path}", method, body=body)
            assert response.status_code in {404, 405, 409}, (method, number)
            assert response.headers["Content-Type"] == "application/problem+json"
    assert no_process == []
