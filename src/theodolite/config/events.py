"""Events as domain records: levels, times, consent."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import available_timezones

from theodolite.config.consent import NEEDED, unfinished
from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.scenarios import LEVELS
from theodolite.config.specs.study import BreaksSpec, StudySpec
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.people.event import AnnotationProcess, Event, LevelPlan, Route, ScreeningQuestion
from theodolite.domain.people.exposure import BreakRule
from theodolite.domain.shown_order import OrderPlan, QuestionOrder


def levels_of(spec: StudySpec) -> tuple[LevelPlan, ...]:
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
        for name, level in spec.levels.items()
    )


def annotation_of(spec: StudySpec) -> AnnotationProcess | None:
    """Return how people's annotation is organised, where the study says it."""
    plan = spec.annotation
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
        seed=spec.sampling.seed,
        order=OrderPlan(
            questions=QuestionOrder(plan.order.questions),
            options=plan.order.options,
            turns=plan.order.turns,
            dialogues=plan.order.dialogues,
        ),
    )


def event_of(entry: Entry[StudySpec], context: LoadContext, warning: str = "") -> Event | None:
    """Return when and how people take part; None where none do.

    Args:
        entry: The study file.
        context: Where it lies.
        warning: What its packs tell people that they may meet; the study's own text takes its place.
    """
    spec = entry.spec
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
    _check_times(entry, context, opens, closes, zone)
    consent = context.text(entry, "consent", name=spec.consent) if spec.consent else None
    if spec.warning:
        warning = context.text(entry, "warning", name=spec.warning) or ""
    if n_people:
        _check_consent(entry, context, consent)
        _check_warning(entry, context, warning)
    _check_quotas(entry, context)
    return Event(
        opens=opens,
        closes=closes,
        zone=zone,
        assign=spec.assign,
        consent=consent or "",
        contact=spec.contact,
        warning=warning,
        breaks=_breaks(spec.breaks),
        screening=tuple(ScreeningQuestion(text=one.ask, wanted=one.wanted) for one in spec.screening),
    )


def _breaks(spec: BreaksSpec | None) -> BreakRule:
    if spec is None:
        return BreakRule()
    return BreakRule(every_min=spec.every, most_min=spec.most, most_severe=spec.most_severe)


def _check_quotas(entry: Entry[StudySpec], context: LoadContext) -> None:
    for name, level in entry.spec.levels.items():
        wanted = sum(level.quotas.values())
        if wanted > level.people:
            message = f"`quotas` of `{name}` call for {wanted} people and the level has {level.people}"
            context.diagnostics.add(entry.fault("levels", name, "quotas", message=message))


def _check_times(entry: Entry[StudySpec], context: LoadContext, opens: str, closes: str, zone: str) -> None:
    _check_hours(entry, context, ("event",), opens, closes)
    for name, level in entry.spec.levels.items():
        _check_hours(entry, context, ("levels", name), level.opens, level.closes)
    zones = available_timezones()
    if zones and zone not in zones:
        near = did_you_mean(zone, zones)
        message = f"time zone `{zone}` is not known{near or '; expected a name such as Europe/Berlin'}"
        context.diagnostics.add(entry.fault("event", "zone", message=message))


def _check_hours(entry: Entry[StudySpec], context: LoadContext, path: tuple[str, ...], opens: str, closes: str) -> None:
    whose = "the event" if path == ("event",) else f"`{path[-1]}`"
    moments = {}
    for key, text in (("opens", opens), ("closes", closes)):
        try:
            moments[key] = datetime.fromisoformat(text).replace(tzinfo=None) if text else None
        except ValueError:
            message = f"`{key}` of {whose} is `{text}`; expected a local time, e.g. 2026-03-02T09:00"
            context.diagnostics.add(entry.fault(*path, key, message=message))
    begin, end = moments.get("opens"), moments.get("closes")
    if begin and end and end <= begin:
        message = f"{whose} closes at {closes}, before it opens at {opens}"
        context.diagnostics.add(entry.fault(*path, "closes", message=message))


def _check_consent(entry: Entry[StudySpec], context: LoadContext, consent: str | None) -> None:
    if not entry.spec.consent:
        message = f"no consent text is named (`consent: consent.md`); {NEEDED}"
        context.diagnostics.add(entry.fault("levels", message=message, severity=Severity.OPEN, at_key=True))
    elif consent is not None and (problem := unfinished(consent)):
        message = f"{problem}; {NEEDED}"
        context.diagnostics.add(LocatedDiagnostic(file=entry.spec.consent, message=message, severity=Severity.OPEN))


def _check_warning(entry: Entry[StudySpec], context: LoadContext, warning: str) -> None:
    if entry.spec.risks and not warning.strip():
        message = f"the study looks for risks and tells people nothing of them (`warning: warning.md`); {NEEDED}"
        context.diagnostics.add(entry.fault("risks", message=message, severity=Severity.OPEN, at_key=True))
