"""Events: how people take part in a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.bounds import require_counts
from theodolite.domain.choices import Assignment
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.people.exposure import BreakRule
from theodolite.domain.shown_order import OrderPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlan:
    """What one level of testing is to hold.

    Attributes:
        level: The level.
        people: Testers; count, 0 for model testing.
        sessions: Sessions of each tester; count.
        minutes: Length of a session at most; minutes, 0 for no limit.
        repeats: Repetitions of each script or persona; count.
        quotas: Type of user to how many of the people are to be of it; each type is
            balanced by itself, and the rest of the people has no stratum.
        opens: When sessions may begin, local time, ISO 8601 without offset; empty for the event's own time.
        closes: When they end, likewise.
    """

    level: Level
    people: int = 0
    sessions: int = 1
    minutes: int = 0
    repeats: int = 1
    quotas: Mapping[str, int] = field(default_factory=dict)
    opens: str = ""
    closes: str = ""

    def places(self, stratum: str) -> int:
        """Return how many people a part of the level has room for: a type of user with a quota, or the rest."""
        return self.quotas.get(stratum, 0) if stratum else self.people - sum(self.quotas.values())

    def of_runs(self) -> LevelPlan:
        """Return the level without people: more or fewer of them change nothing of what a run asks."""
        return LevelPlan(level=self.level, repeats=self.repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningQuestion:
    """What somebody is asked before taking part, and the answer that lets in.

    Attributes:
        text: The question, to be answered with yes or no.
        wanted: The answer that lets in: yes where true.
    """

    text: str
    wanted: bool = True


class Route(StrEnum):
    """When a dialogue goes to all categories of a schema, after the first one has been annotated."""

    ANY_VIOLATION = "any_violation"
    ALL = "all"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationProcess:
    """How people's annotation is organised.

    Attributes:
        passes: Different annotators for each dialogue and category; count.
        route: When a dialogue goes to all categories.
        quality_check: Share of annotations that seniors review; fraction 0..1.
        schema: Name of the schema that people annotate by; empty where the study has one alone.
        reserve_min: How long a dialogue stays reserved for one annotator; minutes.
        most_share: Largest share of a category's dialogues that one annotator may do; fraction 0..1.
        apart: Whether one dialogue's categories are annotated by different people.
        practice: Whether annotators go through the examples to practise on, in each series, before they get work.
        pass_mark: Share of a qualification's questions that must be right; fraction 0..1, 0 for no test.
        attempts: Attempts at a qualification before a senior must let in; count.
        seed: Of the order of the queue and of quality checks.
        judge_passes: Passes of each dialogue and category that promoted judges may give in place of people;
            count, fewer than `passes`: the last pass is always a person's.
        order: What is shown in several orders, to measure the effect of order.
    """

    passes: int = 1
    route: Route = Route.ANY_VIOLATION
    quality_check: float = 0.0
    schema: str = ""
    reserve_min: int = 60
    most_share: float = 1.0
    apart: bool = False
    pass_mark: float = 0.8
    attempts: int = 3
    seed: int = 1
    judge_passes: int = 0
    practice: bool = True
    order: OrderPlan = field(default_factory=OrderPlan)

    def __post_init__(self) -> None:
        """Refuse a process that nobody could begin, or in which no person would read a dialogue."""
        require_counts("annotation", passes=self.passes, reserve_min=self.reserve_min, attempts=self.attempts)
        shares = {"quality_check": self.quality_check, "most_share": self.most_share, "pass_mark": self.pass_mark}
        for name, share in shares.items():
            if not 0 <= share <= 1:
                message = f"annotation: `{name}` is a share from 0 to 1; it is {share}"
                raise InputError(message)
        if not 0 <= self.judge_passes < self.passes:
            message = (
                f"annotation: `judge_passes` must be fewer than `passes` ({self.passes}), "
                f"since the last pass is always a person's; it is {self.judge_passes}"
            )
            raise InputError(message)


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
        warning: What people may meet that can be unpleasant; empty where nothing is said beside the consent.
        breaks: When people are reminded to rest, and when it is enough.
        screening: What people are asked before they take part.
    """

    opens: str = ""
    closes: str = ""
    zone: str = "UTC"
    assign: Assignment = Assignment.WITHIN_SUBJECTS
    consent: str = ""
    contact: str = ""
    warning: str = ""
    breaks: BreakRule = field(default_factory=BreakRule)
    screening: tuple[ScreeningQuestion, ...] = ()
