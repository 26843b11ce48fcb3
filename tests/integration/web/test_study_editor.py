"""Studies are edited on pages: drafts of organisers, checks, and publication."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from tests.fakes.hosts import FakeHostResolver
from tests.integration.web.editing import change
from theodolite.bootstrap.page_checks import PageAnswer
from theodolite.config.load_context import shipped_text
from theodolite.domain.event import Role
from theodolite.store.models import AnnotationRow
from theodolite.web.asgi_handler import open_pool
from theodolite.web.events import environment_of, opened
from theodolite.web.models import AuditEntry, Edition, Membership, StoredKey, Submission
from theodolite.web.organiser.editing import files_of

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


def test_errors_are_shown_at_their_lines_and_fields_and_nothing_is_applied(editor):
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


def test_a_word_is_replaced_in_its_moved_line_and_never_in_a_changed_one(editor):
    wrong = editor.file.replace("minutes: 30", "minuts: 30", 1)
    found = editor.post(text=wrong, headers=SCRIPT, follow=False).json()["findings"]
    button = re.search(r'value="(replace:[^"]+)"', found)[1]
    changed = editor.post(text=wrong.replace("minuts: 30", "minuts: 31", 1), act=button)

    assert changed.status_code == 422
    assert "has changed since the check; save first" in changed.content.decode()
    assert "minuts: 31" in changed.content.decode()
    editor.post(text="# above\n" + wrong, act=button)
    assert "# above\n" + editor.file in unescape(editor.page())


def test_a_conflicting_save_shows_both_texts(editor):
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


def test_a_pasted_table_becomes_a_file_and_earlier_versions_can_be_restored(editor):
    editor.post(act="new_file", new_file="customers.csv", table="name\twish\r\nAda\tbooks, maps\r\n")

    assert 'name,wish\nAda,"books, maps"' in editor.page(file="customers.csv").replace("&quot;", '"')
    first = editor.page()
    editor.post(text=editor.file + "# more\n")
    editor.post(act="restore:1")
    assert "# more" not in editor.page()
    assert "Version 3" in editor.page()
    assert first.count("<textarea") == 2


PERSONAS = """\
personas:   # who asks
  fans: {template: customer, model: reader, rows: [{wish: books}]}   # one so far
