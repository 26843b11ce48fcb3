"""The copy that a rehearsal plays on."""

from __future__ import annotations

from pathlib import Path

import pytest

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.events import missing_texts
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import workspace_for
from theodolite.demo.studies import lay_out_event
from theodolite.domain.errors import InputError
from theodolite.rehearsal.scratch import lay_out_scratch, rehearsal_environ

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


def test_the_copy_has_a_workspace_of_its_own_even_within_the_study(loaded: LoadedStudy) -> None:
    scratch = lay_out_scratch(loaded, loaded.folder / "out")

    assert workspace_for(scratch.study) == scratch.study.resolve() / ".theodolite"
    theirs = {each.name for each in loaded.folder.iterdir()} - {"out", "serve.yaml"}
    assert {each.name for each in scratch.study.iterdir()} == {".theodolite"} | theirs


def test_a_folder_with_something_else_is_left_alone(loaded: LoadedStudy, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")

    with pytest.raises(InputError, match="holds something else than a rehearsal"):
        lay_out_scratch(loaded, tmp_path / "mine")


def test_an_earlier_rehearsal_is_replaced(loaded: LoadedStudy, tmp_path: Path) -> None:
    earlier = lay_out_scratch(loaded, tmp_path / "out")
    (earlier.pages / "old.html").touch()

    assert list(lay_out_scratch(loaded, tmp_path / "out").pages.iterdir()) == []


def test_the_server_gets_keys_but_no_database_and_no_mail() -> None:
    given = {"TOY_KEY": "k", "DATABASE_URL": "postgres://real", "THEODOLITE_EMAIL_URL": "smtp://real"}

    kept = {"TOY_KEY": "k", "PYTHONUNBUFFERED": "1", "THEODOLITE_ALLOW_CODE": "1", "THEODOLITE_ALLOW_KEYS": "1"}

    assert rehearsal_environ(given) == kept


def test_an_event_is_rehearsed_before_its_texts_are_written(tmp_path: Path) -> None:
    study = tmp_path / "bare"
    study.mkdir()
    (study / "study.yaml").write_text(BARE, encoding="utf-8")
    (study / "ours.md").write_text("I agree with [name].", encoding="utf-8")

    scratch = lay_out_scratch(load_study(study, resolver=resource_resolver()), tmp_path / "out")

    assert missing_texts(load_study(scratch.study, resolver=resource_resolver()).study) == ()
    assert (study / "ours.md").read_text(encoding="utf-8") == "I agree with [name]."
    assert {one.name for one in study.iterdir()} == {"study.yaml", "ours.md"}
