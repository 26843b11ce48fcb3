"""azure-ai-ml itself loads and validates what we write, without a network."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.fakes.terminal import theodolite
from tests.unit.config.test_azure_pipelines import FAULTS, STUDY
from theodolite.bootstrap.shards import PIPELINES
from theodolite.gateways.extras import validate_pipeline


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A written pipeline, on a machine without a network."""
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "study.yaml").write_text(STUDY, encoding="utf-8")

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    written = theodolite("azureml", tmp_path / "small", "--out", tmp_path / "aml")
    assert written.code == 0, written.said
    assert "no errors (linter and azure-ai-ml)" in written.out
    return tmp_path / "aml"


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_load_and_become_requests_of_the_service(folder: Path, name: str) -> None:
    from azure.ai.ml import load_job

    job = load_job(folder / name)

    assert list(job.jobs) == ["generate", "evaluate", "aggregate"]
    assert validate_pipeline(folder / name) == ()
    request = job._to_rest_object()  # the body that a submission sends
    assert request.properties.job_type == "Pipeline"
    assert set(request.properties.jobs) == {"generate", "evaluate", "aggregate"}


def test_components_load(folder: Path) -> None:
    from azure.ai.ml import load_component

    components = [load_component(path) for path in sorted((folder / "components").iterdir())]

    assert [one.name for one in components] == ["theodolite_aggregate", "theodolite_evaluate", "theodolite_generate"]


def test_its_own_faults_are_reported(folder: Path) -> None:
    file = folder / "pipeline.yml"
    file.write_text(file.read_text(encoding="utf-8").replace("type: pipeline", "type: pipeline\nunknown: 1"), "utf-8")

    ended = theodolite("azureml", file)

    assert ended.code == 2
    assert "azure-ai-ml finds errors" in ended.err


@pytest.mark.parametrize("case", ["cycle", "unknown-job", "text-for-integer", "above-maximum", "no-data"])
def test_it_accepts_what_the_linter_finds(folder: Path, case: str) -> None:
    name, before, after, _ = FAULTS[case]
    file = folder / name
    file.write_text(file.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")

    assert validate_pipeline(file) == ()


def test_a_submission_without_a_workspace_says_what_is_missing(folder: Path) -> None:
    some = theodolite("azureml", folder / "pipeline.yml", "--submit", "--workspace", "w")
    none = theodolite("azureml", folder / "pipeline.yml", "--submit")

    assert (some.code, none.code) == (2, 2)
    assert "give all three or none" in some.err
    assert "no workspace is named" in none.err
