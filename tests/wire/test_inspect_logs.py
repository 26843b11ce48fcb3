"""Logs that we write, read by the newest Inspect: every label, failure and rate comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from tests.fakes.evidence import live_evidence, xstest_evidence
from tests.unit.config.tool_results.test_real_files import DATA, PUBLISHED
from tests.unit.config.tool_results.test_round_trip import answers_in, answers_of
from theodolite.config.tool_study import inspect_results
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.gateways.extras import read_inspect_log
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.reporting.exporting.inspect_log import inspect_log_name, write_inspect_log


def read(evidence: Evidence, application: str, folder: Path):
    path = folder / inspect_log_name(evidence, application)
    with path.open("wb") as file:
        write_inspect_log(file, evidence, measure_study(evidence), application)
    return read_eval_log(str(path))


@pytest.mark.parametrize("make", [live_evidence, xstest_evidence])
def test_inspect_reads_every_label(make, tmp_path: Path) -> None:
    evidence = make()
    for application in evidence.study.applications:
        log = read(evidence, application.name, tmp_path)
        mine = [row for row in dialogue_rows(evidence) if row["application"] == application.name]
        labels = {
            (row["dialogue"], f"{row['guideline']}.{row['question']} ({row['judge']})"): (
                row["outcome"] if row["label"] is None else row["label"] if row["score"] is None else row["score"]
            )
            for row in mine
            if row["judge"]
        }
        assert {
            (sample.id, name): score.value for sample in log.samples for name, score in sample.scores.items()
        } == labels
        assert {sample.id for sample in log.samples if sample.error} == {
            row["dialogue"] for row in mine if row["outcome"] == "failed" and not row["judge"]
        }
        assert log.status == "success"
        assert all(
            score.metrics["defect_rate"].metadata["low"] <= score.metrics["defect_rate"].value
            for score in log.results.scores
        )


def test_inspect_reads_the_texts(tmp_path: Path) -> None:
    evidence = xstest_evidence()
    log = read(evidence, "gpt4", tmp_path)
    dialogue = next(one for one in evidence.archive.dialogues() if one.application == "gpt4")

    sample = next(one for one in log.samples if one.id == dialogue.label)
    assert [message.text for message in sample.messages] == [dialogue.turns[0].prompt, dialogue.turns[0].response]


@pytest.mark.parametrize("make", [live_evidence, xstest_evidence])
def test_every_answer_returns_through_inspect(make, tmp_path: Path) -> None:
    evidence = make()
    results = []
    for application in evidence.study.applications:
        path = tmp_path / inspect_log_name(evidence, application.name)
        with path.open("wb") as file:
            write_inspect_log(file, evidence, measure_study(evidence), application.name)
        results.append(inspect_results(*read_inspect_log(path), file=path.name, sha256=""))
    assert answers_in(results) == answers_of(evidence)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_real_log_has_the_figures_that_it_publishes(name: str) -> None:
    path = DATA / f"inspect-{name}.eval"
    _, accuracy, error, n = PUBLISHED[name]
    results = inspect_results(*read_inspect_log(path), file=path.name, sha256="")
    assert [round(one.stated, 7) for one in results.figures] == [accuracy, error]
    assert all(one.agrees for one in results.figures)
    assert len(results.dialogues) == n
    assert all("attachment://" not in turn.prompt for one in results.dialogues for turn in one.turns)


def test_a_log_of_the_newest_inspect_is_read() -> None:
    path = DATA / "inspect-loopback.eval"
    results = inspect_results(*read_inspect_log(path), file=path.name, sha256="")
    assert [(one.name, round(one.stated, 6), one.n) for one in results.figures] == [
        ("support includes accuracy", 0.666667, 3),
        ("support includes stderr", 0.333333, 3),
    ]
    assert all(one.agrees for one in results.figures)
    assert [(one.turns[0].prompt, one.scores[0].value) for one in results.dialogues[::2]] == [
        ("How do I get a refund?", "C"),
        ("What is the capital of France?", "C"),
        ("What is the weather?", "I"),
    ]


def test_a_broken_log_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "broken.eval"
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot be read as a log of Inspect"):
        read_inspect_log(path)
