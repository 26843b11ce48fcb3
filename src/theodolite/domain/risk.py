"""Risks and the places where they became real."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.errors import InputError


class Identification(StrEnum):
    """What tells that a risk has materialised."""

    DIALOGUE = "dialogue"
    QUESTIONNAIRE = "questionnaire"
    BOTH = "questionnaire and dialogue"


class Impact(StrEnum):
    """Direction of an impact."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    BOTH = "both"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A risk that a study looks for.

    Attributes:
        name: Identifier within the study.
        taxonomy: Identifier in a taxonomy, e.g. `ai-600-1/information-integrity`.
        description: What it is, in words.
        identified_by: Whether dialogues, questionnaires or both show it.
    """

    name: str
    taxonomy: str = ""
    description: str = ""
    identified_by: Identification = Identification.DIALOGUE


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterialisedRisk:
    """A risk that became real in one dialogue; a record for deeper exploration.

    Attributes:
        risk: Name of the risk.
        dialogue: Key of the dialogue.
        turn: Number of the turn; None where it is the dialogue as a whole.
        clause: The clause of the test packet that was broken.
        magnitude: Degree of consequence; scale points 1..10, None where unrated.
        impact: Direction of the impact.
    """

    risk: str
    dialogue: str
    turn: int | None = None
    clause: str = ""
    magnitude: int | None = None
    impact: Impact = Impact.NEITHER

    def __post_init__(self) -> None:
        """Refuse a magnitude off the scale."""
        if self.magnitude is not None and not 1 <= self.magnitude <= 10:
            message = f"magnitude must lie in 1..10; got {self.magnitude}"
            raise InputError(message)
