"""Studies below a folder: which there are, and what a page starts."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.fakes.terminal import in_a_process
from theodolite.bootstrap import viewing
from theodolite.bootstrap.viewing import LocalStudies, RunRequest
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.domain.errors import InputError, NotFound, WrongSchema

STUDY = """\
study: {name}
applications:
  bot: {{kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}}
guidelines:
  tone: {{ask: Is it polite?, scale: ["yes", "no"], defect: "== no"}}
annotators:
  ann: {{who: person, guideline: tone, column: label}}
"""


def write(folder, name="support", text=STUDY):
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(text.format(name=name), encoding="utf-8")
    (folder / "rows.csv").write_text("id,prompt,response,label\n1,Hi,Hello,yes\n", encoding="utf-8")
    return folder


def test_studies_with_and_without_errors_are_listed_and_hidden_folders_are_not(tmp_path):
    write(tmp_path / "b" / "deep", "deep")
    write(tmp_path / "a", "first")
    write(tmp_path / ".hidden" / "x")
    write(tmp_path / "c", text="study: broken\naplications: {{}}\n")

    found = LocalStudies(root=str(tmp_path)).all()

    assert [(study.name, study.loaded is None) for study in found] == [("first", False), ("deep", False), ("c", True)]
    assert any("Did you mean `applications`?" in item.message for item in found[-1].diagnostics)


def test_a_single_study_is_the_whole_list(tmp_path):
    folder = write(tmp_path / "one")
    write(folder / "inner")

    viewed = LocalStudies(root=str(folder))

    assert (viewed.is_one, len(viewed.all())) == (True, 1)


def test_a_changed_file_is_read_again(tmp_path):
    folder = write(tmp_path / "one")
    viewed = LocalStudies(root=str(folder))
    first = viewed.all()[0]

    assert viewed.all()[0] is first
    (folder / "study.yaml").write_text("study: other\n", encoding="utf-8")
    assert viewed.all()[0].loaded is None
    assert viewed.all()[0].key == first.key, "addresses stay"


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no"):
        LocalStudies(root=str(tmp_path / "none"))


def test_an_unknown_key_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        LocalStudies(root=str(tmp_path)).study("x")


def test_a_study_that_was_never_run_has_no_runs_and_no_workspace(tmp_path):
    folder = write(tmp_path / "one")
    viewed = LocalStudies(root=str(folder))

    runs = viewed.runs(viewed.all()[0])

    assert (runs.runs, runs.is_active, runs.problem) == ((), False, "")
    assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "study.yaml"]


@pytest.mark.parametrize(
    ("request_", "options"),
    [
        (RunRequest(), []),
        (RunRequest(limit=3, budget_usd=0.5), ["--limit", "3", "--budget", "0.5"]),
        (
            RunRequest(stage="score", new_run=True, retry_failed=True),
            ["--stage", "score", "--new-run", "--retry-failed"],
        ),
    ],
    ids=["whole", "few with a budget", "one stage again"],
)
def test_a_request_is_translated_into_command_line_options(request_, options):
    assert request_.options() == options


LATER = "INSERT INTO django_migrations (app, name, applied) VALUES ('store', '9999_later', '2030-01-01')"


def after_a_run(folder):
    """Return the studies of a folder after a run."""
    write(folder)
    assert in_a_process("run", folder, "--limit", "1").code == 0
    return LocalStudies(root=str(folder))


def test_a_newer_database_version_is_reported(tmp_path):
    viewed = after_a_run(tmp_path / "one")
    with closing(sqlite3.connect(tmp_path / "one" / WORKSPACE_NAME / "theodolite.db")) as database:
        database.execute(LATER)
        database.commit()

    runs = viewed.runs(viewed.all()[0])

    assert (runs.runs, "newer version" in runs.problem) == ((), True)


def test_an_older_database_is_migrated(tmp_path, monkeypatch):
    """Reading alone refuses such a database; the runs in it must not vanish from the list."""
    viewed = after_a_run(tmp_path / "one")

    def refuse(*_):
        message = "the database was written by an older version"
        raise WrongSchema(message)

    monkeypatch.setattr(viewing, "open_store_to_read", refuse)

    assert [run.number for run in viewed.runs(viewed.all()[0]).runs] == [1]
