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
from theodolite.domain.plan import Plan, PlannedSession, Tester
from theodolite.domain.recording import RecordedDialogue
from theodolite.domain.scenario import Scenario
from theodolite.domain.strategy import Attack
from theodolite.domain.study import Study
from theodolite.testing.personas import completed_personas
from theodolite.testing.sessions import FLOW_VERSION
from theodolite.testing.strategies.catalogue import approach_of

RECORDED_SCENARIO = "recorded"
"""Name of the scenario of recorded dialogues where the study writes none down."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """One tester in one scenario: what repeats are drawn for."""

    scenario: Scenario
    tester: Tester

    @property
    def level(self) -> Level:
        """Level of testing that such a tester belongs to."""
        return Level.RED_TEAMING if isinstance(self.tester, Attack) else Level.MODEL_TESTING

    @property
    def sight(self) -> str:
        """Hash of all that the tester's side sees."""
        seen = _seen(self.scenario, self.tester)
        packet = version_of(self.scenario.packet)
        # Nobody on the tester's side reads the corpus, but with another one this is another test.
        searched = [canonical_json((self.scenario.corpus, self.scenario.passages))] if self.scenario.corpus else []
        return digest(*seen, packet, self.scenario.name, str(self.scenario.turns), self.scenario.stop, *searched)


def _manner(persona: Persona) -> tuple[str, ...]:
    """Return what else decides how a persona is played."""
    return (*persona.style, persona.language, str(persona.history or ""), persona.material)


def _seen(scenario: Scenario, tester: Tester) -> tuple[str, ...]:
    match tester:
        case Persona():
            return (tester.text, tester.goal, tester.starter, scenario.task.value, *_manner(tester))
        case Attack():
            return canonical_json(tester), "attack", str(approach_of(tester.strategy).edition)
        case _:
            return (canonical_json(tester),)


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
    return PlannedSession(
        label=label,
        application=application,
        scenario=cell.scenario.name,
        tester=tester,
        level=cell.level,
        held_by=HeldBy.SCRIPT if isinstance(tester, Script) else HeldBy.SIMULATED_USER,
        pair_key=digest("pair", cell.sight, str(repeat)),
        cluster=tester.strategy if isinstance(tester, Attack) else tester.key,
        repeat=repeat,
        groups=_groups(study, _values(cell)),
    )


def _values(cell: _Cell) -> dict[str, str]:
    """Return what a session may be split by: columns of its persona, purpose of its script, strategy and aim."""
    named = {"scenario": cell.scenario.name}
    match cell.tester:
        case Persona(parameters=parameters):
            return {**named, **parameters}
        case Script(purpose=purpose):
            return {**named, **({"purpose": purpose} if purpose else {})}
        case Attack(strategy=strategy, aim=aim):
            return {**named, "strategy": strategy, "aim": aim.key}


def _cells(study: Study) -> Iterator[_Cell]:
    for scenario in study.scenarios:
        wanted = scenario.personas or tuple(group.name for group in study.personas)
        for group in study.personas:
            if group.name in wanted:
                for persona in completed_personas(group, scenario):
                    yield _Cell(scenario, persona)
        for script in scenario.scripts:
            yield _Cell(scenario, script)
    for scenario in study.scenarios:
        yield from (_Cell(scenario, attack) for attack in _attacks(scenario))


def _attacks(scenario: Scenario) -> Iterator[Attack]:
    for name in scenario.attacks:
        model = scenario.attacker if approach_of(name).needs_model else ""
        for aim in scenario.aims:
            yield Attack(key=f"{name}/{aim.key}", strategy=name, aim=aim, model=model)


def _repeated(study: Study, cells: Sequence[_Cell]) -> Iterator[tuple[_Cell, int]]:
    """Yield every cell as often as it is due, first repeats of all cells first."""
    due = _repeats_due(study, cells)
    for repeat in range(1, max(due) + 1):
        for cell, repeats in zip(cells, due, strict=True):
            if repeat <= repeats:
                yield cell, repeat


def _repeats_due(study: Study, cells: Sequence[_Cell]) -> list[int]:
    """Return the repeats of each cell; `dialogues` is shared out among those of model testing alone."""
    planned = {plan.level: plan.repeats for plan in study.levels}
    due = [planned.get(cell.level, study.sampling.repeats) for cell in cells]
    wanted = study.sampling.dialogues
    shared = [i for i, cell in enumerate(cells) if cell.level is Level.MODEL_TESTING]
    if wanted is None or not shared:
        return due
    each, rest = divmod(wanted, len(shared))
    drawn = sorted(shared, key=lambda i: keyed_draw(study.sampling.seed, "one more", cells[i].sight))
    more = frozenset(drawn[:rest])
    for i in shared:
        due[i] = each + (i in more)
    return due


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
