"""The examples for batch systems, their own command lines run on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.house.tree import ROOT
from tests.integration.run.test_shards import results_in, toy, whole  # noqa: F401 - a fixture

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

EXAMPLES = ROOT / "examples"


def _run(command: list[str], environ: dict[str, str]) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(command, env={**own, "PATH": path, **environ}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_slurm(tmp_path: Path, whole: dict[str, Any]) -> None:  # noqa: F811
    folders = {name: str(tmp_path / name.lower()) for name in ("SHARDS", "RESULTS", "TMPDIR")}
    environ = {
        "STUDY": str(toy(tmp_path / "study")),
        "SLURM_ARRAY_JOB_ID": "7",
        "SLURM_ARRAY_TASK_COUNT": "3",
        **folders,
    }
    for task in ("1", "2", "3", "2"):  # task 2 is requeued on another node
        node = {"SLURM_ARRAY_TASK_ID": task, "TMPDIR": str(tmp_path / f"node{task}{len(list(tmp_path.iterdir()))}")}
        _run(["sh", str(EXAMPLES / "slurm" / "shard.sh")], environ | node)

    _run(["sh", str(EXAMPLES / "slurm" / "merge.sh")], environ | {"SLURM_JOB_ID": "8"})

    assert results_in(tmp_path / "results") == whole


def test_kubernetes(tmp_path: Path, whole: dict[str, Any]) -> None:  # noqa: F811
    text = (EXAMPLES / "kubernetes" / "jobs.yaml").read_text(encoding="utf-8")
    jobs = {one["metadata"]["name"]: one for one in YAML(typ="safe").load_all(text) if one["kind"] == "Job"}
    toy(tmp_path / "study")

    for index in range(jobs["shards"]["spec"]["completions"]):
        _run_pod(jobs["shards"], tmp_path, {"JOB_COMPLETION_INDEX": str(index)})
    _run_pod(jobs["merge"], tmp_path, {})

    assert results_in(tmp_path / "shards" / "results") == whole


def _run_pod(job: dict[str, Any], root: Path, environ: dict[str, str]) -> None:
    """Run the container of a job, its mounts under a folder and its scratch volume empty."""
    pod = job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    for entry in container["env"]:
        is_path = any(entry["value"].startswith(mount) for mount in mounts)
        environ = environ | {entry["name"]: f"{root}{entry['value']}" if is_path else entry["value"]}
    environ["THEODOLITE_WORKSPACE"] += f"-{job['metadata']['name']}-{environ.get('JOB_COMPLETION_INDEX', '')}"
    _run([*container["command"], *container["args"]], environ)
