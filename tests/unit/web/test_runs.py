"""Runs on pages: their displayed status and the output of their processes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from theodolite.bootstrap.run_process import RunProcess
from theodolite.bootstrap.viewing import StudyRuns
from theodolite.domain.run import Run, RunState, UnitState
from theodolite.domain.status import Status
from theodolite.usecases.viewing import RunProgress
from theodolite.web.runs import RunPages, output_of, progress_context

NOW = datetime(2026, 3, 4, tzinfo=UTC)
DONE, OPEN, FAILED = UnitState.DONE.value, UnitState.WAITING.value, UnitState.FAILED.value
PROCESS = RunProcess(
    pid=1, command="theodolite run support --stage score", is_alive=False, exit_code=0, output="9 annotations"
)


def runs(annotations, process=PROCESS):
    run = Run(
        key="r", number=1, study="support", study_version="v", plan_version="p", state=RunState.UNFINISHED, started=NOW
    )
    planned = annotations | {OPEN: annotations.get(OPEN, 0) + 60}
    status = Status(run=run, sessions={DONE: 9, OPEN: 60}, annotations=planned)
    return StudyRuns(runs=(RunProgress(status=status, at=NOW),), process=process)


def status_of(shown):
    (line,) = progress_context(shown, RunPages(runs="/runs/", live="/live/"))["lines"]
    return line["status"], line["is_stopped"]


@pytest.mark.parametrize("exit_code", [0, None], ids=["done", "unknown after a restart"])
def test_judges_that_annotated_all_completed_dialogues_are_finished(exit_code):
    shown = runs({DONE: 8, FAILED: 1}, replace(PROCESS, exit_code=exit_code))

    assert status_of(shown) == ("judges finished", False)
    assert output_of(shown) == ""


@pytest.mark.parametrize(
    ("annotations", "process"),
    [
        ({DONE: 8, OPEN: 1}, PROCESS),
        ({DONE: 9}, replace(PROCESS, exit_code=3)),
        ({DONE: 9}, replace(PROCESS, command="theodolite run support")),
        ({}, PROCESS),
    ],
    ids=["an annotation is open", "the process did not finish", "a run of all stages", "nothing annotated"],
)
def test_other_runs_with_open_dialogues_are_stopped(annotations, process):
    shown = runs(annotations, process)

    assert status_of(shown) == ("stopped", True)
    assert output_of(shown) == "9 annotations"
