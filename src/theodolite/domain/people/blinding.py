"""Blinding guesses: what testers believe they met, asked when everything else is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class GuessedThing(StrEnum):
    """What a tester is kept from knowing."""

    APPLICATION = "application"
    LEVEL = "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindingGuess:
    """What one tester believes of one session.

    Attributes:
        session: Key of the session.
        about: What is guessed.
        guess: Name of the application or the level; empty for "I do not know".
        options: Names that were offered, "I do not know" left out.
        at: When; UTC.
    """

    session: str
    about: GuessedThing
    guess: str
    options: tuple[str, ...]
    at: datetime
