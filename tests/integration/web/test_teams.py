"""Application teams: enter, check, sign and submit applications; credentials are write-only; teams are separate."""

from __future__ import annotations

import os
import subprocess
import sys
from html import unescape
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.db import transaction
from django.test import Client, override_settings

from tests.integration.web.editing import add, published
from theodolite.config.applications import AriaSpec
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.usecases.conformance import Examination
from theodolite.web.events import opened, seal, vault_of
from theodolite.web.models import Account, AuditEntry, Membership, Submission
from theodolite.web.teams.admission import _begin, _keep, application_of, claims_of, study_entry
from theodolite.web.teams.submissions import KIT_NAME, kit_archive, public_packets

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

KEY = "quiet harbour under a slow moon"
SECRET = "tok-91c4-very-secret"
KIT = "theodolite.resources.kit.my_application:MyApplication"
ENDPOINT = {
    "name": "harbour-bot", "way": "endpoint", "url": "https://bot.example/chat", "body": '{"q": "{{ prompt }}"}',
    "reply": "$.text", "guardrails": "at the team's site", "capabilities": "Answers.\n\nIn two languages.",
    "limitations": "Knows no endings.",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _operator_key():
    with override_settings(OPERATOR_KEY=KEY, APPLICATION_CLASSES=(KIT,)):
        yield


@pytest.fixture
def team(event, client_as) -> Client:
    return client_as(Role.TEAM)


def at(event, name: str) -> str:
    return f"/s/{event.token}/team/{Submission.objects.get(name=name).token}/"


def test_an_application_is_stored_with_write_only_credentials(event, team, client_as):
    team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, "credentials": SECRET})
    kept = Submission.objects.get(name="harbour-bot")

    assert SECRET.encode() not in bytes(kept.sealed)
    assert opened(kept.sealed) == SECRET
    for page in (at(event, "harbour-bot"), at(event, "harbour-bot") + "edit/"):
        assert SECRET not in team.get(page).content.decode()
    assert SECRET not in str(AuditEntry.objects.values_list("facts", flat=True))


def test_empty_credential_fields_keep_the_stored_credentials(event, team):
    team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, "credentials": SECRET})
    team.post(at(event, "harbour-bot") + "edit/", {**ENDPOINT, "description": "another"})

    kept = Submission.objects.get(name="harbour-bot")
    assert (kept.description, opened(kept.sealed)) == ("another", SECRET)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"url": "http://bot.example/"}, "begins with https://"),
        ({"url": "https://ana:pw@bot.example/"}, "without user and password"),
        ({"url": "https://127.0.0.1/x"}, "public address"),
        ({"url": "https://[::ffff:10.0.0.1]/x"}, "public address"),
        ({"url": "https://{{ prompt }}.example/"}, "begins with https://"),
        ({"body": "{"}, "This is not valid JSON"),
        ({"reply": "$..x["}, "reply"),
        ({"name": "echo"}, "This name is taken"),
        ({"way": "class", "target": "os:system"}, "not one of the available choices"),
        ({"way": "class"}, "Choose a class"),
        ({"prompt": "{{ context }}"}, "must contain {{ prompt }}"),
        ({"prompt": "{{ prompt"}, "template"),
        ({"way": "class", "target": KIT, "prompt": "{{ prompt }} {{ history }}"}, "names `history`"),
    ],
)
def test_an_uncallable_application_is_reported_at_its_field(event, team, change, told):
    answer = team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, **change})

    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not Submission.objects.filter(name="harbour-bot").exists()