"""


@pytest.mark.parametrize(
    ("use", "changed"),
    [
        ("rows fans", ("rows: [{wish: books}]", "rows: fans.csv")),
        ("cases", (PERSONAS, PERSONAS + "cases: fans.csv\n")),
    ],
    ids=["personas", "cases"],
)
def test_the_study_names_a_pasted_table_at_one_key(editor, use, changed):
    text = editor.file.rstrip("\n") + "\n" + PERSONAS
    editor.post(text=text)
    page = editor.post(act="new_file", new_file="fans.csv", table="wish\tname\nmaps\tAda\n", table_use=use)

    after = text.replace(*changed)
    line = next(n for n, line in enumerate(after.split("\n"), 1) if "fans.csv" in line)
    assert f"Line {line} of study.yaml names it." in page.content.decode()
    assert shown_text(editor.page()) == after
    assert shown_text(editor.page(file="fans.csv")) == "wish,name\nmaps,Ada\n"


def shown_text(page):
    return unescape(re.search(r"<textarea id=.text.[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])


def test_an_uploaded_file_is_added_under_its_name_or_another_one(editor):
    for name, shown in (("", "wishes.csv"), ("parameters/w.csv", "parameters/w.csv")):
        upload = SimpleUploadedFile("../../wishes.csv", b"\xef\xbb\xbfwish\r\nmaps\r\n")
        editor.post(act="new_file", new_file=name, upload=upload)
        assert shown_text(editor.page(file=shown)) == "wish\nmaps\n"
    assert AuditEntry.objects.filter(verb="added file of the study", hosted=editor.hosted).count() == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"upload": ("a.csv", b"\xff\xfe")}, "`a.csv` is not UTF-8"),
        ({"upload": ("a.csv", b"x" * 1_000_001)}, "larger than 1,000,000 bytes"),
        ({"upload": ("bot.py", b"x")}, "`bot.py` cannot be edited here"),
        ({"upload": ("nul.csv", b"x")}, "`nul.csv` cannot be edited here"),
        ({"upload": ("a.csv", b"x"), "table": "y"}, "not both"),
        ({"upload": ("study.yaml", b"study: x"), "new_file": "other/study.yaml"}, "another study's file"),
        ({"upload": ("study.yaml", b"study: x")}, "`study.yaml` is there already"),
        ({"new_file": "a.md", "table": "x", "table_use": "cases"}, "`a.md` is not a table"),
        ({"new_file": "a.csv", "table": "x", "table_use": "rows none"}, "has no `rows none`"),
    ],
    ids=["encoding", "size", "code", "device", "both", "study", "exists", "no table", "no key"],
)
def test_unsuitable_files_are_refused_and_nothing_is_added(editor, fields, words):
    sent = {key: SimpleUploadedFile(*value) if isinstance(value, tuple) else value for key, value in fields.items()}
    answer = editor.post(act="new_file", **sent)

    assert (answer.status_code, words in unescape(answer.content.decode())) == (422, True)
    assert not AuditEntry.objects.filter(verb="added file of the study", hosted=editor.hosted).exists()


def seen_of(editor, file):
    return {"file": file, "seen": editor.seen(file)}


def test_a_deletion_is_asked_drafted_checked_and_undone(editor):
    terms = Path(editor.hosted.folder) / "terms.md"
    terms.write_text("Words", encoding="utf-8")
    change(editor.hosted, "consent: consent.md", "consent: terms.md")
    line = 1 + editor.file[: editor.file.index("consent: ")].count("\n")
    asked = unescape(editor.post(act="delete", **seen_of(editor, "terms.md")).content.decode())
    gone = editor.post(act="delete", confirmed="yes", **seen_of(editor, "terms.md"))

    assert "Delete terms.md?" in asked
    assert "The check of the study will then have 1 more error:" in asked
    assert f"<code>study.yaml:{line}:" in asked
    assert "terms.md is deleted in the draft" in gone.content.decode()
    assert terms.is_file(), "the files change when the drafts are applied"
    assert editor.post(act="apply").status_code == 422
    editor.post(act="discard", file="terms.md", seen="")
    assert "<h2>No errors" in editor.page()
    verbs = AuditEntry.objects.filter(hosted=editor.hosted).values_list("verb", "facts")
    assert ("deleted file of the study", {"files": "terms.md"}) in verbs


def test_a_new_name_reaches_the_study_and_both_are_published_together(editor):
    folder = Path(editor.hosted.folder)
    page = editor.post(act="rename", rename_to="texts/consent.md", **seen_of(editor, "consent.md"))

    assert "consent.md is now texts/consent.md." in page.content.decode()
    assert "texts/consent.md" in shown_text(editor.page())
    assert not (folder / "texts").exists()
    editor.post(act="apply")
    assert (folder / "texts" / "consent.md").is_file()
    assert not (folder / "consent.md").exists()
    assert "consent.md" in editor.page(file="consent.md"), "the old name offers its versions"


def test_a_new_name_that_breaks_the_study_is_asked_first(editor):
    editor.post(text=editor.file + MODEL + "personas:\n  fans: {template: fan, model: reader, rows: [{name: Ada}]}\n")
    editor.post(act="new_file", new_file="personas/fan.md", table="You are {{ name }}. {{ goal }}")
    sent = {"act": "rename", "rename_to": "personas/fans.md"} | seen_of(editor, "personas/fan.md")
    asked = unescape(editor.post(**sent).content.decode())
    unchanged = files_of(editor.hosted).names()
    editor.post(**sent, confirmed="yes")

    assert "Rename personas/fan.md to personas/fans.md?" in asked
    assert "there is no persona template `fan`" in asked
    assert "personas/fan.md" in unchanged
    assert "personas/fans.md" in files_of(editor.hosted).names()


def test_a_page_of_a_deleted_file_keeps_its_unsaved_text_and_a_second_save_adds_it(editor):
    seen = seen_of(editor, "consent.md")
    editor.post(act="delete", confirmed="yes", **seen)
    late = editor.post(text="Late words", **seen)

    assert late.status_code == 409
    assert "the file was deleted or renamed since you opened the page" in late.content.decode()
    assert shown_text(late.content.decode()) == "Late words"
    editor.post(text="Late words", file="consent.md", seen="")
    assert shown_text(editor.page(file="consent.md")) == "Late words"


@pytest.mark.parametrize("fields", [{"act": "delete", "confirmed": "yes"}, {"act": "rename", "rename_to": "b.yaml"}])
def test_the_study_itself_stays(editor, fields):
    answer = editor.post(**fields)

    assert (answer.status_code, "the study itself" in answer.content.decode()) == (422, True)
    assert shown_text(answer.content.decode()) == editor.file


@pytest.mark.parametrize("part", ["levels", "levels/red_teaming"])
def test_the_page_names_the_lines_of_the_part_that_its_form_shows(editor, part):
    lines = editor.file.split("\n")
    first = next(n for n, line in enumerate(lines, 1) if line.strip().startswith(f"{part.rpartition('/')[2]}:"))
    last = first + (2 if part == "levels" else 0)

    assert f'data-from="{first}" data-to="{last}"' in editor.page(at=part)


def test_a_refused_file_leaves_the_text_and_the_entered_content_on_the_page(editor):
    page = editor.post(act="new_file", new_file="bot.py", table="print(1)").content.decode()

    assert shown_text(page) == editor.file
    assert 'value="bot.py"' in page
    assert "print(1)</textarea>" in page


GROUP = {"act": "new_group", "at": "personas", "group_template": "customer", "group_model": "reader"}


def test_a_pasted_table_becomes_a_persona_group(editor):
    text = editor.file + MODEL
    table = "name\twish\ttemper\nAda\tmaps, old\tcalm\n"
    page = editor.post(text=text, group_name="fans", group_table=table, **GROUP)

    line = text.count("\n") + 2
    assert f"Added fans.csv and persona group fans in line {line} of study.yaml." in page.content.decode()
    added = "personas:\n  fans:\n    template: customer\n    rows: fans.csv\n    model: reader\n"
    assert shown_text(editor.page()) == text + added
    assert shown_text(editor.page(file="fans.csv")) == 'name,wish,temper\nAda,"maps, old",calm\n'


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"group_table": "name,wish\nAda,maps\nBen\nCem,a,b\n"}, ["fans.csv, line 3:", "fans.csv, line 4:"]),
        ({"group_table": "name,name\nAda,maps\n"}, ["fans.csv, line 1:"]),
        ({"group_table": "hobby\nmaps\n"}, ["fans.csv has hobby"]),
        ({"group_model": "raeder"}, ["Did you mean `reader`?"]),
        ({"group_name": ""}, ["needs a name"]),
        ({"group_table": " "}, ["the first line contains the column names"]),
        ({"group_name": "a/../b"}, ["cannot be edited here"]),
    ],
    ids=["ragged", "twice", "unfilled", "model", "no name", "no rows", "way out"],
)
def test_a_table_with_errors_is_refused_with_all_of_them_and_kept_on_the_page(editor, fields, words):
    sent = GROUP | {"group_name": "fans", "group_table": "name,wish,temper\nAda,maps,calm\n"} | fields
    answer = editor.post(text=editor.file + MODEL, **sent)
    page = unescape(answer.content.decode())

    assert answer.status_code == 422
    assert [word for word in words if word not in page] == []
    assert sent["group_table"].strip() in page
    assert "fans.csv" not in files_of(editor.hosted).names()
    assert shown_text(answer.content.decode()) == editor.file + MODEL
    assert shown_text(editor.page()) == editor.file


def test_organisers_cannot_add_code_or_use_keys_of_the_server(editor):
    lines = "models:\n  spy: {url: https://other.example/v1, name: m, key: DJANGO_SECRET}\n"
    editor.post(text=editor.file + lines)

    assert "The operator of the server must add this to the files first" in editor.page(at=".", step="publish")
    assert editor.post(act="apply").status_code == 422


def with_toy(text, lines):
    """Return the text of a study with another application, `inner`."""
    text = text.replace("applications:\n", "applications:\n" + lines, 1)
    return text.replace("[careful-toy],", "[careful-toy, inner],")


def test_a_draft_adds_no_host_with_a_private_address_unless_the_operator_allows_it(editor):
    url = "https://inner.example/chat"
    lines = f"  inner: {{kind: http, url: {url}, body: {{q: '{{{{ prompt }}}}'}}}}\n"
    text = with_toy(editor.file, lines)
    names = FakeHostResolver({"inner.example": ["10.0.0.9"]})
    with override_settings(HOST_RESOLVER=names, ALLOW_PRIVATE=False):
        editor.post(text=text)
        page, refused = unescape(editor.page(at=".", step="publish")), editor.post(act="apply")
    before = editor.file
    with override_settings(HOST_RESOLVER=names, ALLOW_PRIVATE=True):
        allowed = editor.post(act="apply")

    assert "host `inner.example`: a call is at `inner.example`, whose address 10.0.0.9" in page
    assert (refused.status_code, "inner" in before, allowed.status_code) == (422, False, 200)
    assert url in editor.file


def test_a_name_that_becomes_private_after_the_check_is_refused_when_the_draft_is_applied(editor):
    lines = "  inner: {kind: http, url: https://inner.example/chat, body: {q: '{{ prompt }}'}}\n"
    with override_settings(ALLOW_PRIVATE=False):
        with override_settings(HOST_RESOLVER=FakeHostResolver({"inner.example": ["93.184.216.34"]})):
            editor.post(text=with_toy(editor.file, lines))
            assert "Review and publish" in editor.page(at=".", step="publish")
        with override_settings(HOST_RESOLVER=FakeHostResolver({"inner.example": ["10.0.0.9"]})):
            assert editor.post(act="apply").status_code == 422
    assert "inner" not in editor.file


def test_an_accepted_application_enters_the_draft_with_its_key_only(editor, own):
    team = Membership.objects.get(hosted=own, role=Role.TEAM.value)
    facts = {"url": "https://harbour.example/chat", "body": '{"q": "{{ prompt }}"}', "sealed": b"x"}
    facts |= {"agreed_by": "A. Team", "agreed_at": timezone.now(), "agreed_version": "1"}
    made = Submission.objects.create(hosted=own, team=team, name="harbour", state=Submission.State.ACCEPTED, **facts)
    before, address = editor.file, reverse("organiser:add_application", args=[own.token, made.token])
    offered = editor.page(at="applications")
    answer = editor.client.post(address, follow=True)

    assert f"accepted submission of {team.account}" in offered
    assert f'action="{address}"' in offered
    assert address not in editor.page(at="applications"), "the study has the application"
    assert "harbour is in the draft of the study" in answer.content.decode()
    draft = re.search(r"<textarea id=.text.[^>]*>(.*?)</textarea>", answer.content.decode(), re.DOTALL)[1]
    text = unescape(draft).lstrip("\n").replace("[careful-toy],", "[careful-toy, harbour],")
    editor.post(text=f"{text}models:\n  spy: {{url: https://other.example/v1, name: m, key: {made.key_variable}}}\n")
    refused = editor.post(act="apply")
    assert refused.status_code == 422
    assert f"key `{made.key_variable} to other.example`" in refused.content.decode()
    editor.post(text=text)
    assert "Review and publish" in editor.page(at=".", step="publish")
    editor.post(act="apply")
    assert editor.file.startswith(before.partition("series:")[0])
    assert "key: " + made.key_variable in editor.file


MODEL = """
models:
  reader: {script: ["{\\"reasoning\\": \\"clear\\", \\"label\\": \\"yes\\"}"]}
