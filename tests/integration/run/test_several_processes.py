"""Several processes run one study: no unit is lost, and each process states why it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from bisect import bisect_right
from pathlib import Path

import psycopg
import pytest

from tests.databases import Database
from tests.fakes.loopback import LoopbackProcess
from theodolite.execution.run_worker import SESSION_SURPLUS

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_PERSONAS = 60
N_CALLS = 7 * N_PERSONAS
PARALLEL = 8

MOST_IN_FLIGHT = int(PARALLEL * (1 + SESSION_SURPLUS)) + PARALLEL
"""Calls of one process that are not stored yet: of its sessions and its annotations; count."""

STUDY = """\
study: shared
{budget}models:
  app: {{url: {url}, name: target, parallel: {parallel}}}
  user: {{url: {url}, name: user-sim, parallel: {parallel}}}
  large: {{url: {url}, name: judge, parallel: {parallel}}}
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
    (folder / "study.yaml").write_text(STUDY.format(url=url, budget=budget, parallel=PARALLEL), encoding="utf-8")
    return folder


def _start(folder: Path, database: Database, *words: str, prelude: str = "") -> subprocess.Popen[str]:
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database.url} if database.url else {})
    program = ["-c", f"{prelude}; from theodolite.cli.main import program; program()"]
    command = [sys.executable, *(program if prelude else ["-m", "theodolite"]), "run", str(folder), "--json", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)


def _made(server: LoopbackProcess) -> int:
    return sum(server.stats()["by_role"].get(role, 0) for role in ("user-sim", "target", "judge"))


def _folders(tmp_path: Path, database: Database, url: str, budget: str = "") -> list[Path]:
    """Return the folders of two processes: machines of their own on PostgreSQL, the same on a file."""
    first = _study(tmp_path / "first", url, budget)
    if not database.url:
        return [first, first]
    return [first, Path(shutil.copytree(first, tmp_path / "second"))]


def test_two_processes_both_report_the_complete_run(tmp_path: Path, database: Database) -> None:
    with LoopbackProcess("--latency", "0.02") as server:
        processes = [_start(folder, database) for folder in _folders(tmp_path, database, server.url)]

        ends = [process.communicate() for process in processes]

        assert [process.returncode for process in processes] == [0, 0], ends
        assert _made(server) == N_CALLS
    assert [json.loads(out)["sessions"]["done"] for out, _ in ends] == [N_PERSONAS] * 2


def test_killed_workers_on_another_machine_lose_no_dialogue_and_repeat_only_calls_in_flight(
    tmp_path: Path,
    postgresql: Database,
) -> None:
    """Each process has its own folder, so only the database shows that one of them is gone."""
    n_killed = 3
    with LoopbackProcess("--latency", "0.05") as server:
        first = _study(tmp_path / "0", server.url)
        folders = [first, *(Path(shutil.copytree(first, tmp_path / f"{n}")) for n in range(1, 4 + n_killed))]
        processes = [_start(folder, postgresql) for folder in folders[:4]]
        for number in range(n_killed):
            while _made(server) < N_CALLS * (number + 1) // (n_killed + 2):
                assert processes[number].poll() is None
                time.sleep(0.02)
            processes[number].send_signal(signal.SIGKILL)
            processes.append(_start(folders[4 + number], postgresql))
        ends = [process.communicate() for process in processes]
        n_repeated = _made(server) - N_CALLS

    survivors = list(zip(processes, ends, strict=True))[n_killed:]
    assert [process.returncode for process, _ in survivors] == [0] * 4, ends
    assert [json.loads(out)["sessions"]["done"] for _, (out, _) in survivors] == [N_PERSONAS] * 4
    with psycopg.connect(postgresql.url) as connection:
        for table in ("store_dialogue", "store_annotation"):
            counted = connection.execute(f"SELECT count(*), count(DISTINCT unit_id) FROM {table}".encode())  # noqa: S608 - our tables
            assert counted.fetchone() == (N_PERSONAS, N_PERSONAS)
    assert 0 <= n_repeated <= n_killed * MOST_IN_FLIGHT


