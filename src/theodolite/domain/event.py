"""Events: participation, consent, and participants."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.choices import AiType, Assignment, UserType
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError, require_counts
from theodolite.domain.identity import digest
from theodolite.domain.shown_order import OrderPlan


class Role(StrEnum):
    """A person's role in one study; one person may have several that do not exclude each other."""

    ORGANISER = "organiser"
    SENIOR = "senior annotator"
    ANNOTATOR = "annotator"
    RED_TEAMER = "red teamer"
    FIELD_TESTER = "field tester"
    ANALYST = "analyst"
    TEAM = "application team"


KNOWING = frozenset({Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM})
"""Roles that see content hidden from annotators: levels, applications, or others' answers."""


def why_not_both(role: Role, has: Collection[Role], had: Collection[Role]) -> str:
    """Return the reason why a person cannot have a role in addition to their others; empty if they can.

    Blinding works both ways: a person who has seen hidden content never annotates, and an annotator never sees it. Past
    access cannot be undone, so former roles still count.

    Args:
        role: The requested role.
        has: The person's current roles in the same study.
        had: The person's current and former roles in it.

    Example:
        >>> why_not_both(Role.ANNOTATOR, has=(), had=(Role.ANALYST,)).partition(" cannot")[0]
        'a current or former analyst'
    """
    known = sorted(KNOWING.intersection(had), key=list(Role).index)
    if role is Role.ANNOTATOR and known:
        return (
            f"a current or former {known[0].value} cannot annotate the study: annotators must not know applications, "
            "levels or the answers of others. Invite another person"
        )
    if role in KNOWING and Role.ANNOTATOR in has:
        return (
            f"an annotator of the study cannot be its {role.value}: annotators must not know applications, "
            "levels or the answers of others. Remove the person as annotator first; they cannot become one again"
        )
    return ""


class AcknowledgedText(StrEnum):
    """Texts that people accept before they test."""

    CONSENT = "consent"
    CONTENT_WARNING = "content warning"
    INSTRUCTIONS = "instructions"
    TOPICS = "topics"
    """Topics that a person may avoid; the acknowledgement records that they were asked, not the choice."""
    RELEASE = "release"
    """Whether the person's dialogues may be part of public releases; the latest answer counts."""


