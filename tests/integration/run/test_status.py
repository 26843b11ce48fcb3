"""`theodolite status` shows a run in progress without changing it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from tests.fakes.loopback import LoopbackProcess
from tests.fakes.terminal import theodolite

LATER = "INSERT INTO django_migrations (app, name, applied) VALUES ('store', '9999_later', '2030-01-01')"

ANSWERED = 130
"""Calls that the server answers before it falls silent: of 180 that the run would make."""

pytestmark = pytest.mark.integration


def test_status_shows_a_run_in_progress(study):
    # The server answers some calls and then none: the run stands where it is until it has been looked at.
    faults = ",".join(["ok"] * ANSWERED)
    with LoopbackProcess("--faults", faults, "--every", "1", "--fault", "hang") as server:
        study.url = server.url
        folder = study.write(n=60)
        command = [sys.executable, "-m", "theodolite", "run", str(folder), "--json"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"}) as run:
            while server.stats()["answered"] < ANSWERED:
                assert run.poll() is None
                time.sleep(0.02)
            seen = json.loads(theodolite("status", folder, "--json").out)
            run.kill()
        left = json.loads(theodolite("status", folder, "--json").out)

    assert (left["running"], left["sessions"]["leased"], left["annotations"]["leased"]) == (False, 0, 0)
    assert (seen["running"], seen["state"]) == (True, "unfinished")
    assert sum(seen["sessions"].values()) == sum(seen["annotations"].values()) == 60
    assert 0 < seen["sessions"]["done"] <= 60
    assert seen["calls_per_s"] > 0
    assert seen["left_s"] > 0


def test_status_of_a_finished_run_has_no_open_units(study):
    folder = study.write()
    theodolite("run", folder)

    status = theodolite("status", folder)

    assert status.code == 0
    assert status.out.startswith("support, run 1, finished\n  Test    10 of 10, 0 in work, 0 failed\n")


def test_status_without_a_run_creates_no_file(study):
    folder = study.write()

    status = theodolite("status", folder)

    assert status.code == 2
    assert f"Run it:  theodolite run {folder}" in status.err
    assert not (folder / ".theodolite").exists()


def test_a_database_of_a_newer_version_is_not_changed(study):
    folder = study.write()
    theodolite("run", folder)
    with closing(sqlite3.connect(folder / ".theodolite" / "theodolite.db")) as database:
        database.execute(LATER)
        database.commit()

    status = theodolite("status", folder)

    assert (status.code, "newer version" in status.err) == (3, True)


def test_status_writes_no_file(study):
    folder = study.write()
    theodolite("run", folder)
    before = (folder / ".theodolite" / "theodolite.db").read_bytes()

    theodolite("status", folder)

    assert (folder / ".theodolite" / "theodolite.db").read_bytes() == before
