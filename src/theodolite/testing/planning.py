"""Planning: a study becomes the sessions of its plan.

All random choices are keyed hashes, so that the same study and seed give the
same sessions, and adding a persona does not change those of the others.
"""

from __future__ import annotations

import heapq
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import PlanError
from theodolite.domain.identity import canonical_json, digest, keyed_draw
from theodolite.domain.persona import Script
from theodolite.domain.plan import JoinedSessions, Plan, PlannedSession, Sessions, Setting, Tester, TesterKind
from theodolite.domain.study import Study
from theodolite.testing.assigning import people_levels
from theodolite.testing.design import DesignCells, grouping_of, groups_of, tester_blocks
from theodolite.testing.sessions import FLOW_VERSION

if TYPE_CHECKING:
    from theodolite.domain.live import RecordedDialogue


RECORDED_SCENARIO = "recorded"
"""Name of the scenario of recorded dialogues if the study defines none."""

_LABEL = re.compile(r"(?:(?P<application>.*)/)?d(?P<number>\d+)", re.DOTALL)

_KEPT = 10_000
"""Number of cached settings; count. Other cells rarely occur twice in a row."""


@dataclass(frozen=True, slots=True)
class _Round:
    """Repeats that are due for the same cells.

    Attributes:
        cells: These cells, in order.
        first: Number of the first of these repeats.
        n: Sessions with one application in all of them; count.
    """

    cells: Sequence[int]
    first: int
    n: int


class SessionsToHold:
    """Planned sessions; pair by pair, so that the first few test every application."""

    def __init__(self, study: Study, cells: DesignCells, applications: Sequence[str]) -> None:
        """Draw the number of repeats of each cell."""
        self._cells, self._applications = cells, tuple(applications)
        self._rounds = list(_rounds(_repeats_due(study, cells)))
        self._ends = list(accumulate(part.n for part in self._rounds))
        self._settings: dict[tuple[int, str], Setting] = {}
        self._slots = self._bound_slots(study)

    def _bound_slots(self, study: Study) -> array[int] | None:
        """Return the slots of the plan with a session, if applications are bound to scenarios; None for all.

        A slot is a pair's number times the number of applications, plus the application's index.
        """
        bound = {application.name: application for application in study.applications if application.scenarios}
        if not bound.keys() & set(self._applications):
            return None
        slots = range(len(self._applications) * (self._ends[-1] if self._ends else 0))
        return array("Q", (slot for slot in slots if self._is_planned(slot, bound)))

    def _is_planned(self, slot: int, bound: Mapping[str, Application]) -> bool:
        cell, _, application = self._in_slot(slot)
        return application not in bound or bound[application].is_tested_in(self._cells.scenario(cell))

    def _slot(self, position: int) -> int:
        return position if self._slots is None else self._slots[position]

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        if self._slots is not None:
            return len(self._slots)
        return len(self._applications) * (self._ends[-1] if self._ends else 0)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield the sessions in order of the plan."""
        return (self[position] for position in range(len(self)))

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position, its tester completed."""
        cell, repeat, _ = self._at(position)
        return _planned(self, position, repeat, self._cells.tester(cell))

    def label(self, position: int) -> str:
        """Return the displayed name of the dialogue at a position."""
        number, index = divmod(self._slot(position), len(self._applications))
        label = f"d{number + 1:03d}"
        return label if len(self._applications) == 1 else f"{self._applications[index]}/{label}"

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        cell, repeat, _ = self._at(position)
        return digest("pair", self._cells.stimulus_hash(cell), str(repeat))

    def setting(self, position: int) -> Setting:
        """Return the settings that the session at a position shares with its repeats."""
        cell, _, application = self._at(position)
        known = self._settings.get((cell, application))
        if known is None:
            known = self._cells.setting(cell, application)
            if len(self._settings) < _KEPT:
                self._settings[cell, application] = known
        return known

    def find(self, label: str) -> int | None:
        """Return the position of a label; None if no session has it."""
        match = _LABEL.fullmatch(label)
        if match is None or (match["application"] or "") not in {"", *self._applications}:
            return None
        index = self._applications.index(match["application"]) if match["application"] else 0
        slot = (int(match["number"]) - 1) * len(self._applications) + index
        position = slot if self._slots is None else bisect_left(self._slots, slot)
        return position if 0 <= position < len(self) and self.label(position) == label else None

    def _at(self, position: int) -> tuple[int, int, str]:
        """Return cell, repeat and application of a position."""
        return self._in_slot(self._slot(position))

    def _in_slot(self, slot: int) -> tuple[int, int, str]:
        number, position = divmod(slot, len(self._applications))
        at = bisect_right(self._ends, number)
        part = self._rounds[at]
        more, cell = divmod(number - (self._ends[at] - part.n), len(part.cells))
        return part.cells[cell], part.first + more, self._applications[position]

    def twins(self) -> tuple[int, int] | None:
        """Return the positions of the first two sessions that would be the same dialogue, if any."""
        met: dict[bytes, int] = {}
        for index, cell in enumerate(self._rounds[0].cells if self._rounds else ()):
            stimulus_hash = bytes.fromhex(self._cells.stimulus_hash(cell))
            if met.setdefault(stimulus_hash, index) != index:
                return self._first_position(met[stimulus_hash]), self._first_position(index)
        return None

    def _first_position(self, number: int) -> int:
        """Return the position of the first session of a pair."""
        slot = number * len(self._applications)
        return slot if self._slots is None else min(bisect_left(self._slots, slot), len(self._slots) - 1)


