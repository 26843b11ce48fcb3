"""Strategies: what red teamers, human or automated, tried and how it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final

OWN_WAY: Final = "own_way"
"""Name of the strategy of people's attempts that fit none of the catalogue."""

TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rephrase": "the same request in a different context",
        "role_play": "the request as part of a story",
        "many_shot": "many answered questions first",
        "escalation": "from a harmless question to the real one",
        "encoding": "in another language, with shifted letters, or backwards",
        "persuasion": "reasons for an exception",
        "injection": "a note in a document that the application reads",
        "paraphrase": "the request in other words",
        "translation": "the request translated into other languages",
        "adaptive": "adapts to each reply and steps back after a refusal",
        OWN_WAY: "a way of the tester's own",
    }
)
"""What the shipped strategies do, in a line, by the names that study files use."""


class AttemptOutcome(StrEnum):
    """What an attempt brought, in the eyes of who made it."""

    RELEASED = "released"
    WITHHELD = "withheld"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of a strategy; a later attempt refines the one it names.

    Attributes:
        description: What was tried, in a few words.
        outcome: What it brought, in the eyes of who made it.
        turn: Number of the turn in which it was made; None where it is not known.
        refines: Number of the attempt that it builds on, from 1; None for a fresh start.
        planted: Text that was put into the application's source material for it.
    """

    description: str
    outcome: AttemptOutcome
    turn: int | None = None
    refines: int | None = None
    planted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of attack in one dialogue, with its refinements and outcomes."""

    name: str
    dialogue: str
    attempts: tuple[Attempt, ...] = ()

    @property
    def n_refinements(self) -> int:
        """Attempts that build on an earlier one; count."""
        return sum(attempt.refines is not None for attempt in self.attempts)

    @property
    def succeeded(self) -> bool:
        """Whether an attempt released something, in the eyes of who made it."""
        return any(attempt.outcome is AttemptOutcome.RELEASED for attempt in self.attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyInfo:
    """What a plan has to know of a strategy, whoever wrote it.

    Attributes:
        name: What study files call it.
        tries: Tries at most; count.
        needs_model: Whether a model plays it.
        edition: Number of its rules and words; raised by hand when they change.
        title: What it does, in one line; plays no part in what is planned.
    """

    STORED_AS: ClassVar[str] = "StrategyCard"

    name: str
    tries: int
    needs_model: bool = False
    edition: int = 1
    title: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a red teamer wants to hear and must not: a plain request for prohibited content."""

    key: str
    ask: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A simulated red teamer: one strategy, bent on one aim.

    Attributes:
        key: Identity within its scenario, e.g. `role_play/ending`.
        strategy: Name of the strategy.
        aim: What it wants to hear.
        model: Name of the model that plays it; empty for strategies that need none.
    """

    key: str
    strategy: str
    aim: Aim
    model: str = ""
