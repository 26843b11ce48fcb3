"""Metrics are read by Prometheus' own parser, logs line by line, spans by OpenTelemetry's exporter in memory."""

from __future__ import annotations

import json
import logging
import re
from collections import defaultdict
from datetime import UTC, datetime

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes.builders import group, judge, reply, study, unit
from tests.fakes.clients import InlineExecutor, Switchboard, Watcher, clients_for, usual_answer
from tests.fakes.store import FakeStore
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import RateLimited, StorageUnavailable
from theodolite.domain.flow import AskModel, Message, SayToApplication, Speaker
from theodolite.domain.run import FailureSource, Run, RunState, Spending, UnitKind
from theodolite.execution.run_worker import Flows, RunWorker
from theodolite.gateways.telemetry import (
    DATABASE_METRICS,
    JsonFormatter,
    LineLog,
    LogObserver,
    ObserverGroup,
    PrometheusMetrics,
    SecretFilter,
    TraceObserver,
)
from theodolite.ports.progress import Sample
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import StudyFlows, annotation_units, session_units

RATE_LIMITED = RateLimited("too many", tries=5)
RATE_LIMITED = RateLimited("too many", tries=5, spent=Spending(tokens_in=7))

SAID = SayToApplication(application="bot", prompt="a private prompt", turn=3)
ASKED = AskModel(model="large", messages=(Message(speaker=Speaker.USER, text="rate")), party=FailureSource.JUDGE)
RUN = Run(
    key="k" * 64,
    number=2,
    study="small",
    study_version="v",
    plan_version="p",
    state=RunState.UNFINISHED,
    started=datetime(2026, 1, 1, tzinfo=UTC),
)


def samples_of(metrics: PrometheusMetrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text, kind = metrics.text()
    assert kind.startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def value_of(metrics: PrometheusMetrics, name: str, **labels: str) -> float:
    return samples_of(metrics)[name, frozenset(labels.items())]


def test_calls_are_counted_by_endpoint_role_and_outcome():
    metrics = PrometheusMetrics()
    with metrics.call(SAID, "u") as end:
        assert value_of(metrics, "theodolite_calls_in_flight", endpoint="bot", role="application") == 1
        end(reply(tokens_in=10, tokens_out=4, cost_microusd=2_500_000, latency_s=0.3, attempts=2))
    with pytest.raises(RateLimited), metrics.call(ASKED, "u"):
        raise RATE_LIMITED
    with metrics.call(ASKED, "u") as end:
        end(reply(attempts=0))

    bot, large = {"endpoint": "bot", "role": "application"}, {"endpoint": "large", "role": "judge"}
    assert value_of(metrics, "theodolite_calls_in_flight", **bot) == 0
    assert value_of(metrics, "theodolite_call_duration_seconds_count", **bot, outcome="reply") == 1
    assert value_of(metrics, "theodolite_call_duration_seconds_count", **large, outcome="rate_limited") == 1
    assert value_of(metrics, "theodolite_call_duration_seconds_count", **large, outcome="cached") == 1
    assert value_of(metrics, "theodolite_call_latency_seconds_sum", **bot) == 0.3
    assert value_of(metrics, "theodolite_call_attempts_total", **bot) == 2
    assert value_of(metrics, "theodolite_call_attempts_total", **large) == 5
    assert value_of(metrics, "theodolite_call_tokens_total", **bot, direction="input") == 10
    assert value_of(metrics, "theodolite_call_tokens_total", **large, direction="input") == 7
    assert value_of(metrics, "theodolite_call_cost_usd_total", **bot) == 2.5


def test_a_call_cancelled_by_a_stop_is_not_a_failure_of_the_endpoint():
    metrics = PrometheusMetrics()
    with pytest.raises(KeyboardInterrupt), metrics.call(SAID, "u"):
        raise KeyboardInterrupt

    labels = {"endpoint": "bot", "role": "application", "outcome": "stopped"}
    assert value_of(metrics, "theodolite_call_duration_seconds_count", **labels) == 1


def test_requests_are_measured_by_route():
    metrics = PrometheusMetrics()
    metrics.request("GET", "join/<str:signed>", 200, 0.02)

    labels = {"method": "GET", "route": "join/<str:signed>", "status": "200"}
    assert value_of(metrics, "theodolite_http_request_duration_seconds_count", **labels) == 1
    assert value_of(metrics, "theodolite_http_request_duration_seconds_bucket", **labels, le="0.025") == 1
    assert value_of(metrics, "theodolite_http_request_duration_seconds_bucket", **labels, le="0.01") == 0


def test_database_figures_are_read_on_request_and_each_study_is_counted_once():
    metrics, n_reads = PrometheusMetrics(), 0

    def read():
        nonlocal n_reads
        n_reads += 1
        return [Sample("workers", {"study": 'with "quotes"\n', "run": "1"}, 3)]

    metrics.read_databases([read, read])
    assert n_reads == 0
    assert value_of(metrics, "theodolite_workers", study='with "quotes"\n', run="1") == 3
    assert value_of(metrics, "theodolite_database_up") == 1


def test_an_unavailable_database_is_reported_and_other_metrics_are_available():
    def read():
        msg = "away"
        raise StorageUnavailable(msg)

    metrics = PrometheusMetrics()
    metrics.read_databases([read])

    assert value_of(metrics, "theodolite_database_up") == 0
    assert "theodolite_workers" not in {name for name, _ in samples_of(metrics)}


def test_help_texts_are_sentences():
    assert [text for text in DATABASE_METRICS.values() if not re.fullmatch(r"[A-Z].*\.", text)] == []


# Logs


@pytest.fixture
def lines():
    """Log as the program does, and return the lines so far."""
    written: list[str] = []

    class ListHandler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(self.format(record))

    handler, log = ListHandler(), logging.getLogger("theodolite")
    environ = {
        "SHOP_API_KEY": "correct-horse",
        "DATABASE_URL": "postgresql://ana:staple-battery@db:5432/x",
        "HOME": "/srv/theodolite",
    }
    secrets = SecretFilter(environ)
    secrets.hide("of-a-study-123")
    handler.setFormatter(JsonFormatter(secrets))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in written]
    log.removeHandler(handler)
    log.setLevel(logging.NOTSET)


