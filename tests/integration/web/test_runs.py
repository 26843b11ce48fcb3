"""Runs and judges of a study on a server: start, progress, stop, and permissions."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from tests.integration.web.editing import change
from theodolite.bootstrap import run_process, server_runs
from theodolite.bootstrap.run_process import LOG_NAME, latest_process
from theodolite.config.permissions import ALLOW_CODE, FILE, workspace_for
from theodolite.domain.event import Role
from theodolite.store.models import AnnotationRow
from theodolite.web.models import AuditEntry, HostedStudy
from theodolite.web.organiser.runs import server_study

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

JUDGE = """judges:
  reader: {model: reader, guideline: spoiler-guardrail}
"""

MODEL = """models:
  reader: {url: "http://127.0.0.1:9/v1", name: m, price: {input: 1000, output: 1000}}
judges:
"""


def at(hosted, name="runs", **query):
    return reverse(f"organiser:{name}", args=[hosted.token], query=query)


@pytest.fixture
def started(monkeypatch):
    """Record the processes that pages start, in place of starting them."""
    processes = []

    def start(folder, arguments, *, command, environ):
        processes.append((folder, arguments, command, environ))

    monkeypatch.setattr(server_runs, "start_process", start)
    return processes


@pytest.fixture
def paid(own):
    """The event with a judge whose calls cost money."""
    change(own, "judges:\n", MODEL + JUDGE.removeprefix("judges:\n"))
    return own


def ended(folder: Path, patience_s: float = 120):
    until = time.monotonic() + patience_s
    while (process := latest_process(folder)) is None or process.is_alive:
        assert time.monotonic() < until, process
        time.sleep(0.05)
    return process


def test_judges_annotate_dialogues_of_people_in_a_separate_process(own, client_as):
    """The process survives the server, which knows only its files and the database."""
    client, study = client_as(Role.ORGANISER), server_study(own)
    AnnotationRow.objects.filter(annotator="signs").delete()
    answer = client.post(at(own, "start_run"), {"stage": "score"}, follow=True)
    run_process._STARTED.pop(study.home).wait(120)

    process = ended(study.home)
    page = client.get(at(own)).content.decode()
    assert "Run started" in answer.content.decode()
    assert process.command == f"theodolite run {own.folder} --stage score"
    assert AnnotationRow.objects.filter(annotator="signs").exists(), process.output
    assert "A run is starting" not in page
    assert "The judges did not finish" not in page
    entry = AuditEntry.objects.get(verb="started run")
    assert (entry.hosted, entry.facts) == (own, {"options": "--stage score"})


def test_the_output_of_a_run_shows_no_path_of_the_server(own):
    study = server_study(own)
    study.home.mkdir(parents=True, exist_ok=True)
    record = {"pid": 1, "command": f"theodolite run {own.folder} --stage score"}
    (study.home / run_process.RECORD_NAME).write_text(json.dumps(record), encoding="utf-8")
    lines = [f"Report: {study.home}/report.html", f"{own.folder}/study.yaml:3: wrong", "GET http://127.0.0.1:9/v1/chat"]
    text = "\n".join([*lines, 'File "/usr/lib/python3/some/module.py", line 3'])
    (study.home / run_process.LOG_NAME).write_text(text, encoding="utf-8")

    process = study.runs().process

    assert process is not None
    assert process.output.splitlines() == [
        "Report: …/report.html",
        f"{study.name}/study.yaml:3: wrong",
        "GET http://127.0.0.1:9/v1/chat",
        'File "…/module.py", line 3',
    ]
    assert process.command == f"theodolite run {study.name} --stage score"


def test_the_cost_of_judges_over_peoples_dialogues_is_confirmed_before_the_start(paid, client_as, started):
    client = client_as(Role.ORGANISER)
    page = client.get(at(paid, "start_run", stage="score")).content.decode()
    refused = client.post(at(paid, "start_run"), {"stage": "score", "budget": "0.5"})

    assert "Dialogues with people" in page
    assert "I confirm a cost of up to about $" in page
    assert refused.status_code == 422
    assert "Confirm the cost before the start." in refused.content.decode()
    assert started == []
    client.post(at(paid, "start_run"), {"stage": "score", "budget": "0.5", "confirmed": "on"})
    ((folder, arguments, _, environ),) = started
    assert arguments == ["run", paid.folder, "--budget", "0.5", "--stage", "score"]
    assert folder == Path(settings.WORKSPACE) / "runs" / paid.token
    assert environ["THEODOLITE_WORKSPACE"] == str(settings.WORKSPACE)


def test_only_one_run_of_a_study_is_in_progress(own, client_as, monkeypatch):
    import fcntl

    study = server_study(own)
    study.home.mkdir(parents=True)
    (study.home / run_process.RECORD_NAME).write_text('{"pid": 1, "command": "theodolite run x"}', encoding="utf-8")
    client = client_as(Role.ORGANISER)
    with (study.home / LOG_NAME).open("w", encoding="utf-8") as log:
        fcntl.flock(log, fcntl.LOCK_EX)  # as the process of another server would
        page = client.get(at(own)).content.decode()
        refused = client.post(at(own, "start_run"), {"stage": "score"})
        asked = []
        monkeypatch.setattr(os, "kill", lambda pid, number: asked.append((pid, number)))
        client.post(at(own, "stop_run"))

    assert "A run is starting" in page
    assert "Run judges" not in page
    assert refused.status_code == 422
    assert "stop it first, or wait for its end" in refused.content.decode()
    assert asked == [(1, run_process.signal.SIGTERM)]
    assert AuditEntry.objects.filter(verb="stopped run", hosted=own).count() == 1


def test_analysts_see_runs_and_start_judges_only_if_organisers_allow_it(paid, client_as, started):
    analyst, organiser = client_as(Role.ANALYST), client_as(Role.ORGANISER)
    form = {"stage": "", "confirmed": "on"}
    before = analyst.get(at(paid)).content.decode()
    refused = analyst.post(at(paid, "start_run"), form, follow=True).content.decode()

    assert "Run judges" not in before
    assert "Ask an organiser" in refused
    assert started == []
    organiser.post(at(paid, "permit_judges"), {"analysts": "yes"})
    assert "Run judges" in analyst.get(at(paid)).content.decode()
    analyst.post(at(paid, "start_run"), form)
    assert started[0][1][-2:] == ["--stage", "score"], "no other stage"
    organiser.post(at(paid, "permit_judges"), {"analysts": "no"})
    assert not HostedStudy.objects.get(pk=paid.pk).analysts_run_judges
    assert AuditEntry.objects.filter(verb="allowed analysts to run judges").count() == 1


def test_the_check_calls_each_endpoint_of_judges(paid, client_as):
    page = client_as(Role.ORGANISER).post(at(paid, "check_run"), {"stage": "score"}).content.decode()

    assert "<code>reader</code>" in page
    assert "cannot be used" in page
    assert "careful-toy" not in page
    assert AuditEntry.objects.get(verb="checked endpoints").facts == {"stage": "score"}


def test_a_study_with_errors_starts_nothing(own, client_as, started):
    change(own, "judges:\n", "jugdes:\n")
    client = client_as(Role.ORGANISER)

    assert client.get(at(own)).status_code == 200
    refused = client.post(at(own, "start_run"), {"stage": "score"})
    assert refused.status_code == 422
    assert "Did you mean `judges`?" in refused.content.decode().replace("&#x27;", "'")
    assert started == []


def test_code_without_permission_of_the_operator_does_not_run(own, client_as, started, monkeypatch):
    monkeypatch.delenv(ALLOW_CODE, raising=False)
    (Path(own.folder) / "tellers.py").write_text("def careful(x): return x\nleaky = careful\n", encoding="utf-8")
    (workspace_for(Path(own.folder)) / FILE).unlink(missing_ok=True)
    page = client_as(Role.ORGANISER).post(at(own, "start_run"), {"stage": "score"}).content.decode()

    assert "Permission of the operator needed" in page
    assert started == []
