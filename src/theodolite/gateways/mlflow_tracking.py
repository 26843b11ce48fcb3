"""MLflow: a run with its rates as metrics, and dialogues as traces with assessments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from importlib.util import find_spec
from itertools import islice
from typing import Any

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.reporting.exporting.chat_formats import DialogueTrace, TraceAssessment, TraceSpan

EXTRA = "pip install 'theodolite[mlflow]'"
"""The command that installs MLflow's client."""

_SOURCES = {AnnotatorKind.PERSON: "HUMAN", AnnotatorKind.MODEL: "LLM_JUDGE", AnnotatorKind.RULE: "CODE", None: "HUMAN"}


def has_mlflow() -> bool:
    """Whether MLflow's client is installed."""
    return find_spec("mlflow") is not None


def write_mlflow(
    uri: str,
    *,
    experiment: str,
    run_name: str,
    params: Mapping[str, str],
    metrics: Mapping[str, float],
    traces: Iterable[DialogueTrace],
) -> int:
    """Write a run to a tracking server and return the number of traces; count.

    Args:
        uri: Tracking URI, e.g. `http://127.0.0.1:5000`.
        experiment: Name of the experiment; created if missing.
        run_name: Name of the run in it.
        params: Parameters of the run.
        metrics: Its metrics.
        traces: Dialogues.

    Raises:
        InputError: If MLflow's client is not installed.
        StorageUnavailable: If the server cannot be reached or refuses the records.
    """
    if not has_mlflow():
        message = f"the format mlflow needs MLflow's client, which is not installed; try  {EXTRA}"
        raise InputError(message)
    import mlflow
    from mlflow.exceptions import MlflowException

    previous = mlflow.get_tracking_uri()
    try:
        mlflow.set_tracking_uri(uri)
        folder = mlflow.set_experiment(experiment)
        with mlflow.start_run(run_name=run_name, experiment_id=folder.experiment_id) as run:
            mlflow.log_params(dict(params))
            mlflow.log_metrics(dict(metrics))
            return _write_traces(mlflow, traces, folder.experiment_id, run.info.run_id)
    except (MlflowException, OSError) as error:
        message = f"MLflow at `{uri}` did not take the records: {str(error).splitlines()[0][:300]}"
        raise StorageUnavailable(message) from error
    finally:
        mlflow.set_tracking_uri(previous)


def _write_traces(mlflow: Any, traces: Iterable[DialogueTrace], experiment: str, run: str) -> int:
    """Write traces in chunks: an assessment needs its trace on the server, and waiting for each one is slow."""
    n, left = 0, iter(traces)
    while chunk := list(islice(left, _CHUNK)):
        ids = [_write_trace(mlflow, trace, experiment, run) for trace in chunk]
        mlflow.flush_trace_async_logging()
        for key, trace in zip(ids, chunk, strict=True):
            for assessment in trace.assessments:
                mlflow.log_assessment(trace_id=key, assessment=_feedback(assessment))
        n += len(chunk)
    return n


_CHUNK = 100
"""Traces that are written before their assessments; count."""


def _write_trace(mlflow: Any, trace: DialogueTrace, experiment: str, run: str) -> str:
    """Write a trace without its assessments and return its id."""
    last = trace.spans[-1] if trace.spans else None
    root = mlflow.start_span_no_context(
        trace.name,
        span_type="AGENT",
        inputs={"messages": [{"role": "user", "content": trace.spans[0].prompt}]} if trace.spans else None,
        experiment_id=experiment,
        metadata={**trace.metadata, "mlflow.sourceRun": run, "theodolite.dialogue": trace.name},
        start_time_ns=_nanoseconds(trace.started),
    )
    messages: list[dict[str, str]] = []
    for number, span in enumerate(trace.spans, start=1):
        messages = [*messages, {"role": "user", "content": span.prompt}]
        _write_span(mlflow, root, number, span, messages)
        messages = [*messages, {"role": "assistant", "content": span.response}]
    if trace.error:
        root.set_status("ERROR")
        root.set_attribute("error", trace.error)
    root.set_outputs({"messages": messages})
    end = trace.started if last is None else last.started + timedelta(seconds=last.seconds)
    root.end(end_time_ns=_nanoseconds(end))
    return str(root.trace_id)


def _write_span(mlflow: Any, root: Any, number: int, span: TraceSpan, messages: list[dict[str, str]]) -> None:
    child = mlflow.start_span_no_context(
        f"turn {number}",
        span_type="CHAT_MODEL",
        parent_span=root,
        inputs={"messages": messages, **({"context": span.context} if span.context else {})},
        start_time_ns=_nanoseconds(span.started),
    )
    child.set_outputs({"choices": [{"message": {"role": "assistant", "content": span.response}}]})
    child.end(end_time_ns=_nanoseconds(span.started + timedelta(seconds=span.seconds)))


def _feedback(assessment: TraceAssessment) -> Any:
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback

    return Feedback(
        name=assessment.name,
        value=assessment.value,
        error=AssessmentError(error_code=assessment.error) if assessment.error else None,
        source=AssessmentSource(source_type=_SOURCES[assessment.kind], source_id=assessment.annotator),
        rationale=assessment.reason or None,
        metadata=dict(assessment.metadata),
    )


def _nanoseconds(when: datetime) -> int:
    return int(when.timestamp() * 1_000_000) * 1_000
