"""Planning: a study becomes the sessions that are to be held.

Everything is drawn by keyed hashes, so that the same study and seed give the
same sessions, and adding a persona leaves those of the others as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.errors import PlanError
from theodolite.domain.identity import canonical_json, digest, keyed_draw, version_of
from theodolite.domain.persona import Persona, Script
from theodolite.domain.plan import Plan, PlannedSession
from theodolite.domain.recording import RecordedDialogue
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.testing.personas import completed_personas
from theodolite.testing.sessions import FLOW_VERSION

RECORDED_SCENARIO = "recorded"
"""Name of the scenario of recorded dialogues where the study writes none down."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """One tester in one scenario: what repeats are drawn for."""

    scenario: Scenario
    tester: Persona | Script

    @property
    def sight(self) -> str:
        """Hash of all that the tester's side sees."""
        persona = self.tester
        seen = (
            (persona.text, persona.goal, persona.starter, self.scenario.task.value, *_manner(persona))
            if isinstance(persona, Persona)
            else (canonical_json(persona),)
        )
        packet = version_of(self.scenario.packet)
        # Nobody on the tester's side reads the corpus, but with another one this is another test.
        searched = [canonical_json((self.scenario.corpus, self.scenario.passages))] if self.scenario.corpus else []
        return digest(*seen, packet, self.scenario.name, str(self.scenario.turns), self.scenario.stop, *searched)


def _manner(persona: Persona) -> tuple[str, ...]:
    """Return what else decides how a persona is played."""
    return (*persona.style, persona.language, str(persona.history or ""), persona.material)


def planned_sessions(study: Study, recordings: Sequence[RecordedDialogue] = ()) -> Iterator[PlannedSession]:
    """Yield the sessions of a study in the order of its plan.

    Live sessions come pair by pair, so that the first few meet every
    application; recorded ones follow in the order of their file.

    Args:
        study: What was written down.
        recordings: Dialogues of the recorded applications.

    Raises:
        PlanError: If there is an application to be talked to but nobody to talk.
        TemplateError: If a persona cannot be filled.
    """
    live = [a for a in study.applications if not isinstance(a.connection, RecordedFile)]
    if live:
        yield from _live_sessions(study, live)
    yield from _recorded_sessions(study, recordings)


def draw_plan(study: Study, recordings: Sequence[RecordedDialogue] = ()) -> tuple[Plan, tuple[PlannedSession, ...]]:
    """Return the plan of a study and its sessions.

    Raises:
        PlanError: If no session can be held at all, or one would be held twice.
    """
    sessions = tuple(planned_sessions(study, recordings))
    if not sessions:
        message = f"study `{study.name}` plans no dialogue: it has neither testers nor recorded rows"
        raise PlanError(message)
    _refuse_doubles(study, sessions)
    _refuse_namesakes(study, sessions)
    plan = Plan(
        substance=study.substance,
        seed=study.sampling.seed,
        flow_version=FLOW_VERSION,
        n_sessions=len(sessions),
    )
    return plan, sessions


def _refuse_doubles(study: Study, sessions: Sequence[PlannedSession]) -> None:
    met: dict[tuple[str, str], str] = {}
    for session in sessions:
        place = (session.pair_key, session.application)
        if place in met:
            message = (
                f"study `{study.name}`: `{session.label}` is the same dialogue as `{met[place]}` and would count twice"
            )
            raise PlanError(message)
        met[place] = session.label


def _refuse_namesakes(study: Study, sessions: Sequence[PlannedSession]) -> None:
    """Refuse two dialogues of one label, since rows and results are looked up by it."""
    met: set[str] = set()
    for session in sessions:
        if session.label in met:
            message = (
                f"study `{study.name}`: two dialogues would be called `{session.label}`; "
                "a recorded id that ends in `#2` looks like a repeat of another, and one with `/` like another "
                "application's; write these ids in another way"
            )
            raise PlanError(message)
        met.add(session.label)


