"""The observers of a process: who may read metrics, and that everything is off until somebody asks."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from theodolite.bootstrap import observers
from theodolite.bootstrap.observers import may_read_metrics, metrics_server, process_observer, start_traces
from theodolite.domain.errors import InputError
from theodolite.ports.progress import Sample

TOKEN = "a-token-of-more-than-20-characters"


@pytest.fixture(autouse=True)
def everything_off():
    yield
    observers.stop_observers()


@pytest.mark.parametrize(
    ("client", "headers", "token", "may"),
    [
        ("127.0.0.1", {}, "", True),
        ("127.8.0.1", {}, "", True),
        ("::1", {}, "", True),
        ("10.0.0.2", {}, "", False),
        ("", {}, "", False),
        ("not-an-address", {}, "", False),
        ("127.0.0.1", {"x-forwarded-for": "203.0.113.9"}, "", False),
        ("127.0.0.1", {"forwarded": "for=203.0.113.9"}, "", False),
        ("127.0.0.1", {}, TOKEN, False),
        ("10.0.0.2", {"authorization": f"Bearer {TOKEN}"}, TOKEN, True),
        ("10.0.0.2", {"authorization": f"Bearer {TOKEN}x"}, TOKEN, False),
        ("10.0.0.2", {"authorization": "Bearer "}, "", False),
        ("10.0.0.2", {"authorization": "Bearer \u00e4"}, TOKEN, False),
    ],
    ids=[
        "loopback",
        "loopback-network",
        "loopback-6",
        "other-machine",
        "unknown",
        "name",
        "proxy",
        "proxy-new",
        "loopback-without-token",
        "token",
        "wrong-token",
        "empty-token",
        "strange-token",
    ],
)
def test_metrics_are_restricted_to_this_machine_or_a_token(client, headers, token, may):
    assert may_read_metrics(client, headers, token) is may


def fetched(url: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_metrics_server_serves_metrics_only():
    def read():
        return [Sample("workers", {"study": "small", "run": "1"}, 2)]

    with metrics_server("127.0.0.1:0", [read], {}) as address:
        status, text = fetched(address)
        elsewhere = fetched(address.replace("/metrics", "/other"))[0]
        forwarded = fetched(address, **{"X-Forwarded-For": "203.0.113.9"})[0]

    names = {family.name for family in text_string_to_metric_families(text)}
    assert (status, elsewhere, forwarded) == (200, 404, 403)
    assert {"theodolite_workers", "theodolite_build_info", "theodolite_call_duration_seconds"} <= names
    with pytest.raises(urllib.error.URLError):
        fetched(address)


def test_a_configured_token_is_required():
    with metrics_server("127.0.0.1:0", [], {"THEODOLITE_METRICS_TOKEN": TOKEN}) as address:
        assert fetched(address)[0] == 403
        assert fetched(address, Authorization=f"Bearer {TOKEN}")[0] == 200


@pytest.mark.parametrize(
    ("listen", "environ", "words"),
    [
        ("nonsense", {}, "expected HOST:PORT"),
        ("127.0.0.1:99999", {}, "expected HOST:PORT"),
        ("0.0.0.0:0", {}, "set THEODOLITE_METRICS_TOKEN"),
        ("127.0.0.1:0", {"THEODOLITE_METRICS_TOKEN": "short"}, "expected 20 or more"),
    ],
    ids=["no-port", "large-port", "all-machines", "short-token"],
)
def test_an_unusable_address_or_token_is_an_input_error(listen, environ, words):
    with pytest.raises(InputError, match=words), metrics_server(listen, [], environ):
        pass


def test_a_port_in_use_is_an_input_error():
    with metrics_server("127.0.0.1:0", [], {}) as address:
        taken = address.removeprefix("http://").removesuffix("/metrics")
        with pytest.raises(InputError, match="nothing can listen"), metrics_server(taken, [], {}):
            pass


def test_observers_are_off_by_default():
    assert process_observer() is None
    start_traces({})
    assert process_observer() is None


def test_an_unknown_trace_receiver_is_an_input_error():
    with pytest.raises(InputError, match="expected `otlp`"):
        start_traces({"THEODOLITE_TRACES": "jaeger"})


def test_a_missing_extra_is_reported_by_name():
    def missing():
        msg = "opentelemetry"
        raise ImportError(msg)

    with pytest.raises(InputError, match=r"theodolite\[otel\]"):
        start_traces({"THEODOLITE_TRACES": "otlp"}, missing)


def test_json_lines_replace_text_on_standard_error_and_text_is_restored():
    code = (
        "import sys, warnings\n"
        "from theodolite.bootstrap.observers import start_json_logs, stop_observers\n"
        "start_json_logs({'MY_TOKEN': 'open-sesame'})\n"
        "print('a note with open-sesame', file=sys.stderr)\n"
        "warnings.warn('a warning')\n"
        "stop_observers()\n"
        "print('text again', file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    *lines, last = done.stderr.splitlines()
    assert last == "text again"
    assert next(json.loads(line)["message"].partition("\n")[0] for line in lines) == "a note with ***"
    assert "a warning" in json.loads(lines[1])["message"]
