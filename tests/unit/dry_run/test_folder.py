"""The folder of a dry run: saved pages, and the copy of the study."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser_pages import CHROMIUM
from theodolite.assessment.blinding import SecretWord
from theodolite.bootstrap.page_checks import Lookout, PageAnswer
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.events import missing_texts
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import workspace_for
from theodolite.demo.studies import lay_out_event
from theodolite.domain.errors import InputError
from theodolite.dry_run.folder import PageArchive, copy_study, kind_of, server_environ, take_screenshots

PATHS = {
    "/": "home",
    "/join/abc:def/": "join",
    "/code/big-red-dog-7/": "code",
    "/s/tok/test/consent/": "test-consent",
    "/s/tok/test/2/": "test-chat",
    "/s/tok/test/2/questions/1/": "test-questions",
    "/s/tok/organise/people/": "organise-people",
    "/s/tok/annotate/d/aB3-x/": "annotate-d",
    "/s/tok/review/item/aB3-x/": "review-item",
}


def page(text: str, *, status: int = 200) -> PageAnswer:
    return PageAnswer("http://h/s/tok/test/1/", status, "Content-Type: text/html", text)


@pytest.mark.parametrize(("path", "kind"), PATHS.items())
def test_a_kind_of_page_contains_no_key_and_no_number(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_the_longest_page_of_a_kind_is_stored_completely_and_without_scripts(tmp_path: Path) -> None:
    archive = PageArchive()
    keep = archive.sink_for("tester")
    full = page('<link rel="stylesheet" href="/a.css"><script src="/b.js"></script><p>long and full</p>')
    for shown in (page("<p>short</p>"), full, page("<p>" + "failed" * 99, status=500)):
        keep(shown)

    (file,) = archive.write_pages(tmp_path, lambda address: f"/* {address} */")

    assert archive.n_pages == 3
    assert file.name == "tester-test-chat.html"
    assert file.read_text(encoding="utf-8") == "<style>/* http://h/a.css */</style><p>long and full</p>"


def test_a_screenshot_is_stored_next_to_its_page(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text("<p>seen</p>", encoding="utf-8")

    assert take_screenshots((file,), str(CHROMIUM)) == 1
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_an_invalid_browser_takes_no_screenshot(tmp_path: Path) -> None:
    assert take_screenshots((tmp_path / "a.html",), str(tmp_path / "no-browser")) == 0


def test_pages_for_people_are_searched_and_those_of_organisers_are_not() -> None:
    scanner = Lookout("red teamer", (SecretWord("bot-1", "an application"),))
    archive = PageArchive({"red-teamer": scanner})
    archive.sink_for("organiser")(page("<p>bot-1</p>"))
    assert scanner.leaks == ()
    archive.sink_for("red-teamer")(page("<p>bot-1</p>"))

    assert [leak.revealed.secret.words for leak in scanner.leaks] == ["bot-1"]


BARE = """\
study: bare
applications: {app: {kind: python, call: "a:b"}}
scenarios: {s: {scripts: {hello: Hello}}}
risks: {rude: {description: It is rude.}}
levels: {red_teaming: {people: 1}}
consent: ours.md"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedStudy:
    lay_out_event(tmp_path / "event")
    (tmp_path / "event" / "serve.yaml").write_text("listen: 0.0.0.0:80\n", encoding="utf-8")
    return load_study(tmp_path / "event", resolver=resource_resolver())


def test_the_copy_has_a_separate_workspace_even_within_the_study(loaded: LoadedStudy) -> None:
    scratch = copy_study(loaded, loaded.folder / "out")

    assert workspace_for(scratch.study) == scratch.study.resolve() / ".theodolite"
    theirs = {path.name for path in loaded.folder.iterdir()} - {"out", "serve.yaml"}
    assert {path.name for path in scratch.study.iterdir()} == {".theodolite"} | theirs


def test_a_folder_with_other_files_is_left_alone(loaded: LoadedStudy, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")

    with pytest.raises(InputError, match="contains files that are not a dry run"):
        copy_study(loaded, tmp_path / "mine")


def test_an_earlier_dry_run_is_replaced(loaded: LoadedStudy, tmp_path: Path) -> None:
    earlier = copy_study(loaded, tmp_path / "out")
    (earlier.pages / "old.html").touch()

    assert list(copy_study(loaded, tmp_path / "out").pages.iterdir()) == []


def test_the_server_receives_keys_but_no_database_and_no_mail() -> None:
    environ = {"TOY_KEY": "k", "DATABASE_URL": "postgres://real", "THEODOLITE_EMAIL_URL": "smtp://real"}

    saved = {"TOY_KEY": "k", "PYTHONUNBUFFERED": "1", "THEODOLITE_ALLOW_CODE": "1", "THEODOLITE_ALLOW_KEYS": "1"}

    assert server_environ(environ) == saved


def test_a_dry_run_is_possible_before_the_texts_are_complete(tmp_path: Path) -> None:
    study = tmp_path / "bare"
    study.mkdir()
    (study / "study.yaml").write_text(BARE, encoding="utf-8")
    (study / "ours.md").write_text("I agree with [name].", encoding="utf-8")

    scratch = copy_study(load_study(study, resolver=resource_resolver()), tmp_path / "out")

    assert missing_texts(load_study(scratch.study, resolver=resource_resolver()).study) == ()
    assert (study / "ours.md").read_text(encoding="utf-8") == "I agree with [name]."
    assert {item.name for item in study.iterdir()} == {"study.yaml", "ours.md"}
