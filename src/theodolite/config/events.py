"""Events as domain records: levels, times, consent."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import available_timezones

from theodolite.config.consent import NEEDED, unfinished
from theodolite.config.lookup import Desk, Entry
from theodolite.config.places import PlacedFault
from theodolite.config.scenarios import LEVELS
from theodolite.config.shapes.study import BreaksShape, StudyShape
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.people.event import AnnotationProcess, Event, LevelPlan, Route, ScreeningQuestion
from theodolite.domain.people.exposure import BreakRule
from theodolite.domain.shown_order import OrderPlan, QuestionOrder


def levels_of(shape: StudyShape) -> tuple[LevelPlan, ...]:
    """Return what each level of testing is to hold, in the order of the file."""
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
        for name, level in shape.levels.items()
    )


def annotation_of(shape: StudyShape) -> AnnotationProcess | None:
    """Return how people's annotation is organised, where the study says it."""
    plan = shape.annotation
    if plan is None:
        return None
    return AnnotationProcess(
        passes=plan.passes,
        route=Route(plan.route),
        quality_check=plan.quality_check,
        schema=plan.schema_,
        reserve_min=plan.reserve_min,
        most_share=plan.most_share,
        apart=plan.apart,
        practice=plan.practice,
        pass_mark=plan.pass_mark,
        attempts=plan.attempts,
        judge_passes=plan.judge_passes,
        seed=shape.sampling.seed,
        order=OrderPlan(
            questions=QuestionOrder(plan.order.questions),
            options=plan.order.options,
            turns=plan.order.turns,
            dialogues=plan.order.dialogues,
        ),
    )


def event_of(entry: Entry[StudyShape], desk: Desk, warning: str = "") -> Event | None:
    """Return when and how people take part; None where none do.

    Args:
        entry: The study file.
        desk: Where it lies.
        warning: What its packs tell people that they may meet; the study's own text takes its place.
    """
    shape = entry.shape
    n_people = sum(level.people for level in shape.levels.values())
    if shape.event is None and not n_people and not shape.consent:
        return None
    opens, closes, zone = (
        ("", "", "UTC")
        if shape.event is None
        else (
            shape.event.opens,
            shape.event.closes,
            shape.event.zone,
        )
    )
    _check_times(entry, desk, opens, closes, zone)
    consent = desk.text(entry, "consent", name=shape.consent) if shape.consent else None
    if shape.warning:
        warning = desk.text(entry, "warning", name=shape.warning) or ""
    if n_people:
        _check_consent(entry, desk, consent)
        _check_warning(entry, desk, warning)
    _check_quotas(entry, desk)
    return Event(
        opens=opens,
        closes=closes,
        zone=zone,
        assign=shape.assign,
        consent=consent or "",
        contact=shape.contact,
        warning=warning,
        breaks=_breaks(shape.breaks),
        screening=tuple(ScreeningQuestion(text=one.ask, wanted=one.wanted) for one in shape.screening),
    )


def _breaks(shape: BreaksShape | None) -> BreakRule:
    if shape is None:
        return BreakRule()
    return BreakRule(every_min=shape.every, most_min=shape.most, most_severe=shape.most_severe)


def _check_quotas(entry: Entry[StudyShape], desk: Desk) -> None:
    for name, level in entry.shape.levels.items():
        wanted = sum(level.quotas.values())
        if wanted > level.people:
            message = f"`quotas` of `{name}` call for {wanted} people and the level has {level.people}"
            desk.complaints.add(entry.fault("levels", name, "quotas", message=message))


def _check_times(entry: Entry[StudyShape], desk: Desk, opens: str, closes: str, zone: str) -> None:
    _check_hours(entry, desk, ("event",), opens, closes)
    for name, level in entry.shape.levels.items():
        _check_hours(entry, desk, ("levels", name), level.opens, level.closes)
    zones = available_timezones()
    if zones and zone not in zones:
        near = did_you_mean(zone, zones)
        message = f"time zone `{zone}` is not known{near or '; expected a name such as Europe/Berlin'}"
        desk.complaints.add(entry.fault("event", "zone", message=message))


def _check_hours(entry: Entry[StudyShape], desk: Desk, path: tuple[str, ...], opens: str, closes: str) -> None:
    whose = "the event" if path == ("event",) else f"`{path[-1]}`"
    moments = {}
    for key, text in (("opens", opens), ("closes", closes)):
        try:
            moments[key] = datetime.fromisoformat(text).replace(tzinfo=None) if text else None
        except ValueError:
            message = f"`{key}` of {whose} is `{text}`; expected a local time, e.g. 2026-03-02T09:00"
            desk.complaints.add(entry.fault(*path, key, message=message))
    begin, end = moments.get("opens"), moments.get("closes")
    if begin and end and end <= begin:
        message = f"{whose} closes at {closes}, before it opens at {opens}"
        desk.complaints.add(entry.fault(*path, "closes", message=message))


def _check_consent(entry: Entry[StudyShape], desk: Desk, consent: str | None) -> None:
    if not entry.shape.consent:
        message = f"no consent text is named (`consent: consent.md`); {NEEDED}"
        desk.complaints.add(entry.fault("levels", message=message, severity=Severity.OPEN, at_key=True))
    elif consent is not None and (problem := unfinished(consent)):
        message = f"{problem}; {NEEDED}"
        desk.complaints.add(PlacedFault(file=entry.shape.consent, message=message, severity=Severity.OPEN))


def _check_warning(entry: Entry[StudyShape], desk: Desk, warning: str) -> None:
    if entry.shape.risks and not warning.strip():
        message = f"the study looks for risks and tells people nothing of them (`warning: warning.md`); {NEEDED}"
        desk.complaints.add(entry.fault("risks", message=message, severity=Severity.OPEN, at_key=True))