class RecordedSessions:
    """Recorded sessions, in file order."""

    def __init__(self, study: Study, recordings: Sequence[RecordedDialogue]) -> None:
        """Store the recorded rows."""
        self._scenario = study.scenarios[0].name if len(study.scenarios) == 1 else RECORDED_SCENARIO
        self._recordings = recordings
        self._grouped_by = grouping_of(study)
        self._pair_keys: dict[int, str] = {}

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return len(self._recordings)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield the sessions in order of the plan."""
        return (self[position] for position in range(len(self)))

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position."""
        recording = self._recordings[position]
        return _planned(self, position, recording.repeat, _script(recording))

    def label(self, position: int) -> str:
        """Return the displayed name of the dialogue at a position."""
        return _recorded_label(self._recordings[position])

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        if position not in self._pair_keys:
            recording = self._recordings[position]
            script = canonical_json(_script(recording))
            self._pair_keys[position] = digest("pair", script, str(recording.repeat))
        return self._pair_keys[position]

    def setting(self, position: int) -> Setting:
        """Return the settings that the session at a position shares with its repeats."""
        recording = self._recordings[position]
        return Setting(
            application=recording.application,
            scenario=self._scenario,
            level=Level.MODEL_TESTING,
            held_by=TesterType.RECORDED,
            cluster=recording.key,
            groups=groups_of(self._grouped_by, recording.columns),
            kind=TesterKind.SCRIPT,
            tester=recording.key,
        )

    def find(self, label: str) -> int | None:
        """Return the first position of a label; None if no session has it."""
        return self._places.get(label)

    @cached_property
    def _places(self) -> dict[str, int]:
        positions: dict[str, int] = {}
        for index, recording in enumerate(self._recordings):
            positions.setdefault(_recorded_label(recording), index)
        return positions


class DrawnSessions(JoinedSessions):
    """All sessions of a study: those to run, then the recorded ones."""

    __slots__ = ("live", "recorded")

    def __init__(self, live: SessionsToHold, recorded: RecordedSessions) -> None:
        """Concatenate the parts."""
        super().__init__(live, recorded)
        self.live, self.recorded = live, recorded


def _planned(sessions: Sessions, position: int, repeat: int, tester: Tester) -> PlannedSession:
    setting = sessions.setting(position)
    return PlannedSession(
        label=sessions.label(position),
        application=setting.application,
        scenario=setting.scenario,
        tester=tester,
        level=setting.level,
        held_by=setting.held_by,
        pair_key=sessions.pair_key(position),
        cluster=setting.cluster,
        repeat=repeat,
        groups=setting.groups,
    )


def _script(recording: RecordedDialogue) -> Script:
    return Script(
        key=recording.key,
        prompts=tuple(turn.prompt for turn in recording.turns),
        withheld=next((turn.withheld for turn in recording.turns if turn.withheld), ""),
        expected=recording.expected,
    )


def _recorded_label(recording: RecordedDialogue) -> str:
    suffix = f"#{recording.repeat}" if recording.repeat > 1 else ""
    return f"{recording.application}/{recording.key}{suffix}"


