"""Criteria: by what people are sought, chosen and given work, stated in words and kept version by version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.identity import digest


class CriteriaSubject(StrEnum):
    """What criteria are about (ARIA's process asks for these three to be documented)."""

    RECRUITMENT = "recruitment"
    SELECTION = "selection"
    ASSIGNMENT = "task assignment"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCriteria:
    """How the annotators of a study are sought, chosen or given work, as somebody has stated it.

    A later statement takes its place and leaves it where it is.

    Attributes:
        study: Name of the study.
        about: What they are about.
        text: The criteria, in words.
        revision: 1 for the first statement about it.
        by: Opaque key or name of who stated them.
        at: When; UTC.
        why: What has changed and why; empty for the first.
    """

    study: str
    about: CriteriaSubject
    text: str
    revision: int
    by: str
    at: datetime
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse criteria without words."""
        if not self.text.strip():
            message = f"criteria of {self.about.value} need some words; got none"
            raise InputError(message)

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the criteria of a study are filed."""
        return digest("annotators criteria", study)
