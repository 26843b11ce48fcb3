"""The REST API: permissions, records that match the document, and refusals with a remedy."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import timedelta

import jsonschema
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.integration.web.test_exchange_page import take_in
from tests.integration.web.test_results import hold_dialogue
from theodolite.bootstrap import server_runs
from theodolite.bootstrap.events import study_context_of
from theodolite.domain.event import Role
from theodolite.domain.event_record import Withdrawal
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.web.api.operations import PREFIX, openapi_document
from theodolite.web.api.requests import PERMISSIONS, cursor_position, cursor_text
from theodolite.web.events import open_event_of, server_store
from theodolite.web.models import Account, ApiToken, AuditEntry, HostedStudy, Measurement, Membership, Scope
from theodolite.web.models.api import new_secret, token_with
from theodolite.web.organiser import results
from theodolite.web.session_end import withdraw_participant

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

Ask = Callable[..., object]


def secret_of(account: Account, scopes=tuple(Scope), **changes) -> str:
    """Create a token of an account and return its secret."""
    public, secret, hashed = new_secret()
    values = {"name": "test", "expires_at": timezone.now() + timedelta(days=1), **changes}
    ApiToken.objects.create(account=account, token=public, hash=hashed, scopes=[str(one) for one in scopes], **values)
    return secret


def person(event: HostedStudy, role: Role) -> Account:
    return Account.objects.get(memberships__hosted=event, memberships__role=role.value)


@pytest.fixture
def ask(event) -> Ask:
    """Return a function that sends a request with a token of a role, and checks the body against the document."""
    secrets: dict[object, str] = {}

    def send(role, path, method="get", secret=None, body=None, **data):
        if secret is None:
            if role not in secrets:
                secrets[role] = secret_of(person(event, role))
            secret = secrets[role]
        address = path if path.startswith("/") else f"{PREFIX}{path}"
        client = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
        kind = {} if body is None else {"content_type": "application/json"}
        sent = data if body is None else body if isinstance(body, bytes) else json.dumps(body)
        response = getattr(client, method)(address, sent, headers={"Authorization": f"Bearer {secret}"}, **kind)
        check_body(response)
        return response

    return send


def check_body(response) -> None:
    """Check a JSON body against the schema that the OpenAPI document has for its status."""
    operation = operation_of(response)
    kind = response.headers["Content-Type"].partition(";")[0]
    if operation is None or kind not in {"application/json", "application/problem+json"}:
        return
    content = operation["responses"][str(response.status_code)]["content"]
    (schema,) = [entry["schema"] for entry in content.values()]
    document = {**openapi_document(), **schema}
    jsonschema.Draft202012Validator(document).validate(response.json())


def operation_of(response):
    """Return the operation of the document that answered; None for an address or method without one."""
    route = getattr(response.wsgi_request.resolver_match, "route", "")
    operations = openapi_document()["paths"].get("/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route), {})
    return operations.get(response.wsgi_request.method.lower())


@pytest.fixture
def measurement(event):
    """A finished measurement with its files."""
    row = Measurement.objects.create(hosted=event, edition="0" * 64, done_at=timezone.now())
    row.folder.mkdir(parents=True)
    (row.folder / "results.json").write_text('{"study": {"name": "x"}}')
    return row


def address_of(name: str, event: HostedStudy, measurement: Measurement) -> str:
    """Return the address of an operation with existing ids."""
    filled = {
        "study": event.token,
        "run": 1,
        "dialogue": "p001",
        "annotation": "0-0",
        "measurement": measurement.token,
        "submission": event.submissions.get(name="echo-two").token,
        "task": "none",
        "item": "none",
    }
    pattern = next(
        route
        for route, operations in openapi_document()["paths"].items()
        for one in operations.values()
        if one["operationId"] == name
    )
    return pattern.format(**filled)


def method_of(name: str) -> str:
    return next(
        method
        for operations in openapi_document()["paths"].values()
        for method, one in operations.items()
        if one["operationId"] == name
    )


def body_of(name: str) -> object:
    """Return a body that the schema of an operation accepts; None for operations without one."""
    label = {"question": "q", "value": "yes"}
    dialogue = {"dialogue": "p001", "guideline": "g", "guideline_version": "0", "answers": [label]}
    return {
        "write_answers": {"guideline_version": "0", "answers": []},
        "import_labels": {"annotator": "nobody", "annotations": [dialogue]},
        "start_run": {"stage": "score"},
    }.get(name)


@pytest.fixture
def no_process(monkeypatch):
    """Record the run processes that requests start, in place of starting them."""
    processes = []

    def start(folder, arguments, *, command, environ):
        processes.append((folder, arguments, command, environ))

    monkeypatch.setattr(server_runs, "start_process", start)
    return processes


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize("role", list(Role), ids=str)
def test_an_operation_responds_to_its_roles_and_is_not_found_for_others(event, ask, measurement, role):
    other = HostedStudy.objects.create(name="another")
    for name, permission in PERMISSIONS.items():
        if name == "start_measurement":
            continue  # it has a test of its own
        address = address_of(name, event, measurement)
        response = ask(role, address, method_of(name), body=body_of(name))
        is_there = not permission.roles or role in permission.roles

        in_reality = {int(status) for status in operation_of(response)["responses"]} - {400, 401, 413, 429}
        assert response.status_code in (in_reality if is_there else {404}), f"{name} as {role}"
        assert ("You have no study" not in response.content.decode()) is is_there, f"{name} as {role}"
        if permission.roles:
            elsewhere = ask(role, address.replace(event.token, other.token), method_of(name), body=body_of(name))
            assert elsewhere.status_code == 404, name
            assert "You have no study" in elsewhere.json()["detail"]


def test_every_operation_is_in_the_document_with_its_permission():
    operations = {
        one["operationId"]: one for methods in openapi_document()["paths"].values() for one in methods.values()
    }

    assert {name: one["x-permission"] for name, one in operations.items()} == {
        name: permission.text for name, permission in PERMISSIONS.items()
    }
    assert all(one["security"] for one in operations.values())
    served = Client(SERVER_NAME="localhost").get(f"{PREFIX}openapi.json").json()
    assert served == openapi_document()
    assert served["openapi"].startswith("3.1")


@pytest.mark.parametrize("name", [name for name, one in PERMISSIONS.items() if one.scope])
def test_a_token_without_the_scope_is_refused(event, ask, measurement, name):
    scope = PERMISSIONS[name].scope
    role = PERMISSIONS[name].roles[0]
    secret = secret_of(person(event, role), [one for one in Scope if one is not scope])

    response = ask(role, address_of(name, event, measurement), method_of(name), secret=secret, body=body_of(name))

    assert not AuditEntry.objects.filter(verb__contains="API").exists()
    assert response.status_code == 403
    assert f"needs the scope `{scope.value}`" in response.json()["detail"]


@pytest.mark.parametrize(
    "changes",
    [
        {"expires_at": timezone.make_aware(timezone.datetime(2020, 1, 1))},
        {"revoked_at": timezone.make_aware(timezone.datetime(2020, 1, 1))},
    ],
    ids=["expired", "revoked"],
)
def test_a_token_that_is_no_longer_valid_is_refused(event, ask, changes):
    response = ask(None, "studies", secret=secret_of(person(event, Role.ANALYST), **changes))

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert response.headers["Content-Type"] == "application/problem+json"


def test_a_blocked_account_and_a_cookie_give_no_access(event, ask, client_as):
    analyst = person(event, Role.ANALYST)
    secret = secret_of(analyst)
    Account.objects.filter(pk=analyst.pk).update(is_active=False)

    assert ask(None, "studies", secret=secret).status_code == 401
    assert client_as(Role.ORGANISER).get(f"{PREFIX}studies").status_code == 401


def test_an_account_without_the_second_factor_that_its_role_needs_is_refused(event, ask):
    event.second_factor = [Role.ANALYST.value]
    event.save()

    response = ask(Role.ANALYST, f"studies/{event.token}/runs")

    assert response.status_code == 403
    assert "second factor" in response.json()["detail"]
    (study,) = ask(Role.ANALYST, "studies").json()["items"]
    assert (study["name"], study["state"], study["version"]) == (None, None, None)


def test_wrong_tokens_are_throttled_like_wrong_codes(event, ask):
    statuses = [ask(None, "studies", secret=f"tdl_0123_{number}").status_code for number in range(22)]

    assert statuses == [401] * 20 + [429] * 2
    assert ask(Role.ANALYST, "studies").headers["Retry-After"] == "60"


def test_one_token_has_a_limit_of_requests(event, ask, monkeypatch):
    monkeypatch.setitem(settings.ACCOUNT_RATE_LIMITS, "token_used", "2/m/key")

    assert [ask(Role.ANALYST, "studies").status_code for _ in range(3)] == [200, 200, 429]
    assert ask(Role.ORGANISER, "studies").status_code == 200


def test_secrets_are_stored_as_hashes_and_compared_whole(event):
    secret = secret_of(person(event, Role.ANALYST))
    (row,) = ApiToken.objects.all()

    assert secret.split("_", 2)[2] not in str(ApiToken.objects.values())
    assert token_with(secret) == row
    assert [token_with(wrong) for wrong in (secret[:-1], secret + "x", secret.replace("tdl", "abc"), "", "tdl__")] == [
        None
    ] * 5


def test_dialogues_are_paged_and_equal_the_export(event, ask):
    for words in ("May I hear the end?", "Who wins?"):
        hold_dialogue_again(event, words)
    whole = ask(Role.ANALYST, f"studies/{event.token}/dialogues").json()["items"]
    single, cursor = [], ""
    while cursor is not None:
        page = ask(Role.ANALYST, f"studies/{event.token}/dialogues", limit=7, cursor=cursor).json()
        single += page["items"]
        cursor = page["next"]
    context = study_context_of(open_event_of(event), event.folder, server_store())
    rows = {row["id"]: row for row in dialogue_rows(context.evidence()) if row["id"]}

    assert single == whole
    assert {one["id"] for one in whole} == set(rows)
    for one in whole:
        assert (one["dialogue"], one["application"]) == (rows[one["id"]]["dialogue"], rows[one["id"]]["application"])
        details = ask(Role.ANALYST, f"studies/{event.token}/dialogues/{one['dialogue']}").json()
        if one["tester_type"] == "person":
            assert {turn["prompt"] for turn in details["turns"]} == {None}
    assert {"listed dialogues by API", "read dialogue by API"} <= set(AuditEntry.objects.values_list("verb", flat=True))


def hold_dialogue_again(event, words):
    hold_dialogue(event, words) if not _has_dialogues(event) else None


def _has_dialogues(event):
    return bool(server_store().events.dialogues.summaries(event.name))


def test_texts_of_people_need_a_finished_privacy_review(own, ask):
    hold_dialogue(own)
    label = ask(Role.ANALYST, f"studies/{own.token}/dialogues").json()["items"][-1]["dialogue"]
    address = f"studies/{own.token}/dialogues/{label}"
    refused = ask(Role.ANALYST, address, include_text="true")
    assert refused.status_code == 422
    assert "privacy review" in refused.json()["detail"]

    run = ask(Role.ANALYST, f"studies/{own.token}/runs").json()["items"][0]["number"]
    (settings.WORKSPACE / "own" / "privacy-review.yaml").write_text(
        f"run: {run}\nreviewer: lead\nfinished: 2026-03-09\n"
    )
    turns = ask(Role.ANALYST, address, include_text="true").json()["turns"]
    assert "May I hear the end?" in [turn["prompt"] for turn in turns]
    assert ask(Role.ANALYST, address).json()["turns"][0]["prompt"] is None


def test_a_withdrawn_dialogue_is_reported_as_gone(event, ask):
    hold_dialogue(event)
    before = ask(Role.ANALYST, f"studies/{event.token}/dialogues").json()["items"]

    withdraw_participant(Membership.objects.get(hosted=event, role=Role.RED_TEAMER.value), Withdrawal.REMOVE)

    after = ask(Role.ANALYST, f"studies/{event.token}/dialogues").json()["items"]
    assert len(after) == len(before) - 1
    (gone,) = {one["dialogue"] for one in before} - {one["dialogue"] for one in after}
    assert ask(Role.ANALYST, f"studies/{event.token}/dialogues/{gone}").status_code == 404


def test_annotations_are_listed_and_read_without_names(event, ask, client_as):
    hold_dialogue(event)
    imported = take_in(client_as(Role.ANALYST), f"/s/{event.token}/organise/exchange/", event)
    assert "1 new" in imported.content.decode()
    listed = ask(Role.ANALYST, f"studies/{event.token}/annotations", limit=200).json()["items"]

    assert listed
    assert {one["annotator"] for one in listed if one["annotator_kind"] == "person"} == {"P001"}
    for one in listed[:3]:
        assert ask(Role.ANALYST, f"studies/{event.token}/annotations/{one['id']}").json() == one
    guideline = listed[0]["guideline"]
    by_guideline = ask(Role.ANALYST, f"studies/{event.token}/annotations", guideline=guideline, limit=200).json()
    assert {one["guideline"] for one in by_guideline["items"]} == {guideline}


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_table_is_the_exported_one(event, ask, form):
    hold_dialogue(event)
    text = ask(Role.ANALYST, f"studies/{event.token}/table", form=form).content.decode()
    read = csv.DictReader(io.StringIO(text)) if form == "csv" else map(json.loads, text.splitlines())
    context = study_context_of(open_event_of(event), event.folder, server_store())

    assert [row["dialogue"] for row in read] == [row["dialogue"] for row in dialogue_rows(context.evidence())]
    assert "May I hear the end?" not in text
    assert AuditEntry.objects.filter(verb="exported table by API").exists()


@pytest.fixture
def measures_at_once(monkeypatch):
    """Replace the process that measures: another test starts it."""

    async def measured(row: Measurement, task: str) -> None:
        row.folder.mkdir(parents=True)
        (row.folder / "results.json").write_text('{"format": 1}')
        await sync_to_async(results._keep)(row, "")

    monkeypatch.setattr(results, "_measured", measured)


@pytest.mark.usefixtures("measures_at_once")
def test_a_measurement_is_started_and_read(event, ask):
    started = ask(Role.ANALYST, f"studies/{event.token}/measurements", "post")
    assert started.status_code == 202
    (listed,) = ask(Role.ANALYST, f"studies/{event.token}/measurements").json()["items"]
    assert listed["state"] == "done"
    address = f"studies/{event.token}/measurements/{listed['id']}"

    assert ask(Role.ANALYST, address).json() == listed
    assert ask(Role.ANALYST, f"{address}/results.json").json() == {"format": 1}
    Measurement.objects.create(hosted=event, edition="0" * 64)
    assert ask(Role.ANALYST, f"studies/{event.token}/measurements", "post").status_code == 409
    assert ask(Role.ANNOTATOR, f"studies/{event.token}/measurements", "post").status_code == 404


def test_the_latest_results_are_those_of_the_last_finished_measurement(event, ask, measurement):
    address = f"studies/{event.token}/results.json"
    Measurement.objects.create(hosted=event, edition="0" * 64)  # still running
    failed = Measurement.objects.create(hosted=event, edition="0" * 64, done_at=timezone.now(), problem="no")
    read = ask(Role.ANALYST, address)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert json.loads(read.content, parse_constant=refuse) == {"study": {"name": "x"}}
    assert read.headers["Content-Location"].endswith(f"/measurements/{measurement.token}/results.json")
    assert failed.token not in read.headers["Content-Location"]
    (measurement.folder / "results.json").unlink()
    assert ask(Role.ANALYST, address).status_code == 404


def test_runs_show_progress_and_cost(event, ask):
    runs = ask(Role.ORGANISER, f"studies/{event.token}/runs").json()["items"]

    assert runs
    for run in runs:
        assert ask(Role.ORGANISER, f"studies/{event.token}/runs/{run['number']}").json() == run
    assert ask(Role.ORGANISER, f"studies/{event.token}/runs/99").status_code == 404


def test_a_team_sees_its_own_submissions_alone(event, ask):
    listed = ask(Role.TEAM, f"studies/{event.token}/submissions").json()["items"]
    stranger = Account.objects.create_user("stranger@example.org", name="Stranger")
    Membership.objects.create(account=stranger, hosted=event, role=Role.TEAM)
    secret = secret_of(stranger)

    assert listed
    assert ask(None, f"studies/{event.token}/submissions", secret=secret).json()["items"] == []
    address = f"studies/{event.token}/submissions/{listed[0]['id']}/results.json"
    assert ask(None, address, secret=secret).status_code == 404


def test_a_study_shows_its_name_to_organisers_and_analysts_alone(event, ask):
    shown = {role: ask(role, "studies").json()["items"][0] for role in Role}

    assert {role for role, study in shown.items() if study["name"]} == {Role.ORGANISER, Role.ANALYST}
    assert all(study["title"] for study in shown.values())


@pytest.mark.parametrize(
    ("path", "data", "words"),
    [
        ("dialogues", {"limt": 3}, "Did you mean `limit`?"),
        ("dialogues", {"limit": 0}, "query.limit"),
        ("dialogues", {"level": "play"}, "query.level"),
        ("dialogues", {"application": "nobody"}, "`application` must be one of"),
        ("dialogues", {"cursor": "abc"}, "Start without `cursor`"),
        ("dialogues", {"run": 77}, "has no run 77"),
        ("dialogues/none", {}, "has no completed dialogue `none`"),
        ("annotations", {"guideline": "dialogue-utilty"}, "Did you mean `dialogue-utility`?"),
        ("table", {"form": "xlsx"}, "query.form"),
        ("nothing", {}, "openapi.json"),
    ],
)
def test_a_refusal_states_the_location_and_a_remedy(event, ask, path, data, words):
    response = ask(Role.ORGANISER, f"studies/{event.token}/{path}", **data)

    assert response.status_code in {404, 422}
    assert response.headers["Content-Type"] == "application/problem+json"
    assert words in response.content.decode()


def test_an_unsupported_method_is_a_problem_document(event, ask):
    response = ask(Role.ORGANISER, "studies", "delete")

    assert (response.status_code, response.headers["Allow"]) == (405, "GET")
    assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("position", [0, 1, 10**9])
def test_a_cursor_belongs_to_its_run(position):
    assert cursor_position(cursor_text(3, position), 3) == position


def test_a_person_creates_and_revokes_a_token_on_the_page(event, client_as, ask):
    client = client_as(Role.ANALYST)
    page = client.post("/tokens/", {"name": "ci", "scopes": [Scope.READ_RESULTS.value], "days": 30}).content.decode()
    (token,) = ApiToken.objects.all()
    secret = page.partition('value="tdl_')[2].partition('"')[0]

    assert ask(None, "studies", secret=f"tdl_{secret}").status_code == 200
    token.refresh_from_db()
    assert token.used_at is not None
    assert f"tdl_{secret}" not in client.get("/tokens/").content.decode()
    assert client_as(Role.ORGANISER).post(reverse("api_token_revoke", args=[token.token])).status_code == 404
    assert (
        "Token ci revoked" in client.post(reverse("api_token_revoke", args=[token.token]), follow=True).content.decode()
    )
    assert ask(None, "studies", secret=f"tdl_{secret}").status_code == 401
    assert list(AuditEntry.objects.filter(verb__contains="API token").values_list("verb", flat=True)) == [
        "revoked API token",
        "created API token",
    ]


@pytest.mark.parametrize("sent", [{}, {"name": "x", "days": 9999}, {"name": "x", "days": 30, "scopes": ["all"]}])
def test_a_token_needs_a_name_known_scopes_and_a_lifetime(event, client_as, sent):
    assert client_as(Role.ANALYST).post("/tokens/", sent).status_code == 422
    assert not ApiToken.objects.exists()
