"""Seats: numbered places of people in an event, each with the cells that its holder meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One application in one scenario: what one session of a person is about."""

    scenario: str
    application: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A numbered place of a level; whoever takes it meets the cells that belong to the number.

    Attributes:
        level: Level of testing.
        number: Place in the level's seeded design, from 0.
        stratum: Part of the people that is balanced by itself; empty where there are no parts.
        participant: Opaque key of the person who has it; empty while it is free.
    """

    STORED_AS: ClassVar[str] = "Seat"

    level: Level
    number: int
    stratum: str = ""
    participant: str = ""

    def __post_init__(self) -> None:
        """Refuse numbers below 0."""
        if self.number < 0:
            message = f"seats are numbered from 0; got {self.number}"
            raise InputError(message)

    @property
    def key(self) -> str:
        """What it is called within its study, whoever has it, e.g. `red teaming 7`; counted from 1."""
        return " ".join(part for part in (self.level.value, self.stratum, str(self.number + 1)) if part)
