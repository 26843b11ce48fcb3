"""Studies below a folder: which there are, and what a page starts."""

from __future__ import annotations

import pytest

from theodolite.bootstrap.viewing import LocalStudies, RunRequest
from theodolite.domain.errors import InputError, NotFound

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


def test_valid_and_faulty_studies_are_listed_and_hidden_folders_are_not(tmp_path):
    write(tmp_path / "b" / "deep", "deep")
    write(tmp_path / "a", "first")
    write(tmp_path / ".hidden" / "x")
    write(tmp_path / "c", text="study: broken\naplications: {{}}\n")

    found = LocalStudies(root=str(tmp_path)).all()

    assert [(study.name, study.loaded is None) for study in found] == [("first", False), ("deep", False), ("c", True)]
    assert any("Did you mean `applications`?" in item.message for item in found[-1].diagnostics)


def test_a_study_is_the_only_one(tmp_path):
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


def test_a_folder_that_is_not_there_is_refused(tmp_path):
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
def test_a_request_becomes_the_options_of_the_command_line(request_, options):
    assert request_.options() == options
