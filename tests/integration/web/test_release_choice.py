"""Testers choose whether their dialogues may be published, and may change their choice."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible
from tests.integration.web.conftest import DEMO_FOLDER, demo_server
from theodolite.domain.event import Role
from theodolite.events.sessions import release_choice
from theodolite.web.events import event_of, server_store
from theodolite.web.models import AuditEntry, Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def agree(client, event, **sent):
    """Send the consent form with its boxes ticked."""
    page = client.get(f"/s/{event.token}/test/consent/").content.decode()
    boxes = dict(re.findall(r'type="checkbox" name="(consent|content_warning)" value="(\w+)"', page))
    return client.post(f"/s/{event.token}/test/consent/", {**boxes, **sent})


def ravi(event) -> str:
    return Membership.objects.get(hosted=event, role=Role.RED_TEAMER.value).participant


def consents(event) -> set[str]:
    return server_store().events.participants.release_consents(event_of(event).study.name)


def test_the_consent_page_asks_for_the_release_and_an_empty_box_means_no(event, client_as):
    tester = client_as(Role.RED_TEAMER)
    before = release_choice(event_of(event), ravi(event))
    page = tester.get(f"/s/{event.token}/test/consent/").content.decode()
    agree(tester, event)

    assert before is None
    assert re.search(r'name="release" value="yes" aria-describedby="release-about">', page)
    assert release_choice(event_of(event), ravi(event)) is False
    assert ravi(event) not in consents(event)


def test_a_choice_can_be_withdrawn_on_its_page_and_the_latest_counts(event, client_as):
    tester, address = client_as(Role.RED_TEAMER), f"/s/{event.token}/test/release/"
    agree(tester, event, release="yes")
    agreed = consents(event)
    page = tester.get(address).content.decode()
    tester.post(address, {"release": "no"})

    assert ravi(event) in agreed
    assert re.search(r'value="yes" required checked', page)
    assert ravi(event) not in consents(event)
    assert AuditEntry.objects.filter(verb="chose about releases").count() == 1


def test_an_empty_answer_changes_nothing_and_is_reported(event, client_as):
    tester, address = client_as(Role.RED_TEAMER), f"/s/{event.token}/test/release/"
    agree(tester, event, release="yes")
    answer = tester.post(address, {"release": "perhaps"})

    assert answer.status_code == 422
    assert "Choose yes or no." in answer.content.decode()
    assert ravi(event) in consents(event)


def test_the_stored_data_show_the_choice_as_text(event, client_as):
    tester = client_as(Role.RED_TEAMER)
    agree(tester, event, release="yes")
    page = tester.get(f"/s/{event.token}/test/my-data/").content.decode()
    file = json.loads(tester.get(f"/s/{event.token}/test/my-data/file/").content)

    assert "Your dialogues may be part of a public release." in page
    assert [entry["included"] for entry in file["public_release"]] == [True]
    assert "release" not in {entry["text"] for entry in file["agreed_to"]}


def test_the_demo_event_is_released_completely(tmp_path, seeded_copy):
    folder, archive = seeded_copy(tmp_path) / DEMO_FOLDER, tmp_path / "bundle"

    def command(*words):
        line = [sys.executable, "-m", "theodolite", *words]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    first = command("release", str(folder), "--out", str(archive))
    is_written_before_review = archive.exists()
    second = command("release", str(folder), "--out", str(archive), "--redact-all")
    key = folder / ".theodolite" / "release-key.pub.pem"
    verified = command("verify", str(archive), "--key", str(key))
    about = json.loads((archive / "release.json").read_text())
    texts = "".join(path.read_text() for path in archive.rglob("*.json*"))
    labels = archive / "labels.jsonl"
    labels.write_text(labels.read_text().replace('"value":"yes"', '"value":"no"', 1))
    tampered = command("verify", str(archive), "--key", str(key))

    assert (first.returncode, is_written_before_review) == (3, False)
    assert "Identifiers  2 e-mail addresses" in first.stdout
    assert second.returncode == 0, second.stderr
    assert about["left_out"] == {"participant did not agree": 6}  # two declined, one has not chosen; two sessions each
    assert about["identifiers"] == {"redacted": {"e-mail address": 2}, "kept": {}}
    assert "dora.ames@example.org" not in texts
    assert (verified.returncode, tampered.returncode) == (0, 1)
    assert "The bundle is intact." in verified.stdout
    assert "Changed file: labels.jsonl" in tampered.stdout
    assert "Results differ" in tampered.stdout


def test_only_testers_have_the_page_of_the_choice(event, client_as):
    for role in (Role.ORGANISER, Role.ANNOTATOR, Role.TEAM):
        assert client_as(role).get(f"/s/{event.token}/test/release/").status_code == 404


@pytest.mark.browser
class TestInABrowser:
    """The choice in Chromium."""

    @pytest.fixture
    def served(self, tmp_path, seeded_copy):
        with demo_server(seeded_copy(tmp_path)) as address:
            yield address

    def test_a_tester_agrees_and_withdraws_the_agreement(self, page_as):
        page = page_as(Role.RED_TEAMER, bypass_csp=True)
        expect(page.get_by_role("heading", name="Public release")).to_be_visible()
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.get_by_role("button", name="I agree").click()
        expect(page.get_by_role("button", name="I agree")).to_have_count(0)

        page.goto(re.sub(r"/test/.*", "/test/release/", page.url))
        expect(page.get_by_role("radio", name="Yes")).to_be_checked()
        assert_accessible(page)
        page.get_by_role("radio", name="No").check()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_contain_text("Saved.")
        expect(page.get_by_role("radio", name="No")).to_be_checked()


def test_pages_beside_the_steps_lead_to_the_next_step_and_the_step_itself_only_names_it(event, client_as):
    tester, root = client_as(Role.FIELD_TESTER), f"/s/{event.token}/test"
    beside, step = (tester.get(f"{root}/{name}/").content.decode() for name in ("leave", "consent"))

    sentence, link = "Read the texts and agree to them.", f'<a class="button" href="{root}/consent/">Continue</a>'
    assert (sentence in beside, link in beside) == (True, True)
    assert (sentence in step, link in step) == (True, False)
