"""Plans: a study fully drawn, so that the same plan is the same test; slots and sessions of its events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol, TypeAlias

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.persona import NAME_COLUMN, Attack, Persona, PersonaGroup, Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One application in one scenario: the subject of one session of a person."""

    scenario: str
    application: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A numbered seat of a level, with the cells of its number.

    Attributes:
        level: Level of testing.
        number: Index in the level's seeded design, from 0.
        stratum: Part of the people that is balanced separately; empty if there are no parts.
        participant: Opaque key of the assigned person; empty while it is free.
    """

    STORED_AS: ClassVar[str] = "Seat"

    level: Level
    number: int
    stratum: str = ""
    participant: str = ""

    def __post_init__(self) -> None:
        """Reject numbers below 0."""
        if self.number < 0:
            message = f"seats are numbered from 0; got {self.number}"
            raise InputError(message)

    @property
    def key(self) -> str:
        """Its name within its study, whoever holds it, e.g. `red teaming 7`; counted from 1."""
        return " ".join(part for part in (self.level.value, self.stratum, str(self.number + 1)) if part)


Tester: TypeAlias = Persona | Script | Attack | Slot
"""Tester of a planned session."""


def expected_of(tester: Tester) -> str:
    """Return the expected answer of a test case; empty for other testers."""
    return tester.expected if isinstance(tester, Script) else ""


class TesterKind(StrEnum):
    """Kind of tester of a planned session."""

    PERSONA = "persona"
    SCRIPT = "script"
    ATTACK = "attack"
    SLOT = "seat"


KINDS: Mapping[type, TesterKind] = {
    Persona: TesterKind.PERSONA,
    Script: TesterKind.SCRIPT,
    Attack: TesterKind.ATTACK,
    Slot: TesterKind.SLOT,
}
"""Type of a tester to its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Properties that a planned session shares with its repeats: all that decides how it is counted, without texts.

    Attributes:
        application: Name of the application.
        scenario: Name of the scenario.
        level: Level of testing.
        held_by: Tester type.
        cluster: Common property of similar dialogues; empty if none are similar.
        groups: Group name to value.
        kind: Kind of tester.
        tester: Key of the tester.
        model: Name of the model that plays the tester; empty for none.
        strategy: Name of a simulated red teamer's strategy; empty for others.
    """

    application: str
    scenario: str
    level: Level
    held_by: TesterType
    cluster: str
    groups: Mapping[str, str]
    kind: TesterKind
    tester: str
    model: str = ""
    strategy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSession:
    """A session of a plan.

    Attributes:
        label: Displayed label, e.g. `d001` or `gpt4/v2-31`.
        application: Name of the application.
        scenario: Name of the scenario.
        tester: A completed persona, a script or a simulated red teamer.
        level: Level of testing.
        held_by: Tester type.
        repeat: Number of the repetition, from 1.
        pair_key: Hash of what the tester's side sees and the repeat, without
            application or judge; 64 hexadecimal digits.
        cluster: Common property of similar dialogues.
        groups: Group name to value.
    """

    label: str
    application: str
    scenario: str
    tester: Tester
    level: Level
    held_by: TesterType
    pair_key: str
    cluster: str
    repeat: int = 1
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def setting(self) -> Setting:
        """Its common properties with its repeats."""
        return Setting(
            application=self.application,
            scenario=self.scenario,
            level=self.level,
            held_by=self.held_by,
            cluster=self.cluster,
            groups=self.groups,
            kind=KINDS[type(self.tester)],
            tester=self.tester.key,
            model="" if isinstance(self.tester, Script | Slot) else self.tester.model,
            strategy=self.tester.strategy if isinstance(self.tester, Attack) else "",
        )


class Sessions(Protocol):
    """The sessions of a plan, each computed on request: a plan may be larger than memory.

    Positions start at 0. Labels, pair keys and settings do not need the completed tester, which is expensive.
    """

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        ...

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield the sessions in order of the plan."""
        ...

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position."""
        ...

    def label(self, position: int) -> str:
        """Return the displayed name of the dialogue at a position."""
        ...

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        ...

    def setting(self, position: int) -> Setting:
        """Return the settings that the session at a position shares with its repeats."""
        ...

    def find(self, label: str) -> int | None:
        """Return the position of a label; None if no session has it."""
        ...


class ListedSessions:
    """Sessions that are in a list."""

    __slots__ = ("_listed", "_places")

    def __init__(self, sessions: Iterable[PlannedSession]) -> None:
        """Store the sessions in the given order."""
        self._listed = tuple(sessions)
        self._places = {session.label: position for position, session in enumerate(self._listed)}

    def __len__(self) -> int:
        """Return their number."""
        return len(self._listed)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield them in order."""
        return iter(self._listed)

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position."""
        return self._listed[position]

    def label(self, position: int) -> str:
        """Return the displayed name of the dialogue at a position."""
        return self._listed[position].label

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        return self._listed[position].pair_key

    def setting(self, position: int) -> Setting:
        """Return the settings that the session at a position shares with its repeats."""
        return self._listed[position].setting

    def find(self, label: str) -> int | None:
        """Return the position of a label; None if no session has it."""
        return self._places.get(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A study with all draws made.

    The sessions themselves (`Sessions`) are computed from study, recordings
    and seed on request; the record contains what identifies them.

    Attributes:
        run_fingerprint: Content hash of everything that decides the study's questions; see `Study.run_fingerprint`.
        seed: Of every draw.
        flow_version: Version of the rules of sessions.
        n_sessions: Sessions that a run conducts itself; count, without those of people.
    """

    run_fingerprint: str = field(metadata={"stored_as": "substance"})
    seed: int
    flow_version: int
    n_sessions: int


