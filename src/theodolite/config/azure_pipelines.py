"""The linter of Azure Machine Learning pipelines: checks beyond the offline validation of azure-ai-ml.

Without a workspace, azure-ai-ml 1.35 accepts cycles, undefined references, texts for integers, values out of range,
unknown inputs and missing local data; the service rejects them after the upload.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from theodolite.config.tables import unreadable
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, YamlSource, read_yaml, typed
from theodolite.domain.errors import Diagnostic, did_you_mean

ENDING = "Nothing was submitted."

REFERENCE = re.compile(r"\$\{\{\s*([\w.]+)\s*\}\}")
"""A binding such as `${{parent.jobs.generate.outputs.dialogues}}`."""

_DATA = ("uri_file", "uri_folder", "mltable")
_LITERALS: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str, int, float, bool),
}

Names = tuple[str | int, ...]
Entries = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class _Pipeline:
    """A pipeline file and its components.

    Attributes:
        source: The file with line positions.
        folder: Folder of the file.
        entries: Content of the file.
        components: Content of each job's component; the job itself if it has none.
        faults: Errors so far.
    """

    source: YamlSource
    folder: Path
    entries: Entries
    components: dict[str, Entries] = field(default_factory=dict)
    faults: list[LocatedDiagnostic] = field(default_factory=list)

    def fault(self, path: Names, message: str, fix: str = "") -> None:
        """Add an error at a position of the pipeline file."""
        self.faults.append(self.source.place(Diagnostic(path=path, message=message, fix=fix)))

    @property
    def jobs(self) -> dict[str, Entries]:
        """The jobs by name."""
        return {name: job for name, job in _mapping(self.entries, "jobs").items() if isinstance(job, Mapping)}


def check_pipeline(path: Path) -> None:
    """Check a pipeline and its components.

    Args:
        path: The pipeline file.

    Raises:
        InvalidStudyError: If it has errors; lists all of them.
    """
    diagnostics = pipeline_faults(path)
    if diagnostics:
        raise InvalidStudyError(tuple(diagnostics), ending=ENDING)


def is_pipeline(path: Path) -> bool:
    """Return whether a file is an Azure Machine Learning pipeline."""
    if path.suffix not in {".yml", ".yaml"} or not path.is_file():
        return False
    source = read_yaml(path.read_bytes(), path.name)
    content = typed(source.content)
    return isinstance(content, Mapping) and content.get("type") == "pipeline"


def pipeline_faults(path: Path) -> list[LocatedDiagnostic]:
    """Return the errors of a pipeline and its components."""
    source, entries, diagnostics = _read(path, path.name)
    pipeline = _Pipeline(source=source, folder=path.parent, entries=entries, faults=diagnostics)
    if diagnostics:
        return diagnostics
    _check_data(pipeline)
    for name, job in pipeline.jobs.items():
        pipeline.components[name] = _component_of(pipeline, name, job)
    for name, job in pipeline.jobs.items():
        _check_inputs(pipeline, name, job)
        _check_outputs(pipeline, name, job)
        _check_compute(pipeline, name, job)
    _check_cycles(pipeline)
    return pipeline.faults


def _read(path: Path, name: str) -> tuple[YamlSource, Entries, list[LocatedDiagnostic]]:
    try:
        source = read_yaml(path.read_bytes(), name)
    except OSError as error:
        empty = read_yaml(b"", name)
        return empty, {}, [LocatedDiagnostic(file=name, message=f"cannot be read: {unreadable(error)}")]
    content = typed(source.content)
    diagnostics = list(source.faults)
    if not diagnostics and not isinstance(content, Mapping):
        diagnostics.append(LocatedDiagnostic(file=name, message="expected keys and values of a pipeline or component"))
    return source, content if isinstance(content, Mapping) else {}, diagnostics


def _component_of(pipeline: _Pipeline, name: str, job: Entries) -> Entries:
    """Return the checked component of a job; the job itself if it is written inline."""
    component = job.get("component")
    if not isinstance(component, str):
        _check_command(pipeline, f"job `{name}`", job, ("jobs", name))
        _check_files(pipeline, pipeline.folder, job, ("jobs", name))
        return job
    if component.startswith("azureml:"):
        return {}  # registered in a workspace, so it cannot be checked offline
    path = pipeline.folder / component.removeprefix("file:")
    if not path.is_file():
        pipeline.fault(("jobs", name, "component"), f"there is no component file `{component}`")
        return {}
    _, entries, diagnostics = _read(
        path, (path.relative_to(pipeline.folder) if path.is_relative_to(pipeline.folder) else path).as_posix()
    )
    pipeline.faults += diagnostics
    _check_command(pipeline, f"component `{component}`", entries, ("jobs", name, "component"))
    _check_files(pipeline, path.parent, entries, ("jobs", name, "component"))
    return entries


def _check_command(pipeline: _Pipeline, subject: str, entries: Entries, path: Names) -> None:
    """Check that a command line uses only declared inputs and outputs."""
    task = _mapping(entries, "task")
    texts = [entries.get("command"), entries.get("input_data"), task.get("program_arguments")]
    declared = {side: set(_mapping(entries, side)) for side in ("inputs", "outputs")}
    for reference in (one[1] for text in texts if isinstance(text, str) for one in REFERENCE.finditer(text)):
        side, _, name = reference.partition(".")
        if side not in declared or name not in declared[side]:
            known = sorted(f"{each}.{one}" for each, names in declared.items() for one in names)
            pipeline.fault(
                path,
                f"the command of {subject} uses `{reference}`, which is not declared{did_you_mean(reference, known)}",
            )


def _check_files(pipeline: _Pipeline, folder: Path, entries: Entries, path: Names) -> None:
    """Check that local code and environment files exist."""
    task = _mapping(entries, "task")
    for part in (entries, task):
        environment = part.get("environment")
        conda = environment.get("conda_file") if isinstance(environment, Mapping) else None
        for file in (part.get("code"), conda):
            if isinstance(file, str) and _is_local(file) and not (folder / file).exists():
                pipeline.fault(path, f"there is no file `{file}`")
    script, code = task.get("entry_script"), task.get("code")
    if isinstance(script, str) and isinstance(code, str) and not (folder / code / script).is_file():
        pipeline.fault(path, f"there is no entry script `{script}` in `{code}`")


def _check_data(pipeline: _Pipeline) -> None:
    """Check that local data of the pipeline's inputs exist and have the declared type."""
    for name, entry in _mapping(pipeline.entries, "inputs").items():
        path = entry.get("path") if isinstance(entry, Mapping) else None
        if not isinstance(path, str) or not _is_local(path):
            continue
        place, local = ("inputs", name, "path"), pipeline.folder / path
        kind = entry.get("type", "uri_folder")
        if not local.exists():
            pipeline.fault(place, f"there is no data `{path}` for the input `{name}`")
        elif kind == "uri_file" and local.is_dir():
            pipeline.fault(place, f"the input `{name}` is a uri_file, and `{path}` is a folder")
        elif kind in {"uri_folder", "mltable"} and local.is_file():
            pipeline.fault(place, f"the input `{name}` is a {kind}, and `{path}` is a file")


