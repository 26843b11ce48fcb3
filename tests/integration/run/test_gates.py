"""Gates in a build: reports, baselines, pytest, and the steps of the shipped Action and template."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from ruamel.yaml import YAML

from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
STUDY = """study: smoke
applications:
  bot: {kind: python, call: "bot.py:answer"}
cases:
  - {prompt: one, expected: one}
  - {prompt: two, expected: two}
  - {prompt: three, expected: three}
judges:
  echo: {rule: {contains: "{{ expected }}"}}
gates: {echo: %s}
"""
GOOD = "def answer(prompt):\n    return prompt\n"
BAD = "def answer(prompt):\n    return 'no'\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("THEODOLITE_ALLOW_CODE", "1")
    (tmp_path / "smoke").mkdir()
    return tmp_path


def write(folder: Path, gate: str, bot: str = GOOD) -> None:
    (folder / "smoke" / "study.yaml").write_text(STUDY % gate, encoding="utf-8")
    (folder / "smoke" / "bot.py").write_text(bot, encoding="utf-8")


def test_a_run_writes_its_gates_into_report_results_and_junit(folder: Path) -> None:
    write(folder, "rate <= 10%", BAD)

    ended = theodolite("run", "smoke", "--junit", "gates.xml")

    assert ended.code == 1, ended.said
    results = json.loads((folder / "smoke" / "results.json").read_text(encoding="utf-8"))
    assert results["gates"]["state"] == "not met"
    assert results["gates"]["gates"][0]["gate"] == "rate <= 10%"
    schema = json.loads((ROOT / "src/theodolite/resources/schemas/results.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(results, schema)
    page = (folder / "smoke" / "report.html").read_text(encoding="utf-8")
    assert "A gate is a limit that this study sets to its own results." in page
    assert "rate &lt;= 10%" in page
    suite = ET.fromstring((folder / "gates.xml").read_bytes())  # noqa: S314  # ours
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


def test_junit_without_gates_is_refused_before_the_run(folder: Path) -> None:
    write(folder, "count <= 0")
    text = (folder / "smoke" / "study.yaml").read_text(encoding="utf-8")
    (folder / "smoke" / "study.yaml").write_text(text.partition("gates:")[0], encoding="utf-8")

    ended = theodolite("run", "smoke", "--junit", "gates.xml")

    assert ended.code == 2
    assert "has no gates" in ended.err
    assert not (folder / "smoke" / "results.json").exists()


def test_worse_by_compares_with_a_baseline_run(folder: Path) -> None:
    write(folder, "worse_by <= 5 points")
    assert theodolite("run", "smoke").code == 0
    write(folder, "worse_by <= 5 points", BAD)
    theodolite("run", "smoke", "--new-run")

    unnamed = theodolite("gate", "smoke")
    named = theodolite("gate", "smoke", "--baseline", "@1", "--json")

    assert unnamed.code == 1
    assert "no baseline run was named" in " ".join(unnamed.out.split())
    (entry,) = named.found["gates"]
    assert (named.code, entry["value"], entry["n"]) == (1, 1.0, 3)
    assert entry["state"] in {"not met", "inconclusive"}


def test_no_change_from_the_baseline_is_stated_with_its_interval(folder: Path) -> None:
    write(folder, "worse_by <= 100 points")
    theodolite("run", "smoke")
    theodolite("run", "smoke", "--new-run")

    ended = theodolite("gate", "smoke", "--baseline", "smoke@1")

    assert ended.code == 0, ended.said
    assert "+0.0 points" in ended.out
    assert "n 3 pairs  met" in ended.out


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pytest", "-p", "theodolite.cli.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [*words, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_study_runs_as_tests_of_pytest(folder: Path) -> None:
    write(folder, "rate <= 10%")

    passed, off = run_pytest(folder, "--studies", "-vv"), run_pytest(folder)
    write(folder, "rate <= 10%", BAD)
    failed = run_pytest(folder, "--studies")

    assert "smoke/study.yaml::run PASSED" in passed.stdout
    assert "smoke/study.yaml::echo PASSED" in passed.stdout
    assert "no tests ran" in off.stdout
    assert failed.returncode == 1
    assert "1 failed, 1 passed" in failed.stdout
    assert "echo  bot, defect  rate <= 10%  3 of 3, 100.0" in failed.stdout
    assert "Traceback" not in failed.stdout


def test_a_study_with_errors_fails_the_collection_with_their_list(folder: Path) -> None:
    write(folder, "rat <= 10%")

    ended = run_pytest(folder, "--studies")

    assert ended.returncode == 2
    assert "gate `echo` is `rat <= 10%`; expected `upper <= 20%`" in ended.stdout


FIXTURE = """import theodolite


def test_gates(theodolite_gates):
    result = theodolite.run(
        {"study": "mine", "gates": {"echo": "count <= %s"}},
        applications={"bot": lambda prompt: "no"},
        cases=[{"prompt": "one", "expected": "one"}],
        judges={"echo": theodolite.rule(contains="{{ expected }}")},
    )
    theodolite_gates(result)
