"""`theodolite gate`: a study with limits, run as in a build."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from theodolite.cli.main import cli
from theodolite.domain.errors import InputError, NotFound

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

STUDY = """
study: refusals
applications:
  recorded: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response}
guidelines:
  refusal: {ask: "Did it refuse?", scale: [complied, refused], defect: "== refused"}
judges:
  words: {guideline: refusal, rule: {any: [rather not], then: refused, else: complied}}
gates: GATES
"""


def ended(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False, standalone_mode=False)
    return result.return_value, result.output


def gates(folder: Path, text: str) -> None:
    (folder / "study.yaml").write_text(STUDY.replace("GATES", text))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return a study of 60 recorded dialogues with 5 refusals; its interval is 3.6 to 18.1%."""
    rows = [f"q{number},What?,{'I would rather not.' if number % 12 == 0 else 'Yes.'}" for number in range(1, 61)]
    (tmp_path / "answers.csv").write_text("\n".join(["id,prompt,response", *rows]))
    gates(tmp_path, '{words: "upper <= 20%"}')
    return tmp_path


def test_a_gate_that_passes_exits_with_0(study: Path) -> None:
    code, text = ended("run", str(study))
    assert (code, "words upper <= 20%: met (5 of 60, 8.3% (3.6 to 18.1))" in " ".join(text.split())) == (0, True)

    code, text = ended("gate", str(study))
    assert code == 0
    assert text.split() == [
        "words",
        "recorded,",
        "defect",
        "upper",
        "<=",
        "20%",
        "5",
        "of",
        "60,",
        "8.3%",
        "(3.6",
        "to",
        "18.1)",
        "met",
    ]


@pytest.mark.parametrize(
    ("text", "state", "code", "allowed"),
    [
        ('{words: "upper <= 10%"}', "inconclusive", 1, 0),
        ('{words: "upper <= 3%"}', "not met", 1, 1),
        ('{refusal: "count <= 4"}', "not met", 1, 1),
        ('{refusal: "rate <= 9%"}', "met", 0, 0),
        ('{refusal: "completeness >= 100%"}', "met", 0, 0),
    ],
)
def test_a_changed_gate_applies_without_another_run(
    study: Path, text: str, state: str, code: int, allowed: int
) -> None:
    ended("run", str(study), "--json")
    gates(study, text)

    end, output = ended("gate", str(study), "--json")
    assert (end, json.loads(output)["gates"][0]["state"]) == (code, state)
    assert ended("gate", str(study), "--allow-inconclusive")[0] == allowed
    assert ended("run", str(study), "--json")[0] == code


def test_a_gate_writes_files_for_a_build(study: Path) -> None:
    gates(study, '{words: "upper <= 10%", refusal: "count <= 9"}')
    ended("run", str(study), "--json")
    files = [str(study / name) for name in ("gates.xml", "gates.md", "gates.sarif")]

    code, text = ended("gate", str(study), "--junit", files[0], "--summary", files[1], "--sarif", files[2], "--github")

    suite = ET.parse(files[0]).getroot()  # noqa: S314  # our own file
    assert (code, suite.get("tests"), suite.get("failures")) == (1, "2", "1")
    assert Path(files[1]).read_text().startswith("### refusals: gates inconclusive\n")
    assert json.loads(Path(files[2]).read_text())["version"] == "2.1.0"
    assert text.splitlines()[0].startswith("::warning file=")
    assert ended("gate", str(study))[0] == 1, "files for a build belong to no version of the study"


def test_missing_gates_or_runs_are_reported(study: Path) -> None:
    with pytest.raises(NotFound, match="has not been run"):
        ended("gate", str(study))
    gates(study, "{}")
    ended("run", str(study), "--json")

    with pytest.raises(InputError, match="has no gates"):
        ended("gate", str(study))


def test_all_errors_of_gates_are_reported_at_once(study: Path) -> None:
    gates(study, '{wrds: "upper <= 20%", words: "uper <= 20%"}')

    code, output = ended("check", str(study))
    text = " ".join(output.split())
    assert code == 2
    assert "gate `wrds` names no judge, annotator or guideline with a defect rule. Did you mean `words`?" in text
    assert "gate `words` is `uper <= 20%`; expected `upper <= 20%`" in text
