"""Checks across sections: names that nobody defines, things that nobody uses, columns that no file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from theodolite.config.annotators import LabelColumn, unfit_labels
from theodolite.config.diagnostics import LocatedDiagnostic, few_of
from theodolite.config.guidelines import GuidelineRegistry
from theodolite.config.http_applications import HttpSpec
from theodolite.config.load_context import Entry, LoadContext, dropped, is_broken, section
from theodolite.config.personas import GroupReading, unused_columns
from theodolite.config.scenarios import ScenarioSpec
from theodolite.config.source_material import note_lost_material, note_source_material
from theodolite.config.study_parts import StudyParts
from theodolite.config.templates import variables
from theodolite.domain.annotator import RecordedLabels
from theodolite.domain.application import Claim
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.scenario import Scenario
from theodolite.testing.personas import TASKS

Rows = Sequence[Mapping[str, str]]


def check_everything(
    parts: StudyParts, registry: GuidelineRegistry, context: LoadContext, models: Sequence[ModelEndpoint]
) -> None:
    """Add everything that only shows when the whole study is looked at."""
    _check_applications(parts, context)
    _check_bound_scenarios(parts, context)
    _check_variants(parts, context)
    _check_recorded_scenario(parts, context)
    _check_testers(parts, context)
    _check_claims(parts, context)
    _check_claimed_rules(parts, registry, context)
    _check_annotator_names(parts, context)
    _check_asked_guidelines(parts, registry, context)
    _check_label_columns(parts, registry, context)
    _check_groups(parts, registry, context)
    _note_unused(parts, context, models, registry.read())
    _note_prices(parts, context, models)
    note_lost_material(parts, context)
    note_source_material(parts, registry.read(), context)
    _list_open_items(parts, context)


def check_persona_names(
    scenarios: Iterable[tuple[Scenario, Entry[ScenarioSpec]]], known: Sequence[str], context: LoadContext
) -> None:
    """Add a fault for every persona group that a scenario names and nobody defines."""
    for scenario, entry in scenarios:
        for place, name in enumerate(scenario.personas):
            if name not in known:
                tail = did_you_mean(name, known) or "; name it under `personas`"
                message = (
                    f"scenario `{scenario.name}` names a persona group `{name}` that the study does not have{tail}"
                )
                context.diagnostics.add(entry.fault("personas", place, message=message))


def _check_applications(parts: StudyParts, context: LoadContext) -> None:
    if not parts.applications and not parts.recorded and not is_broken(parts.entry, "applications"):
        message = "the study names no application; name what is to be tested under `applications`"
        context.diagnostics.add(parts.entry.fault("study", message=message))
    twice = [name for name, n in Counter(item.name for item in parts.applications).items() if n > 1]
    for name in twice:
        entry = _application_entry(parts, name)
        message = f"two applications are called `{name}`; names in a recorded file count too"
        context.diagnostics.add(entry.fault(message=message, at_key=True))


def _check_bound_scenarios(parts: StudyParts, context: LoadContext) -> None:
    """Refuse scenarios of applications that are not there, and note scenarios that no application is tested in."""
    known = [scenario.name for scenario, _ in parts.scenarios]
    for entry in section(parts.entry, "applications"):
        for place, name in enumerate(entry.spec.scenarios):
            if name not in {*known, *dropped(parts.entry, "scenarios")}:
                message = f"application `{entry.name}` names a scenario `{name}` that the study does not have"
                message += did_you_mean(name, known)
                context.diagnostics.add(entry.fault("scenarios", place, message=message))
    for scenario, entry in parts.scenarios:
        if parts.applications and not any(one.is_tested_in(scenario.name) for one in parts.applications):
            message = f"no application is tested in scenario `{scenario.name}`: `scenarios` of each names others"
            context.diagnostics.add(entry.fault(message=message, at_key=True, severity=Severity.NOTE))


def _check_variants(parts: StudyParts, context: LoadContext) -> None:
    """Refuse variants of what is not there, of themselves and of variants."""
    of = {item.name: item.variant_of for item in parts.applications}
    for name, base in of.items():
        if not base:
            continue
        begin = f"`variant_of` of application `{name}` is `{base}`"
        if base == name:
            message = f"{begin}, which is itself; expected the application without its mitigations"
        elif base not in of:
            message = f"{begin}, which the study does not have{did_you_mean(base, of) or ''}"
        elif of[base]:
            message = f"{begin}, itself a variant; name `{of[base]}`, so that all variants stand beside each other"
        else:
            continue
        context.diagnostics.add(_application_entry(parts, name).fault("variant_of", message=message))


def _check_recorded_scenario(parts: StudyParts, context: LoadContext) -> None:
    """Refuse recorded and live applications with several scenarios: nobody could tell which one was recorded."""
    if parts.recorded and parts.live and len(parts.scenarios) > 1:
        entry = parts.recorded[0][0]
        message = (
            f"application `{entry.name}` is recorded, and the study has {len(parts.scenarios)} scenarios that its"
            " dialogues could belong to; give it a study of its own"
        )
        context.diagnostics.add(entry.fault(message=message, at_key=True))


def _application_entry(parts: StudyParts, name: str) -> Entry[Any]:
    entries = section(parts.entry, "applications")
    return next((entry for entry in entries if entry.name == name), entries[-1])


def _check_testers(parts: StudyParts, context: LoadContext) -> None:
    people = any(level.people for level in parts.entry.spec.levels.values())
    lost_pack = bool(parts.entry.spec.pack) and not context.packs
    for name in parts.live:
        if not parts.scenarios and not is_broken(parts.entry, "scenarios") and not lost_pack:
            entry = _application_entry(parts, name)
            message = f"nobody speaks to application `{name}`: the study has no scenario"
            context.diagnostics.add(entry.fault(message=message, at_key=True))
    groups = [reading.group.name for reading in parts.groups]
    unclear = is_broken(parts.entry, "personas") or len(section(parts.entry, "personas")) > len(parts.groups)
    for scenario, entry in parts.scenarios:
        met = [name for name in groups if not scenario.personas or name in scenario.personas]
        testers = scenario.scripts or scenario.attacks or entry.spec.attacks or met or people or scenario.personas
        if parts.live and not (testers or unclear):
            message = (
                f"nobody tests scenario `{scenario.name}`: it has no `scripts` or `attacks`, and no personas meet it"
            )
            context.diagnostics.add(entry.fault(message=message, at_key=True))
        if met and not scenario.goal and not scenario.starter:
            message = f"scenario `{scenario.name}` needs `goal`: personas meet it and must know what to reach"
            context.diagnostics.add(entry.fault(message=message, at_key=True))


def _check_claims(parts: StudyParts, context: LoadContext) -> None:
    known = [script.key for scenario, _ in parts.scenarios for script in scenario.scripts]
    for entry in section(parts.entry, "applications"):
        for place, claim in enumerate(entry.spec.claims):
            begin = f"a claim of application `{entry.name}`"
            if claim.scripts and claim.untestable:
                message = f"{begin} names scripts that test it and says that it is untestable; leave out one of them"
                context.diagnostics.add(entry.fault("claims", place, "untestable", message=message))
            elif not claim.scripts and not claim.untestable:
                message = f"{begin} stays untested: name `scripts` that test it, or say by `untestable` why none can"
                context.diagnostics.add(entry.fault("claims", place, message=message, severity=Severity.NOTE))
            for number, key in enumerate(claim.scripts):
                if key not in known:
                    tail = did_you_mean(key, known)
                    message = f"a claim of application `{entry.name}` names a script `{key}` that no scenario has{tail}"
                    context.diagnostics.add(entry.fault("claims", place, "scripts", number, message=message))


def _check_claimed_rules(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    """Refuse rules that nothing has, and note where several could be meant."""
    if not any(entry.spec.claims for entry in section(parts.entry, "applications")):
        return
    from theodolite.domain.claim import rules_meant

    guidelines = registry.read()
    known = [name for g in guidelines for rule in g.defect_rules for name in (rule.name, f"{g.name}.{rule.name}")]
    known += [guideline.name for guideline in guidelines]
    labelled = {annotator.guideline for annotator in parts.annotators}
    answered = [guideline for guideline in guidelines if guideline.name in labelled]
    for entry in section(parts.entry, "applications"):
        for place, spec in enumerate(entry.spec.claims):
            claim = Claim(text=spec.text, kind=spec.kind, rule=spec.rule)
            meant = rules_meant(claim, guidelines)
            begin = f"a claim of application `{entry.name}`"
            if spec.rule and not meant:
                message = f"{begin} names a rule `{spec.rule}` that no guideline has{did_you_mean(spec.rule, known)}"
                context.diagnostics.add(entry.fault("claims", place, "rule", message=message))
            elif spec.scripts and (n_meant := len(rules_meant(claim, answered) or meant)) > 1:
                message = f"{begin} could mean {n_meant} defect rules; it stays untested until `rule` names one"
                context.diagnostics.add(entry.fault("claims", place, message=message, severity=Severity.NOTE))


def _check_annotator_names(parts: StudyParts, context: LoadContext) -> None:
    recorded = parts.entry.spec.annotators
    for entry in section(parts.entry, "judges"):
        if entry.name in recorded:
            message = f"`{entry.name}` is a judge and an annotator; each needs its own name"
            context.diagnostics.add(entry.fault(message=message, at_key=True))


def _check_asked_guidelines(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    """Refuse scenarios that ask for a guideline nobody labels by: their dialogues would stay without a label."""
    if any(is_broken(parts.entry, name) for name in ("judges", "annotators", "guidelines")) or not parts.annotators:
        return
    known = list(dict.fromkeys(annotator.guideline for annotator in parts.annotators))
    known += [parts.reference.guideline] if parts.reference else []
    known += registry.broken
    for scenario, entry in parts.scenarios:
        for place, name in enumerate(scenario.guidelines):
            if name not in known:
                tail = did_you_mean(name, known) or f"; judges and annotators answer {', '.join(known)}"
                message = f"scenario `{scenario.name}` asks for guideline `{name}`, by which nobody labels{tail}"
                context.diagnostics.add(entry.fault("guidelines", place, message=message))


def _check_label_columns(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    tables = [recorded.table for _, recorded in parts.recorded if recorded.table is not None]
    unread = len(tables) < len(parts.recorded)
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    named = [entry for entry in section(parts.entry, "annotators") if entry.spec.column]
    if parts.entry.spec.reference is not None:
        spec = parts.entry.spec.reference
        named.append(Entry(name="reference", spec=spec, source=parts.entry.source, path=("reference",)))
    fitting: list[LabelColumn] = []
    for entry in named:
        column = entry.spec.column
        if not parts.recorded and not is_broken(parts.entry, "applications"):
            message = f"`{entry.name}` reads column `{column}`, but no application of the study is recorded"
            context.diagnostics.add(entry.fault("column", message=message))
        elif column not in columns and not unread:
            near = did_you_mean(column, columns) or f"; columns are {', '.join(columns)}"
            files = ", ".join(table.file for table in tables)
            context.diagnostics.add(entry.fault("column", message=f"`{files}` has no column `{column}`{near}"))
        else:
            fitting.append(_label_column(parts, entry, registry.read()))
    context.diagnostics.add(*_contradictions(parts, fitting))
    context.diagnostics.add(*unfit_labels(fitting, [table.rows for table in tables], context.on_rows))


def _contradictions(parts: StudyParts, columns: Sequence[LabelColumn]) -> Iterator[LocatedDiagnostic]:
    """Yield faults of rows that give one dialogue several labels for a question about all of it."""
    if not parts.recorded:
        return
    from theodolite.config.recordings import by_application

    for _, recorded in parts.recorded:
        faults: list[LocatedDiagnostic] = []
        for dialogues in by_application(recorded.dialogues):
            for one in columns:
                if one.scale is not None and not one.at_turns:
                    faults += dialogues.contradictions(one.column, one.meaning)
        yield from few_of(faults, recorded.table.file) if recorded.table else ()


def _label_column(parts: StudyParts, entry: Entry[Any], guidelines: Sequence[Guideline]) -> LabelColumn:
    """Return a column of labels with what it may hold, as far as that is known."""
    annotator = next((item for item in parts.annotators if item.name == entry.name), None)
    labelling = annotator.labelling if annotator else None
    name, spelling, asked = "", {}, ""
    if entry.name == "reference" and parts.reference is not None:
        name, spelling = parts.reference.guideline, dict(parts.reference.spelling)
    elif annotator is not None and isinstance(labelling, RecordedLabels):
        name, spelling, asked = annotator.guideline, dict(labelling.spelling), labelling.question
    guideline = next((one for one in guidelines if one.name == name), None)
    question = None
    if guideline is not None:
        question = guideline.instrument.question(asked) if asked else guideline.question
    return LabelColumn(
        entry=entry,
        column=entry.spec.column,
        spelling=spelling,
        scale=question.scale if question else None,
        at_turns=annotator is not None and question is not None and question.level is QuestionLevel.TURN,
    )


def _check_groups(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    tables = [recorded.table for _, recorded in parts.recorded if recorded.table]
    played = [row.values for reading in parts.groups for row in reading.group.rows]
    unread = any(recorded.table is None for _, recorded in parts.recorded)
    columns = list(dict.fromkeys(column for table in tables if table.rows for column in table.columns))
    columns += [column for column in dict.fromkeys(name for row in played for name in row) if column not in columns]
    columns += _told_by_plans(parts) if parts.live else []
    if unread or len(section(parts.entry, "personas")) > len(parts.groups):
        return
    for place, name in enumerate(parts.entry.spec.groups):
        if name not in columns:
            near = did_you_mean(name, columns) or (f"; columns are {', '.join(columns)}" if columns else "")
            message = f"group `{name}` is a column of no recorded file and no persona rows{near}"
            context.diagnostics.add(parts.entry.fault("groups", place, message=message))
    for entry in registry.own():
        if any(guideline.name == entry.name for guideline in registry.read()):
            _check_among(entry, [*(table.rows for table in tables), played], columns, context)


def _told_by_plans(parts: StudyParts) -> list[str]:
    """Return what live dialogues can be split by without a column of anybody's."""
    scenarios = [scenario for scenario, _ in parts.scenarios]
    has_purposes = any(script.purpose for scenario in scenarios for script in scenario.scripts)
    is_attacked = any(scenario.attacks for scenario in scenarios)
    return ["scenario", *(["purpose"] if has_purposes else []), *(["strategy", "aim"] if is_attacked else [])]


