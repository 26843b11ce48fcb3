"""A killed run loses at most the calls in flight and repeats no stored one."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fakes.loopback import LoopbackProcess
from theodolite.bootstrap.running import AT_A_TIME

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_PERSONAS = 200
N_CALLS = N_PERSONAS * 7

STUDY = """\
study: killed
models:
  app: {{url: {url}, name: target, parallel: 16}}
  user: {{url: {url}, name: user-sim, parallel: 16}}
  large: {{url: {url}, name: judge, parallel: 16}}
applications:
  shop: {{kind: model, model: app, system: You are the helpful agent of a shop.}}
scenarios:
  returns: {{task: chat, goal: "Find out {{{{ wish }}}}", turns: 3}}
personas:
  customers: {{template: customer, rows: customers.csv, model: user}}
judges:
  useful: {{ask: How useful are the replies?, scale: 1-5, defect: "<= 2", model: large}}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "killed"
    folder.mkdir()
    rows = "".join(f"Customer {n},whether item {n} can go back\n" for n in range(1, N_PERSONAS + 1))
    (folder / "customers.csv").write_text("name,wish\n" + rows, encoding="utf-8")
    return folder


def _run(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "theodolite", "run", str(folder), "--json"]
    log = (folder / "log.txt").open("ab")
    with log:
        return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "NO_COLOR": "1"})


def _count(folder: Path, what: str) -> int:
    with sqlite3.connect(f"file:{folder}/.theodolite/theodolite.db?mode=ro", uri=True) as database:
        found: int = database.execute(f"SELECT count(*) FROM {what}").fetchone()[0]  # noqa: S608 - our own words
    database.close()
    return found


def _made(server: LoopbackProcess) -> int:
    return sum(server.stats()["by_role"].get(role, 0) for role in ("user-sim", "target", "judge"))


def test_a_killed_run_resumes_without_repeated_calls(study: Path) -> None:
    with LoopbackProcess("--latency", "0.02") as server:
        (study / "study.yaml").write_text(STUDY.format(url=server.url), encoding="utf-8")
        process = _run(study)
        while _made(server) < N_CALLS // 2:
            assert process.poll() is None, (study / "log.txt").read_text()
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        server.wait_for_silence()
        made, stored = _made(server), _count(study, "store_journalentry")

        again = _run(study)

        assert again.wait(timeout=120) == 0, (study / "log.txt").read_text()
        assert _made(server) == made + (N_CALLS - stored)
        assert 0 <= made - stored <= 3 * 16
        assert _count(study, "store_journalentry") == N_CALLS
        assert _count(study, "(SELECT DISTINCT unit_id, position FROM store_journalentry)") == N_CALLS
        assert _count(study, "store_dialogue") == N_PERSONAS
        assert _count(study, "store_annotation") == N_PERSONAS
        assert _count(study, "store_turn") == 3 * N_PERSONAS


VOTED = """\
study: voted
models:
  large: {{url: {url}, name: judge, parallel: 16}}
applications:
  old: {{kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}}
judges:
  useful: {{ask: How useful is the reply?, scale: 1-5, defect: "<= 2", model: large, votes: {{rule: fixed, most: 5}}}}
"""
N_ROWS = 120


def test_a_run_killed_during_votes_requests_only_the_missing_votes(study: Path) -> None:
    rows = "".join(f"r{n},Question {n}?,Answer {n}.\n" for n in range(N_ROWS))
    (study / "rows.csv").write_text("id,prompt,response\n" + rows, encoding="utf-8")
    with LoopbackProcess("--latency", "0.02") as server:
        (study / "study.yaml").write_text(VOTED.format(url=server.url), encoding="utf-8")
        process = _run(study)
        while _made(server) < N_ROWS * 5 // 2:
            assert process.poll() is None, (study / "log.txt").read_text()
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()

        again = _run(study)

        assert again.wait(timeout=120) == 0, (study / "log.txt").read_text()
        assert _count(study, "store_vote") == _count(study, "store_journalentry") == 5 * N_ROWS
        assert _count(study, "(SELECT DISTINCT annotation_id, replicate FROM store_vote)") == 5 * N_ROWS
        # Not yet stored were the calls in flight and the replies on their way: one for each dialogue in work.
        assert server.stats()["duplicates"] <= AT_A_TIME