LEFT_OUT = digest("release", "left out")
INCLUDED = digest("release", "included")
"""Versions of an acknowledgement of `AcknowledgedText.RELEASE`: the person's choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """A person's acceptance of one version of a text; never changed, a new version needs a new one.

    Attributes:
        participant: Opaque key of the person.
        study: Name of the study.
        subject: The text.
        version: Content hash of the text; 64 hexadecimal digits.
        at: Time; UTC.
        session: Key of the session concerned; empty for the whole study.
    """

    participant: str
    study: str
    subject: AcknowledgedText
    version: str
    at: datetime
    session: str = ""


LATELY_H = 24
"""Period in which heavy work counts as recent; hours."""


MUCH_MIN = 60
"""Recent time in sessions on one heavy topic from which other work is suggested; minutes."""


MUCH_DIALOGUES = 20
"""Recently annotated dialogues on one heavy topic from which other work is suggested; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """Exposure of one person.

    Attributes:
        minutes: Time in sessions, excluding pauses; minutes.
        turns: Prompts sent; count.
        severe: Turns that the person marked as broken guardrails; count.
        since_break_min: Time in sessions since the last break; minutes.
    """

    minutes: float = 0.0
    turns: int = 0
    severe: int = 0
    since_break_min: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakRule:
    """Reminders to take a break, and limits of exposure.

    Attributes:
        every_min: Time between reminders; minutes, 0 for none.
        most_min: Maximum time in sessions per person in the study; minutes, 0 for no limit.
        most_severe: Maximum number of broken guardrails per person; count, 0 for no limit.
    """

    every_min: int = 0
    most_min: int = 0
    most_severe: int = 0

    def is_due(self, exposure: Exposure) -> bool:
        """Return whether to remind the person of a break now."""
        return bool(self.every_min) and exposure.since_break_min >= self.every_min

    def is_enough(self, exposure: Exposure) -> bool:
        """Return whether the person has reached the limit of exposure."""
        over_time = bool(self.most_min) and exposure.minutes >= self.most_min
        return over_time or (bool(self.most_severe) and exposure.severe >= self.most_severe)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonProfile:
    """A person's own attributes after consent; stored apart from identity.

    Attributes:
        user_type: The person's type of user; None if not stated, which is not a type itself.
        expertise: Description in the person's words.
        languages: Language tags, e.g. `("en", "de")`.
        groups: Self-described groups by attribute.
    """

    user_type: UserType | None = None
    expertise: str = ""
    languages: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def annotator_attributes(self) -> dict[str, str]:
        """The person's own attributes: first language, groups."""
        first = {"language": self.languages[0]} if self.languages else {}
        return {**first, **self.groups}

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes by which dialogues may be split: type of user, first language, groups; without unstated ones."""
        known = {"user_type": self.user_type.value} if self.user_type else {}
        return {**known, **self.annotator_attributes}


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlan:
    """Plan of one level of testing.

    Attributes:
        level: The level.
        people: Testers; count, 0 for model testing.
        sessions: Sessions of each tester; count.
        minutes: Maximum length of a session; minutes, 0 for no limit.
        repeats: Repetitions of each script or persona; count.
        quotas: Required number of people for each type of user; each type is
            balanced separately, and all other people form no stratum.
        opens: Start of sessions, local time, ISO 8601 without offset; empty for the event's own time.
        closes: End of sessions, in the same form.
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
        """Return the number of places in a part of the level: a type of user with a quota, or the rest."""
        return self.quotas.get(stratum, 0) if stratum else self.people - sum(self.quotas.values())

    def of_runs(self) -> LevelPlan:
        """Return the level without people: their number does not change a run's calls."""
        return LevelPlan(level=self.level, repeats=self.repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreeningQuestion:
    """A screening question with the admitting answer.

    Attributes:
        text: The question, answered with yes or no.
        wanted: The admitting answer: True for yes.
    """

    text: str
    wanted: bool = True


class Route(StrEnum):
    """When a dialogue is routed to all categories of a schema after its first category."""

    ANY_VIOLATION = "any_violation"
    ALL = "all"
    ADJUDICATED = "adjudicated"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreAnnotation:
    """Suggestions by a judge to people, in a random share of dialogues so that their effect can be estimated.

    Attributes:
        judge: Name of the judge.
        share: Share of dialogues with suggestions; fraction between 0 and 1.
    """

    judge: str
    share: float = 0.5

    def __post_init__(self) -> None:
        """Reject a share without a comparison."""
        if not 0 < self.share < 1:
            message = (
                f"annotation: `share` of `pre_annotation` is between 0 and 1, so that dialogues with and without "
                f"suggestions can be compared; it is {self.share}"
            )
            raise InputError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationProcess:
    """Organisation of human annotation.

    Attributes:
        passes: Different annotators for each dialogue and category; count.
        route: When a dialogue is routed to all categories.
        quality_check: Share of annotations that seniors review; fraction 0..1.
        schema: Name of the annotation schema; empty if the study has only one.
        reserve_min: Reservation time of a dialogue for one annotator; minutes.
        most_share: Maximum share of a category's dialogues per annotator; fraction 0..1.
        apart: Whether different people annotate one dialogue's categories.
        practice: Whether annotators complete the practice examples in each series before they get work.
        pass_mark: Required share of right answers in a test, corrected for guessing; fraction 0..1, 0 for no test.
        attempts: Maximum number of attempts at a qualification test; after that a senior decides; count.
        seed: Seed for the order of the queue and for quality checks.
        judge_passes: Annotations of each dialogue and category that promoted judges may give instead of people;
            count, fewer than `passes`: the last annotation is always a person's.
        order: Variation of the order of presentation, to measure the effect of order.
        pre_annotation: Suggestions by a judge; None for none.
    """

    passes: int = 1
    route: Route = Route.ANY_VIOLATION
    quality_check: float = 0.0
    schema: str = ""
    reserve_min: int = 60
    most_share: float = 1.0
    apart: bool = False
    pass_mark: float = 0.6
    attempts: int = 3
    seed: int = 1
    judge_passes: int = 0
    practice: bool = True
    order: OrderPlan = field(default_factory=OrderPlan)
    pre_annotation: PreAnnotation | None = None

    def __post_init__(self) -> None:
        """Reject a process that could not start, or in which no person would read a dialogue."""
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
        opens: Local time, ISO 8601 without offset; empty if not stated.
        closes: Local time, ISO 8601 without offset; empty if not stated.
        zone: Name of the time zone, e.g. `Europe/Berlin`.
        assign: Applications for one tester.
        consent: Consent text; empty if it is not written yet.
        contact: Address for questions.
        warning: Unpleasant content that people may see; empty if the consent covers it.
        breaks: Reminders to take a break, and limits of exposure.
        screening: Screening questions before people take part.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A participating team with one or more applications."""

    name: str
    applications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan:
    """Preregistration of a series.

    Attributes:
        requirements: Requirements of the testing layer.
        scenarios: Names of the scenarios; empty if the plan names none.
        criteria: Criteria for judging behaviour.
        expected_behaviour: Expected behaviour of the applications.
        methods: Methods of evaluation.
    """

    requirements: str = ""
    scenarios: tuple[str, ...] = ()
    criteria: str = ""
    expected_behaviour: str = ""
    methods: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """An evaluation event: teams, applications, scenarios, people, plan.

    Attributes:
        name: Its name.
        ai_type: Kind of system that it evaluates.
        user_types: Types of users that it requests; empty if unspecified.
        risks: Names of risks or their identifiers in a taxonomy; empty if unspecified.
        teams: Participating teams; empty if unspecified.
        plan: Its published evaluation plan.
        follows: Name of the preceding series, whose open decisions it can adopt; empty for none.
        submission_criteria: Criteria for applications, as teams read them; empty for the shipped criteria.
        terms: Terms of participation of teams; empty for the shipped terms.
    """

    name: str
    ai_type: AiType = AiType.GENERATIVE
    user_types: tuple[UserType, ...] = ()
    risks: tuple[str, ...] = ()
    teams: tuple[Team, ...] = ()
    plan: EvaluationPlan = field(default_factory=EvaluationPlan)
    follows: str = ""
    submission_criteria: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()

    def deviations(
        self,
        *,
        applications: Collection[str],
        scenarios: Collection[str],
        risks: Collection[Collection[str]],
        user_types: Collection[str],
    ) -> tuple[str, ...]:
        """Return as text how a study deviates from its preregistration.

        A series may contain several studies, so a study need not cover all of it;
        additions of a study are deviations.

        Args:
            applications: Names of the study's applications.
            scenarios: Names of its scenarios.
            risks: Name and identifiers of each of its risks.
            user_types: Types of users that it requests.
        """
        entered = {name for team in self.teams for name in team.applications}
        deviations = [
            *_beyond("application", applications, entered, "belongs to none of its teams"),
            *_beyond("scenario", scenarios, self.plan.scenarios, "is not in its plan"),
            *_beyond("user type", user_types, [kind.value for kind in self.user_types]),
        ]
        if self.risks:
            unknown = [next(iter(names)) for names in risks if not set(names) & set(self.risks)]
            deviations += [f"risk `{name}` is none of those that it announced" for name in unknown]
        return tuple(deviations)

    def untested(
        self, *, pairs: Collection[tuple[str, str]], risks: Collection[str], user_types: Collection[str]
    ) -> tuple[str, ...]:
        """Return as text the parts of the plan that no study of the series tests.

        Args:
            pairs: Pairs of application and scenario in all studies.
            risks: Names and identifiers of risks, shared by all studies.
            user_types: Types of users that any study requests.
        """
        return (
            *_untested_pairs(self, pairs),
            *(f"risk `{name}` is in no study" for name in self.risks if name not in risks),
            *(f"no study calls for users of type `{kind.value}`" for kind in self.user_types if kind not in user_types),
        )


def _untested_pairs(series: Series, pairs: Collection[tuple[str, str]]) -> Iterator[str]:
    applications = [name for team in series.teams for name in team.applications]
    scenarios = series.plan.scenarios
    absent = [name for name in applications if all(tested != name for tested, _ in pairs)]
    left_out = [name for name in scenarios if all(tested != name for _, tested in pairs)]
    yield from (f"application `{name}` is in no study" for name in absent)
    yield from (f"scenario `{name}` is in no study" for name in left_out)
    for application in applications:
        for scenario in scenarios:
            if application not in absent and scenario not in left_out and (application, scenario) not in pairs:
                yield f"application `{application}` meets scenario `{scenario}` in no study"


def _beyond(
    noun: str, names: Collection[str], preregistered: Collection[str], text: str = "is none of those that it announced"
) -> Iterator[str]:
    if preregistered:
        yield from (f"{noun} `{name}` {text}" for name in names if name not in preregistered)
