"""Tasks: in how many sessions people completed what they were asked to do, by their own account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from theodolite.domain.dialogue import Level
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.task_tally import TaskTally
from theodolite.domain.people.session import SessionState
from theodolite.measurement.clusters import cluster_sizes
from theodolite.measurement.proportion import defect_rate


def task_tallies(evidence: Evidence) -> Iterator[TaskTally]:
    """Yield how often tasks were completed, by application and level; levels at which nobody said are left out.

    Args:
        evidence: All records of one run.

    Source:
        `defect_rate`, over testers as clusters where one held several sessions.
    """
    over = [one for one in evidence.sittings if one.is_over and one.state is not SessionState.WITHDRAWN]
    for level in Level:
        at_level = [one for one in over if one.level is level]
        if all(one.task_done is None for one in at_level):
            continue
        for application in evidence.study.applications:
            own = [one for one in at_level if one.application == application.name]
            said = [one for one in own if one.task_done is not None]
            flags, people = [bool(one.task_done) for one in said], [one.participant for one in said]
            clusters = people if len(set(people)) < len(people) else None
            rate = defect_rate(sum(flags), len(flags), clusters=cluster_sizes(flags, clusters))
            yield TaskTally(
                application=application.name,
                level=level,
                n_sessions=len(own),
                n_unsaid=len(own) - len(said),
                done=replace(rate, unit="fraction of sessions"),
            )
