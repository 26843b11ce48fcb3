"""The sections on people: levels, annotation, event, consent, warning, breaks and screening."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol
from zoneinfo import available_timezones

from pydantic import Field, model_validator

from theodolite.config.load_context import Entry, LoadContext, shipped_bytes
from theodolite.config.scenarios import LEVELS, LevelName
from theodolite.config.validation import Filled, Spec, YesNo, without_empty
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.choices import Assignment
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.shown_order import OrderPlan, QuestionOrder
from theodolite.domain.study import Study
from theodolite.testing.assigning import people_levels

if TYPE_CHECKING:
    from theodolite.domain.event import AnnotationProcess, BreakRule, Event, LevelPlan

UserTypeName = Literal["adversarial", "everyday", "domain_expert"]
"""Types of users that a level may request."""


class LevelSpec(Spec):
    """Plan of one level of testing."""

    people: int = Field(default=0, ge=0)
    """Number of testers."""
    sessions: int = Field(default=1, ge=1)
    """Number of sessions per tester."""
    minutes: int = Field(default=0, ge=0)
    """Maximum length of a session; 0 for no limit."""
    repeats: int = Field(default=1, ge=1)
    """Repetitions of each script or persona."""
    quotas: dict[UserTypeName, int] = Field(default_factory=dict)
    """Number of people who are `adversarial`, `everyday` or `domain_expert`; each type is balanced separately."""
    opens: str = ""
    """Start of sessions of the level, e.g. `2026-03-02T09:00`; default: the event's time."""
    closes: str = ""
    """End of sessions; default: the event's time."""
    attacks: list[Filled] = Field(default_factory=list)
    """For `red_teaming`: strategies of simulated red teamers in all scenarios without `attacks`."""
    attacker: str = ""
    """For `red_teaming`: the model for strategies that need one (`paraphrase`, `translation`, `adaptive`)."""


class OrderSpec(Spec):
    """Variation of the order of presentation, to measure the effect of order."""

    questions: Literal["written", "reversed", "balanced"] = "written"
    """Order of questions: reversed in half of the annotations (`reversed`), or each question at each position
    equally often."""
    options: YesNo = False
    """Whether half of the annotations show named answers in reverse order."""
    turns: YesNo = False
    """Whether half of the annotations ask about the last turn first."""
    dialogues: YesNo = False
    """Whether half of the annotators start at the end of the queue."""


class PreAnnotationSpec(Spec):
    """Answers of a judge that people see as suggestions in some dialogues, to save time and measure their effect."""

    judge: Filled
    """Name of the judge in `judges`; people see its stored answers to the questions of its guideline."""
    share: float = Field(default=0.5, gt=0, lt=1)
    """Share of dialogues with suggestions, drawn at random by the seed; between 0 and 1."""


class AnnotationSpec(Spec):
    """Organisation of human annotation."""

    per_item: int = Field(default=1, ge=1)
    """Number of different annotators for each dialogue."""
    route: Literal["any_violation", "all", "adjudicated"] = "any_violation"
    """Condition for all categories: one annotator sees a violation, `all` do, or a review confirms it
    (`adjudicated`)."""
    quality_check: float = Field(default=0.0, ge=0, le=1)
    """Share of annotations that seniors review; 0 to 1."""
    schema_: str = Field(default="", alias="schema")
    """Name of the annotation schema: in this file, in `schemas/`, or shipped (`aria-five-categories`)."""
    reserve_min: int = Field(default=60, ge=1)
    """Reservation time of a dialogue for one annotator; minutes."""
    most_share: float = Field(default=1.0, ge=0, le=1)
    """Maximum share of a category's dialogues per annotator; 0 to 1."""
    apart: bool = False
    """Whether different people annotate the categories of one dialogue."""
    practice: YesNo = True
    """Whether annotators practise on examples, with feedback, before their first dialogue in a study."""
    pass_mark: float = Field(default=0.6, ge=0, le=1)
    """Required share of correct answers in a qualification test, corrected for guessing; 0 for no test."""
    attempts: int = Field(default=3, ge=1)
    """Maximum number of attempts at a qualification test; after that a senior decides."""
    judges_per_item: int = Field(default=0, ge=0)
    """Number of annotations of each dialogue by promoted judges instead of people; fewer than `per_item`."""
    order: OrderSpec = Field(default_factory=OrderSpec)
    """Variation of the order of presentation."""
    pre_annotation: PreAnnotationSpec | None = None
    """Suggestions by a judge to annotators; default: none."""

    @model_validator(mode="after")
    def _one_annotation_is_a_persons(self) -> AnnotationSpec:
        if self.judges_per_item >= self.per_item:
            message = (
                f"`judges_per_item` is {self.judges_per_item} and `per_item` is {self.per_item}; a person gives at"
                f" least one annotation, so the maximum is {self.per_item - 1}"
            )
            raise ValueError(message)
        return self


