from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from theodolite.domain.run import FailureSource, Run, RunState, Spending, UnitKind
from theodolite.domain.status import CallsSoFar, RunPace, Status, WorkerStatus
from theodolite.reporting.terminal.status import status_document, status_text

STATUS = Status(
    run=Run(
        key="1" * 64,
        number=2,
        study="support",
        study_version="2" * 64,
        plan_version="3" * 64,
        state=RunState.UNFINISHED,
        started=datetime(2026, 1, 1, tzinfo=UTC),
    ),
    sessions={"waiting": 6, "leased": 4, "done": 9, "failed": 1},
    annotations={"waiting": 14, "leased": 1, "done": 5, "failed": 0},
    failed={FailureSource.JUDGE: 1},
    spent=Spending(calls=70, tokens_in=8000, tokens_out=400, cost_microusd=1_230_000, unpriced_calls=3),
    pace=RunPace(calls=60, units=10, over_s=30),
    calls={
        UnitKind.SESSION: CallsSoFar(over=140, n_over=10, under_way=20),
        UnitKind.ANNOTATION: CallsSoFar(over=10, n_over=5),
    },
)


def test_the_status_fits_on_a_few_lines():
    assert status_text(STATUS).splitlines() == [
        "support, run 2, running",
        "  Test    10 of 20, 4 in work, 1 failed",
        "  Assess  5 of 20, 1 in work, 0 failed",
        "  Failed  judge 1",
        "  Spent   70 calls, 8,400 tokens, $1.23 and an unknown part (no price for 3 of 70 calls)",
        "  Pace    2.0 calls/s over the last 30 s, about 1:15 left",
        "  Kill    would repeat 5 calls at most",
    ]


def test_unreported_tokens_are_listed_separately():
    spent = Spending(calls=70, tokens_in=8000, tokens_out=400, estimated_tokens=1_200)
    told = replace(STATUS, spent=spent)

    supposed = "1,200 tokens estimated where replies state none"
    assert f"  Spent   70 calls, 8,400 tokens, $0.00, {supposed}\n" in status_text(told)
    assert status_document(told)["tokens"] == {"input": 8000, "output": 400, "estimated": 1200}


def test_unreported_tokens_are_unknown_and_not_zero():
    untold, uncalled = (replace(STATUS, spent=Spending(calls=7, unpriced_calls=n)) for n in (7, 0))

    assert "  Spent   7 calls, tokens unknown, cost unknown (no price for 7 calls)\n" in status_text(untold)
    assert "  Spent   7 calls, 0 tokens, $0.00\n" in status_text(uncalled)


def test_a_run_waiting_for_replies_states_how_long():
    still = status_text(replace(STATUS, pace=replace(STATUS.pace, calls=0, units=0)))

    assert still.startswith("support, run 2, running, but no reply came in the last 30 s\n")
    assert "left" not in still


def test_a_recently_stopped_run_is_not_reported_as_running():
    stopped = replace(STATUS, sessions={"waiting": 10, "done": 10}, annotations={"waiting": 15, "done": 5})

    assert status_text(stopped).startswith("support, run 2, not finished; no worker")
    assert "left" not in status_text(stopped)
    assert (status_document(stopped)["running"], status_document(STATUS)["running"]) == (False, True)


def test_a_finished_run_is_reported_as_such_and_has_no_rate():
    spent = Spending(calls=1, tokens_in=20, unpriced_calls=1)
    lines = status_text(replace(STATUS, run=replace(STATUS.run, state=RunState.FINISHED), spent=spent)).splitlines()

    assert lines[0] == "support, run 2, finished"
    assert lines[-1] == "  Spent   1 call, 20 tokens, cost unknown (no price for 1 call)"


def test_scripts_get_the_same_numbers():
    document = status_document(STATUS)

    assert document["sessions"] == STATUS.sessions
    assert document["failed"] == {"judge": 1}
    assert (document["calls"], document["cost_usd"], document["calls_per_s"], document["left_s"]) == (70, 1.23, 2, 75)


WORKER = WorkerStatus(
    name="w1", host="node-1", process=4711, started=datetime(2026, 11, 23, 12, 30, tzinfo=UTC), units=64, is_alive=True
)


def test_workers_are_listed_with_their_machine_and_units():
    lost = replace(WORKER, name="w2", host="node-2", units=1, is_alive=False)
    status = replace(STATUS, workers=(WORKER, lost))

    assert status_text(status).splitlines()[5:7] == [
        "  Worker  node-1, process 4711, 64 units, since 12:30 UTC",
        "  Worker  node-2, process 4711, 1 unit, since 12:30 UTC; no heartbeat, its units return to the others",
    ]
    assert [(worker["host"], worker["alive"]) for worker in status_document(status)["workers"]] == [
        ("node-1", True),
        ("node-2", False),
    ]
