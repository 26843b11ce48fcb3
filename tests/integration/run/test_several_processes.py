"""Several processes work on one study: no unit is lost, and each process says why it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.databases import (  # noqa: F401 - fixtures
    Database,
    database,
    postgres_server,
    postgres_tables,
    postgresql,
    sqlite,
    sqlite_template,
)
from tests.fakes.loopback import LoopbackProcess

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_PERSONAS = 60
N_CALLS = 7 * N_PERSONAS

STUDY = """\
study: shared
{budget}models:
  app: {{url: {url}, name: target, parallel: 8}}
  user: {{url: {url}, name: user-sim, parallel: 8}}
  large: {{url: {url}, name: judge, parallel: 8}}
applications:
  shop: {{kind: model, model: app, system: You are the helpful agent of a shop.}}
scenarios:
  returns: {{task: chat, goal: "Find out {{{{ wish }}}}", turns: 3}}
personas:
  customers: {{template: customer, rows: customers.csv, model: user}}
judges:
  useful: {{ask: How useful are the replies?, scale: 1-5, defect: "<= 2", model: large}}
"""


def _study(folder: Path, url: str, budget: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    rows = "".join(f"Customer {n},whether item {n} can go back\n" for n in range(1, N_PERSONAS + 1))
    (folder / "customers.csv").write_text("name,wish\n" + rows, encoding="utf-8")
    (folder / "study.yaml").write_text(STUDY.format(url=url, budget=budget), encoding="utf-8")
    return folder


def _start(folder: Path, database: Database, *words: str) -> subprocess.Popen[str]:  # noqa: F811
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database.url} if database.url else {})
    command = [sys.executable, "-m", "theodolite", "run", str(folder), "--json", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)


def _made(server: LoopbackProcess) -> int:
    return sum(server.stats()["by_role"].get(role, 0) for role in ("user-sim", "target", "judge"))


def _folders(tmp_path: Path, database: Database, url: str, budget: str = "") -> list[Path]:  # noqa: F811
    """Return the folders of two processes: machines of their own on PostgreSQL, the same on a file."""
    first = _study(tmp_path / "first", url, budget)
    if not database.url:
        return [first, first]
    return [first, Path(shutil.copytree(first, tmp_path / "second"))]


def test_two_processes_both_end_with_the_whole_run(tmp_path: Path, database: Database) -> None:  # noqa: F811
    with LoopbackProcess("--latency", "0.02") as server:
        processes = [_start(folder, database) for folder in _folders(tmp_path, database, server.url)]

        ends = [process.communicate() for process in processes]

        assert [process.returncode for process in processes] == [0, 0], ends
        assert _made(server) == N_CALLS
    assert [json.loads(out)["sessions"]["done"] for out, _ in ends] == [N_PERSONAS] * 2


def test_a_process_finishes_the_units_of_one_that_was_killed_elsewhere(
    tmp_path: Path,
    postgresql: Database,  # noqa: F811
) -> None:
    with LoopbackProcess("--latency", "0.05") as server:
        killed, survivor = (_start(folder, postgresql) for folder in _folders(tmp_path, postgresql, server.url))
        while _made(server) < N_CALLS // 3:
            assert killed.poll() is None
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()

        out, err = survivor.communicate()

        assert survivor.returncode == 0, out + err
        assert json.loads(out)["sessions"]["done"] == N_PERSONAS


def test_each_process_that_meets_the_budget_says_so(tmp_path: Path, database: Database) -> None:  # noqa: F811
    with LoopbackProcess("--latency", "0.02") as server:
        folders = _folders(tmp_path, database, server.url, budget=f"budget: {{calls: {N_CALLS // 2}}}\n")
        processes = [_start(folder, database) for folder in folders]

        ends = [process.communicate() for process in processes]

        assert [process.returncode for process in processes] == [3, 3], ends
        for _, err in ends:
            assert f"the budget of {N_CALLS // 2} calls is spent" in err
            assert "another process" not in err
        assert _made(server) == N_CALLS // 2


def _call(folder: Path, database: Database, *words: str) -> subprocess.CompletedProcess[str]:  # noqa: F811
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database.url} if database.url else {})
    command = [sys.executable, "-m", "theodolite", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False, cwd=folder)


def _start_worker(folder: Path, database: Database, *words: str) -> subprocess.Popen[str]:  # noqa: F811
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database.url} if database.url else {})
    command = [sys.executable, "-m", "theodolite", "worker", str(folder), *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ)


def test_a_worker_joins_a_run_and_returns_its_units_when_it_is_drained(tmp_path: Path, database: Database) -> None:  # noqa: F811
    with LoopbackProcess("--latency", "0.1") as server:
        first, second = _folders(tmp_path, database, server.url)
        worker = _start_worker(second, database)
        assert "waits for open runs" in worker.stdout.readline()
        runner = _start(first, database)
        while "joining the run" not in worker.stdout.readline():
            assert worker.poll() is None
        while not (workers := json.loads(_call(first, database, "status", str(first), "--json").stdout)["workers"]):
            assert runner.poll() is None
        while _made(server) < N_CALLS // 4:
            time.sleep(0.02)
        worker.terminate()
        said, _ = worker.communicate()
        out, err = runner.communicate()

        assert worker.returncode == 0, said
        assert "Left run 1 of `shared`" in said
        assert runner.returncode == 0, out + err
        assert _made(server) == N_CALLS
    assert {worker["alive"] for worker in workers} == {True}


def test_a_worker_for_batch_jobs_ends_with_the_run_and_starts_none(tmp_path: Path, database: Database) -> None:  # noqa: F811
    with LoopbackProcess() as server:
        folder = _study(tmp_path / "first", server.url)
        idle = _call(folder, database, "worker", str(folder), "--until-done")
        tested = _start(folder, database, "--stage", "test")
        tested.communicate()

        joined = _call(folder, database, "worker", str(folder), "--until-done")

        assert (idle.returncode, tested.returncode, joined.returncode) == (0, 0, 0), joined.stdout + joined.stderr
        assert _made(server) == N_CALLS
    assert "Left run 1 of `shared`: 60 of 60 dialogues, 60 of 60 annotations." in joined.stdout
