"""Runs by the API: estimate, start, stop and resume with the rules of the page *Runs*; repetition is harmless."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.integration.web.editing import change
from tests.integration.web.test_api import ask, no_process, secret_of  # noqa: F401 - two are fixtures
from tests.integration.web.test_runs import JUDGE, MODEL, ended
from theodolite.bootstrap import run_process
from theodolite.bootstrap.run_process import LOG_NAME, RECORD_NAME
from theodolite.domain.event import Role
from theodolite.store.models import AnnotationRow, RunRow, UnitRow
from theodolite.web.models import AuditEntry
from theodolite.web.organiser.runs import server_study

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

JUDGES = {"stage": "score", "confirm_cost": True}


@pytest.fixture
def runs(own):
    """The address of the runs of the event."""
    return f"studies/{own.token}/runs"


@pytest.fixture
def paid(own):
    """The event with a judge whose calls cost money."""
    change(own, "judges:\n", MODEL + JUDGE.removeprefix("judges:\n"))
    return own


@contextmanager
def living(own, command: str):
    """Let a run process of a page live, as its lock shows."""
    home = server_study(own).home
    home.mkdir(parents=True, exist_ok=True)
    (home / RECORD_NAME).write_text(json.dumps({"pid": 1, "command": command}), encoding="utf-8")
    with (home / LOG_NAME).open("w", encoding="utf-8") as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        yield


def lease(own, number: int) -> None:
    """Let a terminal work on a run."""
    run = RunRow.objects.get(number=number, study=own.name)
    RunRow.objects.filter(pk=run.pk).update(state="unfinished", finished=None)
    unit = UnitRow.objects.filter(run=run, adopted_from=None).first()
    UnitRow.objects.filter(pk=unit.pk).update(state="leased", owner="terminal", lease_until=9e12)


def number_of(ask, runs, key="run"):  # noqa: F811
    return ask(Role.ORGANISER, f"{runs}/estimate").json()[key]


def test_a_run_is_started_read_and_repeated_in_a_process_of_its_own(own, ask, runs):  # noqa: F811
    study, number = server_study(own), number_of(ask, runs)
    AnnotationRow.objects.filter(annotator="signs").delete()
    started = ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES)
    run_process._STARTED.pop(study.home).wait(120)

    assert started.status_code == 202
    assert started.json()["is_active"]
    process = ended(study.home)
    assert AnnotationRow.objects.filter(annotator="signs").exists(), process.output
    listed = ask(Role.ORGANISER, runs).json()
    assert (listed["is_active"], listed["process"]["is_active"]) == (False, False)
    assert ask(Role.ORGANISER, f"{runs}/{number}").json() in listed["items"]
    entry = AuditEntry.objects.get(verb="started run")
    assert (entry.hosted, entry.facts["run"], entry.facts["options"]) == (own, number, "--stage score")


def test_the_estimate_is_that_of_the_page_and_the_cost_is_confirmed(paid, ask, runs, no_process):  # noqa: F811
    estimate = ask(Role.ORGANISER, f"{runs}/estimate", stage="score").json()
    number = estimate["run"]
    refused = ask(Role.ORGANISER, f"{runs}/{number}", "put", body={"stage": "score"})

    assert estimate["needs_confirmation"]
    assert 0 < estimate["cost_usd"]["low"] <= estimate["cost_usd"]["high"]
    assert estimate["with_people"] > 0
    assert estimate["hosts"] == ["127.0.0.1:9"]
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["where"] == "body.confirm_cost"
    assert no_process == []
    body = {**JUDGES, "budget_usd": 0.5, "concurrency": 2, "retry_failed": True}
    assert ask(Role.ORGANISER, f"{runs}/{number}", "put", body=body).status_code == 202
    ((_, arguments, _, _),) = no_process
    options = "--budget 0.5 --concurrency 2 --stage score --retry-failed"
    assert arguments == ["run", paid.folder, *options.split()]


def test_the_number_decides_between_resuming_and_a_new_run(own, ask, runs, no_process):  # noqa: F811
    known, following = number_of(ask, runs), number_of(ask, runs, "next_run")
    for number in (known, following):
        assert ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES).status_code == 202
    refused = ask(Role.ORGANISER, f"{runs}/{following + 1}", "put", body=JUDGES)

    assert ["--new-run" in arguments for _, arguments, _, _ in no_process] == [following == known, following != known]
    assert refused.status_code == 409
    assert f"{following} for a new run" in refused.json()["detail"]


def test_a_repeated_start_has_no_effect_and_another_scope_is_a_conflict(own, ask, runs, no_process):  # noqa: F811
    number = number_of(ask, runs)
    with living(own, f"theodolite run {own.folder} --stage score"):
        again = ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES)
        other = ask(Role.ORGANISER, f"{runs}/{number}", "put", body={**JUDGES, "limit": 1})
        listed = ask(Role.ORGANISER, runs).json()

    assert (again.status_code, again.json()["is_active"]) == (200, True)
    assert other.status_code == 409
    assert "Stop it first" in other.json()["detail"]
    assert listed["is_active"]
    assert no_process == []
    assert not AuditEntry.objects.filter(verb="started run").exists()


def test_a_stop_is_sent_once_and_may_be_repeated(own, ask, runs, monkeypatch):  # noqa: F811
    number, signals = number_of(ask, runs), []
    monkeypatch.setattr(os, "kill", lambda pid, code: signals.append((pid, code)))
    before = ask(Role.ORGANISER, f"{runs}/{number}/stop", "post")
    with living(own, f"theodolite run {own.folder} --stage score"):
        answers = [ask(Role.ORGANISER, f"{runs}/{number}/stop", "post").json() for _ in range(2)]

    assert (before.status_code, before.json()["is_active"]) == (200, False)
    assert [answer["is_stopping"] for answer in answers] == [True, True]
    assert signals == [(1, run_process.signal.SIGTERM)]
    assert AuditEntry.objects.filter(verb="stopped run", hosted=own).count() == 1


def test_a_run_of_a_terminal_is_seen_and_stopped_only_there(own, ask, runs, no_process):  # noqa: F811
    number = number_of(ask, runs)
    lease(own, number)
    stopped = ask(Role.ORGANISER, f"{runs}/{number}/stop", "post")
    started = ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES)

    assert ask(Role.ORGANISER, f"{runs}/{number}").json()["is_active"]
    assert (stopped.status_code, started.status_code) == (409, 409)
    assert "Ctrl-C" in stopped.json()["detail"]
    assert no_process == []
    assert ask(Role.ORGANISER, f"{runs}/999/stop", "post").status_code == 404


def test_analysts_start_judges_only_if_an_organiser_allows_it(own, ask, runs, no_process):  # noqa: F811
    address = f"{runs}/{number_of(ask, runs)}"
    refused = [
        ask(Role.ANALYST, address, "put", body=JUDGES),
        ask(Role.ANALYST, f"{runs}/estimate", stage="score"),
    ]
    own.analysts_run_judges = True
    own.save()

    assert [answer.status_code for answer in refused] == [403, 403]
    assert "Ask an organiser" in refused[0].json()["detail"]
    assert ask(Role.ANALYST, f"{runs}/estimate", stage="score").status_code == 200
    assert ask(Role.ANALYST, address, "put", body={"confirm_cost": True}).status_code == 403
    assert ask(Role.ANALYST, address, "put", body=JUDGES).status_code == 202
    with living(own, f"theodolite run {own.folder}"):
        assert ask(Role.ANALYST, f"{address}/stop", "post").status_code == 403
    assert len(no_process) == 1


def test_errors_in_the_files_of_a_study_are_named_with_their_lines(own, ask, runs, no_process):  # noqa: F811
    number = number_of(ask, runs)
    change(own, "judges:\n", "jugdes:\n")
    refused = ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES)

    assert refused.status_code == 422
    assert any("Did you mean `judges`?" in fault["expected"] for fault in refused.json()["errors"])
    assert all(fault["where"].startswith("study.yaml") for fault in refused.json()["errors"])
    assert no_process == []
    assert ask(Role.ORGANISER, runs).status_code == 200


@pytest.fixture
def sleeper(monkeypatch):
    """Start processes that wait for a signal in place of runs, and return them."""
    children = []

    def child(log, arguments, umask, environ):
        command = [run_process.sys.executable, "-c", "import signal; signal.pause()"]
        children.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
        return children[-1]

    monkeypatch.setattr(run_process, "_child", child)
    yield children
    for one in children:
        one.kill()
        one.wait(60)


@pytest.mark.parametrize("key", ["run", "next_run"])
def test_of_two_starts_at_once_one_starts_a_process(own, ask, runs, sleeper, key):  # noqa: F811
    number, statuses, gate = number_of(ask, runs, key), [], threading.Barrier(4)

    def start() -> None:
        gate.wait(60)
        statuses.append(ask(Role.ORGANISER, f"{runs}/{number}", "put", body=JUDGES).status_code)
        connection.close()

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert sorted(statuses) == [200, 200, 200, 202]
    assert len(sleeper) == 1
    run_process._STARTED.pop(server_study(own).home)


def test_a_run_needs_files_of_the_study(event, ask):  # noqa: F811
    event.folder = ""
    event.save()

    assert ask(Role.ORGANISER, f"studies/{event.token}/runs").status_code == 404
    assert not (Path(settings.WORKSPACE) / "runs").exists()
