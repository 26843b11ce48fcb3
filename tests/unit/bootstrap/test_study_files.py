"""Files of studies in a database: which ones are stored, and how a worker without a folder opens them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import Database
from theodolite.bootstrap import study_files as module
from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.bootstrap.study_files import (
    StoredFile,
    StoredStudies,
    StudyFileContent,
    StudyFiles,
    store_study_files,
    study_files,
    write_study_files,
)
from theodolite.config.loading import load_study
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of
from theodolite.domain.run import RunState

pytestmark = pytest.mark.integration

STUDY = """\
study: shop
applications: {bot: {kind: python, call: "bot.py:reply"}}
scenarios:
  returns: {task: chat, scripts: {a: "Can I return it?"}}
judges:
  policy: {ask: Does a reply name the policy?, rule: {any: [policy], then: yes, else: no}, defect: "== no"}
"""
CODE = "from words import POLICY\n\n\ndef reply(prompt):\n    return POLICY\n"
RECORDED = """\
study: shop
applications: {bot: {kind: recorded, file: answers.csv, prompt: asked, response: reply}}
judges:
  policy: {ask: Does a reply name the policy?, rule: {any: [policy], then: yes, else: no}, defect: "== no"}
"""
PICTURE = b"\x89PNG\xff\x00"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study with code, and files that other machines must not get."""
    study = tmp_path / "shop"
    for name, text in {
        "study.yaml": STUDY,
        "bot.py": CODE,
        "words.py": "POLICY = 'Our policy allows returns.'\n",
        "results.json": "{}",
        "report.html": "",
        "serve.yaml": "secret_key: hush\n",
        ".env": "KEY=hush\n",
        "__pycache__/bot.pyc": "",
        "data/secrets.py": "",
    }.items():
        (study / name).parent.mkdir(parents=True, exist_ok=True)
        (study / name).write_text(text, encoding="utf-8")
    (study / "data" / "picture.png").write_bytes(PICTURE)
    return study


@pytest.fixture
def context(folder: Path, sqlite: Database) -> Iterator[StudyContext]:
    opened = open_study(str(folder), environ={})
    yield replace(opened, environ={DATABASE_VARIABLE: "postgresql://elsewhere/db"})
    opened.close()


def store(context: StudyContext) -> list[str]:
    notes: list[str] = []
    store_study_files(context, notes.append)
    return notes


def stored(context: StudyContext) -> list[StudyFiles]:
    return context.store.filed(StudyFiles, version_of(context.plan))


def test_a_study_with_code_includes_its_folder_without_secrets_and_results(folder: Path) -> None:
    assert [*study_files(load_study(folder))] == [
        "bot.py",
        "data/picture.png",
        "data/secrets.py",
        "study.yaml",
        "words.py",
    ]


def test_a_study_without_code_includes_the_files_it_reads(folder: Path) -> None:
    (folder / "study.yaml").write_text(RECORDED, encoding="utf-8")
    (folder / "answers.csv").write_text("asked,reply\nHello,policy\n", encoding="utf-8")

    assert [*study_files(load_study(folder))] == ["answers.csv", "study.yaml"]


def test_files_with_secrets_among_the_code_of_an_application_are_refused(folder: Path) -> None:
    (folder / "deploy.key").write_text("hush", encoding="utf-8")

    with pytest.raises(InputError, match=r"`deploy.key` belongs to the code of application `bot`.*`ignore`"):
        study_files(load_study(folder))

    text = STUDY.replace('"bot.py:reply"', '"bot.py:reply", ignore: [deploy.key]')
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    assert "deploy.key" not in study_files(load_study(folder))


def test_links_out_of_the_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("hush", encoding="utf-8")
    (folder / "data" / "link.txt").symlink_to(tmp_path / "private.txt")

    with pytest.raises(InputError, match="link to a file outside its folder"):
        study_files(load_study(folder))


