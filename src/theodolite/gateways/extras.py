"""Optional packages: Azure Machine Learning, MLflow, logs of Inspect, figures as PNG."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.reporting.exporting.chat_formats import DialogueTrace, TraceAssessment, TraceSpan

_AZUREML = "pip install 'theodolite[azureml]'"
"""The command that installs azure-ai-ml and its login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureWorkspace:
    """A workspace of Azure Machine Learning; empty names are read from `config.json`.

    Attributes:
        subscription: Id of the subscription.
        resource_group: Name of the resource group.
        name: Name of the workspace.
    """

    subscription: str = ""
    resource_group: str = ""
    name: str = ""


def has_azureml() -> bool:
    """Whether azure-ai-ml is installed."""
    return find_spec("azure") is not None and find_spec("azure.ai.ml") is not None


def validate_pipeline(path: Path) -> tuple[str, ...]:
    """Return the errors that azure-ai-ml's offline validation finds in a pipeline; empty if there are none.

    Args:
        path: The pipeline file.

    Raises:
        InputError: If azure-ai-ml is not installed.
    """
    with _client_library():
        from azure.ai.ml import load_job
        from azure.ai.ml.exceptions import MlException
        from marshmallow import ValidationError

        try:
            # Private, as the public validation of jobs asks the workspace for the compute.
            job: Any = load_job(path)
            result = job._validate()  # noqa: SLF001
        except (MlException, ValidationError) as error:
            return (_sentence(error),)
        return tuple(f"{name}: {message}" for name, message in sorted(result.error_messages.items()))


def submit_pipeline(path: Path, workspace: AzureWorkspace) -> str:
    """Send a pipeline to a workspace and return the address of its page.

    Args:
        path: The pipeline file.
        workspace: The workspace.

    Raises:
        InputError: If azure-ai-ml is not installed, or the workspace is not named.
        StorageUnavailable: If the login or the workspace refuses the pipeline.
    """
    with _client_library():
        from azure.ai.ml import load_job
        from azure.core.exceptions import AzureError

        try:
            client = _client(path, workspace)
            return str(client.jobs.create_or_update(load_job(path)).studio_url)
        except AzureError as error:
            message = f"Azure Machine Learning did not take the pipeline: {_sentence(error)}"
            raise StorageUnavailable(message) from error


def _client(path: Path, workspace: AzureWorkspace) -> Any:
    from azure.ai.ml import MLClient
    from azure.ai.ml.exceptions import ValidationException
    from azure.identity import DefaultAzureCredential

    names = (workspace.subscription, workspace.resource_group, workspace.name)
    if all(names):
        return MLClient(DefaultAzureCredential(), *names)
    if any(names):
        message = "--subscription, --resource-group and --workspace name a workspace together; give all three or none"
        raise InputError(message)
    try:
        return MLClient.from_config(DefaultAzureCredential(), path=path.parent)
    except ValidationException as error:
        message = (
            f"no workspace is named: give --subscription, --resource-group and --workspace, or put the `config.json` of"
            f" the workspace into `{path.parent}`"
        )
        raise InputError(message) from error


@contextmanager
def _client_library() -> Iterator[None]:
    """Check that azure-ai-ml is installed, and silence its log and warnings about itself.

    Raises:
        InputError: If it is not installed.
    """
    if not has_azureml():
        message = f"this needs azure-ai-ml, which is not installed; try  {_AZUREML}"
        raise InputError(message)
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations among its own packages
            yield
    finally:
        logging.disable(before)


_LONGEST = 600


def _sentence(error: BaseException) -> str:
    text = " ".join(str(getattr(error, "message", "") or error).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


_MLFLOW = "pip install 'theodolite[mlflow]'"
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
        message = f"the format mlflow needs MLflow's client, which is not installed; try  {_MLFLOW}"
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


_INSPECT = "pip install 'theodolite[inspect]'"
"""The command that installs Inspect."""


def require_inspect(path: Path) -> None:
    """Reject a log if Inspect is not installed.

    Raises:
        InputError: If it is not; names the extra.
    """
    if find_spec("inspect_ai") is None:
        message = f"`{path}` is a log of Inspect, which is not installed; try  {_INSPECT}"
        raise InputError(message)


def read_inspect_log(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return a log's header and its samples one by one, as plain values without events.

    Raises:
        InputError: If Inspect is not installed, or cannot read the file.
    """
    require_inspect(path)
    from inspect_ai.log import read_eval_log

    try:
        header = read_eval_log(str(path), header_only=True).model_dump(mode="json", exclude_none=True)
    except Exception as error:  # Inspect raises whatever its archive and schema readers raise
        message = f"`{path}` cannot be read as a log of Inspect: {type(error).__name__}: {str(error)[:200]}"
        raise InputError(message) from error
    return header, _samples(path)


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        has_ids = bool(read_eval_log(str(path), header_only=True).eval.dataset.sample_ids)
        samples = (
            read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True)
            if has_ids
            else read_eval_log(str(path), resolve_attachments=True).samples or ()  # older logs name no samples
        )
        for sample in samples:
            yield sample.model_dump(mode="json", exclude={"events", "store", "attachments"}, exclude_none=True)
    except Exception as error:  # as above
        message = f"a sample of `{path}` cannot be read: {type(error).__name__}: {str(error)[:200]}"
        raise InputError(message) from error


_RESVG = "pip install 'theodolite[png]'"
"""The command that installs the renderer."""

_ZOOM = 2
"""Pixels per unit of the drawing, so that text is sharp in print; factor."""


def has_png() -> bool:
    """Whether the renderer is installed."""
    return find_spec("resvg_py") is not None


def require_png() -> None:
    """Reject the start if the renderer is not installed.

    Raises:
        InputError: If it is not.
    """
    if not has_png():
        message = f"PNG is drawn by resvg, which is not installed; type: {_RESVG}  (SVG needs nothing)"
        raise InputError(message)


def png_bytes(svg: str) -> bytes:
    """Return an SVG drawing as PNG; its texts are set in the fonts of this system.

    Raises:
        InputError: If the drawing cannot be rendered.
    """
    import resvg_py

    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))
    except ValueError as error:
        message = f"the drawing cannot be rendered as PNG: {error}"
        raise InputError(message) from error
