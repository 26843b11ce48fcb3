"""Events: how people take part in a study."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.dialogue import Level


class Assignment(StrEnum):
    """Which applications one tester meets."""

    WITHIN_SUBJECTS = "within_subjects"
    BETWEEN_SUBJECTS = "between_subjects"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlan:
    """What one level of testing is to hold.

    Attributes:
        level: The level.
        people: Testers; count, 0 for model testing.
        sessions: Sessions of each tester; count.
        minutes: Length of a session at most; minutes, 0 for no limit.
        repeats: Repetitions of each script or persona; count.
    """

    level: Level
    people: int = 0
    sessions: int = 1
    minutes: int = 0
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationProcess:
    """How people's annotation is organised.

    Attributes:
        passes: Different annotators for each dialogue and category; count.
        route: When a dialogue goes to all categories.
        quality_check: Share of annotations that seniors review; fraction 0..1.
        schema: Name of the schema that people annotate by; empty where the study has one alone.
    """

    passes: int = 1
    route: str = "any_violation"
    quality_check: float = 0.0
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """When and how people take part.

    Attributes:
        opens: Local time, ISO 8601 without offset; empty where not said.
        closes: Local time, ISO 8601 without offset; empty where not said.
        zone: Name of the time zone, e.g. `Europe/Berlin`.
        assign: Which applications one tester meets.
        consent: Text that people consent to; empty where still to be written.
        contact: Where people can turn.
    """

    opens: str = ""
    closes: str = ""
    zone: str = "UTC"
    assign: Assignment = Assignment.WITHIN_SUBJECTS
    consent: str = ""
    contact: str = ""
