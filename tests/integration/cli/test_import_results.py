"""`theodolite import results`: files of other tools become studies that are checked, run and exported."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.evidence import live_evidence

from theodolite.cli.main import cli
from theodolite.domain.errors import InputError, StudyError
from theodolite.reporting.exporting.chat_formats import chat_lines

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

DATA = Path(__file__).parents[2] / "data" / "tool_results"

FILES = sorted(path.name for path in DATA.glob("*.gz"))


def told(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False, standalone_mode=False)
    return result.output


def rates(study: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Return defects and labels by guideline and annotator."""
    told("run", str(study), "--json")
    estimates = json.loads((study / "results.json").read_text())["estimates"]
    return {
        (one["subject"]["guideline"], *one["subject"]["annotators"]): (one["count"], one["n"])
        for one in estimates
        if one["measure"] == "defect_rate" and not one["subject"].get("group")
    }


@pytest.mark.parametrize("name", FILES)
def test_results_of_every_tool_become_a_study_without_errors(name: str, tmp_path: Path) -> None:
    study = tmp_path / "imported"
    told("import", "results", str(study), str(DATA / name))
    checked = told("check", str(study))
    assert "0 errors" in checked
    assert "fits no label" not in checked
    (provenance,) = json.loads((study / "provenance.json").read_text())
    assert provenance["file"] == name
    assert len(provenance["sha256"]) == 64
    rows = list(csv.DictReader((study / "dialogues.csv").read_text().splitlines()))
    assert {row["source_file"] for row in rows} == {name}
    assert all(int(row["source_line"]) >= 1 for row in rows)


def test_the_rates_of_the_study_equal_the_verdicts(tmp_path: Path) -> None:
    study = tmp_path / "capital"
    told("import", "results", str(study), str(DATA / "promptfoo.json.gz"))
    assert rates(study) == {
        ("test", "test"): (2, 3),
        ("names-city", "names-city verdict"): (2, 3),
        ("not-contains-rather-not", "not-contains-rather-not"): (1, 3),
        ("contains-sunny", "contains-sunny"): (1, 1),
    }


def test_an_own_export_keeps_its_labels_and_its_defects(tmp_path: Path) -> None:
    evidence = live_evidence()
    (tmp_path / "chat.jsonl").write_text("".join(chat_lines(evidence)))
    study = tmp_path / "again"
    counts = json.loads(told("import", "results", str(study), str(tmp_path / "chat.jsonl"), "--json"))
    assert counts["dialogues"] == sum(not one.withheld for one in evidence.archive.dialogues())
    assert counts["rules_to_check"] == []
    assert "0 errors" in told("check", str(study))


def test_a_table_is_imported_by_its_columns(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(
        "chat,n,q,a,bot,tone\nc1,1,Hi,Hello,x,4\nc1,2,Bye,Go,x,\nc2,1,Hi,What,x,1\nc2,1,Hi,Hey,y,3\n"
    )
    study = tmp_path / "mine"
    columns = ["--prompt", "q", "--response", "a", "--id", "chat", "--turn", "n", "--application", "bot"]
    output = told(
        "import",
        "results",
        str(study),
        str(tmp_path / "log.csv"),
        *columns,
        "--score",
        "tone=tone",
        "--scored-by",
        "model",
    )
    assert "3 dialogues, 3 labels" in output
    assert "Check this defect rule, which the file does not state:  tone: label <= 2" in output
    assert "0 errors" in told("check", str(study))


def test_errors_of_all_files_are_reported_at_once_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"messages": []}\n{"messages": 1}\n')
    (tmp_path / "b.csv").write_text("promt,response\nx,y\n")
    with pytest.raises(StudyError) as error:
        told("import", "results", str(tmp_path / "new"), str(tmp_path / "a.jsonl"), str(tmp_path / "b.csv"))
    shown = " ".join(str(error.value).split())
    assert "a.jsonl:1" in shown
    assert "a.jsonl:2" in shown
    assert "b.csv:1" in shown
    assert "Did you mean `promt`" in shown
    assert "Nothing was written." in shown
    assert not (tmp_path / "new").exists()


def test_an_existing_study_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("study: mine\n")
    with pytest.raises(InputError, match="exists and stays unchanged"):
        told("import", "results", str(tmp_path), str(DATA / FILES[0]))
    assert (tmp_path / "study.yaml").read_text() == "study: mine\n"


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="Inspect is installed")
def test_importing_an_inspect_log_names_the_missing_extra(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"theodolite\[inspect\]"):
        told("import", "results", str(tmp_path / "new"), str(DATA / "inspect-security-guide.eval"))