class JoinedSessions:
    """Sessions of two kinds in one order; the second kind never changes positions of the first."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Sessions, second: Sessions) -> None:
        """Concatenate the parts."""
        self._first, self._second = first, second

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return len(self._first) + len(self._second)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield them in order."""
        yield from self._first
        yield from self._second

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position; -1 is the last one.

        Raises:
            IndexError: If there is no such position.
        """
        part, index = self._part(position if position >= 0 else position + len(self))
        return part[index]

    def label(self, position: int) -> str:
        """Return the displayed name of the dialogue at a position."""
        part, index = self._part(position)
        return part.label(index)

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        part, index = self._part(position)
        return part.pair_key(index)

    def setting(self, position: int) -> Setting:
        """Return the settings that the session at a position shares with its repeats."""
        part, index = self._part(position)
        return part.setting(index)

    def find(self, label: str) -> int | None:
        """Return the position of a label; None if no session has it."""
        position = self._first.find(label)
        if position is not None:
            return position
        position = self._second.find(label)
        return None if position is None else len(self._first) + position

    def _part(self, position: int) -> tuple[Sessions, int]:
        n_first = len(self._first)
        if not 0 <= position < n_first + len(self._second):
            message = f"a plan of {len(self)} sessions has no position {position}"
            raise IndexError(message)
        return (self._first, position) if position < n_first else (self._second, position - n_first)


class EventSessions(JoinedSessions):
    """The sessions of the run itself, then those of people in order of start, then empty cells.

    Positions of people's dialogues never change, since nothing is inserted before them.
    Empty cells come last and move up as people arrive.
    """

    __slots__ = ("left_out", "planned", "units")

    def __init__(
        self,
        planned: Sessions,
        people: Sequence[PlannedSession],
        units: Mapping[str, int],
        left_out: Collection[str] = (),
    ) -> None:
        """Add sessions of people after the run's own plan.

        Args:
            planned: The run's own plan.
            people: Dialogues of people, then empty cells.
            units: Key of a dialogue's unit to its index among `people`.
            left_out: Keys of units whose dialogues belong to another version and therefore do not count.
        """
        super().__init__(planned, ListedSessions(people))
        self.planned = planned
        self.units: Mapping[str, int] = {unit: len(planned) + index for unit, index in units.items()}
        self.left_out = frozenset(left_out)


def held_by_runs(sessions: Sessions) -> Sessions:
    """Return the sessions that are in the run's own plan."""
    return sessions.planned if isinstance(sessions, EventSessions) else sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A part of a plan; each attribute that is not empty restricts it further.

    Attributes:
        applications: Names of applications; empty for all.
        scenarios: Names of scenarios; empty for all.
        testers: Keys of personas and test cases; empty for all.
    """

    applications: frozenset[str] = frozenset()
    scenarios: frozenset[str] = frozenset()
    testers: frozenset[str] = frozenset()

    @property
    def is_all(self) -> bool:
        """Whether it is the whole plan."""
        return not (self.applications or self.scenarios or self.testers)

    def includes(self, setting: Setting) -> bool:
        """Return whether a session with this setting belongs to the part."""
        return (
            (not self.applications or setting.application in self.applications)
            and (not self.scenarios or setting.scenario in self.scenarios)
            and (not self.testers or setting.tester in self.testers)
        )

    def positions(self, sessions: Sessions) -> Sequence[int]:
        """Return the positions of the sessions that belong to the part, in order."""
        every = range(len(sessions))
        return every if self.is_all else [at for at in every if self.includes(sessions.setting(at))]


EVERYTHING = Selection()
"""The whole plan."""

SELECTION_KEYS = ("application", "scenario", "persona", "case")
"""Keys by which a part of a plan is selected."""


def selection_of(texts: Sequence[str], sessions: Sessions, personas: Iterable[PersonaGroup]) -> Selection:
    """Return the part of a plan that texts such as `application=v2` select.

    Values of the same key are alternatives; different keys must all apply.

    Args:
        texts: Texts written by the operator; the value of `persona` is a key, a name or a group.
        sessions: The sessions of the plan that a run creates itself.
        personas: The persona groups of the study.

    Raises:
        InputError: If a text has another format or matches nothing in the plan, or no session remains.
    """
    if not texts:
        return EVERYTHING
    named: dict[str, set[str]] = {key: set() for key in SELECTION_KEYS}
    known = _selectable(sessions, personas)
    for text in texts:
        key, _, value = text.partition("=")
        if key not in named or not value:
            hint = did_you_mean(key, SELECTION_KEYS) if value else ""
            message = f"`--only {text}`: expected KEY=VALUE, where KEY is {_either(SELECTION_KEYS)}{hint}"
            raise InputError(message)
        if value not in known[key]:
            message = f"`--only {text}` names no {key} of the plan{_meant(value, known[key], key)}"
            raise InputError(message)
        named[key] |= known[key][value]
    result = Selection(
        applications=frozenset(named["application"]),
        scenarios=frozenset(named["scenario"]),
        testers=frozenset(named["persona"] | named["case"]),
    )
    if (named["persona"] and named["case"]) or not result.positions(sessions):
        message = f"no dialogue of the plan has all of {', '.join(texts)}"
        raise InputError(message)
    return result


def _selectable(sessions: Sessions, personas: Iterable[PersonaGroup]) -> Mapping[str, dict[str, set[str]]]:
    """Return for each key its values, each with its names or keys."""
    settings = [sessions.setting(at) for at in range(len(sessions))]
    kinds = {setting.tester: setting.kind for setting in settings}
    result = {
        "application": {setting.application: {setting.application} for setting in settings},
        "scenario": {setting.scenario: {setting.scenario} for setting in settings},
        "persona": {key: {key} for key, kind in kinds.items() if kind is not TesterKind.SCRIPT},
        "case": {key: {key} for key, kind in kinds.items() if kind is TesterKind.SCRIPT},
    }
    for group in personas:
        for index, row in enumerate(group.rows):
            if (key := group.key(index)) in result["persona"]:
                for name in {group.name, row.values.get(NAME_COLUMN, group.name)}:
                    result["persona"].setdefault(name, set()).add(key)
    return result


def _meant(value: str, known: Iterable[str], key: str) -> str:
    names = sorted(known)
    if not names:
        return f"; the plan has no {key}s"
    return (
        did_you_mean(value, names) or f". Expected {_either(names[:_MOST_NAMED])}{', ...' * (len(names) > _MOST_NAMED)}"
    )


_MOST_NAMED = 8
"""Maximum number of names in a message; count."""


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
