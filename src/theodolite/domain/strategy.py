"""Strategies: what red teamers, human or automated, tried and how it went."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AttemptOutcome(StrEnum):
    """What an attempt brought, in the eyes of who made it."""

    RELEASED = "released"
    WITHHELD = "withheld"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of a strategy; a later attempt refines the one it names."""

    description: str
    outcome: AttemptOutcome
    turn: int | None = None
    refines: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way of attack in one dialogue, with its refinements and outcomes."""

    name: str
    dialogue: str
    attempts: tuple[Attempt, ...] = ()
