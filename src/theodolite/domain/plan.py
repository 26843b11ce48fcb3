"""Plans: a study fully drawn, so that the same plan is the same test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.persona import Persona, Script
from theodolite.domain.strategy import Attack

Tester: TypeAlias = Persona | Script | Attack
"""Who speaks to an application in a planned session."""


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
    held_by: HeldBy
    pair_key: str
    cluster: str
    repeat: int = 1
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a study becomes once everything in it is drawn.

    The sessions themselves are enumerated lazily from study, recordings and
    seed; the record holds what identifies them.

    Attributes:
        substance: Content hash of what decides the study's questions; see `Study.substance`.
        seed: Of every draw.
        flow_version: Number of the rules by which sessions are held.
        n_sessions: Sessions in all; count.
    """

    substance: str
    seed: int
    flow_version: int
    n_sessions: int
