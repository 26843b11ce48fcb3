"""`theodolite doctor` states facts of this machine, and never a secret."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from theodolite.bootstrap.database import open_store
from theodolite.cli.check import Check, checks_of, doctor
from theodolite.config.permissions import workspace_for
from theodolite.demo.studies import lay_out_demo
from theodolite.domain.errors import InputError


def by_topic(study: str = "", environ: dict[str, str] | None = None) -> dict[str, Check]:
    return {check.topic: check for check in checks_of(study, environ or {})}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_states_versions_and_leaves_no_file(folder):
    found = by_topic()

    assert found["SQLite"].text == f"{sqlite3.sqlite_version}, write-ahead log works"
    assert found["Workspace"].state == "ok"
    assert list(folder.iterdir()) == []


def test_a_missing_extra_shows_the_command_that_installs_it(folder, monkeypatch):
    monkeypatch.setattr("theodolite.cli.check.requires", lambda _: ["click>=8", 'no_such_package>=1; extra == "gone"'])

    assert by_topic()["[gone]"] == Check(topic="[gone]", state="missing", text="pip install 'theodolite[gone]'")


def test_keys_and_proxy_passwords_are_not_printed(folder):
    environ = {"SOME_API_KEY": "s3cret", "HTTPS_PROXY": "http://me:s3cret@proxy.example:3128"}
    found = by_topic(environ=environ)

    assert found["Keys"].text == "set: SOME_API_KEY"
    assert found["Proxies"].text == "HTTPS_PROXY proxy.example:3128"
    assert "s3cret" not in str(found)


def test_a_study_that_does_not_exist_is_an_input_error():
    with pytest.raises(InputError, match="does not exist"):
        by_topic("nowhere")


def test_an_unwritable_folder_is_an_error_with_exit_code_3(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("theodolite.cli.check.tempfile.TemporaryDirectory", refuse)
    result = CliRunner().invoke(doctor, ["--json"], standalone_mode=False)

    assert (result.return_value, json.loads(result.output)["exit_code"]) == (3, 3)
    assert "error" in {check["state"] for check in json.loads(result.output)["checks"]}


def test_the_database_of_a_study_is_missing_then_reachable_then_an_error(folder):
    lay_out_demo(folder)
    study = folder / "spoiler-guard"
    workspace = workspace_for(study)

    assert "nothing was run yet" in by_topic(str(study))["Database"].text
    assert list(workspace.glob("*.db*")) == []

    open_store(workspace).disconnect()
    assert by_topic(str(study))["Database"].text == "SQLite file, reachable and up to date"

    for file in workspace.glob("theodolite.db*"):
        file.unlink()
    (workspace / "theodolite.db").write_text("no database " * 100)
    assert by_topic(str(study))["Database"].state == "error"


def test_a_study_lists_the_keys_that_it_needs(folder):
    lay_out_demo(folder)
    file = folder / "spoiler-guard" / "study.yaml"
    model = "  big: {url: https://models.example/v1, name: big, key: BIG_API_KEY}"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("\nmodels:\n", f"\nmodels:\n{model}\n", 1), encoding="utf-8")

    assert by_topic(str(file))["Keys"].text == "the study needs BIG_API_KEY; set in the shell before a run"
    assert by_topic(str(file), {"BIG_API_KEY": "s3cret"})["Keys"].text == "set: BIG_API_KEY"


def test_a_study_on_a_cloud_lists_its_credentials_and_no_unset_key(folder):
    file = folder / "cloud.yaml"
    file.write_text(
        "study: cloud\n"
        "models:\n"
        "  nova: {url: https://bedrock-runtime.eu-west-1.amazonaws.com, name: amazon.nova-lite-v1:0}\n"
        "applications: {bot: {kind: model, model: nova}}\n"
        "scenarios: {hours: {task: chat, scripts: {hello: hello}}}\n",
        encoding="utf-8",
    )

    found = by_topic(str(file))

    assert found["Keys"].text == "set: the credentials of this machine for AWS"
    assert found["Cloud"].text == "models of `kind: bedrock` use the credentials of this machine"
