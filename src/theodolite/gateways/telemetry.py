"""Metrics, logs and traces: observers of the units and calls of this process, for monitoring systems.

Each observer is off until an operator enables it; only then is its library imported. None of them passes on
keys. Texts of dialogues leave the process only in traces, and only if the operator enables texts.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    exposition,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import GatewayError, StoreError
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Reply, Request, SayToApplication
from theodolite.domain.network import strike_out
from theodolite.domain.run import Failure, Run, Unit, UnitKind
from theodolite.gateways.secret_redaction import KEY_LIKE, KEY_NAME, STRUCK
from theodolite.ports.progress import Observer, Sample

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

# Shared by all observers


class ObserverGroup:
    """Several observers as one."""

    def __init__(self, observers: Iterable[Observer]) -> None:
        """Set the observers, in this order."""
        self._observers = tuple(observers)

    @contextmanager
    def unit(self, run: Run, unit: Unit, *, owner: str) -> Iterator[Callable[[object], None]]:
        """Observe one unit of a run."""
        with ExitStack() as stack:
            ends = [stack.enter_context(observer.unit(run, unit, owner=owner)) for observer in self._observers]
            yield lambda result: _pass_to(ends, result)

    @contextmanager
    def call(self, request: Request, unit: str) -> Iterator[Callable[[Reply], None]]:
        """Observe one call."""
        with ExitStack() as stack:
            ends = [stack.enter_context(observer.call(request, unit)) for observer in self._observers]
            yield lambda reply: _pass_to(ends, reply)


def _pass_to(ends: Iterable[Callable[[Any], None]], result: object) -> None:
    for end in ends:
        end(result)


def _endpoint_of(request: Request) -> tuple[str, str]:
    """Return the name of the endpoint of a request, and the role that it is called for."""
    if isinstance(request, AskModel):
        return request.model, request.party.value.replace(" ", "_")
    if isinstance(request, SayToApplication):
        return request.application, "application"
    return request.annotator, "judge"


def _outcome_of(reply: Reply) -> str:
    if reply.cached:
        return "cached"
    return CONTENT_FILTER if reply.finish == CONTENT_FILTER else "reply"


def _outcome_of_error(error: BaseException) -> str:
    """Return the class of an error in words of monitoring systems, e.g. `rate_limited`."""
    if not isinstance(error, GatewayError):
        return "stopped"
    known = next((kin for kin in type(error).__mro__ if kin.__module__ == GatewayError.__module__), GatewayError)
    return re.sub(r"(?<!^)(?=[A-Z])", "_", known.__name__).lower()


_SHORTEST_SECRET = 6

_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)@")


class SecretFilter:
    """Removes the secrets of this process from all texts that go to logs and traces."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        """Collect the secrets of the environment.

        Args:
            environ: Variables; values of names that indicate a key, and passwords in addresses, are secrets.
        """
        self._secrets: set[str] = set()
        for name, value in (environ or {}).items():
            if KEY_NAME.search(name):
                self.hide(value)
            for match in _PASSWORD.finditer(value):
                self.hide(match[2])

    def hide(self, secret: str) -> None:
        """Add a secret, e.g. a key that a study names."""
        if len(secret) >= _SHORTEST_SECRET:
            self._secrets.add(secret)

    def strike(self, text: str) -> str:
        """Return a text without secrets and without anything in the form of a key."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, STRUCK)
        return strike_out(KEY_LIKE.sub(STRUCK, _PASSWORD.sub(rf"\1:{STRUCK}@", text)))


# Metrics

PREFIX = "theodolite_"

DATABASE_METRICS = {
    "runs": "Runs by study and state.",
    "units": "Units of the latest run of each study by kind and state.",
    "queue_depth": "Units of the latest run that wait and can be leased now.",
    "leases": "Units of the latest run that a worker has leased.",
    "leases_expired": "Leases of the latest run whose worker did not renew them in time.",
    "failures": "Failed units of the latest run by source, reason and endpoint.",
    "run_cost_usd": "Cost of the latest run so far, US dollars; at most 60 seconds old.",
    "run_calls": "Calls of the latest run so far.",
    "run_calls_without_price": "Calls of the latest run whose cost is unknown.",
    "run_tokens": "Tokens of the latest run by direction.",
    "workers": "Processes that work on the latest run.",
    "sessions": "Sessions of participants by state.",
    "annotation_items": "Dialogues in the queue of human annotators by state.",
}
"""Gauges that are read from the database, with their help texts."""

