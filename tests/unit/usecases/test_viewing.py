"""Runs as a person follows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from theodolite.domain.run import Run, RunState, UnitKind, UnitState
from theodolite.domain.status import CallsSoFar, RunPace, Status
from theodolite.usecases.viewing import RunActivity, RunProgress, UnitProgress

NOW = datetime(2026, 5, 12, 14, 0, tzinfo=UTC)


def progress(*, state=RunState.UNFINISHED, leased=0, calls=0, done=0, waiting=0, failed=0) -> RunProgress:
    run = Run(key="r", number=4, study="s", study_version="v", plan_version="p", state=state, started=NOW)
    sessions = {
        UnitState.DONE: done,
        UnitState.FAILED: failed,
        UnitState.LEASED: leased,
        UnitState.WAITING: waiting,
    }
    so_far = {UnitKind.SESSION: CallsSoFar(over=10 * done, n_over=done)}
    status = Status(run=run, sessions=sessions, annotations={}, pace=RunPace(calls=calls), calls=so_far)
    return RunProgress(status=status, at=NOW)


@pytest.mark.parametrize(
    ("facts", "activity"),
    [
        ({"leased": 2, "calls": 5}, RunActivity.RUNNING),
        ({"leased": 2}, RunActivity.SILENT),
        ({"waiting": 2, "calls": 5}, RunActivity.STOPPED),
        ({"done": 3}, RunActivity.PARTIAL),
        ({"state": RunState.FINISHED, "done": 2}, RunActivity.FINISHED),
    ],
    ids=["at work", "no reply", "nobody at work", "only the first ones", "over"],
)
def test_a_run_is_active_while_a_process_holds_its_units(facts, activity):
    assert progress(**facts).activity is activity
    assert progress(**facts).is_active == (activity in {RunActivity.RUNNING, RunActivity.SILENT})


def test_failed_units_are_over_and_stay_in_the_total():
    run = progress(done=2, failed=1, leased=1, waiting=2)

    assert run.sessions == UnitProgress(done=2, failed=1, total=6)
    assert (run.sessions.over, run.sessions.percent) == (3, 50)


def test_nothing_planned_is_no_progress():
    assert progress().annotations.percent == 0


def test_the_end_follows_from_the_calls_to_come_and_the_pace():
    """Four units are open, ten calls each, at one call a second: forty seconds."""
    run = progress(done=2, leased=2, waiting=2, calls=60)

    assert run.ends == NOW + timedelta(seconds=40)


@pytest.mark.parametrize("facts", [{"leased": 2}, {"waiting": 2, "done": 1, "calls": 5}], ids=["silent", "stopped"])
def test_without_a_pace_nobody_knows_the_end(facts):
    assert progress(**facts).ends is None
