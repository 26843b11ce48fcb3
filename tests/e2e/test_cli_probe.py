"""`theodolite probe` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from theodolite.cli.main import cli

STUDY = """study: event
applications:
  good: {kind: python, call: "app.py:good"}
  bad: {kind: aria, class: "app.py:Bad", auth: TEAM_AUTH, timeout: 5}
  gone: {kind: http, url: "http://127.0.0.1:9/chat", body: {q: "{{ prompt }}"}}
scenarios: {talk: {scripts: {hello: Hello}}}
judges: {j: {ask: "Rude?", defect: "== yes", rule: {any: [stupid], then: yes, else: no}}}
"""
APP = """def good(prompt, history=()):
    return f"{len(history)} {prompt}" + "".join(turn.prompt for turn in history)


class Bad:
    def OpenConnection(self, auth=None):
        return (True, auth["key"])

    def CloseConnection(self):
        return True

    def StartSession(self):
        return True

    def GetResponse(self, text):
        return {"success": True, "response": "<div>" + text + "</div>"}
"""


@pytest.fixture
def event(tmp_path: Path) -> str:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    return str(tmp_path)


def checked(*words: str) -> tuple[int, Result]:
    result = CliRunner().invoke(
        cli, ["probe", *words], standalone_mode=False, env={"TEAM_AUTH": '{"key": "hunter2-and-more"}'}
    )
    return result.return_value, result


def test_problems_are_reported_with_their_line_and_without_secrets(event: str) -> None:
    code, result = checked(event, "bad")

    assert code == 2
    assert "study.yaml:4" in result.output
    assert "1 error. 9 calls were made." in result.output
    assert "note: `bad`: `OpenConnection` returned a tuple" in result.output
    assert "note: `bad`: states no version" in result.output
    assert "hunter2" not in result.output


def test_a_conforming_application_passes(event: str) -> None:
    code, result = checked(event, "good")

    assert (code, "0 errors." in result.output) == (0, True)


def test_output_of_an_application_is_separate_from_the_findings(event: str) -> None:
    (Path(event) / "app.py").write_text("def good(prompt):\n    print('debug')\n    return prompt\n", encoding="utf-8")

    _, result = checked(event, "good", "--json")

    assert json.loads(result.stdout)["exit_code"] == 0
    assert "debug" not in result.output
    assert (Path(event) / ".theodolite/logs/good.log").read_text(encoding="utf-8").count("debug") == 8


def test_a_probe_of_a_missing_application_is_incomplete(event: str) -> None:
    code, result = checked(event, "gone")

    assert (code, "not examined: 127.0.0.1:9: nobody answers" in result.output) == (3, True)
    assert "\nTry  curl -X OPTIONS http://127.0.0.1:9" in result.output


def test_all_findings_form_one_json_object(event: str) -> None:
    code, result = checked(event, "--json")

    found = json.loads(result.output)
    assert (code, found["exit_code"]) == (2, 2)
    assert [entry["name"] for entry in found["applications"]] == ["good", "bad", "gone"]
    assert {fault["line"] for fault in found["diagnostics"] if fault["severity"] == "error"} == {4}


def test_a_class_that_cannot_be_imported_is_an_error_at_its_line(event: str) -> None:
    (Path(event) / "app.py").write_text("def good(prompt): ...\n", encoding="utf-8")

    code, result = checked(event, "bad")

    assert (code, "has no `Bad`" in " ".join(result.output.split())) == (2, True)


@pytest.mark.parametrize(("name", "words"), [("baad", "mean `bad`?"), ("x", "there is `good`, `bad`, `gone`")])
def test_an_unknown_name_is_reported(event: str, name: str, words: str) -> None:
    result = CliRunner().invoke(cli, ["probe", event, name], standalone_mode=False)

    assert words in str(result.exception)
