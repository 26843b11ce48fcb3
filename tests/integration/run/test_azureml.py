"""A pipeline of Azure Machine Learning whose commands produce the results of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.azure_pipeline import run_pipeline
from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import theodolite
from tests.integration.run.test_shards import results_in, toy, whole  # noqa: F401 - a fixture

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.mark.parametrize("name", ["pipeline.yml", "pipeline-parallel.yml"])
def test_the_commands_of_the_pipeline_produce_the_same_results(
    tmp_path: Path,
    whole: dict[str, Any],  # noqa: F811
    name: str,
) -> None:
    study = toy(tmp_path / "toy")
    written = theodolite("azureml", study, "--out", tmp_path / "aml", "--shards", "3", "--instances", "1")
    assert written.code == 0, written.said

    results = run_pipeline(tmp_path / "aml" / name, tmp_path / "runs")

    assert results_in(results) == whole
    assert not (study / ".theodolite").exists()


def test_a_study_that_reads_other_folders_is_refused(study: SupportStudy, tmp_path: Path) -> None:
    folder = study.write()
    (folder / "customers.csv").rename(tmp_path / "customers.csv")
    text = (folder / "study.yaml").read_text(encoding="utf-8")
    (folder / "study.yaml").write_text(text.replace("customers.csv", str(tmp_path / "customers.csv")), encoding="utf-8")

    ended = theodolite("azureml", folder, "--out", tmp_path / "aml", "--allow-path", tmp_path / "customers.csv")

    assert ended.code == 2
    assert "move the files that it reads into its folder" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a folder for the pipeline files"),
        (("--out", "support/aml"), "is inside the study's folder"),
        (("--out", "aml", "--compute", "a b"), "a compute cluster has"),
        (("--out", "aml", "--shards", "2", "--instances", "3"), "expected at most 2 instances"),
    ],
    ids=["no-out", "inside", "compute", "instances"],
)
def test_unsuitable_options_are_refused(
    study: SupportStudy, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(study.write().parent)

    ended = theodolite("azureml", "support", *words)

    assert (ended.code, said in ended.err) == (2, True), ended.err
