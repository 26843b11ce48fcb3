"""Metrics, logs and traces of this process: switched on by options and the environment, off by default.

A process has one set of observers, as it has one standard error. Nothing is imported while all are off.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hmac import compare_digest
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import InputError
from theodolite.ports.progress import Observer, Sample

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIRequestHandler
    from wsgiref.types import StartResponse, WSGIApplication

    from opentelemetry.sdk.trace import TracerProvider

    from theodolite.gateways.telemetry import PrometheusMetrics, SecretFilter

TOKEN_VARIABLE = "THEODOLITE_METRICS_TOKEN"  # noqa: S105 - the name of a variable
"""Token for reading the metrics; if it is empty, only this machine can read them."""

SHORTEST_TOKEN = 20
"""Minimum length of that token; characters."""

TRACES_VARIABLE = "THEODOLITE_TRACES"
"""`otlp` sends traces of OpenTelemetry; its own variables name the receiver."""

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""`true`: traces contain prompts and replies (variable of OpenTelemetry)."""

FORWARDED = ("forwarded", "x-forwarded-for")
"""Headers of requests through a proxy, lower case."""


class _Process:
    """Observers of this process; None for disabled ones."""

    def __init__(self) -> None:
        self.metrics: PrometheusMetrics | None = None
        self.traces: TracerProvider | None = None
        self.has_content = False
        self.logs: _JsonLogs | None = None
        self.secrets: SecretFilter | None = None


_process = _Process()


def process_observer(models: Iterable[ModelEndpoint] = ()) -> Observer | None:
    """Return the observer of units and calls of this process; None if all are off.

    Args:
        models: Models of the study, which traces describe.
    """
    if _process.metrics is None and _process.traces is None and _process.logs is None:
        return None
    from theodolite.gateways.telemetry import LogObserver, ObserverGroup, TraceObserver

    observers: list[Observer] = []
    if _process.traces is not None:  # first, so that lines of the log state the span
        content, secrets = _process.has_content, _process.secrets
        observers.append(TraceObserver(_process.traces, models, content=content, secrets=secrets))
    if _process.metrics is not None:
        observers.append(_process.metrics)
    if _process.logs is not None:
        observers.append(LogObserver())
    return observers[0] if len(observers) == 1 else ObserverGroup(observers)


# Metrics


def process_metrics() -> PrometheusMetrics:
    """Return the metrics of this process; the first call switches them on."""
    if _process.metrics is None:
        from theodolite.gateways.telemetry import PrometheusMetrics

        _process.metrics = PrometheusMetrics()
    return _process.metrics


def record_request(method: str, route: str, status: int, duration_s: float) -> None:
    """Measure and log a request to the web server, unless metrics and logs are off; see `PrometheusMetrics.request`."""
    if _process.metrics is not None:
        _process.metrics.request(method, route, status, duration_s)
    if _process.logs is not None:
        from theodolite.gateways.telemetry import log_request

        log_request(method, route, status, duration_s)


def may_read_metrics(client: str, headers: Mapping[str, str], token: str) -> bool:
    """Return whether a request may read the metrics.

    Args:
        client: Address of the client.
        headers: Headers of the request by name in lower case.
        token: Token of the operator; empty if only this machine may read. A request that a proxy
            forwards comes from another machine.
    """
    if token:
        return compare_digest(headers.get("authorization", "").encode(), f"Bearer {token}".encode())
    return is_loopback(client) and not any(headers.get(name) for name in FORWARDED)


