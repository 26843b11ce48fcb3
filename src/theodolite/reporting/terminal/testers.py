"""Testers on one screen: how many answered, whether they did their task, and what is still to be read."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.codings.coded import CodedState
from theodolite.domain.estimate import Estimate, Findings
from theodolite.domain.findings.task_tally import TaskTally
from theodolite.reporting.words import figures


def testers_text(findings: Findings) -> str:
    """Return what people who tested have said; empty where none answered and none said anything of a task."""
    parts = [
        f"{figures.number_of(one.n, 'response')} of {figures.number_of(one.n_people, 'tester')} in {one.level.value}"
        for one in findings.responses
        if one.n
    ]
    parts += [_task(level, tallies) for level, tallies in _by_level(findings).items()]
    uncoded = sum(
        one.states.get(state, 0) for one in findings.codings for state in (CodedState.UNCODED, CodedState.ONCE)
    )
    parts += [f"{figures.number_of(uncoded, 'answer')} in own words not coded by two yet"] if uncoded else []
    pending = sum(len(one.pending) for one in findings.risks)
    parts += (
        [f"{figures.number_of(pending, 'session')} to be reviewed with dialogue and answers together"]
        if pending
        else []
    )
    return "; ".join(parts)


def _by_level(findings: Findings) -> dict[str, list[TaskTally]]:
    found: dict[str, list[TaskTally]] = {}
    for one in findings.tasks:
        found.setdefault(one.level.value, []).append(one)
    return found


def _task(level: str, tallies: Sequence[TaskTally]) -> str:
    done = [(one.application, one.done) for one in tallies if isinstance(one.done, Estimate)]
    said = ", ".join(f"{name} {figures.share(rate.count or 0, rate.n)}" for name, rate in done)
    return f"task done by own account in {level}: {said or 'nobody said'}"
