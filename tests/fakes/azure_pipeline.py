"""A pipeline of Azure Machine Learning, its command lines run on this machine in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

_RUN_PARALLEL = "import sys, shard_steps; shard_steps.init(); shard_steps.run(sys.argv[sys.argv.index('--') + 1:])"


def read(path: Path) -> dict[str, Any]:
    """Return a YAML file."""
    content = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def run_pipeline(file: Path, folder: Path) -> Path:
    """Run the jobs of a pipeline in the order of its file, and return the folder of its output `results`."""
    pipeline = read(file)
    for name, job in pipeline["jobs"].items():
        component = read(file.parent / job["component"]) if "component" in job else job
        values = {
            f"inputs.{key}": _value(spec["default"]) for key, spec in component["inputs"].items() if "default" in spec
        }
        values |= {f"inputs.{key}": _bound(value, pipeline, file, folder) for key, value in job["inputs"].items()}
        for key in component["outputs"]:
            (folder / f"{name}.{key}").mkdir(parents=True)
            values[f"outputs.{key}"] = str(folder / f"{name}.{key}")
        scratch = folder / f"{name}.node"
        scratch.mkdir()
        _run(_command(job, component, values), scratch, file.parent)
    return folder / "aggregate.results"


def _value(value: object) -> str:
    return str(value)


def _bound(value: str, pipeline: dict[str, Any], file: Path, folder: Path) -> str:
    match = re.fullmatch(r"\$\{\{parent\.(inputs|jobs)\.([\w.]+)\}\}", value)
    assert match, value
    if match[1] == "jobs":
        return str(folder / match[2].replace(".outputs.", "."))
    entry = pipeline["inputs"][match[2]]
    return str((file.parent / entry["path"]).resolve()) if isinstance(entry, dict) else str(entry)


def _command(job: dict[str, Any], component: dict[str, Any], values: dict[str, str]) -> list[str]:
    def filled(text: str) -> str:
        return re.sub(r"\$\{\{([\w.]+)\}\}", lambda match: values[match[1]], text)

    if "task" not in job:
        return ["bash", "-c", filled(component["command"])]
    files = sorted(Path(filled(job["input_data"])).iterdir())
    arguments = filled(job["task"]["program_arguments"]).split()
    # Azure Machine Learning calls `init` once and `run` with each mini-batch.
    return [sys.executable, "-c", _RUN_PARALLEL, *arguments, "--", *map(str, files)]


def _run(command: list[str], scratch: Path, code: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_URL", "THEODOLITE_"))}
    environ = {**own, "PATH": path, "PYTHONPATH": str(code / "parallel")}
    done = subprocess.run(command, cwd=scratch, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
