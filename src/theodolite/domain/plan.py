"""Plans: a study fully drawn, so that the same plan is the same test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.people.slot import Slot
from theodolite.domain.persona import Persona, Script
from theodolite.domain.strategy import Attack

Tester: TypeAlias = Persona | Script | Attack | Slot
"""Who speaks to an application in a planned session."""


class TesterKind(StrEnum):
    """What kind of tester a planned session has."""

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
    """What a planned session shares with its repeats: all that decides how it is counted, and no text.

    Attributes:
        application: Name of the application.
        scenario: Name of the scenario.
        level: Level of testing.
        held_by: Who holds the tester's side.
        cluster: What resembling dialogues share; empty where a dialogue resembles no other.
        groups: Group name to value.
        kind: What kind of tester it has.
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
    """One session that is to be held.

    Attributes:
        label: What people call the dialogue, e.g. `d001` or `gpt4/v2-31`.
        application: Name of the application.
        scenario: Name of the scenario.
        tester: Who speaks: a completed persona, a script or a simulated red teamer.
        level: Level of testing.
        held_by: Who holds the tester's side.
        repeat: Number of the repetition, from 1.
        pair_key: Hash of what the tester's side sees and the repeat, without
            application or judge; 64 hexadecimal digits.
        cluster: What resembling dialogues share.
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
        """What it shares with its repeats."""
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
    """The sessions of a plan, each worked out when it is asked for: a plan may hold more than memory does.

    Positions run from 0. Labels, pair keys and settings are told without
    completing the tester, which is what costs.
    """

    def __len__(self) -> int:
        """Return how many there are; count."""
        ...

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield them in order of the plan."""
        ...

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position."""
        ...

    def label(self, position: int) -> str:
        """Return what people call the dialogue at a position."""
        ...

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        ...

    def setting(self, position: int) -> Setting:
        """Return what the session at a position shares with its repeats."""
        ...

    def find(self, label: str) -> int | None:
        """Return the position of a label; None where no session has it."""
        ...


class ListedSessions:
    """Sessions that stand in a list."""

    __slots__ = ("_listed", "_places")

    def __init__(self, sessions: Iterable[PlannedSession]) -> None:
        """Keep them in the order given."""
        self._listed = tuple(sessions)
        self._places = {session.label: position for position, session in enumerate(self._listed)}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._listed)

    def __iter__(self) -> Iterator[PlannedSession]:
        """Yield them in order."""
        return iter(self._listed)

    def __getitem__(self, position: int) -> PlannedSession:
        """Return the session at a position."""
        return self._listed[position]

    def label(self, position: int) -> str:
        """Return what people call the dialogue at a position."""
        return self._listed[position].label

    def pair_key(self, position: int) -> str:
        """Return the pair key of the session at a position."""
        return self._listed[position].pair_key

    def setting(self, position: int) -> Setting:
        """Return what the session at a position shares with its repeats."""
        return self._listed[position].setting

    def find(self, label: str) -> int | None:
        """Return the position of a label; None where no session has it."""
        return self._places.get(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a study becomes once everything in it is drawn.

    The sessions themselves (`Sessions`) are worked out from study, recordings
    and seed when they are asked for; the record holds what identifies them.

    Attributes:
        run_fingerprint: Content hash of what decides the questions of the study; see `Study.run_fingerprint`.
        seed: Of every draw.
        flow_version: Number of the rules by which sessions are held.
        n_sessions: Sessions that a run holds itself; count, those of people left out.
    """

    run_fingerprint: str = field(metadata={"stored_as": "substance"})
    seed: int
    flow_version: int
    n_sessions: int