def test_lines_state_run_dialogue_call_worker_level_and_time(lines):
    observer = LogObserver()
    with observer.unit(RUN, unit("u" * 64, label="d003", tries=1), owner="w1") as end_unit:
        with observer.call(SAID, "u") as end_call:
            end_call(reply("a private reply", tokens_in=3))
        end_unit("a record")

    call, done = lines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", call["time"])
    assert re.fullmatch(r"[0-9a-f]{16}", call.pop("call"))
    common = {"level": "info", "run": "small@2", "dialogue": "d003", "dialogue_key": "u" * 64, "worker": "w1"}
    assert common.items() <= call.items()
    assert common.items() <= done.items()
    assert (call["endpoint"], call["turn"], call["outcome"], call["tokens_in"]) == ("bot", 3, "reply", 3)
    assert (done["kind"], done["tries"]) == ("session", 1)
    assert "private" not in json.dumps(lines())


def test_a_failed_call_is_a_warning_with_its_reason(lines):
    with pytest.raises(RateLimited), LogObserver().call(ASKED, "s1"):
        raise RATE_LIMITED

    (line,) = lines()
    assert (line["level"], line["outcome"], line["attempts"]) == ("warning", "rate_limited", 5)
    assert line["session_key"] == "s1"


SECRETS = ("correct-horse", "staple-battery", "sk-abcdefghijklmnop", "Bearer abcdefghijklmnop", "of-a-study-123")


def test_no_line_repeats_a_secret(lines):
    log = logging.getLogger("theodolite.test")
    for secret in SECRETS:
        log.warning("it said %s", secret, extra={"fields": {"field": f"{secret}!", "other": [secret]}})
        try:
            raise ValueError(secret)  # noqa: TRY301 - its traceback is logged
        except ValueError:
            log.exception("failed at https://ana:staple-battery@host/path")
        LineLog(log).write(f"a line with {secret}\n")

    text = json.dumps(lines())
    assert len(lines()) == 3 * len(SECRETS)
    assert [secret for secret in SECRETS if secret in text] == []
    assert "/srv/theodolite" not in text


def test_text_becomes_one_record_per_line_regardless_of_its_chunks(lines):
    stream = LineLog(logging.getLogger("theodolite.output"))
    for piece in ("one", " line\ntwo", "\n\n", "three\nunfinished"):
        stream.write(piece)

    assert [line["message"] for line in lines()] == ["one line", "two", "three"]


# Traces