def test_each_process_that_reaches_the_budget_reports_it(tmp_path: Path, database: Database) -> None:
    with LoopbackProcess("--latency", "0.02") as server:
        folders = _folders(tmp_path, database, server.url, budget=f"budget: {{calls: {N_CALLS // 2}}}\n")
        processes = [_start(folder, database) for folder in folders]

        ends = [process.communicate() for process in processes]

        assert [process.returncode for process in processes] == [3, 3], ends
        for _, err in ends:
            assert f"the budget of {N_CALLS // 2} calls is spent" in err
            assert "another process" not in err
        assert _made(server) == N_CALLS // 2


def test_all_processes_together_respect_the_limit_in_every_window(
    tmp_path: Path,
    postgresql: Database,
) -> None:
    """A window has 6 s here instead of 60 s, and a call may be under way for 3 s, as in a window of 60 s."""
    limit, span_s = 30, 6.0
    prelude = f"import theodolite.gateways.rate_window as w; w.SPAN_S = {span_s}; w._UNDER_WAY = 0.5"
    with LoopbackProcess() as server:
        first = _study(tmp_path / "0", server.url)
        text = (first / "study.yaml").read_text(encoding="utf-8")
        limited = text.replace("name: target,", f"name: target, rpm: {limit},")
        (first / "study.yaml").write_text(limited, encoding="utf-8")
        folders = [first, *(Path(shutil.copytree(first, tmp_path / f"{n}")) for n in (1, 2))]
        processes = [_start(folder, postgresql, "--limit", "30", prelude=prelude) for folder in folders]
        ends = [process.communicate() for process in processes]
        moments = sorted(call["moment_s"] for call in server.calls() if call["role"] == "target")

    assert [process.returncode for process in processes] == [0, 0, 0], ends
    assert len(moments) == 3 * 30
    most = max(bisect_right(moments, start + span_s) - index for index, start in enumerate(moments))
    assert most <= limit


def _worker_study(folder: Path, database: Database, *named: str) -> list[str]:
    """Return the study as a worker names it: its folder, and on PostgreSQL none, or a name of the study."""
    return list(named) if database.url else [str(folder)]


def _call(folder: Path, database: Database, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database.url} if database.url else {})
    command = [sys.executable, "-m", "theodolite", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False, cwd=folder)


def _start_worker(folder: Path, database: Database, *words: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": database.url} if database.url else {})
    command = [sys.executable, "-m", "theodolite", "worker", *_worker_study(folder, database), *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ, cwd=_empty(folder)
    )


def _empty(folder: Path) -> Path:
    """Return an empty folder beside another one."""
    empty = folder.parent / "empty"
    empty.mkdir(exist_ok=True)
    return empty


def test_a_worker_joins_a_run_and_returns_its_units_when_it_is_drained(tmp_path: Path, database: Database) -> None:
    with LoopbackProcess("--latency", "0.1") as server:
        first = _study(tmp_path / "first", server.url)
        worker = _start_worker(first, database)
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
    assert list(_empty(first).iterdir()) == []


def test_a_worker_for_batch_jobs_ends_with_the_run_and_starts_no_run(tmp_path: Path, database: Database) -> None:
    with LoopbackProcess() as server:
        folder = _study(tmp_path / "first", server.url)
        words = ("worker", *_worker_study(folder, database, "shared"), "--until-done")
        idle = _call(_empty(folder), database, *words)
        tested = _start(folder, database, "--stage", "test")
        tested.communicate()

        joined = _call(_empty(folder), database, *words)

        assert (idle.returncode, tested.returncode, joined.returncode) == (0, 0, 0), joined.stdout + joined.stderr
        assert _made(server) == N_CALLS
    assert ("no run of `shared` yet" in idle.stderr) == bool(database.url)
    assert "Left run 1 of `shared`: 60 of 60 dialogues, 60 of 60 annotations." in joined.stdout
