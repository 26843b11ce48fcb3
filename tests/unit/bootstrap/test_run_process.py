"""Runs in processes of their own: who lives is known by a lock, and the second start is refused."""

from __future__ import annotations

import json
import subprocess
import time

import pytest

from theodolite.bootstrap import run_process
from theodolite.bootstrap.run_process import (
    LOG_NAME,
    RECORD_NAME,
    latest_process,
    process_end,
    start_process,
    stop_process,
)
from theodolite.domain.errors import Conflict, NotFound

pytestmark = pytest.mark.integration


def ended(folder, patience_s: float = 60):
    """Wait until the process of a folder has ended, and return it."""
    until = time.monotonic() + patience_s
    while (process := latest_process(folder)) is None or process.is_alive:
        assert time.monotonic() < until, process
        time.sleep(0.01)
    return process


@pytest.fixture
def sleeper(tmp_path, monkeypatch):
    """Start a process that waits for a signal in place of a run."""
    waits = ["-c", "import signal; print('at work', flush=True); signal.pause()"]

    def child(log, arguments, umask, environ):
        command = [run_process.sys.executable, *waits]
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    monkeypatch.setattr(run_process, "_child", child)
    start_process(tmp_path, ["run", "x"], command="theodolite run x")
    yield tmp_path
    if (left := run_process._STARTED.pop(tmp_path, None)) is not None:
        left.kill()
        left.wait(60)


def test_without_a_started_run_there_is_no_process(tmp_path):
    assert latest_process(tmp_path) is None
    with pytest.raises(NotFound, match="Ctrl-C"):
        stop_process(tmp_path)


def test_the_command_line_runs_and_its_output_and_exit_code_are_available(tmp_path):
    start_process(tmp_path, ["status", str(tmp_path / "none")], command="theodolite status none")

    process = ended(tmp_path)

    assert (process.exit_code, process.command) == (2, "theodolite status none")
    assert "there is no such file or folder" in process.output


def test_one_process_at_a_time_runs_a_study(sleeper):
    with pytest.raises(Conflict, match="theodolite run x"):
        start_process(sleeper, ["run", "x"], command="theodolite run x")


def test_a_run_is_seen_and_stopped_from_another_program(sleeper):
    child = run_process._STARTED.pop(sleeper)
    seen = latest_process(sleeper)

    stop_process(sleeper)
    child.wait(60)

    assert (seen.is_alive, seen.exit_code) == (True, None)
    assert latest_process(sleeper).is_alive is False


def test_a_reused_process_id_is_not_stopped(tmp_path):
    """The record of a dead process names a living one; nobody holds the lock."""
    (tmp_path / LOG_NAME).write_text("done", encoding="utf-8")
    (tmp_path / RECORD_NAME).write_text(json.dumps({"pid": run_process.os.getpid(), "command": "x"}), encoding="utf-8")

    assert latest_process(tmp_path).is_alive is False
    with pytest.raises(NotFound):
        stop_process(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"pid": "x"}', '{"pid": 1}'], ids=["empty", "list", "word", "no command"])
def test_a_damaged_record_counts_as_absent(tmp_path, text):
    (tmp_path / RECORD_NAME).write_text(text, encoding="utf-8")

    assert latest_process(tmp_path) is None


def test_the_exit_code_outlives_the_program_that_started_the_process(tmp_path):
    assert process_end(tmp_path) is None
    start_process(tmp_path, ["status", str(tmp_path / "none")], command="theodolite status none")
    ended(tmp_path)
    end = process_end(tmp_path)
    run_process._STARTED.pop(tmp_path)

    assert end.exit_code == 2
    assert process_end(tmp_path) == end


def test_a_living_process_has_no_end(sleeper):
    assert process_end(sleeper) is None


def test_an_end_that_no_program_saw_has_no_exit_code(tmp_path):
    (tmp_path / LOG_NAME).touch()
    (tmp_path / RECORD_NAME).write_text(json.dumps({"pid": 1, "command": "x"}), encoding="utf-8")
    (tmp_path / run_process.END_NAME).write_text('{"key": "of another process", "exit_code": 0}', encoding="utf-8")

    assert process_end(tmp_path).exit_code is None