def test_large_folders_are_not_stored_and_a_note_says_so(
    context: StudyContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)

    (note,) = store(context)

    assert note.startswith("workers on other machines need the study's folder: its files have more than")
    assert stored(context) == []


def test_files_are_stored_once_and_restored_unchanged(context: StudyContext, tmp_path: Path) -> None:
    assert (store(context), store(context)) == ([], [])
    (files,) = stored(context)

    written = write_study_files(context.store, files, tmp_path / "elsewhere")

    assert written.name == "study.yaml"
    assert (written.parent / "data" / "picture.png").read_bytes() == PICTURE
    assert study_files(load_study(written)) == study_files(context.loaded)


def test_nothing_is_stored_without_a_shared_database(context: StudyContext) -> None:
    store(replace(context, environ={}))

    assert stored(context) == []


@pytest.mark.parametrize("path", ["../up.txt", "/etc/up.txt", "a/../../up.txt", "a\\up.txt"])
def test_paths_outside_the_folder_are_refused(context: StudyContext, tmp_path: Path, path: str) -> None:
    version = context.store.keep(StudyFileContent(text="x"))
    files = StudyFiles(study="shop", file="study.yaml", files=(StoredFile(path=path, content=version),))

    with pytest.raises(InputError, match="leads out of its folder"):
        write_study_files(context.store, files, tmp_path / "deep" / "elsewhere")

    assert list(tmp_path.rglob("up.txt")) == []


def studies_of(context: StudyContext, folder: Path, *, notes: list[str], is_refused: bool = False) -> StoredStudies:
    def permit(_: StudyContext) -> None:
        if is_refused:
            message = "its code has not been allowed"
            raise InputError(message)

    return StoredStudies(store=context.store, folder=folder, permit=permit, tell=notes.append)


def test_a_worker_opens_the_open_run_of_a_study_and_closes_it_when_done(context: StudyContext, tmp_path: Path) -> None:
    notes: list[str] = []
    studies = studies_of(context, tmp_path / "files", notes=notes)
    assert studies.contexts() == []
    store(context)
    run = context.store.open_run(context.loaded.study, context.plan)

    (opened,) = studies.contexts()

    assert version_of(opened.plan) == run.plan_version
    assert studies.contexts() == [opened]
    context.store.close_run(run, RunState.FINISHED)
    assert studies.contexts() == []
    assert list((tmp_path / "files").iterdir()) == []
    assert notes == []


def test_a_worker_skips_a_run_without_files_and_reports_it_once(context: StudyContext, tmp_path: Path) -> None:
    notes: list[str] = []
    studies = studies_of(context, tmp_path / "files", notes=notes)
    context.store.open_run(context.loaded.study, context.plan)

    assert (studies.contexts(), studies.contexts()) == ([], [])
    store(context)
    assert len(studies.contexts()) == 1

    studies.close()
    (note,) = notes
    assert note == (
        "run 1 of `shop` is left to other workers: the database does not have its files; "
        "start a worker in a copy of its folder"
    )
    assert studies.refused == {}


def test_a_worker_skips_code_that_is_not_allowed(context: StudyContext, tmp_path: Path) -> None:
    notes: list[str] = []
    studies = studies_of(context, tmp_path / "files", notes=notes, is_refused=True)
    store(context)
    context.store.open_run(context.loaded.study, context.plan)

    assert (studies.contexts(), studies.contexts()) == ([], [])

    assert notes == ["run 1 of `shop` is left to other workers: its code has not been allowed"]


def test_an_older_unfinished_run_is_skipped_when_the_study_has_a_later_one(context: StudyContext) -> None:
    first = context.store.open_run(context.loaded.study, context.plan)
    second = context.store.open_run(context.loaded.study, context.plan, new_run=True)

    assert [run.number for run in context.store.open_runs()] == [second.number]

    context.store.close_run(second, RunState.FINISHED)
    assert context.store.open_runs() == []
    assert first.number == 1