def is_loopback(address: str) -> bool:
    """Return whether an IP address is a loopback address."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


@contextmanager
def metrics_server(
    listen: str, databases: Sequence[Callable[[], Iterable[Sample]]], environ: Mapping[str, str]
) -> Iterator[str]:
    """Serve the metrics of this process while the block runs, and yield their address.

    Args:
        listen: `HOST:PORT`; port 0 for any that is free.
        databases: Each returns the numbers of one database.
        environ: Environment variables.

    Raises:
        InputError: If the address cannot be used, or other machines could read without a token.
    """
    from wsgiref.simple_server import make_server

    host, _, port = listen.rpartition(":")
    host, token = host.strip("[]") or "127.0.0.1", metrics_token(environ)
    if not port.isdecimal() or int(port) > 65535:
        message = f"`--metrics` is `{listen}`; expected HOST:PORT, e.g. 127.0.0.1:9464"
        raise InputError(message)
    if not token and host != "localhost" and not is_loopback(host):
        message = f"`--metrics {listen}` lets other machines ask: set {TOKEN_VARIABLE} to a token, or use 127.0.0.1"
        raise InputError(message)
    process_metrics().read_databases(databases)
    try:
        server = make_server(host, int(port), _answer_scrapes(token), handler_class=_quiet_handler())
    except OSError as error:
        message = f"nothing can listen on `{listen}`: {error.strerror}. Name another one:  --metrics HOST:PORT"
        raise InputError(message) from error
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answer_scrapes(token: str) -> WSGIApplication:
    """Return the application that answers only `/metrics`."""

    def answer(request: dict[str, Any], start: StartResponse) -> list[bytes]:
        headers = {key[5:].replace("_", "-").lower(): str(text) for key, text in request.items() if key[:5] == "HTTP_"}
        if request.get("PATH_INFO") != "/metrics":
            start("404 Not Found", [("Content-Type", "text/plain")])
            return [b"404: metrics are at /metrics\n"]
        if not may_read_metrics(str(request.get("REMOTE_ADDR", "")), headers, token):
            start("403 Forbidden", [("Content-Type", "text/plain")])
            return [METRICS_REFUSAL.encode()]
        text, kind = process_metrics().text()
        start("200 OK", [("Content-Type", kind)])
        return [text]

    return answer


def _quiet_handler() -> type[WSGIRequestHandler]:
    from wsgiref.simple_server import WSGIRequestHandler

    class QuietHandler(WSGIRequestHandler):
        timeout = 10

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - Python's own name
            """Write nothing, because a line for each request is not useful."""

    return QuietHandler


METRICS_REFUSAL = f"403: metrics are for this machine, or for requests with the token of {TOKEN_VARIABLE}.\n"
"""Answer to a request that may not read the metrics."""


def metrics_token(environ: Mapping[str, str]) -> str:
    """Return the token of the metrics; empty if there is none.

    Raises:
        InputError: If it is too short.
    """
    token = environ.get(TOKEN_VARIABLE, "").strip()
    if token and len(token) < SHORTEST_TOKEN:
        message = f"`{TOKEN_VARIABLE}` has {len(token)} characters; expected {SHORTEST_TOKEN} or more"
        raise InputError(message)
    return token


# Logs


class _JsonLogs(NamedTuple):
    """JSON lines on standard error, and the stream that was there before."""

    handler: logging.Handler
    stderr: TextIO


def start_json_logs(environ: Mapping[str, str] = os.environ) -> None:
    """Turn log records, warnings and everything that is written to standard error into JSON lines there."""
    if _process.logs is not None:
        return
    from theodolite.gateways.telemetry import JsonFormatter, LineLog

    stderr = sys.stderr
    handler = logging.StreamHandler(stderr)
    handler.setFormatter(JsonFormatter(_secrets_of(environ)))
    root = logging.getLogger()
    root.addHandler(handler)
    logging.getLogger("theodolite").setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    _process.logs = _JsonLogs(handler=handler, stderr=stderr)
    sys.stderr = LineLog(logging.getLogger("theodolite.output"))


def logs_json() -> bool:
    """Return whether standard error is JSON lines."""
    return _process.logs is not None


def hide_secrets(secrets: Iterable[str]) -> None:
    """Keep further texts out of logs and traces, e.g. keys that a study names."""
    if _process.secrets is not None:
        for secret in secrets:
            _process.secrets.hide(secret)


def _secrets_of(environ: Mapping[str, str]) -> SecretFilter:
    """Return the filter of this process, made from the environment by the first call."""
    if _process.secrets is None:
        from theodolite.gateways.telemetry import SecretFilter

        _process.secrets = SecretFilter(environ)
    return _process.secrets


# Traces


def start_traces(environ: Mapping[str, str], provider: Callable[[], TracerProvider] | None = None) -> None:
    """Send traces if the environment asks for them.

    Args:
        environ: Environment variables.
        provider: Returns where spans go; OTLP by default.

    Raises:
        InputError: If the value is unknown, or the extra is not installed.
    """
    value = environ.get(TRACES_VARIABLE, "")
    if not value or _process.traces is not None:
        return
    if value != "otlp":
        message = f"`{TRACES_VARIABLE}` is `{value}`; expected `otlp`, or nothing for no traces"
        raise InputError(message)
    from theodolite.gateways.telemetry import EXTRA, otlp_provider

    try:
        _process.traces = (provider or otlp_provider)()
    except ImportError as error:
        message = f"traces need OpenTelemetry, which is not installed; try  {EXTRA}"
        raise InputError(message) from error
    _secrets_of(environ)
    _process.has_content = environ.get(CONTENT_VARIABLE, "").lower() in {"true", "1"}


def stop_observers() -> None:
    """Send the queued spans, and switch everything off; standard error is restored."""
    if _process.traces is not None:
        _process.traces.shutdown()
    if (logs := _process.logs) is not None:
        logging.getLogger().removeHandler(logs.handler)
        logging.getLogger("theodolite").setLevel(logging.NOTSET)
        logging.captureWarnings(capture=False)
        sys.stderr = logs.stderr
    _process.metrics = _process.traces = _process.logs = _process.secrets = None
    _process.has_content = False