def test_an_application_is_checked_signed_submitted_and_accepted(event, team, client_as):
    echo = at(event, "echo")
    early = team.post(echo + "submit/", {"name": "Tove", "agrees": "on"})
    team.post(echo + "check/")
    checked = team.get(echo).content.decode()
    team.post(echo + "submit/", {"name": "Tove", "agrees": "on"})
    page = f"/s/{event.token}/organise/submissions/{Submission.objects.get(name='echo').token}/"
    kept = claims_of(Submission.objects.get(name="echo"))
    tests = {f"untestable_{number}": "Nobody can see it." for number in range(2, len(kept) + 1)}
    undecided = client_as(Role.ORGANISER).post(page, {"decision": "accept"} | tests)
    client_as(Role.ORGANISER).post(page, {"decision": "accept", "prompts_1": "Hello\nAgain"} | tests)

    assert kept
    assert undecided.status_code == 422
    shown = client_as(Role.ORGANISER).get(page).content.decode()
    assert "echo-claim-1:" in shown
    assert ("untestable: Nobody can see it." in shown) == (len(kept) > 1)
    assert (early.status_code, "No errors." in checked) == (422, True)
    assert Submission.objects.get(name="echo").state == "accepted"
    assert "class: theodolite.resources.kit" in client_as(Role.ORGANISER).get(page).content.decode()


def test_a_class_gets_source_material_if_its_team_requests_it(event, team):
    told = {**ENDPOINT, "way": "class", "target": KIT, "prompt": "{{ context }}\n\n{{ prompt }}"}
    team.post(f"/s/{event.token}/team/new/", told)
    kept = Submission.objects.get(name="harbour-bot")

    assert application_of(kept).connection.prompt == study_entry(kept)["prompt"] == told["prompt"]
    assert "{{ context }}" in team.get(at(event, "harbour-bot")).content.decode()


def test_a_check_of_an_unreachable_application_reports_it_and_keeps_the_draft(event, team):
    team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, "url": "https://bot.invalid/"})
    team.post(at(event, "harbour-bot") + "check/")

    kept = Submission.objects.get(name="harbour-bot")
    assert kept.examined["unexamined"]
    assert (kept.conforms, kept.examining_since) == (False, None)


def test_declining_or_returning_an_application_needs_a_reason(event, client_as):
    found = Submission.objects.get(name="echo-two")
    page = f"/s/{event.token}/organise/submissions/{found.token}/"
    organiser = client_as(Role.ORGANISER)

    assert organiser.post(page, {"decision": "return"}).status_code == 422
    organiser.post(page, {"decision": "return", "reason": "It echoes."})
    found.refresh_from_db()

    assert (found.state, found.is_open) == ("returned", True)
    assert "It echoes." in client_as(Role.TEAM).get(f"/s/{event.token}/team/{found.token}/").content.decode()


def test_drafts_are_visible_only_to_their_team(event, client_as):
    organiser, draft = client_as(Role.ORGANISER), Submission.objects.get(name="echo")

    assert organiser.get(f"/s/{event.token}/organise/submissions/{draft.token}/").status_code == 404


def test_a_team_sees_no_data_of_another_team(event, team):
    other = Account.objects.create_user("rival@example.org", name="Rival")
    membership = Membership.objects.create(account=other, hosted=event, role=Role.TEAM.value)
    rival = Submission.objects.create(hosted=event, team=membership, name="rival-bot", url="https://r.example/")
    inner = [f"/s/{event.token}/team/{rival.token}/{rest}" for rest in ("", "edit/", "check/", "submit/", "withdraw/")]

    assert {team.get(page).status_code for page in inner} == {404}
    assert {team.post(page).status_code for page in inner} == {404}
    assert "rival" not in team.get(f"/s/{event.token}/team/").content.decode()


def test_withdrawing_an_application_deletes_its_credentials(event, team):
    team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, "credentials": SECRET})
    team.post(at(event, "harbour-bot") + "withdraw/")

    assert Submission.objects.get(name="harbour-bot").sealed in {b"", None}
    team.post(f"/s/{event.token}/team/new/", ENDPOINT)
    assert Submission.objects.filter(name="harbour-bot").count() == 2


def test_accepted_credentials_have_the_names_of_the_study_file(event, team):
    team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, "credentials": SECRET})
    found = Submission.objects.filter(name="harbour-bot")

    assert vault_of(event) == {}
    found.update(state="accepted", agreed_by="Tove")
    assert vault_of(event) == {found.get().key_variable: SECRET}


