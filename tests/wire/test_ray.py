"""A real Ray cluster of two nodes on this machine runs a study, and loses a node."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.fakes.terminal import environment, in_a_fresh_process
from tests.integration.run.test_shards import results_in
from tests.postgres import running_server

pytestmark = pytest.mark.timeout(400)

TOY = resources.files("theodolite.resources") / "demo" / "spoiler-guard"

PATIENCE_S = 120
"""How long the second node may take to join; seconds. Ray's own 30 are too few on a busy machine."""

REPEATS = 150
N = 4 * REPEATS

ENVIRON = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "THEODOLITE_ALLOW_CODE": "1"}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head with one core, and nothing else yet."""
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        yield nodes
    finally:
        nodes.shutdown()


def _toy(folder: Path) -> Path:
    shutil.copytree(str(TOY), folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "study.yaml").read_text(encoding="utf-8")
    assert "repeats: 3" in text
    (folder / "study.yaml").write_text(text.replace("repeats: 3", f"repeats: {REPEATS}"), encoding="utf-8")
    return folder


def _n_dialogues(folder: Path) -> int:
    database = folder / ".theodolite" / "theodolite.db"
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        counted: int = opened.execute("SELECT count(*) FROM store_dialogue").fetchone()[0]
        return counted
    return 0


def _n_on_server(url: str) -> int:
    with suppress(psycopg.Error), psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM store_dialogue").fetchone()
        return int(row[0]) if row else 0
    return 0


@contextmanager
def _database(kind: str, study: Path) -> Iterator[tuple[dict[str, str], Callable[[], int]]]:
    """Yield the variables that name a database, and what counts its dialogues."""
    if kind == "sqlite":
        yield {}, partial(_n_dialogues, study)
        return
    with running_server() as server:
        url = server.create()
        yield {"DATABASE_URL": url}, partial(_n_on_server, url)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_run_survives_the_loss_of_a_node(cluster: Any, tmp_path: Path, kind: str) -> None:
    """With PostgreSQL the second node has an address of its own, as on another machine."""
    local, study = _toy(tmp_path / "local"), _toy(tmp_path / "toy")
    assert in_a_fresh_process("run", local, environ=environment(**ENVIRON)).code == 0
    address = {"node_ip_address": "127.0.0.2"} if kind == "postgresql" else {}
    lost = cluster.add_node(num_cpus=1, **address)
    cluster.wait_for_nodes(timeout=PATIENCE_S)
    words = ["run", str(study), "--on", "ray", "--address", cluster.address, "--workers", "2", "--concurrency", "2"]

    with _database(kind, study) as (variables, count), (tmp_path / "err").open("w") as err:
        command = [sys.executable, "-m", "theodolite", *words, "--json"]
        driver = subprocess.Popen(
            command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=err, text=True
        )
        while not (before := count()) and driver.poll() is None:
            time.sleep(0.05)
        cluster.remove_node(lost, allow_graceful=False)
        out, _ = driver.communicate()
        after = count()

    said = (tmp_path / "err").read_text(encoding="utf-8")
    assert driver.returncode == 0, said + out
    assert 0 < before < N
    assert json.loads(out)["sessions"]["done"] == N
    assert after == N
    assert "placed 2 workers on 2 nodes of Ray" in said
    assert results_in(study) == results_in(local)


def test_a_cluster_that_is_away_is_an_error_in_words(tmp_path: Path) -> None:
    words = ("run", _toy(tmp_path / "toy"), "--on", "ray", "--address", "127.0.0.1:9")

    ended = in_a_fresh_process(*words, environ=environment(**ENVIRON))

    assert ended.code == 3
    assert "no Ray cluster answers at `127.0.0.1:9`" in ended.err
    assert "Traceback" not in ended.err