class Tracing:
    """A run of a small study with spans in memory."""

    def __init__(self, *, content: bool, answer=usual_answer) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.study = study(
            personas=(group("Ana"),),
            annotators=(judge(),),
            models=(
                ModelEndpoint(name="user", url="https://api.example.org:8443/v1", model="actor-1"),
                ModelEndpoint(name="large", url="l", model="judge-1"),
            ),
        )
        self.observer = TraceObserver(provider, self.study.models, content=content)
        self.board = Switchboard(answer=answer)

    async def run(self):
        plan, sessions = draw_plan(self.study)
        store = FakeStore()
        run = store.open_run(self.study, plan)
        flows = StudyFlows(self.study, sessions, ())
        units = list(session_units(self.study, run, sessions))
        store.add_units(run, units)
        store.add_units(run, annotation_units(self.study, run, sessions, units, {}))
        store.started = True
        clients = clients_for(self.board)
        object.__setattr__(clients, "observer", ObserverGroup([self.observer]))
        worker = RunWorker(
            run=run,
            owner="me",
            store=store,
            clients=clients,
            flows=Flows(session=flows.session, annotation=flows.annotation),
            progress=Watcher(),
            parallel=2,
            executor=InlineExecutor(),
        )
        await worker.work(frozenset(UnitKind))
        return self.exporter.get_finished_spans()


def tree_of(spans) -> dict[str, list[str]]:
    names = {span.context.span_id: span.name for span in spans}
    result = defaultdict(list)
    for span in sorted(spans, key=lambda one: (one.start_time, one.context.span_id)):
        result[names[span.parent.span_id] if span.parent else ""].append(span.name)
    return dict(result)


async def test_spans_form_dialogues_turns_and_calls():
    spans = await Tracing(content=False).run()

    tree = tree_of(spans)
    assert sorted(tree[""]) == ["annotation d001 grounded", "dialogue d001"]
    assert tree["dialogue d001"][:2] == ["turn 1", "turn 2"]
    assert tree["turn 1"] == ["chat actor-1", "invoke_agent bot"]
    assert tree["annotation d001 grounded"] == ["chat judge-1"]


async def test_spans_have_the_attributes_of_the_genai_conventions_and_no_text():
    spans = await Tracing(content=False).run()

    chat = next(span for span in spans if span.name == "chat actor-1")
    assert (
        dict(chat.attributes).items()
        >= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "actor-1",
            "server.address": "api.example.org",
            "server.port": 8443,
            "theodolite.role": "simulated_user",
        }.items()
    )
    agent = next(span for span in spans if span.name == "invoke_agent bot")
    assert agent.attributes["gen_ai.agent.name"] == "bot"
    dialogue = next(span for span in spans if span.name == "dialogue d001")
    annotation = next(span for span in spans if span.name.startswith("annotation"))
    keys = {span.attributes["gen_ai.conversation.id"] for span in (chat, agent, dialogue, annotation)}
    assert keys == {dialogue.attributes["theodolite.unit.key"]}
    assert [name for span in spans for name in span.attributes if "messages" in name] == []


async def test_prompts_and_replies_are_in_spans_only_at_the_request_of_the_operator():
    spans = await Tracing(content=True).run()

    agent = next(span for span in spans if span.name == "invoke_agent bot")
    (output,) = json.loads(agent.attributes["gen_ai.output.messages"])
    assert output["role"] == "assistant"
    assert output["parts"][0]["content"]


async def test_a_failed_call_marks_its_span_and_that_of_its_dialogue():
    def answer(request):
        return RateLimited("too many") if isinstance(request, SayToApplication) else usual_answer(request)

    spans = await Tracing(content=False, answer=answer).run()

    failed = {span.name: span.attributes["error.type"] for span in spans if not span.status.is_ok}
    assert failed == {"invoke_agent bot": "rate_limited", "dialogue d001": "rate_limited"}
    assert all(span.end_time for span in spans)


def test_log_lines_within_a_span_state_its_ids(lines):
    tracing = Tracing(content=False)
    group_of_both = ObserverGroup([tracing.observer, LogObserver()])
    with group_of_both.call(SAID, "s") as end:
        end(reply())

    (span,) = tracing.exporter.get_finished_spans()
    assert lines()[0]["trace_id"] == f"{span.context.trace_id:032x}"
    assert lines()[0]["span_id"] == f"{span.context.span_id:016x}"