def _rounds(due: Sequence[int]) -> Iterator[_Round]:
    """Yield the repeats round by round: first repeats of all cells first."""
    before = 0
    for last in sorted(set(due) - {0}):
        cells = array("Q", (cell for cell, repeats in enumerate(due) if repeats >= last))
        yield _Round(cells=cells, first=before + 1, n=len(cells) * (last - before))
        before = last


def _repeats_due(study: Study, cells: DesignCells) -> Sequence[int]:
    """Return the repeats of each cell; `dialogues` is distributed only among those of model testing."""
    planned = {plan.level: plan.repeats for plan in study.levels}
    due = array("Q", (planned.get(level, study.sampling.repeats) for level in cells.levels()))
    requested = study.sampling.dialogues
    if requested is None:
        return due
    shared = [cell for cell, level in enumerate(cells.levels()) if level is Level.MODEL_TESTING]
    if not shared:
        return due
    each, rest = divmod(requested, len(shared))
    more = heapq.nsmallest(
        rest, shared, key=lambda cell: keyed_draw(study.sampling.seed, "one more", cells.stimulus_hash(cell))
    )
    for cell in shared:
        due[cell] = each
    for cell in more:
        due[cell] += 1
    return due


def planned_sessions(study: Study, recordings: Sequence[RecordedDialogue] = ()) -> DrawnSessions:
    """Return the sessions of a study in the order of its plan.

    Live sessions follow pair by pair, so that the first few test every
    application; recorded ones follow in file order.

    Args:
        study: The study's preregistration.
        recordings: Dialogues of the recorded applications.

    Raises:
        PlanError: If there is a live application without any tester.
        TemplateError: If a persona cannot be filled.
    """
    live = [a.name for a in study.applications if not isinstance(a.connection, RecordedFile)]
    cells = DesignCells(tester_blocks(study) if live else ())
    if live and not len(cells) and not people_levels(study):
        message = f"nobody speaks to `{live[0]}`: add personas, or scripts to a scenario"
        raise PlanError(message)
    return DrawnSessions(SessionsToHold(study, cells, live), RecordedSessions(study, recordings))


def draw_plan(study: Study, recordings: Sequence[RecordedDialogue] = ()) -> tuple[Plan, Sessions]:
    """Return the plan of a study and its sessions.

    Raises:
        PlanError: If no session is possible, not even with people, or one would occur twice.
        TemplateError: If a persona cannot be filled.
    """
    sessions = planned_sessions(study, recordings)
    if not len(sessions) and not people_levels(study):
        message = f"study `{study.name}` plans no dialogue: it has neither testers nor recorded rows"
        raise PlanError(message)
    _refuse_doubles(study, sessions)
    _refuse_namesakes(study, sessions)
    plan = Plan(
        run_fingerprint=study.run_fingerprint,
        seed=study.sampling.seed,
        flow_version=FLOW_VERSION,
        n_sessions=len(sessions),
    )
    return plan, sessions


def _refuse_doubles(study: Study, sessions: DrawnSessions) -> None:
    """Reject a dialogue that would occur twice with an application, and count twice."""
    twins = sessions.live.twins()
    if twins is not None:
        _refuse_double(study, *(sessions.label(position) for position in twins))
    met: dict[tuple[str, str], int] = {}
    for position in range(len(sessions.recorded)):
        index = (sessions.recorded.pair_key(position), sessions.recorded.setting(position).application)
        first = met.setdefault(index, position)
        if first != position:
            _refuse_double(study, sessions.recorded.label(first), sessions.recorded.label(position))


def _refuse_double(study: Study, first: str, second: str) -> None:
    message = f"study `{study.name}`: `{second}` is the same dialogue as `{first}` and would count twice"
    raise PlanError(message)


def _refuse_namesakes(study: Study, sessions: DrawnSessions) -> None:
    """Reject two dialogues of one label, because rows and results are identified by it."""
    for position in range(len(sessions.recorded)):
        label = sessions.recorded.label(position)
        if sessions.recorded.find(label) != position or sessions.live.find(label) is not None:
            message = (
                f"study `{study.name}`: two dialogues would be called `{label}`; "
                "a recorded id that ends in `#2` looks like a repeat of another, and one with `/` like another "
                "application's; write these ids in another way"
            )
            raise PlanError(message)
