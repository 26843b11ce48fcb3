"""Studies on the server: from a folder or a template, published in releases."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.utils import timezone

from tests.fakes.hosts import FakeHostResolver
from tests.integration.web.editing import change
from theodolite.bootstrap.permission import code_request
from theodolite.config.loading import load_study
from theodolite.demo.studies import lay_out_event
from theodolite.domain.event import Role
from theodolite.web.events import event_of, forget_event
from theodolite.web.models import AuditEntry, Edition, HostedStudy


@pytest.fixture
def own(own) -> HostedStudy:
    """The event, not yet published."""
    own.state = HostedStudy.State.DRAFT
    own.save()
    return own


@pytest.fixture
def organiser(own, client_as):
    return client_as(Role.ORGANISER)


def publish(client, hosted: HostedStudy, version: str = ""):
    path = f"/s/{hosted.token}/organise/editions/"
    shown = re.search(r'name="version" value="(\w+)"', client.get(path).content.decode())
    return client.post(path, {"version": version or (shown[1] if shown else own_version(hosted))}, follow=True)


def own_version(hosted: HostedStudy) -> str:
    return Edition.objects.filter(hosted=hosted).latest("number").version


def test_a_release_lists_its_contents_and_the_next_its_changes(organiser, own):
    publish(organiser, own)
    change(own, "minutes: 30", "minutes: 45")
    page = organiser.get(f"/s/{own.token}/organise/editions/").content.decode()
    publish(organiser, own)
    own.refresh_from_db()

    assert "Changes since version 1" in page
    assert "- &quot;minutes&quot;: 30" in page
    assert "+ &quot;minutes&quot;: 45" in page
    assert [each.number for each in Edition.objects.all()] == [1, 2]
    assert own.state == "published"
    assert AuditEntry.objects.filter(verb="published version").count() == 2


def test_people_get_the_published_release_and_not_later_file_changes(organiser, own):
    forget_event(own)
    publish(organiser, own)
    change(own, "minutes: 30", "minutes: 45")
    before = [level.minutes for level in event_of(own).study.levels]
    publish(organiser, own)

    assert before == [30, 20]
    assert [level.minutes for level in event_of(own).study.levels] == [45, 20]


def test_an_unchanged_or_unreviewed_release_is_not_published(organiser, own):
    publish(organiser, own)
    again = publish(organiser, own)
    change(own, "minutes: 30", "minutes: 45")
    unseen = publish(organiser, own, version="0" * 64)

    assert (again.status_code, unseen.status_code) == (409, 409)
    assert "review the changes" in unseen.content.decode()
    assert Edition.objects.count() == 1


def test_errors_are_shown_as_check_prints_them_and_nothing_is_published(organiser, own):
    change(own, "minutes: 30", "minuts: 30")
    page = organiser.post(f"/s/{own.token}/organise/editions/", {"version": ""}).content.decode()

    assert "study.yaml:" in page
    assert "Did you mean" in page
    assert "`minutes`?" in page
    assert Edition.objects.count() == 0


def test_a_host_puts_a_folder_on_the_server(organiser, own, tmp_path):
    lay_out_event(tmp_path / "other")
    folder = organiser.post("/studies/", {"folder": str(tmp_path / "other")})

    assert folder.headers["Location"].endswith("/organise/editions/")
    assert HostedStudy.objects.filter(memberships__account__name="Olga").count() == 2


@pytest.mark.parametrize(
    ("form", "words"),
    [({}, "This field is required"), ({"folder": "/nowhere"}, "there is no such file or folder")],
    ids=["no folder", "nowhere"],
)
def test_a_folder_that_cannot_be_added_is_reported(organiser, form, words):
    answer = organiser.post("/studies/", form)

    assert (answer.status_code, words in answer.content.decode()) == (422, True)


@pytest.mark.parametrize("page", ["/studies/", "/studies/new/"])
def test_only_hosts_put_studies_on_the_server(client_as, page):
    assert client_as(Role.SENIOR).get(page).status_code == 404
    assert client_as(Role.SENIOR).post(page, {"name": "mine", "kind": "empty"}).status_code == 404


@pytest.fixture
def root(tmp_path):
    """Folder next to the workspace: new studies are written there."""
    return tmp_path / "home"


def create(client, root, fields):
    with override_settings(WORKSPACE=root / ".theodolite"):
        return client.post("/studies/new/", fields)


RECORDED = b"prompt,response,label\nhi,hello,good\nhow,so,bad\nwhy,no,good\n"

ANSWERS = {
    "application": {"app": "https://bot.example/chat"},
    "recorded": {"source": ("../../a b.csv", RECORDED)},
    "event": {"pack": "aria/pathfinder"},
    "example": {"example": "marketing"},
    "empty": {},
}


def sent(kind, name="mine", **more):
    fields = {"name": name, "kind": kind, **ANSWERS[kind], **more}
    return {key: SimpleUploadedFile(*value) if isinstance(value, tuple) else value for key, value in fields.items()}


@pytest.mark.parametrize("kind", list(ANSWERS))
def test_a_host_creates_a_study_from_each_template(organiser, root, kind):
    answer = create(organiser, root, sent(kind))
    hosted = HostedStudy.objects.get(name="mine") if kind != "example" else HostedStudy.objects.latest("made_at")

    assert answer.headers["Location"] == f"/s/{hosted.token}/organise/study/"
    assert Path(hosted.folder) == root / "mine"
    assert "study: " in (root / "mine" / "study.yaml").read_text(encoding="utf-8")
    assert hosted.memberships.get().role == Role.ORGANISER.value
    assert AuditEntry.objects.get(hosted=hosted).facts == {"template": kind}
    home = organiser.get(f"/s/{hosted.token}/organise/", follow=True)
    assert home.status_code == 200
    assert ("The files of this study contain errors" in home.content.decode()) == (kind == "empty")
    assert organiser.get(answer.headers["Location"]).status_code == 200


def test_an_uploaded_file_lies_in_the_study_under_a_plain_name(organiser, root):
    create(organiser, root, sent("recorded"))

    assert (root / "mine" / "a-b.csv").read_bytes() == RECORDED
    assert "file: a-b.csv" in (root / "mine" / "study.yaml").read_text(encoding="utf-8")


def test_only_the_example_may_run_its_code(organiser, root, monkeypatch):
    monkeypatch.delenv("THEODOLITE_ALLOW_CODE", raising=False)
    create(organiser, root, sent("example"))
    create(organiser, root, sent("event", "paths"))

    assert code_request(load_study(root / "mine")) is None
    assert code_request(load_study(root / "paths")) is not None
    (root / "mine" / "copywriter.py").write_text("raise SystemExit", encoding="utf-8")
    assert code_request(load_study(root / "mine")) is not None


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (sent("empty", "../up"), "is not a valid name of a folder"),
        (sent("empty", "con"), "is not a valid name of a folder"),
        (sent("empty", "there"), "there is a folder or file `there` already"),
        (sent("application", app="bot.py:reply"), "Expected an address with https://"),
        (sent("application", app="https://10.0.0.8/chat"), "application is at `10.0.0.8`, which is not a public"),
        (sent("application", app="https://inner.example/chat"), "at `inner.example`, whose address 10.0.0.9"),
        (sent("recorded", guideline="groundedness", model_url="https://inner.example/v1"), "whose address 10.0.0.9"),
        (sent("application", model_url="http://models.example/v1"), "Expected an address with https://"),
        (sent("recorded", source="/etc/passwd"), "Choose a file"),
        (sent("recorded", source=("a.py", b"x")), "Choose a file that ends in .csv"),
        (sent("recorded", source=("a.csv", b"x" * 1_000_001)), "larger than 1 MB"),
        (sent("recorded", source=("a.csv", b"")), "is empty"),
    ],
    ids=[
        "way out", "device", "exists", "code", "private host", "private name", "private model", "no tls", "path",
        "suffix", "size", "empty",
    ],
)  # fmt: skip
def test_no_study_is_created_from_unsuitable_answers(organiser, root, form, words):
    (root / "there").mkdir(parents=True)
    for file in [value for value in form.values() if isinstance(value, SimpleUploadedFile)]:
        file.seek(0)
    with override_settings(HOST_RESOLVER=FakeHostResolver({"inner.example": ["10.0.0.9"]})):
        answer = create(organiser, root, form)

    assert (answer.status_code, words in unescape(answer.content.decode())) == (422, True)
    assert [entry.name for entry in root.iterdir()] == ["there"]
    assert HostedStudy.objects.count() == 1


def test_an_empty_server_offers_a_new_study_as_the_next_step(organiser, own):
    own.memberships.filter(role=Role.ORGANISER.value).update(role=Role.SENIOR.value, left_at=timezone.now())
    pages = [organiser.get(path).content.decode() for path in ("/", "/studies/")]

    assert all("<strong>Next step:</strong> Create your first study from a template." in page for page in pages)
    assert all('href="/studies/new/"' in page for page in pages)


def test_an_earlier_release_can_be_published_again(organiser, own):
    publish(organiser, own)
    change(own, "minutes: 30", "minutes: 25")
    publish(organiser, own)
    change(own, "minutes: 25", "minutes: 30")
    page = organiser.get(f"/s/{own.token}/organise/").content.decode()
    publish(organiser, own)

    first, second, third = own.editions.order_by("number")
    assert "version 2" in page
    assert "1 change since" in page
    assert (first.version == third.version, first.version == second.version) == (True, False)
