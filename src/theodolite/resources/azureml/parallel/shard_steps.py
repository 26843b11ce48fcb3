"""Entry script of parallel steps: each file of a mini-batch names a shard, e.g. `2-of-8`."""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

ARGUMENTS = argparse.Namespace()


def init() -> None:
    """Read the arguments of the step; Azure Machine Learning adds others."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", choices=["test", "score"], required=True)
    parser.add_argument("--study", required=True)
    parser.add_argument("--out", required=True)
    parser.parse_known_args(namespace=ARGUMENTS)


def run(mini_batch: list[str]) -> list[str]:
    """Run the stage of each shard, and return the names of the files that are done."""
    done = []
    for path in map(Path, mini_batch):
        number, count = re.search(r"(\d+)-of-(\d+)(?:\.jsonl)?$", path.name).groups()
        command = ["theodolite", "run", ARGUMENTS.study, "--stage", ARGUMENTS.stage]
        command += ["--shard", f"{number}/{count}", "--out", ARGUMENTS.out]
        if ARGUMENTS.stage == "score":
            command += ["--from", str(path)]
        with tempfile.TemporaryDirectory() as workspace:
            allowed = {"THEODOLITE_ALLOW_CODE": "1", "THEODOLITE_ALLOW_KEYS": "1"}
            environ = {**os.environ, **allowed, "THEODOLITE_WORKSPACE": workspace}
            subprocess.run(command, env=environ, check=True)
        done.append(path.name)
    return done
