"""The linter finds what the offline validation of azure-ai-ml accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.shards import PIPELINES, PipelineOptions, write_pipeline
from theodolite.config.azure_pipelines import check_pipeline, is_pipeline, pipeline_faults
from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError

STUDY = """\
study: small
models: {m: {script: [Hello]}}
applications: {bot: {kind: model, model: m}}
scenarios: {hours: {task: chat, scripts: {hello: hello}}}
"""

COMPONENT = "components/evaluate.yml"

FAULTS = {
    "cycle": (
        "pipeline.yml",
        "      study: ${{parent.inputs.study}}\n      concurrency",
        "      study: ${{parent.jobs.evaluate.outputs.annotations}}\n      concurrency",
        "jobs wait for each other: generate -> evaluate -> generate",
    ),
    "unknown-job": ("pipeline.yml", "jobs.generate.", "jobs.generat.", "no job `generat`. Did you mean `generate`?"),
    "unknown-output": ("pipeline.yml", "outputs.dialogues", "outputs.dialogs", "has no output `dialogs`"),
    "unknown-parent-input": ("pipeline.yml", "parent.inputs.concurrency", "parent.inputs.calls", "no input `calls`"),
    "no-reference": ("pipeline.yml", "parent.inputs.concurrency", "inputs.concurrency", "expected `${{parent.inputs"),
    "unknown-pipeline-output": (
        "pipeline.yml",
        "parent.outputs.results",
        "parent.outputs.result",
        "no output `result`",
    ),
    "unknown-input": ("pipeline.yml", "      dialogues:", "      dialogs:", "has no input `dialogs`"),
    "input-without-value": (
        "pipeline.yml",
        "      dialogues:",
        "      dialogs:",
        "input `dialogues` of `evaluate` has no",
    ),
    "text-for-integer": ("pipeline.yml", "concurrency: 32", "concurrency: many", "expected integer; got 'many'"),
    "below-minimum": ("pipeline.yml", "concurrency: 32", "concurrency: 0", "expected at least 1; got 0"),
    "above-maximum": ("pipeline.yml", "concurrency: 32", "concurrency: 9999", "expected at most 1024; got 9999"),
    "literal-in-job": (
        "pipeline.yml",
        "concurrency: ${{parent.inputs.concurrency}}",
        "concurrency: -1",
        "expected at least 1; got -1",
    ),
    "literal-for-data": ("pipeline.yml", "study: ${{parent.inputs.study}}", "study: 7", "expected uri_folder"),
    "folder-for-file": (
        COMPONENT,
        "  dialogues:\n    type: uri_folder",
        "  dialogues:\n    type: uri_file",
        "is uri_folder",
    ),
    "output-type": (
        "components/aggregate.yml",
        "outputs:\n  results:\n    type: uri_folder",
        "outputs:\n  results:\n    type: uri_file",
        "expected uri_folder, the type of the pipeline's output `results`; got uri_file",
    ),
    "no-data": (
        "pipeline.yml",
        "path: ./study",
        "path: ./studies",
        "there is no data `./studies` for the input `study`",
    ),
    "file-for-folder": (
        "pipeline.yml",
        "path: ./study",
        "path: ./README.md",
        "is a uri_folder, and `./README.md` is a file",
    ),
    "no-component": ("pipeline.yml", "components/evaluate.yml", "components/score.yml", "no component file"),
    "undeclared-in-command": (
        COMPONENT,
        "--from ${{inputs.dialogues}}",
        "--from ${{inputs.dialog}}",
        "uses `inputs.dialog`",
    ),
    "no-conda-file": (
        COMPONENT,
        "environment/conda.yml",
        "environment/pip.yml",
        "there is no file `../environment/pip.yml`",
    ),
    "no-compute": ("pipeline.yml", "default_compute: azureml:cpu-cluster", "default_datastore: x", "has no compute"),
    "no-script": ("pipeline-parallel.yml", "shard_steps.py", "steps.py", "no entry script `steps.py`"),
    "no-yaml": ("pipeline.yml", "jobs:", "jobs: [", "pipeline.yml"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A written pipeline."""
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "study.yaml").write_text(STUDY, encoding="utf-8")
    loaded = load_study(tmp_path / "small" / "study.yaml", resolver=resource_resolver())
    write_pipeline(loaded, PipelineOptions(shards=4), tmp_path / "aml")
    return tmp_path / "aml"


@pytest.mark.parametrize("name", PIPELINES)
def test_generated_pipelines_have_no_errors(folder: Path, name: str) -> None:
    assert is_pipeline(folder / name)
    assert pipeline_faults(folder / name) == []
    check_pipeline(folder / name)


@pytest.mark.parametrize("case", FAULTS)
def test_errors_are_located(folder: Path, case: str) -> None:
    name, before, after, words = FAULTS[case]
    text = (folder / name).read_text(encoding="utf-8")
    assert before in text
    (folder / name).write_text(text.replace(before, after), encoding="utf-8")
    pipeline = folder / (name if "parallel" in name else "pipeline.yml")

    with pytest.raises(InvalidStudyError) as refused:
        check_pipeline(pipeline)

    text = " ".join(str(refused.value).split())
    assert words in text
    assert "Nothing was submitted." in text
    assert all(fault.line or case == "no-yaml" for fault in refused.value.placed)


def test_a_study_and_a_component_are_not_pipelines(folder: Path) -> None:
    others = [folder / "study" / "study.yaml", folder / COMPONENT, folder / "README.md", folder, folder / "none.yml"]

    assert [is_pipeline(path) for path in others] == [False] * 5


def test_no_placeholder_of_the_templates_remains(folder: Path) -> None:
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.*") if path.suffix in {".yml", ".md"}]

    words = (
        "STUDY",
        "SHARDS",
        "VERSION",
        "IMAGE",
        "KEYS",
        "EXPERIMENT",
        "INSTANCES",
        "COMPUTE",
        "CONCURRENCY",
        "PYTHON",
    )
    assert [word for word in words for text in texts if f" {word}" in text or f"=={word}" in text] == []