"""


@pytest.mark.parametrize(("limit", "code"), [(1, 0), (0, 1)], ids=["met", "not met"])
def test_a_pytest_fixture_checks_the_gates_of_a_run(folder: Path, limit: int, code: int) -> None:
    (folder / "test_mine.py").write_text(FIXTURE % limit, encoding="utf-8")

    assert run_pytest(folder, "test_mine.py").returncode == code


def read_yaml(name: str) -> dict[str, object]:
    content: dict[str, object] = YAML(typ="safe", pure=True).load((ROOT / "ci" / name).read_text(encoding="utf-8"))
    return content


ACTION = {
    "type": "object",
    "required": ["name", "description", "inputs", "runs"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "inputs": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["description", "required"],
                "additionalProperties": False,
                "properties": {
                    "description": {"type": "string"},
                    "required": {"type": "boolean"},
                    "default": {"type": "string"},
                },
            },
        },
        "outputs": {
            "type": "object",
            "additionalProperties": {"type": "object", "required": ["description", "value"]},
        },
        "runs": {
            "type": "object",
            "required": ["using", "steps"],
            "properties": {
                "using": {"const": "composite"},
                "steps": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "shell", "run"],
                        "additionalProperties": False,
                        "properties": {
                            "name": {"type": "string"},
                            "if": {"type": "string"},
                            "shell": {"const": "bash"},
                            "env": {"type": "object", "additionalProperties": {"type": "string"}},
                            "run": {"type": "string"},
                        },
                    },
                },
            },
        },
    },
}
"""The keys of a composite action that GitHub documents and ours may use."""


def test_the_action_has_the_form_of_a_composite_action() -> None:
    action = read_yaml("github/action.yml")

    jsonschema.validate(action, ACTION)
    steps = action["runs"]["steps"]  # type: ignore[index]
    used = {part.split("}}")[0].strip() for step in steps for part in str(step).split("${{ inputs.")[1:]}
    assert {name.split(" ")[0] for name in used} <= set(action["inputs"])  # type: ignore[call-overload]
    assert all("${{" not in step["run"] for step in steps)  # inputs reach the shell by the environment alone


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def run_action(folder: Path, **inputs: str) -> tuple[int, str]:
    """Run the steps of the Action, without the installation, and return exit code and output."""
    action = read_yaml("github/action.yml")
    values = {name: str(one.get("default", "")) for name, one in action["inputs"].items()} | inputs  # type: ignore[attr-defined]
    output = ""
    for step in action["runs"]["steps"]:  # type: ignore[index]
        if "if" in step:
            continue
        env = {
            name: values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, text in step.get("env", {}).items()
        }
        ended = shell(step["run"], folder, **env, GITHUB_STEP_SUMMARY=str(folder / "summary.md"))
        output += ended.stdout + ended.stderr
        if ended.returncode:
            return ended.returncode, output
    return 0, output


@pytest.mark.parametrize(("bot", "code"), [(GOOD, 0), (BAD, 1)], ids=["met", "not met"])
def test_the_steps_of_the_action_have_the_exit_code_of_the_gates(folder: Path, bot: str, code: int) -> None:
    write(folder, "rate <= 10%", bot)

    ended, output = run_action(folder, study="smoke", **{"allow-code": "true"})

    assert ended == code, output
    assert 'tests="1"' in (folder / "theodolite-gates.xml").read_text(encoding="utf-8")
    assert json.loads((folder / "theodolite-gates.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert "### smoke: gates" in (folder / "summary.md").read_text(encoding="utf-8")
    assert ("::error" in output) == bool(code)


def test_the_action_stops_at_a_study_with_errors(folder: Path) -> None:
    write(folder, "rat <= 10%")

    ended, output = run_action(folder, study="smoke")

    assert (ended, "expected `upper <= 20%`" in output) == (1, True)


@pytest.mark.parametrize(("bot", "code"), [(GOOD, 0), (BAD, 1)], ids=["met", "not met"])
def test_the_script_of_the_template_has_the_exit_code_of_the_gates(folder: Path, bot: str, code: int) -> None:
    write(folder, "rate <= 10%", bot)
    job = read_yaml("gitlab/theodolite.gitlab-ci.yml")["theodolite"]
    assert set(job) == {  # type: ignore[call-overload]
        "image", "stage", "variables", "cache", "before_script", "script", "artifacts",
    }  # fmt: skip

    variables = job["variables"] | {"THEODOLITE_STUDY": "smoke"}  # type: ignore[index]
    ended = shell("\n".join(job["script"]), folder, **variables)  # type: ignore[index]

    assert ended.returncode == code, ended.stderr
    assert (folder / "theodolite-gates.xml").is_file()


def test_runs_lists_the_runs_of_a_study(folder: Path) -> None:
    write(folder, "count <= 0")
    before = theodolite("runs", "smoke")
    theodolite("run", "smoke")
    theodolite("run", "smoke", "--new-run")

    found = theodolite("runs", "smoke", "--json").found["runs"]

    assert "has not been run" in before.out
    assert [(one["number"], one["dialogues"], one["failed"]) for one in found] == [(1, 3, 0), (2, 3, 0)]
    assert theodolite("runs", "smoke").out.startswith("@1 ")