_DURATIONS_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)

_REQUESTS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class PrometheusMetrics:
    """Metrics of this process in the format of Prometheus, and gauges that are read from databases on request."""

    def __init__(self) -> None:
        """Create all metrics; nothing is counted yet."""
        self.registry: CollectorRegistry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        build = Gauge(f"{PREFIX}build_info", "Version of Theodolite.", ["version"], registry=self.registry)
        build.labels(version("theodolite")).set(1)
        of_call = ["endpoint", "role"]
        self._duration = Histogram(
            f"{PREFIX}call_duration_seconds",
            "Duration of calls with waits for limits and retries.",
            [*of_call, "outcome"],
            registry=self.registry,
            buckets=_DURATIONS_S,
        )
        self._latency = Histogram(
            f"{PREFIX}call_latency_seconds",
            "Latency of the last attempt of calls that brought a reply.",
            of_call,
            registry=self.registry,
            buckets=_DURATIONS_S,
        )
        self._in_flight = Gauge(f"{PREFIX}calls_in_flight", "Calls in flight.", of_call, registry=self.registry)
        self._attempts = Counter(f"{PREFIX}call_attempts", "Attempts of calls.", of_call, registry=self.registry)
        self._tokens = Counter(
            f"{PREFIX}call_tokens", "Tokens of calls.", [*of_call, "direction"], registry=self.registry
        )
        self._cost = Counter(
            f"{PREFIX}call_cost_usd", "Cost of calls with a known price, US dollars.", of_call, registry=self.registry
        )
        self._units = Counter(
            f"{PREFIX}units_finished",
            "Units that this process finished by kind and outcome.",
            ["kind", "outcome"],
            registry=self.registry,
        )
        self._requests = Histogram(
            f"{PREFIX}http_request_duration_seconds",
            "Time until the response of a page is ready, without streaming.",
            ["method", "route", "status"],
            registry=self.registry,
            buckets=_REQUESTS_S,
        )

    @contextmanager
    def unit(self, run: Run, unit: Unit, *, owner: str) -> Iterator[Callable[[object], None]]:  # noqa: ARG002 - port
        """Count a finished unit."""

        def end(result: object) -> None:
            self._units.labels(unit.kind.value, "failed" if isinstance(result, Failure) else "done").inc()

        yield end

    @contextmanager
    def call(self, request: Request, unit: str) -> Iterator[Callable[[Reply], None]]:  # noqa: ARG002 - port
        """Measure a call."""
        labels, started_s, outcome = _endpoint_of(request), time.perf_counter(), "stopped"

        def end(reply: Reply) -> None:
            nonlocal outcome
            outcome = _outcome_of(reply)
            self._count(labels, reply.attempts, reply.tokens_in, reply.tokens_out, reply.cost_microusd or 0)
            if not reply.cached:
                self._latency.labels(*labels).observe(reply.latency_s)

        self._in_flight.labels(*labels).inc()
        try:
            yield end
        except BaseException as error:
            outcome = _outcome_of_error(error)
            if isinstance(error, GatewayError):
                spent = error.spent
                self._count(labels, error.tries, spent.tokens_in, spent.tokens_out, spent.cost_microusd)
            raise
        finally:
            self._in_flight.labels(*labels).dec()
            self._duration.labels(*labels, outcome).observe(time.perf_counter() - started_s)

    def _count(self, labels: tuple[str, str], attempts: int, tokens_in: int, tokens_out: int, microusd: int) -> None:
        self._attempts.labels(*labels).inc(attempts)
        self._tokens.labels(*labels, "input").inc(tokens_in)
        self._tokens.labels(*labels, "output").inc(tokens_out)
        self._cost.labels(*labels).inc(microusd / 1e6)

    def request(self, method: str, route: str, status: int, duration_s: float) -> None:
        """Measure a request to the web server.

        Args:
            method: Its method.
            route: Pattern of its address, without names from people or studies.
            status: Status code.
            duration_s: Time until the response was ready; seconds.
        """
        self._requests.labels(method, route, str(status)).observe(duration_s)

    def gauge(self, name: str, help_text: str, value: Callable[[], float]) -> None:
        """Add a gauge that is read on request."""
        Gauge(PREFIX + name, help_text, registry=self.registry).set_function(value)

    def read_databases(self, databases: Sequence[Callable[[], Iterable[Sample]]]) -> None:
        """Add the gauges of databases, which are read on request.

        Args:
            databases: Each returns the numbers of one database; the same study in two of them counts once.
        """

        class DatabaseCollector(Collector):
            def collect(self) -> Iterable[Metric]:
                return _database_metrics(databases)

            def describe(self) -> Iterable[Metric]:
                return ()  # nothing is read before the first access

        self.registry.register(DatabaseCollector())

    def text(self) -> tuple[bytes, str]:
        """Return all metrics and their media type."""
        return exposition.generate_latest(self.registry), exposition.CONTENT_TYPE_LATEST


