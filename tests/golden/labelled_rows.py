"""Rows of published labels as what a study of recorded applications holds: sessions, dialogues without words, a run."""

from __future__ import annotations

from datetime import UTC, datetime

from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Run, RunState

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def session_of(row, **groups):
    return PlannedSession(
        label=f"{row['system']}/{row['id']}",
        application=row["system"],
        scenario="recorded",
        tester=Script(key=row["id"], prompts=("",)),
        level=Level.MODEL_TESTING,
        held_by=TesterType.RECORDED,
        pair_key=row["id"],
        cluster=row["id"],
        groups=groups,
    )


def key_of(row):
    return f"key of {row['system']}/{row['id']}"


def dialogue_of(planned):
    return Dialogue(
        key=f"key of {planned.label}",
        label=planned.label,
        application=planned.application,
        application_version="v",
        scenario=planned.scenario,
        scenario_version="v",
        level=planned.level,
        held_by=planned.held_by,
        pair_key=planned.pair_key,
        cluster=planned.cluster,
        turns=(Turn(number=1, prompt="", response="", withheld="labels only"),),
        ending=Ending.SCRIPT_END,
        groups=planned.groups,
    )


def run_of(study):
    return Run(
        key="r", number=1, study=study, study_version="v", plan_version="v", state=RunState.FINISHED, started=BEGIN
    )
