"""A study is edited on pages: drafts of organisers, their checks, and their way to a published version."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from theodolite.domain.event import Role
from theodolite.web.models import AuditEntry, Edition, Membership, Submission

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SCRIPT = {"HTTP_ACCEPT": "application/json"}


class Editor:
    """An organiser's editor."""

    def __init__(self, client, hosted):
        self.client, self.hosted = client, hosted
        self.address = reverse("organiser:edit_study", args=[hosted.token])

    @property
    def file(self):
        return (Path(self.hosted.folder) / "study.yaml").read_text(encoding="utf-8")

    def page(self, **query):
        return self.client.get(self.address, query).content.decode()

    def seen(self, file="study.yaml"):
        return re.search(r'name="seen" value="(\w+)"', self.page(file=file))[1]

    def post(self, *, follow=True, headers=None, **fields):
        fields = {"file": "study.yaml", "seen": self.seen(), "act": "save"} | fields
        return self.client.post(self.address, fields, follow=follow, **(headers or {}))


@pytest.fixture
def editor(own, client_as):
    return Editor(client_as(Role.ORGANISER), own)


def test_a_form_saves_a_draft_and_publishing_writes_the_file(editor):
    before = editor.file
    editor.post(at="levels/red_teaming", **{"field:levels/red_teaming/minutes": "45"})

    assert editor.file == before, "the files change when the draft is applied"
    assert "minutes: 45" in editor.page()
    page = editor.post(act="apply")
    assert page.redirect_chain[-1][0] == reverse("organiser:editions", args=[editor.hosted.token])
    assert editor.file == before.replace("minutes: 30", "minutes: 45", 1)
    version = re.search(r'name="version" value="(\w+)"', page.content.decode())[1]
    editor.client.post(page.redirect_chain[-1][0], {"version": version})
    assert Edition.objects.filter(hosted=editor.hosted, version=version).exists()
    assert AuditEntry.objects.filter(verb="applied drafts of the study", hosted=editor.hosted).count() == 1


def test_faults_stand_at_their_lines_and_fields_and_nothing_is_applied(editor):
    before = editor.file
    line = 1 + before[: before.index("minutes: 30")].count("\n")
    told = editor.post(text=before.replace("minutes: 30", "minuts: 30", 1), headers=SCRIPT, follow=False).json()

    assert f'data-line="{line}"' in told["findings"]
    assert "Replace by minutes" in told["findings"]
    button = re.search(r'value="(replace:[^"]+)"', told["findings"])[1]
    assert editor.post(act="apply").status_code == 422
    assert editor.file == before
    editor.post(text=before.replace("minutes: 30", "minuts: 30", 1), act=button)
    assert "Replace by" not in editor.page()
    editor.post(at="levels/red_teaming", **{"field:levels/red_teaming/people": "-3"})
    fault = re.search(r'class="field faulty">.*?</div>', editor.page(at="levels/red_teaming"), re.DOTALL)[0]
    assert 'value="-3"' in fault


def test_the_second_of_two_pages_sees_both_texts(editor):
    seen = editor.seen()
    editor.post(text=editor.file + "# first\n")
    second = editor.post(text=editor.file + "# second\n", seen=seen)

    page = second.content.decode()
    assert second.status_code == 409
    assert "# first" in page
    assert "# second" in page
    assert "Not saved: the file has changed since you opened the page." in page
    assert "# second" not in editor.page()


@pytest.mark.parametrize("file", ["../study.yaml", ".theodolite/x.json", "bot.py", "serve.yaml"])
def test_no_other_file_is_read_or_written(editor, file):
    assert editor.client.get(editor.address, {"file": file}).status_code == 404
    assert editor.post(file=file, text="x", seen="").status_code == 422
    assert editor.post(act="new_file", new_file=file, table="x").status_code == 422


def test_a_pasted_table_becomes_a_file_and_earlier_versions_come_back(editor):
    editor.post(act="new_file", new_file="customers.csv", table="name\twish\r\nAda\tbooks, maps\r\n")

    assert 'name,wish\nAda,"books, maps"' in editor.page(file="customers.csv").replace("&quot;", '"')
    first = editor.page()
    editor.post(text=editor.file + "# more\n")
    editor.post(act="restore:1")
    assert "# more" not in editor.page()
    assert "Version 3" in editor.page()
    assert first.count("<textarea") == 2


def test_organisers_bring_no_code_and_no_keys_of_the_server(editor):
    lines = "models:\n  spy: {url: https://other.example/v1, name: m, key: DJANGO_SECRET}\n"
    editor.post(text=editor.file + lines)

    assert "The operator of the server must add this to the files first" in editor.page()
    assert editor.post(act="apply").status_code == 422


def test_an_accepted_application_comes_into_the_draft_with_its_key_alone(editor, own):
    team = Membership.objects.get(hosted=own, role=Role.TEAM.value)
    facts = {"url": "https://harbour.example/chat", "body": '{"q": "{{ prompt }}"}', "sealed": b"x"}
    facts |= {"agreed_by": "A. Team", "agreed_at": timezone.now(), "agreed_version": "1"}
    made = Submission.objects.create(hosted=own, team=team, name="harbour", state=Submission.State.ACCEPTED, **facts)
    before = editor.file
    answer = editor.client.post(reverse("organiser:add_application", args=[own.token, made.token]), follow=True)

    assert "harbour is in the draft of the study" in answer.content.decode()
    assert "Review and publish" in answer.content.decode()
    draft = re.search(r"<textarea id=.text.[^>]*>(.*?)</textarea>", answer.content.decode(), re.DOTALL)[1]
    text = unescape(draft).lstrip("\n").replace("[careful-toy],", "[careful-toy, harbour],")
    editor.post(text=f"{text}models:\n  spy: {{url: https://other.example/v1, name: m, key: {made.key_variable}}}\n")
    refused = editor.post(act="apply")
    assert refused.status_code == 422
    assert f"key `{made.key_variable} to other.example`" in refused.content.decode()
    editor.post(text=text)
    editor.post(act="apply")
    assert editor.file.startswith(before.partition("series:")[0])
    assert "key: " + made.key_variable in editor.file