def test_another_operator_key_decrypts_nothing():
    sealed = seal(SECRET)

    with (
        override_settings(OPERATOR_KEY=KEY + "!"),
        pytest.raises(InputError, match="another `THEODOLITE_OPERATOR_KEY`"),
    ):
        opened(sealed)


def test_without_an_operator_key_no_credentials_are_accepted(event, team):
    with override_settings(OPERATOR_KEY="short"):
        page = team.get(f"/s/{event.token}/team/new/").content.decode()
        team.post(f"/s/{event.token}/team/new/", {**ENDPOINT, "credentials": SECRET})

    assert "no key to encrypt" in page
    assert not Submission.objects.get(name="harbour-bot").sealed


def test_the_application_kit_passes_its_own_check(tmp_path):
    ZipFile(BytesIO(kit_archive())).extractall(tmp_path)
    words = [sys.executable, "-m", "theodolite", "probe", str(tmp_path / KIT_NAME)]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ, check=False)

    assert (done.returncode, "0 errors" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_application_kit_is_reproducible():
    assert kit_archive() == kit_archive()


def test_a_check_of_an_application_that_changed_meanwhile_is_discarded(event, team):
    draft = Submission.objects.get(name="echo")
    since = _begin(draft)
    page = team.get(at(event, "echo") + "edit/").content.decode()
    team.post(at(event, "echo") + "edit/", {"name": "echo", "way": "class", "target": draft.target,
                                            "guardrails": draft.guardrails, "description": "another"})  # fmt: skip
    _keep(draft, since, Examination(name="echo", calls=9))
    draft.refresh_from_db()

    assert "echo" in page
    assert (draft.description, draft.examined, draft.examining_since) == ("another", None, None)


def test_a_decision_about_a_withdrawn_application_is_refused(event, team):
    seen = Submission.objects.get(name="echo-two")
    team.post(at(event, "echo-two") + "withdraw/")

    with pytest.raises(Conflict, match="withdrawn by now"), transaction.atomic():
        seen.held(Submission.State.SUBMITTED)


def test_teams_see_published_scenarios_only(own, client_as):
    published(own)
    before = public_packets(own)
    add(own, "scenarios: {secret-plan: {goal: Try what nobody has seen.}}")

    assert public_packets(own) == before
    assert b"secret-plan" not in client_as(Role.TEAM).get(f"/s/{own.token}/team/criteria/").content


PICKY = """class Bot:
    def __init__(self, token, model="large"):
        self.token, self.model = token, model

    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        return True

    def StartSession(self):
        self.prompts = []
        return True

    def GetResponse(self, text):
        self.prompts.append(text)
        return {"success": True, "response": f"<p>{self.model} heard <i>{' / '.join(self.prompts)}</i></p>"}
"""
CLASS = {**ENDPOINT, "way": "class", "target": "picky_bot:Bot", "credentials": '{"token": "tok-91c4-very-secret"}'}
INIT = '{"token": "{{ auth.token }}", "model": "small"}'


@pytest.fixture
def picky(event, tmp_path):
    """The event, whose operator has installed a class, and allows a variable and an interpreter."""
    event.folder = str(tmp_path / "hosted")
    event.save()
    (tmp_path / "hosted").mkdir()
    (tmp_path / "hosted" / "picky_bot.py").write_text(PICKY)
    allowed = {"APPLICATION_ENV": ("BOT_REGION",), "APPLICATION_PYTHONS": (sys.executable,)}
    with override_settings(APPLICATION_CLASSES=("picky_bot:Bot",), **allowed):
        yield event


def test_a_class_with_arguments_html_and_limits_is_submitted_without_an_adapter(picky, team):
    settings = {"init": INIT, "markup": "html", "isolation": "session", "memory_mb": "2000", "cpu_seconds": "60"}
    more = {"timeout": "20", "sessions": "4", "env": "BOT_REGION", "python": sys.executable}
    answer = team.post(f"/s/{picky.token}/team/new/", {**CLASS, **settings, **more})
    assert answer.status_code == 302, answer.content.decode()
    team.post(at(picky, "harbour-bot") + "check/")

    kept = Submission.objects.get(name="harbour-bot")
    assert kept.conforms, kept.examined
    connection = application_of(kept).connection
    assert (connection.runtime.isolation, connection.markup, connection.timeout_s) == ("session", "html", 20)
    limits = (connection.runtime.memory_mb, connection.runtime.cpu_s, connection.runtime.sessions)
    assert (limits, connection.runtime.env) == ((2000, 60, 4), ("BOT_REGION",))
    entry = study_entry(kept)
    assert (entry["init"], entry["python"]) == ({"token": "{{ auth.token }}", "model": "small"}, sys.executable)
    shown = team.get(at(picky, "harbour-bot") + "edit/").content.decode()
    assert "auth.token" in shown
    assert 'value="2000"' in shown
    assert SECRET not in shown


def test_a_submission_is_valid_in_a_study_file(picky, team, tmp_path):
    team.post(f"/s/{picky.token}/team/new/", {**CLASS, "init": INIT, "markup": "html", "memory_mb": "2000"})
    kept = Submission.objects.get(name="harbour-bot")

    entry = study_entry(kept)
    assert AriaSpec.model_validate(entry).model_dump(include={"init", "markup", "memory_mb"}) == {
        "init": {"token": "{{ auth.token }}", "model": "small"},
        "markup": "html",
        "memory_mb": 2000,
    }


@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        ({"memory_mb": "much"}, "memory_mb", "`memory_mb` is `much`; expected a whole number."),
        ({"cpu_seconds": "-1"}, "cpu_seconds", "`cpu_seconds` is `-1`; expected at least 0."),
        ({"timeout": "0"}, "timeout", "`timeout` is `0`; expected more than 0."),
        ({"timeout": "90"}, "timeout", "expected at most 60, as the criteria state"),
        ({"init": "{"}, "init", "This is not valid JSON"),
        ({"init": "[1]"}, "init", "Expected a JSON object of arguments"),
        ({"init": '{"token": "{{ prompt }}"}'}, "init", "Nothing fills {{ prompt }}"),
        ({"init": '{"token": "{{ auth.tokn }}"}'}, "init", "the credentials are: `token`"),
        ({"init": INIT, "credentials": ""}, "init", "enter the credentials too"),
        ({"credentials": "tok-91c4-very-secret"}, "credentials", "A class receives a JSON object"),
        ({"env": "BOT_REGION, THEODOLITE_OPERATOR_KEY"}, "env", "does not allow `THEODOLITE_OPERATOR_KEY`"),
        ({"python": "/bin/sh"}, "python", "not one of the available choices"),
        ({"isolation": "none"}, "isolation", "not one of the available choices"),
        ({"way": "endpoint", "markup": "html"}, "markup", "An endpoint has no such setting"),
    ],
)
def test_an_invalid_setting_is_refused_at_its_field(picky, team, change, field, told):
    answer = team.post(f"/s/{picky.token}/team/new/", {**CLASS, "init": INIT, **change})

    page = unescape(answer.content.decode())
    _, found, after = page.partition(f'<ul class="errorlist" id="id_{field}_error">')
    assert (answer.status_code, bool(found)) == (422, True)
    assert told in after.partition("</ul>")[0]
    assert SECRET not in page


def test_all_errors_of_the_settings_are_shown_at_once(picky, team):
    wrong = {"memory_mb": "much", "timeout": "90", "init": INIT, "credentials": "", "env": "HOME"}
    page = team.post(f"/s/{picky.token}/team/new/", {**CLASS, **wrong}).content.decode()

    shown = [field for field in ("memory_mb", "timeout", "init", "env") if f'id="id_{field}_error"' in page]
    assert shown == ["memory_mb", "timeout", "init", "env"]


def test_a_server_without_the_permission_names_who_grants_it(event, team):
    page = team.get(f"/s/{event.token}/team/new/").content.decode()

    assert "allows no environment variables (THEODOLITE_APPLICATION_ENV)" in page
    assert "Send the operator your requirements.txt" in page
