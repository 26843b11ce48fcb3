"""The status of a run, for a terminal and for scripts."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.domain.run import RunState, UnitState
from theodolite.domain.status import Status, WorkerStatus
from theodolite.domain.text import MICROS, spent_text
from theodolite.reporting.words import figures


def status_text(status: Status) -> str:
    """Return the status on a few lines."""
    run = status.run
    lines = [
        f"{run.study}, run {run.number}, {_state(status)}",
        f"  Test    {_counts(status.sessions)}",
        f"  Assess  {_counts(status.annotations)}",
    ]
    if status.failed:
        failures = ", ".join(f"{party.value} {count:,}" for party, count in sorted(status.failed.items()))
        lines.append(f"  Failed  {failures}")
    lines.append(f"  Spent   {_spent(status)}")
    lines += [f"  Worker  {_worker(worker)}" for worker in status.workers]
    if status.run.state is not RunState.FINISHED:
        lines.append(f"  Pace    {_pace(status)}")
        lines.append(f"  Kill    would repeat {figures.number_of(status.calls_at_risk, 'call')} at most")
    return "\n".join(lines)


def status_document(status: Status) -> dict[str, object]:
    """Return the status as an object of plain values."""
    spent, run = status.spent, status.run
    return {
        "study": run.study,
        "run": run.number,
        "state": run.state.value,
        "running": status.is_running,
        "sessions": dict(status.sessions),
        "annotations": dict(status.annotations),
        "failed": {party.value: count for party, count in sorted(status.failed.items())},
        "calls": spent.calls,
        "tokens": {"input": spent.tokens_in, "output": spent.tokens_out, "estimated": spent.estimated_tokens},
        "cost_usd": spent.cost_microusd / MICROS,
        "unpriced_calls": spent.unpriced_calls,
        "calls_at_risk": status.calls_at_risk,
        "calls_per_s": round(status.pace.calls_per_s, 3),
        "left_s": None if status.left_s is None else round(status.left_s, 3),
        "workers": [
            {
                "name": worker.name,
                "host": worker.host,
                "process": worker.process,
                "started": worker.started.isoformat(),
                "units": worker.units,
                "alive": worker.is_alive,
            }
            for worker in status.workers
        ],
    }


def _worker(worker: WorkerStatus) -> str:
    units = figures.number_of(worker.units, "unit")
    since = f"{worker.host}, process {worker.process}, {units}, since {worker.started:%H:%M} UTC"
    return since if worker.is_alive else f"{since}; no heartbeat, its units return to the others"


def _state(status: Status) -> str:
    if status.run.state is RunState.FINISHED:
        return "finished"
    if not status.is_running:
        return "not finished; no worker"
    return "running" if status.is_moving else f"running, but no reply came in the last {status.pace.over_s:.0f} s"


def _counts(states: Mapping[str, int]) -> str:
    done, failed = states.get(UnitState.DONE, 0), states.get(UnitState.FAILED, 0)
    parts = [f"{done + failed:,} of {sum(states.values()):,}", f"{states.get(UnitState.LEASED, 0):,} in work"]
    return ", ".join([*parts, f"{failed:,} failed"])


def _spent(status: Status) -> str:
    spent = status.spent
    is_known = spent.tokens or not spent.unpriced_calls
    tokens = f"{spent.tokens:,} tokens" if is_known else "tokens unknown"
    cost = spent_text(spent.cost_microusd, spent.calls, spent.unpriced_calls)
    words = [figures.number_of(spent.calls, "call"), tokens, cost]
    words += [f"{spent.estimated_tokens:,} tokens estimated where replies state none"] if spent.estimated_tokens else []
    return ", ".join(words)


def _pace(status: Status) -> str:
    words = f"{status.pace.calls_per_s:.1f} calls/s over the last {status.pace.over_s:.0f} s"
    if not status.left_s:
        return words
    minutes, seconds = divmod(int(status.left_s), 60)
    return f"{words}, about {minutes}:{seconds:02d} left"
