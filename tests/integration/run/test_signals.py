"""Ctrl-C, SIGTERM and SIGKILL: stored results stay, and the same command resumes."""

import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import in_a_process, started, theodolite
from tests.integration.run.conftest import asked

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PERSONAS = 30
PATIENCE_S = 250


@pytest.fixture
def slow(tmp_path):
    """A study of slow models and their server."""
    with Loopback(latency_s=0.1) as server:
        study = SupportStudy(folder=tmp_path / "support", url=server.url, n=PERSONAS)
        study.write()
        yield study, server


def wait_for(server: Loopback, process: subprocess.Popen[str], n: int, *roles: str) -> None:
    while asked(server, *roles) < n:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def whole(study: SupportStudy) -> bool:
    """Check the database, then whether every persona has one dialogue and one annotation."""
    with closing(sqlite3.connect(study.folder / ".theodolite" / "theodolite.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    counts = [study.rows(table) for table in ("dialogue", "annotation", "journalentry")]
    return counts == [PERSONAS, PERSONAS, 3 * PERSONAS]


@pytest.mark.parametrize("asked_to_stop", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupted_run_stops_cleanly_and_repeats_no_paid_call(slow, asked_to_stop):
    study, server = slow
    with started("run", study.folder, "--concurrency", "4") as process:
        wait_for(server, process, 20)
        process.send_signal(asked_to_stop)
        _, err = process.communicate(timeout=PATIENCE_S)

    kept = f"{study.rows('dialogue')} dialogues and {study.rows('annotation')} annotations are saved"
    assert process.returncode == 3
    assert err.splitlines()[-1] == f"Stopped. {kept}. Run the same command to resume."
    assert study.rows("journalentry") == asked(server)

    assert theodolite("run", study.folder).code == 0
    assert (whole(study), asked(server)) == (True, 3 * PERSONAS)


def test_the_second_ctrl_c_ends_the_process_at_once(tmp_path):
    with Loopback(replies={}, latency_s=0.05) as server:
        study = SupportStudy(folder=tmp_path / "support", url=server.url, n=4)
        study.write()
        with started("run", study.folder) as process:
            wait_for(server, process, 1)
            server.knobs = type(server.knobs)(latency_s=60)
            wait_for(server, process, 5)
            process.send_signal(signal.SIGINT)
            assert process.stderr
            assert "Press Ctrl-C again to stop at once" in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 3
    assert "Traceback" not in err


@pytest.mark.parametrize(("options", "role"), [([], "target"), (["--stage", "score"], "judge")])
def test_a_killed_run_leaves_an_intact_database_and_can_be_resumed(slow, options, role):
    study, server = slow
    if options:
        assert theodolite("run", "--stage", "test", study.folder).code == 0
    with started("run", study.folder, *options) as process:
        wait_for(server, process, PERSONAS // 2, role)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
    server.wait_for_silence()
    made, stored = asked(server), study.rows("journalentry")

    ended = theodolite("run", study.folder)

    assert ended.code == 0, ended.said
    assert whole(study)
    assert asked(server) == made + 3 * PERSONAS - stored


def test_two_processes_share_one_run_without_repeated_work(slow):
    study, server = slow
    assert theodolite("run", study.folder, "--limit", "1").code == 0

    with (
        started("run", study.folder, "--concurrency", "3") as first,
        started("run", study.folder, "--concurrency", "3") as second,
    ):
        ends = [process.communicate(timeout=PATIENCE_S) for process in (first, second)]

    assert 0 in {first.returncode, second.returncode} <= {0, 3}, ends
    assert (whole(study), asked(server), server.stats["duplicates"]) == (True, 3 * PERSONAS, 0)


def test_a_finished_run_of_another_process_is_only_read(slow):
    study, server = slow
    theodolite("run", study.folder)
    before = len(server.calls)

    ended = in_a_process("run", study.folder)

    assert (ended.code, len(server.calls)) == (0, before)
