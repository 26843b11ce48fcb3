"""Dialogues that we send to MLflow, read back by its client: every answer is an assessment of its trace."""

from __future__ import annotations

from pathlib import Path

import mlflow
import pytest

from tests.fakes.evidence import live_evidence
from theodolite.domain.errors import StorageUnavailable
from theodolite.gateways.extras import write_mlflow
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.chat_formats import dialogue_traces, rate_metrics


@pytest.mark.filterwarnings("ignore")
def test_every_answer_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    evidence, uri = live_evidence(), f"file://{tmp_path}/mlruns"
    metrics, traces = rate_metrics(measure_study(evidence)), list(dialogue_traces(evidence))

    n = write_mlflow(uri, experiment="s", run_name="run 1", params={"run": "1"}, metrics=metrics, traces=traces)

    assert n == len(traces)
    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("s").experiment_id
    (run,) = client.search_runs([experiment])
    assert run.data.metrics == pytest.approx(metrics)
    stored = client.search_traces(locations=[experiment], max_results=500)
    theirs = {
        (one.info.trace_metadata["theodolite.dialogue"], each.name, each.source.source_id, each.feedback.value)
        for one in stored
        for each in one.info.assessments
    }
    mine = {(one.name, each.name, each.annotator, each.value) for one in traces for each in one.assessments}
    assert theirs == mine
    failed = {one.info.trace_metadata["theodolite.dialogue"] for one in stored if one.info.status == "ERROR"}
    assert failed == {one.name for one in traces if one.error}


def test_a_server_that_is_away_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(StorageUnavailable, match=r"MLflow at `http://127\.0\.0\.1:9`"):
        write_mlflow("http://127.0.0.1:9", experiment="s", run_name="r", params={}, metrics={}, traces=[])
