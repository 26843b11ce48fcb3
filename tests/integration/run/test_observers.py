"""Metrics, JSON logs and traces of real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes.terminal import environment
from tests.integration.web.server import free_port

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

SECRET = "open-sesame-of-the-cave"

STUDY = """\
study: small
applications: {echo: {kind: python, call: "bot:reply", env: [CAVE]}}
scenarios: {hours: {task: chat, scripts: {hello: [hello, bye], fails: [fail]}}}
"""

BOT = """\
import os

def reply(prompt):
    if prompt == "fail":
        raise ValueError("the word is " + os.environ["CAVE"])
    return "echo: " + prompt
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "bot.py").write_text(BOT, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "theodolite", "run", str(folder), "--allow-code", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment(CAVE=SECRET, **environ), check=False)


def test_each_line_of_standard_error_is_an_object_without_secrets(folder):
    done = run(folder, "--log-format", "json", "--debug", "--json")

    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"time", "level", "logger", "message"} <= set.intersection(*(set(line) for line in lines))
    calls = [line for line in lines if line["logger"] == "theodolite.calls"]
    assert {(line["run"], line["endpoint"]) for line in calls} == {("small@1", "echo")}
    assert sorted(line["outcome"] for line in calls) == ["reply", "reply", "server_fault"]
    units = [line for line in lines if line["logger"] == "theodolite.units"]
    assert sorted((line["dialogue"], line["level"]) for line in units) == [("d001", "info"), ("d002", "warning")]
    assert any("exception" in line or "Traceback" in line["message"] for line in lines)
    assert SECRET not in done.stderr
    assert json.loads(done.stdout)["sessions"]["failed"] == 1


def test_errors_are_objects(tmp_path):
    done = run(tmp_path / "missing", THEODOLITE_LOG_FORMAT="json")

    assert done.returncode == 2
    assert [json.loads(line)["level"] for line in done.stderr.splitlines()]


@contextmanager
def waiting_worker(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "theodolite", "worker", str(folder), "--allow-code", "--log-format", "json"]
    process = subprocess.Popen(
        [*command, "--metrics", f"127.0.0.1:{port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(CAVE=SECRET),
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def scraped(port: int, name: str) -> dict[str, float]:
    """Return the values of a metric by its labels in words; waits for a server that starts."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
                families = list(text_string_to_metric_families(answer.read().decode()))
            break
        except urllib.error.URLError:
            time.sleep(0.1)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return {" ".join(sample.labels.values()): sample.value for sample in samples}


def test_a_worker_serves_metrics_of_the_database_and_prints_json_lines(folder):
    assert run(folder, "--json").returncode == 0
    port = free_port()
    with waiting_worker(folder, port) as worker:
        units = scraped(port, "theodolite_units")
        failures = scraped(port, "theodolite_failures")
        worker.send_signal(signal.SIGTERM)
        out, err = worker.communicate(timeout=120)

    assert units == {"session yes 1 done small": 1.0, "session yes 1 failed small": 1.0}
    assert failures == {"echo answered with an error 1 application small": 1.0}
    assert (worker.returncode, out) == (0, "")
    assert any("waits for open runs" in json.loads(line)["message"] for line in err.splitlines())


def test_the_web_server_logs_requests_by_pattern_and_counts_them(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    environ = {"THEODOLITE_LOG_FORMAT": "json"}
    port = free_port()
    command = [sys.executable, "-m", "theodolite", "serve", "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, **environ})
    try:
        counts = scraped(port, "theodolite_database_up")
        for path in ("/join/a-secret-invitation/", "/healthz"):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
            try:
                urllib.request.urlopen(request, timeout=20).close()
            except urllib.error.HTTPError as error:
                error.close()
    finally:
        process.terminate()
        _, err = process.communicate(timeout=120)

    lines = [json.loads(line) for line in err.splitlines()]
    routes = [line["route"] for line in lines if line["logger"] == "theodolite.requests"]
    assert counts == {"": 1.0}
    assert "healthz" in routes
    assert "a-secret-invitation" not in err


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A receiver of spans as OTLP over HTTP."""
    received: list[ExportTraceServiceRequest] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


def test_spans_are_sent_to_a_collector_before_the_process_ends(folder):
    with collector() as (address, received):
        done = run(
            folder,
            THEODOLITE_TRACES="otlp",
            OTEL_EXPORTER_OTLP_ENDPOINT=address,
            OTEL_EXPORTER_OTLP_COMPRESSION="none",
        )

    assert done.returncode == 0, done.stderr
    scopes = [scope for batch in received for of in batch.resource_spans for scope in of.scope_spans]
    names = sorted(span.name for scope in scopes for span in scope.spans)
    assert names == sorted(["dialogue d001", "dialogue d002", *["turn 1"] * 2, "turn 2", *["invoke_agent echo"] * 3])
    assert SECRET not in str(received)
    assert "echo: hello" not in str(received)