def _check_among(entry: Entry[Any], rows: Sequence[Rows], columns: Sequence[str], context: LoadContext) -> None:
    for name, rule in entry.spec.defects.items():
        for column, value in rule.among.items():
            values = {row.get(column, "") for part in rows for row in part}
            if column not in columns:
                near = did_you_mean(column, columns) or (f"; columns are {', '.join(columns)}" if columns else "")
                message = f"`among` of defect rule `{name}` names a column `{column}` that nothing has{near}"
            elif value not in values:
                near = did_you_mean(value, sorted(values))
                message = f"no row has `{value}` in column `{column}`, so rule `{name}` would judge nothing{near}"
            else:
                continue
            context.diagnostics.add(entry.fault("defects", name, "among", column, message=message))


def _note_unused(
    parts: StudyParts, context: LoadContext, models: Sequence[ModelEndpoint], guidelines: Sequence[Guideline]
) -> None:
    spec = parts.entry.spec
    used = {judge.model for judge in spec.judges.values()}
    used |= {getattr(item.spec, "model", "") for item in section(parts.entry, "applications")}
    used |= {reading.group.model for reading in parts.groups} | {item.model for item in spec.personas.values()}
    for model in models:
        if model.name not in used:
            _note(parts.entry, ("models", model.name), f"model `{model.name}` is used by nothing", context)
    answered = {annotator.guideline for annotator in parts.annotators}
    answered |= {parts.reference.guideline} if parts.reference else set()
    people = any(level.people for level in spec.levels.values())
    for guideline in guidelines:
        if guideline.name in spec.guidelines and guideline.name not in answered and not people:
            words = f"guideline `{guideline.name}` is answered by no judge and no annotator"
            _note(parts.entry, ("guidelines", guideline.name), words, context)
    if not (spec.judges or spec.annotators or spec.reference or people):
        words = "nobody labels the dialogues (no `judges`, no `annotators`), so there will be no rates"
        _note(parts.entry, ("study",), words, context)
    for reading in parts.groups:
        _note_unused_columns(parts, reading, guidelines, context)


