"""Leaks: how far testers saw through what they were kept from knowing."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.people.blinding import GuessedThing


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindingAssessment:
    """How far testers saw through the blinding.

    Attributes:
        about: What was guessed.
        level: Level of testing; None for all levels together.
        rate: Share of testers whose first guess was right; those who did not know are left out.
        chance: Share that would be right by guessing alone; fraction.
        p_value: How often so many or more would be right by guessing alone; None where nobody guessed.
        n_unknown: First answers that said "I do not know"; count.
        n_repeated: Later guesses by the same people, which are not independent of the first; count.
    """

    about: GuessedThing
    level: Level | None
    rate: Estimate | Undefined
    chance: float
    p_value: float | None = None
    n_unknown: int = 0
    n_repeated: int = 0
