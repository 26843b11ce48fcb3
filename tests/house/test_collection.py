"""Tests have the same ids whenever they are collected, and draw nothing at import."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.house.tree import ROOT, parsed

CHANCE = {"default_rng", "Random", "uuid4", "token_hex", "now", "today", "time"}


def with_parameters(ids: Iterable[str]) -> list[str]:
    """Return the ids that name parameters, sorted: a plugin may run tests in another order."""
    return sorted(line for line in ids if line.endswith("]"))


@pytest.mark.integration
@pytest.mark.timeout(600)
def test_a_process_with_another_hash_seed_collects_the_same_ids(request):
    mine = with_parameters(item.nodeid for item in request.session.items)
    words = ["-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "--collect-only", "-q", *request.config.args]
    environ = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland"}

    done = subprocess.run([sys.executable, *words], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    fresh = with_parameters(done.stdout.splitlines())

    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    assert sorted({*mine} - {*fresh}) == []
    assert [name for name, n in Counter(fresh).items() if n > 1] == []


def generators_at_import(path: Path) -> list[str]:
    """Return names of a module that hold a generator: tests would take from it what their order leaves to them."""
    lines = (node for node in parsed(path).body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
    return [
        f"{path.relative_to(ROOT)}:{line.lineno}"
        for line in lines
        if ast.unparse(line.value.func).split(".")[-1] in CHANCE
    ]


def test_no_test_module_depends_on_randomness_or_time_at_import():
    assert [found for path in sorted((ROOT / "tests").rglob("*.py")) for found in generators_at_import(path)] == []