def _check_inputs(pipeline: _Pipeline, name: str, job: Entries) -> None:
    component = pipeline.components[name]
    declared = _mapping(component, "inputs")
    bound = _mapping(job, "inputs")
    is_inline = component is job
    if not component:
        for key, value in bound.items():
            _kind_of(pipeline, value, ("jobs", name, "inputs", key))
        return
    for key, value in bound.items():
        path = ("jobs", name, "inputs", key)
        spec = {} if is_inline else declared.get(key)
        if spec is None:
            pipeline.fault(path, f"the component of `{name}` has no input `{key}`{did_you_mean(key, list(declared))}")
            continue
        _check_value(pipeline, value, spec if isinstance(spec, Mapping) else {}, path)
    for key, spec in ({} if is_inline else declared).items():
        is_required = isinstance(spec, Mapping) and "default" not in spec and not spec.get("optional")
        if key not in bound and is_required:
            pipeline.fault(("jobs", name), f"the input `{key}` of `{name}` has no value")


def _check_value(pipeline: _Pipeline, value: Any, spec: Entries, path: Names) -> None:
    """Check a value or binding against the declaration of an input."""
    expected = spec.get("type")
    if isinstance(value, str) and REFERENCE.fullmatch(value.strip()):
        kind, literal = _kind_of(pipeline, value, path)
        if expected in _DATA and kind and kind != expected:
            pipeline.fault(path, f"expected {expected}; `{value}` is {kind}")
        elif literal is not None and isinstance(expected, str) and expected not in _DATA:
            _check_literal(pipeline, literal, spec, path)
        return
    if isinstance(value, Mapping):
        kind = value.get("type", "uri_folder")
        if expected in _DATA and kind != expected:
            pipeline.fault(path, f"expected {expected}; got {kind}")
        local = value.get("path")
        if isinstance(local, str) and _is_local(local) and not (pipeline.folder / local).exists():
            pipeline.fault((*path, "path"), f"there is no data `{local}`")
        return
    _check_literal(pipeline, value, spec, path)


def _check_literal(pipeline: _Pipeline, value: Any, spec: Entries, path: Names) -> None:
    expected = spec.get("type")
    if expected in _DATA:
        pipeline.fault(path, f"expected {expected}, a binding or a path; got {value!r}")
        return
    kinds = _LITERALS.get(str(expected))
    if kinds is None:
        return
    is_boolean = isinstance(value, bool)
    if not isinstance(value, kinds) or (is_boolean and expected in {"integer", "number"}):
        pipeline.fault(path, f"expected {expected}; got {value!r}")
        return
    low, high, choices = spec.get("min"), spec.get("max"), spec.get("enum")
    if low is not None and value < low:
        pipeline.fault(path, f"expected at least {low}; got {value}")
    if high is not None and value > high:
        pipeline.fault(path, f"expected at most {high}; got {value}")
    if isinstance(choices, Sequence) and value not in choices:
        pipeline.fault(path, f"expected one of {', '.join(map(str, choices))}; got {value}")