class EventSpec(Spec):
    """Times of the event."""

    opens: str = ""
    """Local time, e.g. `2026-03-02T09:00`."""
    closes: str = ""
    """Local time, e.g. `2026-03-06T17:00`."""
    zone: str = "UTC"
    """Time zone, e.g. `Europe/Berlin`."""


class BreaksSpec(Spec):
    """Reminders to take a break, and limits for testers."""

    every: int = Field(default=0, ge=0)
    """Session minutes between two reminders; 0 for none."""
    most: int = Field(default=0, ge=0)
    """Maximum number of session minutes per person; 0 for no limit."""
    most_severe: int = Field(default=0, ge=0)
    """Maximum number of broken guardrails per person; 0 for no limit."""


class ScreeningSpec(Spec):
    """A screening question before participation."""

    ask: Filled
    """The question, with the answers yes and no."""
    wanted: YesNo = True
    """The required answer: `yes` or `no`."""


NEEDED = "needed before people are invited"
"""Importance of a missing item."""

_SAMPLES = (
    "starters/consent.md",
    *(f"packs/aria/{name}/consent.md" for name in ("tv-spoilers", "meal-planner", "pathfinder")),
)
"""Placeholders to complete before people read a text."""

_BLANK = re.compile(r"(?<!\])(?!^\[[^\]\n]+\]:\s)\[[^\]\n]{1,60}\](?![(\[])", re.MULTILINE)
"""A placeholder; links are not placeholders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingText:
    """Something that must be complete before an event opens.

    Attributes:
        what: The missing part, as text.
        key: Key of the study file for its text; empty if it is not stored in a file.
    """

    what: str
    key: str = ""


def unfinished(consent: str) -> str:
    """Return the open tasks of a consent text, as text; empty if it is complete."""
    samples = [raw.decode("utf-8").strip() for path in _SAMPLES if (raw := shipped_bytes(path)) is not None]
    if consent.strip() in samples:
        return "still the sample text"
    blanks = tuple(dict.fromkeys(_BLANK.findall(consent)))
    return f"placeholders to complete: {', '.join(blanks)}" if blanks else ""


def missing_texts(study: Study) -> tuple[MissingText, ...]:
    """Return the texts that people must read and that a study lacks.

    Without a content warning, people cannot give informed consent to a study
    of risks. A study without people needs no texts.
    """
    if not people_levels(study):
        return ()
    consent, warning = (study.event.consent, study.event.warning) if study.event else ("", "")
    missing = []
    if not consent.strip():
        missing.append(MissingText(what="no consent text is named", key="consent"))
    elif problem := unfinished(consent):
        missing.append(MissingText(what=f"the consent text: {problem}", key="consent"))
    if study.risks and not warning.strip():
        missing.append(MissingText(what="no content warning is named, and the study looks for risks", key="warning"))
    return tuple(missing)


class PeopleKeys(Protocol):
    """The keys of a study file on human testers and annotators."""

    @property
    def levels(self) -> Mapping[LevelName, LevelSpec]:
        """Levels of testing."""

    @property
    def assign(self) -> Assignment:
        """Number of applications for each tester."""

    @property
    def annotation(self) -> AnnotationSpec | None:
        """Organisation of human annotation."""

    @property
    def event(self) -> EventSpec | None:
        """Times of the event."""

    @property
    def breaks(self) -> BreaksSpec | None:
        """Reminders and limits for testers."""

    @property
    def screening(self) -> Sequence[ScreeningSpec]:
        """Screening questions."""

    @property
    def consent(self) -> str:
        """File with the consent text."""

    @property
    def warning(self) -> str:
        """File with the content warning."""

    @property
    def contact(self) -> str:
        """Contact for participants."""

    @property
    def risks(self) -> Sized:
        """Risks that the study tests."""


def levels_to_domain(spec: PeopleKeys) -> tuple[LevelPlan, ...]:
    """Return the settings of each level of testing, in the order of the file."""
    from theodolite.domain.event import LevelPlan

    return tuple(
        LevelPlan(
            level=LEVELS[name],
            people=level.people,
            sessions=level.sessions,
            minutes=level.minutes,
            repeats=level.repeats,
            quotas={name.replace("_", " "): n for name, n in level.quotas.items()},
            opens=level.opens,
            closes=level.closes,
        )
        for name, level in spec.levels.items()
    )


def annotation_to_domain(spec: PeopleKeys, seed: int) -> AnnotationProcess | None:
    """Return how human annotation is organised, if the study states it."""
    from theodolite.domain.event import AnnotationProcess, PreAnnotation, Route

    plan = spec.annotation
    if plan is None:
        return None
    suggestions = plan.pre_annotation
    return AnnotationProcess(
        passes=plan.per_item,
        route=Route(plan.route),
        quality_check=plan.quality_check,
        schema=plan.schema_,
        reserve_min=plan.reserve_min,
        most_share=plan.most_share,
        apart=plan.apart,
        practice=plan.practice,
        pass_mark=plan.pass_mark,
        attempts=plan.attempts,
        judge_passes=plan.judges_per_item,
        seed=seed,
        order=OrderPlan(
            questions=QuestionOrder(plan.order.questions),
            options=plan.order.options,
            turns=plan.order.turns,
            dialogues=plan.order.dialogues,
        ),
        pre_annotation=PreAnnotation(judge=suggestions.judge, share=suggestions.share) if suggestions else None,
    )


def event_to_domain(entry: Entry[Spec], spec: PeopleKeys, context: LoadContext, warning: str = "") -> Event | None:
    """Return when and how people take part; None if nobody does.

    Args:
        entry: The study file.
        spec: Its keys.
        context: Its context.
        warning: Warning of its packs about content; the study's own text replaces it.
    """
    from theodolite.domain.event import Event, ScreeningQuestion

    n_people = sum(level.people for level in spec.levels.values())
    if spec.event is None and not n_people and not spec.consent:
        return None
    opens, closes, zone = (
        ("", "", "UTC")
        if spec.event is None
        else (
            spec.event.opens,
            spec.event.closes,
            spec.event.zone,
        )
    )
    _check_times(entry, spec.levels, context, (opens, closes, zone))
    consent = context.text(entry, "consent", name=spec.consent) if spec.consent else None
    if spec.warning:
        warning = context.text(entry, "warning", name=spec.warning) or ""
    if n_people:
        _check_consent(entry, spec.consent, context, consent)
        _check_warning(entry, spec.risks, context, warning)
    _check_quotas(entry, spec.levels, context)
    return Event(
        opens=opens,
        closes=closes,
        zone=zone,
        assign=spec.assign,
        consent=consent or "",
        contact=spec.contact,
        warning=warning,
        breaks=_breaks(spec.breaks),
        screening=tuple(ScreeningQuestion(text=item.ask, wanted=item.wanted) for item in spec.screening),
    )


def _breaks(spec: BreaksSpec | None) -> BreakRule:
    from theodolite.domain.event import BreakRule

    if spec is None:
        return BreakRule()
    return BreakRule(every_min=spec.every, most_min=spec.most, most_severe=spec.most_severe)


def _check_quotas(entry: Entry[Spec], levels: Mapping[LevelName, LevelSpec], context: LoadContext) -> None:
    for name, level in levels.items():
        requested = sum(level.quotas.values())
        if requested > level.people:
            message = f"`quotas` of `{name}` call for {requested} people and the level has {level.people}"
            context.diagnostics.add(entry.diagnostic("levels", name, "quotas", message=message))


def _check_times(
    entry: Entry[Spec], levels: Mapping[LevelName, LevelSpec], context: LoadContext, hours: tuple[str, str, str]
) -> None:
    opens, closes, zone = hours
    _check_hours(entry, context, ("event",), opens, closes)
    for name, level in levels.items():
        _check_hours(entry, context, ("levels", name), level.opens, level.closes)
    zones = available_timezones()
    if zones and zone not in zones:
        near = did_you_mean(zone, zones)
        message = f"time zone `{zone}` is not known{near or '; expected a name such as Europe/Berlin'}"
        context.diagnostics.add(entry.diagnostic("event", "zone", message=message))


def _check_hours(entry: Entry[Spec], context: LoadContext, path: tuple[str, ...], opens: str, closes: str) -> None:
    whose = "the event" if path == ("event",) else f"`{path[-1]}`"
    moments = {}
    for key, text in (("opens", opens), ("closes", closes)):
        try:
            moments[key] = datetime.fromisoformat(text).replace(tzinfo=None) if text else None
        except ValueError:
            message = f"`{key}` of {whose} is `{text}`; expected a local time, e.g. 2026-03-02T09:00"
            context.diagnostics.add(entry.diagnostic(*path, key, message=message))
    begin, end = moments.get("opens"), moments.get("closes")
    if begin and end and end <= begin:
        message = f"{whose} closes at {closes}, before it opens at {opens}"
        context.diagnostics.add(entry.diagnostic(*path, "closes", message=message))


def _check_consent(entry: Entry[Spec], file: str, context: LoadContext, consent: str | None) -> None:
    if not file:
        message = f"no consent text is named (`consent: consent.md`); {NEEDED}"
        context.diagnostics.add(entry.diagnostic("levels", message=message, severity=Severity.OPEN, at_key=True))
    elif consent is not None and (problem := unfinished(consent)):
        message = f"{problem}; {NEEDED}"
        context.diagnostics.add(LocatedDiagnostic(file=file, message=message, severity=Severity.OPEN))


def _check_warning(entry: Entry[Spec], risks: Sized, context: LoadContext, warning: str) -> None:
    if risks and not warning.strip():
        message = f"the study looks for risks and tells people nothing of them (`warning: warning.md`); {NEEDED}"
        context.diagnostics.add(entry.diagnostic("risks", message=message, severity=Severity.OPEN, at_key=True))


_LEVEL_NAMES = {level: name for name, level in LEVELS.items()}


def people_from_domain(study: Study) -> dict[str, Any]:
    """Return the keys `levels`, `assign`, `annotation`, `event` and `contact` of a study file."""
    levels = {
        _LEVEL_NAMES[plan.level]: {
            "people": plan.people,
            "sessions": plan.sessions,
            "minutes": plan.minutes,
            "repeats": plan.repeats,
        }
        for plan in study.levels
    }
    process, event = study.annotation, study.event
    return {
        "levels": levels,
        "assign": event.assign.value if event else "",
        "annotation": process and _process_from_domain(process),
        "event": event and without_empty(opens=event.opens, closes=event.closes, zone=event.zone),
        "contact": event.contact if event else "",
    }


def _process_from_domain(process: AnnotationProcess) -> dict[str, Any]:
    return without_empty(
        per_item=process.passes,
        route=process.route.value,
        quality_check=process.quality_check,
        schema=process.schema,
        reserve_min=process.reserve_min,
        most_share=process.most_share,
        apart=process.apart,
        practice=process.practice,
        pass_mark=process.pass_mark,
        attempts=process.attempts,
        judges_per_item=process.judge_passes,
        order=_order_from_domain(process.order),
        pre_annotation=without_empty(judge=process.pre_annotation.judge, share=process.pre_annotation.share)
        if process.pre_annotation
        else {},
    )


def _order_from_domain(order: OrderPlan) -> dict[str, Any]:
    if not order.is_varied:
        return {}
    return without_empty(
        questions=order.questions.value, options=order.options, turns=order.turns, dialogues=order.dialogues
    )