def _live_sessions(study: Study, applications: Sequence[Application]) -> Iterator[PlannedSession]:
    cells = list(_cells(study))
    if not cells:
        message = f"nobody speaks to `{applications[0].name}`: add personas, or scripts to a scenario"
        raise PlanError(message)
    numbers = count(1)
    for cell, repeat in _repeated(study, cells):
        number = next(numbers)
        for application in applications:
            label = f"d{number:03d}" if len(applications) == 1 else f"{application.name}/d{number:03d}"
            yield _live_session(study, cell, repeat, application.name, label)


def _live_session(study: Study, cell: _Cell, repeat: int, application: str, label: str) -> PlannedSession:
    tester = cell.tester
    played = isinstance(tester, Persona)
    values = {"scenario": cell.scenario.name, **(tester.parameters if isinstance(tester, Persona) else {})}
    return PlannedSession(
        label=label,
        application=application,
        scenario=cell.scenario.name,
        tester=tester,
        level=Level.MODEL_TESTING,
        held_by=HeldBy.SIMULATED_USER if played else HeldBy.SCRIPT,
        pair_key=digest("pair", cell.sight, str(repeat)),
        cluster=tester.key,
        repeat=repeat,
        groups=_groups(study, values),
    )


def _cells(study: Study) -> Iterator[_Cell]:
    for scenario in study.scenarios:
        wanted = scenario.personas or tuple(group.name for group in study.personas)
        for group in study.personas:
            if group.name in wanted:
                for persona in completed_personas(group, scenario):
                    yield _Cell(scenario, persona)
        for script in scenario.scripts:
            yield _Cell(scenario, script)


def _repeated(study: Study, cells: Sequence[_Cell]) -> Iterator[tuple[_Cell, int]]:
    """Yield every cell as often as it is due, first repeats of all cells first."""
    due = _repeats_due(study, cells)
    for repeat in range(1, max(due) + 1):
        for cell, repeats in zip(cells, due, strict=True):
            if repeat <= repeats:
                yield cell, repeat


def _repeats_due(study: Study, cells: Sequence[_Cell]) -> list[int]:
    wanted = study.sampling.dialogues
    if wanted is None:
        level = next((plan for plan in study.levels if plan.level is Level.MODEL_TESTING), None)
        return [level.repeats if level else study.sampling.repeats] * len(cells)
    each, rest = divmod(wanted, len(cells))
    drawn = sorted(range(len(cells)), key=lambda i: keyed_draw(study.sampling.seed, "one more", cells[i].sight))
    more = frozenset(drawn[:rest])
    return [each + (i in more) for i in range(len(cells))]


def _recorded_sessions(study: Study, recordings: Sequence[RecordedDialogue]) -> Iterator[PlannedSession]:
    scenario = study.scenarios[0].name if len(study.scenarios) == 1 else RECORDED_SCENARIO
    for recording in recordings:
        script = Script(
            key=recording.key,
            prompts=tuple(turn.prompt for turn in recording.turns),
            withheld=next((turn.withheld for turn in recording.turns if turn.withheld), ""),
        )
        suffix = f"#{recording.repeat}" if recording.repeat > 1 else ""
        yield PlannedSession(
            label=f"{recording.application}/{recording.key}{suffix}",
            application=recording.application,
            scenario=scenario,
            tester=script,
            level=Level.MODEL_TESTING,
            held_by=HeldBy.RECORDED,
            pair_key=digest("pair", canonical_json(script), str(recording.repeat)),
            cluster=recording.key,
            repeat=recording.repeat,
            groups=_groups(study, recording.columns),
        )


def _groups(study: Study, values: Mapping[str, str]) -> dict[str, str]:
    """Return what dialogues are split by, or what a defect rule asks for."""
    asked = {name for guideline in study.guidelines for rule in guideline.defect_rules for name in rule.among}
    return {name: values[name] for name in sorted(asked.union(study.groups)) if name in values}