def _note_unused_columns(
    parts: StudyParts, reading: GroupReading, guidelines: Sequence[Guideline], context: LoadContext
) -> None:
    used = set(reading.used) | set(parts.entry.spec.groups)
    used |= {column for guideline in guidelines for rule in guideline.defect_rules for column in rule.among}
    for scenario, _ in parts.scenarios:
        used |= variables(scenario.goal) | variables(scenario.starter) | {TASKS[scenario.task].column}
    unused_columns(reading, used, context)


def _note(entry: Entry[Any], keys: tuple[str, ...], message: str, context: LoadContext) -> None:
    context.diagnostics.add(entry.fault(*keys, message=message, severity=Severity.NOTE, at_key=True))


def _note_prices(parts: StudyParts, context: LoadContext, models: Sequence[ModelEndpoint]) -> None:
    unpriced = [model.name for model in models if not model.is_scripted and model.price is None]
    if parts.entry.spec.budget.usd is not None and unpriced:
        names = ", ".join(f"`{name}`" for name in unpriced)
        whose = "its" if len(unpriced) == 1 else "their"
        message = f"no price is known for {names}, so the budget cannot count {whose} calls"
        fault = parts.entry.fault("budget", message=f"{message}; state `price`", severity=Severity.NOTE, at_key=True)
        context.diagnostics.add(fault)


def _list_open_items(parts: StudyParts, context: LoadContext) -> None:
    """List what is still to be done before people take part."""
    if not any(level.people for level in parts.entry.spec.levels.values()):
        return
    for entry in section(parts.entry, "applications"):
        if isinstance(entry.spec, HttpSpec):
            message = f"`{entry.name}` was never called; try theodolite probe"
            context.diagnostics.add(entry.fault(message=message, severity=Severity.OPEN, at_key=True))