def _kind_of(pipeline: _Pipeline, value: Any, path: Names) -> tuple[str, Any]:
    """Return type and literal of a binding's target (empty and None if unknown); report bindings without a target."""
    match = REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return "", None
    parts = match[1].split(".")
    if parts[:2] == ["parent", "inputs"] and len(parts) == 3:
        inputs = _mapping(pipeline.entries, "inputs")
        if parts[2] not in inputs:
            pipeline.fault(path, f"the pipeline has no input `{parts[2]}`{did_you_mean(parts[2], list(inputs))}")
            return "", None
        entry = inputs[parts[2]]
        return (
            (str(entry.get("type", "uri_folder")), entry.get("default")) if isinstance(entry, Mapping) else ("", entry)
        )
    if parts[:2] == ["parent", "jobs"] and len(parts) == 5 and parts[3] == "outputs":
        return _output_kind(pipeline, parts[2], parts[4], path), None
    expected = "`${{parent.inputs.NAME}}` or `${{parent.jobs.JOB.outputs.NAME}}`"
    pipeline.fault(path, f"expected {expected}; got `{value}`")
    return "", None


def _output_kind(pipeline: _Pipeline, job: str, output: str, path: Names) -> str:
    if job not in pipeline.jobs:
        pipeline.fault(path, f"the pipeline has no job `{job}`{did_you_mean(job, list(pipeline.jobs))}")
        return ""
    component = pipeline.components[job]
    outputs = _mapping(component, "outputs")
    if component and output not in outputs:
        pipeline.fault(path, f"the job `{job}` has no output `{output}`{did_you_mean(output, list(outputs))}")
        return ""
    entry = outputs.get(output)
    return str(entry.get("type", "uri_folder")) if isinstance(entry, Mapping) else ""


def _check_outputs(pipeline: _Pipeline, name: str, job: Entries) -> None:
    component = pipeline.components[name]
    declared, of_pipeline = _mapping(component, "outputs"), _mapping(pipeline.entries, "outputs")
    for key, value in _mapping(job, "outputs").items():
        path = ("jobs", name, "outputs", key)
        if component and key not in declared:
            pipeline.fault(path, f"the component of `{name}` has no output `{key}`{did_you_mean(key, list(declared))}")
        match = REFERENCE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is None:
            continue
        target = match[1].removeprefix("parent.outputs.")
        if target == match[1] or target not in of_pipeline:
            pipeline.fault(path, f"the pipeline has no output `{target}`{did_you_mean(target, list(of_pipeline))}")
            continue
        kinds = [
            entry.get("type", "uri_folder")
            for entry in (declared.get(key), of_pipeline[target])
            if isinstance(entry, Mapping)
        ]
        if len(set(kinds)) > 1:
            pipeline.fault(path, f"expected {kinds[1]}, the type of the pipeline's output `{target}`; got {kinds[0]}")


def _check_compute(pipeline: _Pipeline, name: str, job: Entries) -> None:
    if not (
        job.get("compute")
        or pipeline.entries.get("compute")
        or _mapping(pipeline.entries, "settings").get("default_compute")
    ):
        pipeline.fault(("jobs", name), f"`{name}` has no compute; set `default_compute` under `settings`")


def _check_cycles(pipeline: _Pipeline) -> None:
    """Report jobs that wait for each other, each cycle once."""
    waits = {
        name: [fromkey for fromkey in dict.fromkeys(_jobs_before(job)) if fromkey in pipeline.jobs]
        for name, job in pipeline.jobs.items()
    }
    done: set[str] = set()
    for start in waits:
        trail: list[str] = []
        while (cycle := _cycle_from(start, waits, done, trail)) is not None:
            pipeline.fault(("jobs", cycle[0]), f"jobs wait for each other: {' -> '.join([*cycle, cycle[0]])}")
            done.update(cycle)
            trail = []


def _cycle_from(name: str, waits: Mapping[str, list[str]], done: set[str], trail: list[str]) -> list[str] | None:
    if name in trail:
        return trail[trail.index(name) :]
    if name in done:
        return None
    trail.append(name)
    for before in waits[name]:
        cycle = _cycle_from(before, waits, done, trail)
        if cycle is not None:
            return cycle
    trail.pop()
    done.add(name)
    return None


def _jobs_before(job: Entries) -> Iterator[str]:
    for value in _mapping(job, "inputs").values():
        text = value.get("path") if isinstance(value, Mapping) else value
        for match in REFERENCE.finditer(text) if isinstance(text, str) else ():
            parts = match[1].split(".")
            if parts[:2] == ["parent", "jobs"] and len(parts) > 2:
                yield parts[2]


def _is_local(path: str) -> bool:
    return not re.match(r"[a-z]+:", path) and "${{" not in path


def _mapping(entries: Entries, name: str) -> Entries:
    value = entries.get(name)
    return value if isinstance(value, Mapping) else {}