def _database_metrics(databases: Sequence[Callable[[], Iterable[Sample]]]) -> Iterable[Metric]:
    values: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    is_up = 1.0
    for read in databases:
        try:
            for sample in read():
                values.setdefault(sample.name, {})[tuple(sample.labels.items())] = sample.value
        except StoreError:
            is_up = 0.0
    yield GaugeMetricFamily(f"{PREFIX}database_up", "Whether the database could be read.", value=is_up)
    for name, by_labels in values.items():
        names = [key for key, _ in next(iter(by_labels))]
        metric = GaugeMetricFamily(PREFIX + name, DATABASE_METRICS[name], labels=names)
        for labels, value in by_labels.items():
            metric.add_metric([text for _, text in labels], value)
        yield metric


# Logs

_FIELDS: ContextVar[Mapping[str, object] | None] = ContextVar("log_fields", default=None)

CALL_LOG = logging.getLogger("theodolite.calls")

UNIT_LOG = logging.getLogger("theodolite.units")

REQUEST_LOG = logging.getLogger("theodolite.requests")


class JsonFormatter(logging.Formatter):
    """Writes each record as one JSON object on a line, without secrets."""

    def __init__(self, secrets: SecretFilter) -> None:
        """Set the redaction of secrets."""
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **(_FIELDS.get() or {}),
            **getattr(record, "fields", {}),
            **_trace_ids(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({key: self._clean(value) for key, value in line.items()}, ensure_ascii=False)

    def _clean(self, value: object) -> object:
        is_plain = value is None or isinstance(value, bool | int | float)
        return value if is_plain else self._secrets.strike(str(value))


def _trace_ids() -> dict[str, object]:
    """Return the ids of the present span, if traces are on."""
    trace = sys.modules.get("opentelemetry.trace")
    context = trace.get_current_span().get_span_context() if trace else None
    if context is None or not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


class LineLog:
    """A text stream with lines that become log records, e.g. to replace standard error."""

    encoding = "utf-8"

    def __init__(self, log: logging.Logger) -> None:
        """Set where the lines go."""
        self._log = log
        self._begun = ""

    def write(self, text: str) -> int:
        """Log all complete lines; the rest waits for the end of its line."""
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if line.strip():
                self._log.info("%s", line.rstrip())
        return len(text)

    def flush(self) -> None:
        """Do nothing: whole lines are logged already."""

    def isatty(self) -> bool:
        """Return False: the stream is not a terminal."""
        return False


class LogObserver:
    """Logs each unit and each call with ids; neither prompts nor replies."""

    @contextmanager
    def unit(self, run: Run, unit: Unit, *, owner: str) -> Iterator[Callable[[object], None]]:
        """Log how a unit ended."""
        fields = {
            "run": f"{run.study}@{run.number}",
            "run_key": run.key,
            "dialogue": unit.label,
            "dialogue_key": unit.subject or unit.key,
            "unit_key": unit.key,
            "worker": owner,
        }
        if unit.annotator:
            fields["annotator"] = unit.annotator
        started_s = time.perf_counter()

        def end(result: object) -> None:
            about = {"kind": unit.kind.value, "duration_s": _duration_s(started_s), "tries": unit.tries}
            if isinstance(result, Failure):
                reason = {"source": result.party.value, "reason": result.kind.value, "endpoint": result.endpoint}
                UNIT_LOG.warning("unit failed: %s", result.message, extra={"fields": {**about, **reason}})
            else:
                UNIT_LOG.info("unit done", extra={"fields": about})

        with log_fields(fields):
            yield end

    @contextmanager
    def call(self, request: Request, unit: str) -> Iterator[Callable[[Reply], None]]:
        """Log how a call ended."""
        endpoint, role = _endpoint_of(request)
        fields: dict[str, object] = {"call": secrets.token_hex(8), "endpoint": endpoint, "role": role}
        if "unit_key" not in (_FIELDS.get() or {}):
            fields["session_key"] = unit
        if isinstance(request, SayToApplication):
            fields["turn"] = request.turn
        started_s = time.perf_counter()

        def end(reply: Reply) -> None:
            about = {
                "outcome": _outcome_of(reply),
                "duration_s": _duration_s(started_s),
                "attempts": reply.attempts,
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
                "cost_usd": None if reply.cost_microusd is None else reply.cost_microusd / 1e6,
            }
            CALL_LOG.info("call ended", extra={"fields": about})

        with log_fields(fields):
            try:
                yield end
            except GatewayError as error:
                about = {"outcome": _outcome_of_error(error), "duration_s": _duration_s(started_s)}
                CALL_LOG.warning("call failed: %s", error, extra={"fields": {**about, "attempts": error.tries}})
                raise


@contextmanager
def log_fields(fields: Mapping[str, object]) -> Iterator[None]:
    """Add fields to all records that are logged within the block."""
    token = _FIELDS.set({**(_FIELDS.get() or {}), **fields})
    try:
        yield
    finally:
        _FIELDS.reset(token)


def log_request(method: str, route: str, status: int, duration_s: float) -> None:
    """Log a request to the web server by the pattern of its address."""
    fields = {"method": method, "route": route, "status": status, "duration_s": round(duration_s, 6)}
    REQUEST_LOG.info("request", extra={"fields": fields})


def _duration_s(started_s: float) -> float:
    return round(time.perf_counter() - started_s, 6)


# Traces

EXTRA = "pip install 'theodolite[otel]'"
"""How the extra of traces is installed."""

_PROVIDERS = {"openai": "openai", "anthropic": "anthropic"}
"""`gen_ai.provider.name` by request format; the name of an Inspect model contains its provider."""


@dataclass(slots=True)
class _UnitTrace:
    """The span of a unit, and the span of its turn in progress."""

    unit: Unit
    context: Any
    turns: int = 0
    turn: Span | None = None


_UNIT_TRACE: ContextVar[_UnitTrace | None] = ContextVar("unit_trace", default=None)


class TraceObserver:
    """Spans of OpenTelemetry for dialogues, turns, annotations and calls, with the attributes of its GenAI conventions.

    A turn starts with the first call for its prompt and ends with the reply of the application.
    """

    def __init__(
        self,
        provider: TracerProvider,
        models: Iterable[ModelEndpoint] = (),
        *,
        content: bool,
        secrets: SecretFilter | None = None,
    ) -> None:
        """Set where spans go.

        Args:
            provider: Creates the tracer.
            models: Models of the study; the spans contain their names and hosts.
            content: Whether spans contain prompts and replies.
            secrets: Removes secrets; None removes only texts in the form of a key.
        """
        self._strike = (secrets or SecretFilter()).strike
        self._tracer = provider.get_tracer("theodolite", version("theodolite"))
        self._models = {model.name: model for model in models}
        self._content = content

    @contextmanager
    def unit(self, run: Run, unit: Unit, *, owner: str) -> Iterator[Callable[[object], None]]:
        """Create the span of a dialogue or an annotation."""
        from opentelemetry import trace

        is_session = unit.kind is UnitKind.SESSION
        name = f"dialogue {unit.label}" if is_session else f"annotation {unit.label} {unit.annotator}"
        attributes = {
            "gen_ai.conversation.id": unit.subject or unit.key,
            "theodolite.run": f"{run.study}@{run.number}",
            "theodolite.run.key": run.key,
            "theodolite.unit.key": unit.key,
            "theodolite.unit.kind": unit.kind.value,
            "theodolite.application": unit.application,
            "theodolite.annotator": unit.annotator,
            "theodolite.worker": owner,
        }
        stated = {key: text for key, text in attributes.items() if text}
        with self._tracer.start_as_current_span(name, attributes=stated, record_exception=False) as span:
            state = _UnitTrace(unit=unit, context=trace.set_span_in_context(span))
            token = _UNIT_TRACE.set(state)
            try:
                yield lambda result: self._end_unit(span, result)
            finally:
                _UNIT_TRACE.reset(token)
                if state.turn is not None:  # the tester ended the dialogue without a further prompt
                    state.turn.end()

    @contextmanager
    def call(self, request: Request, unit: str) -> Iterator[Callable[[Reply], None]]:
        """Make the span of a call."""
        from opentelemetry import trace
        from opentelemetry.trace import SpanKind, Status, StatusCode

        state = _UNIT_TRACE.get()
        parent = self._parent_of(request, state)
        name, attributes = self._described(request)
        attributes["gen_ai.conversation.id"] = unit if state is None else state.unit.subject or unit
        span = self._tracer.start_span(name, context=parent, kind=SpanKind.CLIENT, attributes=attributes)
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield lambda reply: self._end_call(span, reply)
        except BaseException as error:
            span.set_attribute("error.type", _outcome_of_error(error))
            span.set_status(Status(StatusCode.ERROR, self._strike(str(error))))
            raise
        finally:
            span.end()
            if state is not None and state.turn is not None and isinstance(request, SayToApplication):
                state.turn.end()
                state.turn = None

    def _parent_of(self, request: Request, state: _UnitTrace | None) -> Any:
        """Return the context of a request's turn, started by its first request; otherwise that of its unit."""
        from opentelemetry import trace

        if state is None or state.unit.kind is not UnitKind.SESSION:
            return None if state is None else state.context
        if state.turn is None:
            state.turns = request.turn if isinstance(request, SayToApplication) else state.turns + 1
            number = {"theodolite.turn": state.turns}
            state.turn = self._tracer.start_span(f"turn {state.turns}", context=state.context, attributes=number)
        return trace.set_span_in_context(state.turn)

    def _described(self, request: Request) -> tuple[str, dict[str, Any]]:
        """Return the name and the attributes of the span of a request."""
        endpoint, role = _endpoint_of(request)
        attributes: dict[str, Any] = {"theodolite.endpoint": endpoint, "theodolite.role": role}
        if isinstance(request, AskModel):
            model = self._models.get(endpoint)
            name = model.model if model and model.model else endpoint
            attributes |= {"gen_ai.operation.name": "chat", "gen_ai.request.model": name}
            attributes |= _host_attributes(model) if model else {}
            if self._content:
                messages = [_message(one.speaker.value, one.text) for one in request.messages]
                attributes["gen_ai.input.messages"] = self._strike(json.dumps(messages, ensure_ascii=False))
            return f"chat {name}", attributes
        if isinstance(request, SayToApplication):
            attributes |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": endpoint}
            if self._content:
                message = [_message("user", request.prompt)]
                attributes["gen_ai.input.messages"] = self._strike(json.dumps(message, ensure_ascii=False))
            return f"invoke_agent {endpoint}", attributes
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": endpoint}
        return f"execute_tool {endpoint}", attributes

    def _end_call(self, span: Span, reply: Reply) -> None:
        attributes: dict[str, Any] = {
            "gen_ai.usage.input_tokens": reply.tokens_in,
            "gen_ai.usage.output_tokens": reply.tokens_out,
            "theodolite.attempts": reply.attempts,
            "theodolite.outcome": _outcome_of(reply),
        }
        if reply.answered_as:
            attributes["gen_ai.response.model"] = reply.answered_as
        if reply.finish:
            attributes["gen_ai.response.finish_reasons"] = (reply.finish,)
        if reply.cost_microusd is not None:
            attributes["theodolite.cost_usd"] = reply.cost_microusd / 1e6
        if self._content:
            message = {**_message("assistant", reply.text), "finish_reason": reply.finish or "stop"}
            attributes["gen_ai.output.messages"] = self._strike(json.dumps([message], ensure_ascii=False))
        span.set_attributes(attributes)

    def _end_unit(self, span: Span, result: object) -> None:
        from opentelemetry.trace import Status, StatusCode

        if isinstance(result, Failure):
            span.set_attribute("error.type", result.kind.name.lower())
            span.set_status(Status(StatusCode.ERROR, self._strike(result.message)))


def _host_attributes(model: ModelEndpoint) -> dict[str, Any]:
    parts = urlsplit(model.url)
    provider = _PROVIDERS.get(model.kind.value) or model.model.partition("/")[0]
    result: dict[str, Any] = {"gen_ai.provider.name": provider}
    if parts.hostname:
        result["server.address"] = parts.hostname
        with suppress(ValueError):
            result |= {"server.port": parts.port} if parts.port else {}
    return result


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def otlp_provider() -> TracerProvider:
    """Return a provider that sends spans in batches by OTLP over HTTP, configured by OpenTelemetry's variables.

    Raises:
        ImportError: If the extra is not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "theodolite", "service.version": version("theodolite")})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