guidelines:
  plain: {ask: Is the reply plain?, scale: ["yes", "no"], defect: "== no"}
"""


def with_judge(text):
    """Return the text of a study with a judge that a script plays."""
    return text.replace("judges:\n", "judges:\n  careful: {model: reader, guideline: plain}\n") + MODEL


def tried(editor, act, **fields):
    """Press a button that tries the text in the editor, and return the page."""
    answer = editor.post(act=act, **fields)
    if hasattr(answer, "awaited"):
        async_to_sync(awaited)(answer)
    return answer


async def awaited(answer):
    """Run the coroutine of the server, with threads on the database of this test."""
    async with open_pool():
        await answer.awaited()


def test_a_judge_labels_three_dialogues_with_the_unsaved_text_and_nothing_is_stored(editor):
    text, before = with_judge(editor.file), AnnotationRow.objects.count()
    plan = tried(editor, "trial:careful", text=text)
    result = tried(editor, "trial:careful", text=text, confirmed="yes")

    assert plan.status_code == 200, unescape(plan.content.decode())[-3000:]
    assert "Let the judge read 3 dialogues" in plan.content.decode()
    assert "3 calls, without cost" in plan.content.decode()
    page = unescape(result.content.decode())
    assert page.count("<td>yes</td>") == 3
    assert '"reasoning": "clear"' in page
    assert AnnotationRow.objects.count() == before
    assert "plain: {ask" not in editor.page()
    entry = AuditEntry.objects.get(verb="tried judge", hosted=editor.hosted)
    assert entry.facts == {"judge": "careful", "calls": 3, "cost_microusd": 0}
    assert "No reply" not in page


def test_an_unreadable_reply_is_shown_and_counted(editor):
    text = with_judge(editor.file).replace('\\"label\\": \\"yes\\"', '\\"label\\": \\"perhaps\\"')
    page = unescape(tried(editor, "trial:careful", text=text, confirmed="yes").content.decode())

    assert page.count("<td>unparseable</td>") == 3
    assert "<details open><summary>Unprocessed replies of the model</summary>" in page
    assert '"label": "perhaps"' in page
    assert "6 calls" in page


def test_a_trial_adds_no_key_and_names_the_errors_of_the_text(editor):
    spy = with_judge(editor.file).replace(
        "  reader:", "  spy: {url: https://other.example/v1, name: m, key: DJANGO_SECRET}\n  reader:"
    )
    stolen = tried(editor, "connection:spy", text=spy)
    broken = tried(editor, "trial:careful", text=editor.file.replace("minutes: 30", "minuts: 30", 1))

    assert stolen.status_code == broken.status_code == 422
    assert "only the operator adds code, keys and private hosts" in stolen.content.decode()
    assert "Did you mean" in unescape(broken.content.decode())


@override_settings(ALLOW_PRIVATE=False)
def test_a_connection_test_reaches_only_private_addresses_named_in_the_files(editor):
    lines = "models:\n  inner: {url: http://127.0.0.1:9/v1, name: m}\n"
    page = tried(editor, "connection:inner", text=editor.file + lines).content.decode()
    connected = tried(editor, "connection:reader", text=with_judge(editor.file)).content.decode()

    assert "public address" in page
    assert "Cannot be used" in page
    assert ">Connected<" in connected
    assert AuditEntry.objects.filter(verb="tested connection", hosted=editor.hosted).count() == 2


def test_messages_of_the_editor_name_the_button_that_tests_a_connection(editor):
    http = 'kind: http, url: https://chat.example/reply, body: {text: "{{ prompt }}"}, reply: $.text'
    application = f"applications:\n  distant: {{{http}}}\n"
    text = editor.file.replace("applications:\n", application, 1).replace("[careful-toy", "[distant, careful-toy")
    page = unescape(editor.post(text=text).content.decode())

    assert "`distant` was never called; use Test connection" in page
    assert "theodolite probe" not in page


def test_previews_show_the_unsaved_text_with_the_form_of_people(editor):
    text = with_judge(editor.file)
    shown = tried(editor, "preview:plain", text=text)
    page = unescape(shown.content.decode())
    fields = {key: value for key, value in PageAnswer("", 200, "", page).forms[-1].fields.items() if key}
    sent = tried(editor, "preview:plain", text=text, answered="yes", submit="yes")

    assert shown.status_code == 200
    assert "Is the reply plain?" in page
    assert fields.get("act", "preview:plain") == "preview:plain"
    assert sent.status_code == 422
    assert "This question is not answered yet." in sent.content.decode()
    form = tried(editor, "preview:tv-spoilers-field-testing", text=text)
    assert "Preview of the text in the editor, as testers will see it." in form.content.decode()
    assert tried(editor, "preview:nothing", text=text).status_code == 422


def test_forms_of_categories_in_a_file_of_their_own_have_a_live_preview(editor):
    name = "schemas/aria-five-categories.yaml"
    editor.post(act="new_file", new_file=name, table=shipped_text(name))
    shown = re.findall(
        r'value="(preview:[^"]+)" formtarget="_blank" data-live', editor.page(file=name, at="categories")
    )
    own = re.findall(
        r'value="(preview:[^"]+)" formtarget="_blank" data-live',
        editor.page(file=name, at="categories/risk-assessment/questions/released"),
    )

    assert (shown, own) == ([], ["preview:risk-assessment"])


def test_a_preview_beside_its_form_is_embedded_by_the_editor_only(editor):
    shown = tried(editor, "preview:tv-spoilers-field-testing", framed="yes")
    broken = tried(editor, "preview:tv-spoilers-field-testing", text="levels: [", at="levels", framed="yes")

    for answer, status in ((shown, 200), (broken, 422)):
        assert answer.status_code == status
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert 'class="framed' in shown.content.decode()
    assert 'class="framed' not in broken.content.decode()


@override_settings(OPERATOR_KEY="quiet harbour under a slow moon")
def test_a_stored_key_is_shown_on_no_page_and_can_be_named_in_a_draft(editor, caplog):
    address = reverse("organiser:keys", args=[editor.hosted.token])
    sent = {"name": "judge", "address": "https://api.example.org/v1", "value": "sk-very-secret-77"}
    stored = editor.client.post(address, sent, follow=True).content.decode()
    other = editor.client.post(address, sent | {"address": "https://other.example.org"})
    bare = editor.client.post(address, sent | {"name": "b", "address": "http://api.example.org"})
    row = StoredKey.objects.get(hosted=editor.hosted)
    models = "models:\n  far: {url: https://HOST/v1, name: m, key: STUDY_KEY_JUDGE}\n"
    editor.post(text=editor.file + models.replace("HOST", "other.example.org"))
    refused = editor.post(act="apply")
    editor.post(text=editor.file + models.replace("HOST", "api.example.org"))
    accepted = editor.post(act="apply")

    assert "STUDY_KEY_JUDGE is stored." in stored
    assert (other.status_code, bare.status_code, refused.status_code, accepted.status_code) == (422, 422, 422, 200)
    assert opened(row.sealed) == "sk-very-secret-77"
    assert environment_of(editor.hosted)["STUDY_KEY_JUDGE"] == "sk-very-secret-77"
    everything = stored + other.content.decode() + accepted.content.decode() + caplog.text
    assert "sk-very-secret-77" not in everything + str(list(AuditEntry.objects.values("subject", "facts")))
    editor.client.post(reverse("organiser:remove_key", args=[editor.hosted.token, row.token]))
    assert "STUDY_KEY_JUDGE" not in environment_of(editor.hosted)
    verbs = set(AuditEntry.objects.filter(hosted=editor.hosted).values_list("verb", flat=True))
    assert {"stored key", "removed key"} <= verbs


def test_without_an_operator_key_no_key_is_stored(editor):
    address = reverse("organiser:keys", args=[editor.hosted.token])
    with override_settings(OPERATOR_KEY=""):
        page = editor.client.get(address).content.decode()
        sent = editor.client.post(address, {"name": "judge", "address": "api.example.org", "value": "sk-1"})

    assert "THEODOLITE_OPERATOR_KEY" in page
    assert sent.status_code == 422
    assert not StoredKey.objects.exists()
