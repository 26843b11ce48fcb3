"""Checks across sections: undefined names, unused entries, missing columns and source material."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from theodolite.config.annotators import AnnotatorSpec, LabelColumn, ReferenceSpec, unfit_labels
from theodolite.config.connections import ApplicationSpec, HttpSpec
from theodolite.config.guidelines import GuidelineRegistry, GuidelineSpec
from theodolite.config.judges import JudgeSpec
from theodolite.config.load_context import Entry, LoadContext, dropped, is_broken, section
from theodolite.config.personas import GroupReading, unused_columns
from theodolite.config.recordings import Recorded, RecordedSpec, by_application
from theodolite.config.scenarios import ScenarioSpec
from theodolite.config.study import StudySpec
from theodolite.config.tables import context_column
from theodolite.config.validation import Spec, variables
from theodolite.config.yaml_source import LocatedDiagnostic, few_of
from theodolite.domain.annotator import Annotator, ModelJudge, PythonLabeller, RecordedLabels
from theodolite.domain.application import (
    Application,
    AriaClass,
    Claim,
    Connection,
    HttpEndpoint,
    ModelEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.network import NetworkSettings
from theodolite.domain.scenario import Scenario, Task
from theodolite.domain.study import Reference
from theodolite.testing.design import TASKS
from theodolite.testing.strategies import catalogue_with

if TYPE_CHECKING:
    from theodolite.domain.study_parts import ScenarioMaterial


@dataclass(slots=True, kw_only=True)
class StudyParts:
    """Parsed parts of a study, for checks across sections."""

    entry: Entry[StudySpec]
    network: NetworkSettings = field(default_factory=NetworkSettings)
    applications: list[Application] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    recorded: list[tuple[Entry[RecordedSpec], Recorded]] = field(default_factory=list)
    scenarios: list[tuple[Scenario, Entry[ScenarioSpec]]] = field(default_factory=list)
    groups: list[GroupReading] = field(default_factory=list)
    annotators: list[Annotator] = field(default_factory=list)
    reference: Reference | None = None
    materials: tuple[ScenarioMaterial, ...] = ()


Rows = Sequence[Mapping[str, str]]

TEST_BY_COMMAND = "try theodolite probe"
"""End of messages on applications that were never called; pages name their button in its place."""


def check_everything(
    parts: StudyParts, registry: GuidelineRegistry, context: LoadContext, models: Sequence[ModelEndpoint]
) -> None:
    """Add the errors that only the whole study shows."""
    _check_applications(parts, context)
    _check_bound_scenarios(parts, context)
    _check_variants(parts, context)
    _check_recorded_scenario(parts, context)
    _check_testers(parts, context)
    _check_claims(parts, context)
    _check_claimed_rules(parts, registry, context)
    _check_annotator_names(parts, context)
    _check_pre_annotation(parts, context)
    _check_called_guidelines(parts, registry, context)
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
    """Add an error for each undefined persona group of a scenario."""
    for scenario, entry in scenarios:
        for index, name in enumerate(scenario.personas):
            if name not in known:
                tail = did_you_mean(name, known) or "; name it under `personas`"
                message = (
                    f"scenario `{scenario.name}` names a persona group `{name}` that the study does not have{tail}"
                )
                context.diagnostics.add(entry.diagnostic("personas", index, message=message))


def _check_applications(parts: StudyParts, context: LoadContext) -> None:
    if not parts.applications and not parts.recorded and not is_broken(parts.entry, "applications"):
        message = "the study names no application; name what is to be tested under `applications`"
        context.diagnostics.add(parts.entry.diagnostic("study", message=message))
    twice = [name for name, n in Counter(item.name for item in parts.applications).items() if n > 1]
    for name in twice:
        entry = _application_entry(parts, name)
        message = f"two applications are called `{name}`; names in a recorded file count too"
        context.diagnostics.add(entry.diagnostic(message=message, at_key=True))


def _check_bound_scenarios(parts: StudyParts, context: LoadContext) -> None:
    """Reject scenarios of undefined applications, and note scenarios that test no application."""
    known = [scenario.name for scenario, _ in parts.scenarios]
    for entry in section(parts.entry, "applications", parts.entry.spec.applications):
        for index, name in enumerate(entry.spec.scenarios):
            if name not in {*known, *dropped(parts.entry, "scenarios")}:
                message = f"application `{entry.name}` names a scenario `{name}` that the study does not have"
                message += did_you_mean(name, known)
                context.diagnostics.add(entry.diagnostic("scenarios", index, message=message))
    for scenario, scenario_entry in parts.scenarios:
        if parts.applications and not any(
            application.is_tested_in(scenario.name) for application in parts.applications
        ):
            message = f"no application is tested in scenario `{scenario.name}`: `scenarios` of each names others"
            context.diagnostics.add(scenario_entry.diagnostic(message=message, at_key=True, severity=Severity.NOTE))


def _check_variants(parts: StudyParts, context: LoadContext) -> None:
    """Reject variants of unknown applications, of themselves and of variants."""
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
        context.diagnostics.add(_application_entry(parts, name).diagnostic("variant_of", message=message))


def _check_recorded_scenario(parts: StudyParts, context: LoadContext) -> None:
    """Reject recorded and live applications with several scenarios: the recorded one would be ambiguous."""
    if parts.recorded and parts.live and len(parts.scenarios) > 1:
        entry = parts.recorded[0][0]
        message = (
            f"application `{entry.name}` is recorded, and the study has {len(parts.scenarios)} scenarios that its"
            " dialogues could belong to; give it a study of its own"
        )
        context.diagnostics.add(entry.diagnostic(message=message, at_key=True))


def _application_entry(parts: StudyParts, name: str) -> Entry[ApplicationSpec]:
    entries = section(parts.entry, "applications", parts.entry.spec.applications)
    return next((entry for entry in entries if entry.name == name), entries[-1])


def _check_testers(parts: StudyParts, context: LoadContext) -> None:
    people = any(level.people for level in parts.entry.spec.levels.values())
    lost_pack = bool(parts.entry.spec.pack) and not context.packs
    for name in parts.live:
        if not parts.scenarios and not is_broken(parts.entry, "scenarios") and not lost_pack:
            entry = _application_entry(parts, name)
            message = f"nobody speaks to application `{name}`: the study has no scenario"
            context.diagnostics.add(entry.diagnostic(message=message, at_key=True))
    groups = [reading.group.name for reading in parts.groups]
    unclear = is_broken(parts.entry, "personas") or len(parts.entry.spec.personas) > len(parts.groups)
    for scenario, scenario_entry in parts.scenarios:
        met = [name for name in groups if scenario.is_met_by(name)]
        testers = (
            scenario.scripts or scenario.attacks or scenario_entry.spec.attacks or met or people or scenario.personas
        )
        if parts.live and not (testers or unclear):
            message = (
                f"nobody tests scenario `{scenario.name}`: it has no `scripts` or `attacks`, and no personas meet it"
            )
            context.diagnostics.add(scenario_entry.diagnostic(message=message, at_key=True))
        if met and not scenario.goal and not scenario.starter:
            message = f"scenario `{scenario.name}` needs `goal`: personas meet it and must know what to reach"
            context.diagnostics.add(scenario_entry.diagnostic(message=message, at_key=True))


def _check_claims(parts: StudyParts, context: LoadContext) -> None:
    known = [script.key for scenario, _ in parts.scenarios for script in scenario.scripts]
    for entry in section(parts.entry, "applications", parts.entry.spec.applications):
        for index, claim in enumerate(entry.spec.claims):
            begin = f"a claim of application `{entry.name}`"
            if claim.scripts and claim.untestable:
                message = f"{begin} names scripts that test it and says that it is untestable; leave out one of them"
                context.diagnostics.add(entry.diagnostic("claims", index, "untestable", message=message))
            elif not claim.scripts and not claim.untestable:
                message = f"{begin} stays untested: name `scripts` that test it, or say by `untestable` why none can"
                context.diagnostics.add(entry.diagnostic("claims", index, message=message, severity=Severity.NOTE))
            for number, key in enumerate(claim.scripts):
                if key not in known:
                    tail = did_you_mean(key, known)
                    message = f"a claim of application `{entry.name}` names a script `{key}` that no scenario has{tail}"
                    context.diagnostics.add(entry.diagnostic("claims", index, "scripts", number, message=message))


def _check_claimed_rules(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    """Reject undefined rules, and note ambiguous ones."""
    if not any(entry.spec.claims for entry in section(parts.entry, "applications", parts.entry.spec.applications)):
        return
    from theodolite.domain.estimate import rules_meant

    guidelines = registry.read()
    known = [name for g in guidelines for rule in g.defect_rules for name in (rule.name, f"{g.name}.{rule.name}")]
    known += [guideline.name for guideline in guidelines]
    labelled = {annotator.guideline for annotator in parts.annotators}
    answered = [guideline for guideline in guidelines if guideline.name in labelled]
    for entry in section(parts.entry, "applications", parts.entry.spec.applications):
        for index, spec in enumerate(entry.spec.claims):
            claim = Claim(text=spec.text, kind=spec.kind, rule=spec.rule)
            meant = rules_meant(claim, guidelines)
            begin = f"a claim of application `{entry.name}`"
            if spec.rule and not meant:
                message = f"{begin} names a rule `{spec.rule}` that no guideline has{did_you_mean(spec.rule, known)}"
                context.diagnostics.add(entry.diagnostic("claims", index, "rule", message=message))
            elif spec.scripts and (n_meant := len(rules_meant(claim, answered) or meant)) > 1:
                message = f"{begin} could mean {n_meant} defect rules; it stays untested until `rule` names one"
                context.diagnostics.add(entry.diagnostic("claims", index, message=message, severity=Severity.NOTE))


def _check_annotator_names(parts: StudyParts, context: LoadContext) -> None:
    recorded = parts.entry.spec.annotators
    for entry in section(parts.entry, "judges", parts.entry.spec.judges):
        if entry.name in recorded:
            message = f"`{entry.name}` is a judge and an annotator; each needs its own name"
            context.diagnostics.add(entry.diagnostic(message=message, at_key=True))


def _check_pre_annotation(parts: StudyParts, context: LoadContext) -> None:
    spec = parts.entry.spec
    plan = spec.annotation.pre_annotation if spec.annotation else None
    if plan is None or plan.judge in spec.judges or is_broken(parts.entry, "judges"):
        return
    near = did_you_mean(plan.judge, spec.judges)
    known = f"judges are {', '.join(spec.judges)}" if spec.judges else "the study has no judge"
    message = f"`pre_annotation` names judge `{plan.judge}`, which the study does not have{near or f'; {known}'}"
    context.diagnostics.add(parts.entry.diagnostic("annotation", "pre_annotation", "judge", message=message))


def _check_called_guidelines(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    """Reject scenarios with a guideline without annotators: their dialogues would have no labels."""
    if any(is_broken(parts.entry, name) for name in ("judges", "annotators", "guidelines")) or not parts.annotators:
        return
    known = list(dict.fromkeys(annotator.guideline for annotator in parts.annotators))
    known += [parts.reference.guideline] if parts.reference else []
    known += registry.broken
    for scenario, entry in parts.scenarios:
        for index, name in enumerate(scenario.guidelines):
            if name not in known:
                tail = did_you_mean(name, known) or f"; judges and annotators answer {', '.join(known)}"
                message = f"scenario `{scenario.name}` asks for guideline `{name}`, by which nobody labels{tail}"
                context.diagnostics.add(entry.diagnostic("guidelines", index, message=message))


def _check_label_columns(parts: StudyParts, registry: GuidelineRegistry, context: LoadContext) -> None:
    tables = [recorded.table for _, recorded in parts.recorded if recorded.table is not None]
    unread = len(tables) < len(parts.recorded)
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    named: list[Entry[AnnotatorSpec | ReferenceSpec]]
    named = [entry for entry in section(parts.entry, "annotators", parts.entry.spec.annotators) if entry.spec.column]
    if parts.entry.spec.reference is not None:
        spec = parts.entry.spec.reference
        named.append(Entry(name="reference", spec=spec, source=parts.entry.source, path=("reference",)))
    fitting: list[LabelColumn] = []
    for entry in named:
        column = entry.spec.column
        if not parts.recorded and not is_broken(parts.entry, "applications"):
            message = f"`{entry.name}` reads column `{column}`, but no application of the study is recorded"
            context.diagnostics.add(entry.diagnostic("column", message=message))
        elif column not in columns and not unread:
            near = did_you_mean(column, columns) or f"; columns are {', '.join(columns)}"
            files = ", ".join(table.file for table in tables)
            context.diagnostics.add(entry.diagnostic("column", message=f"`{files}` has no column `{column}`{near}"))
        else:
            fitting.append(_label_column(parts, entry, registry.read()))
    context.diagnostics.add(*_contradictions(parts, fitting))
    context.diagnostics.add(*unfit_labels(fitting, [table.rows for table in tables], context.on_rows))


def _contradictions(parts: StudyParts, columns: Sequence[LabelColumn]) -> Iterator[LocatedDiagnostic]:
    """Yield errors for rows that give one dialogue several labels for a question about the whole dialogue."""
    if not parts.recorded:
        return
    for _, recorded in parts.recorded:
        diagnostics: list[LocatedDiagnostic] = []
        for dialogues in by_application(recorded.dialogues):
            for column in columns:
                if column.scale is not None and not column.at_turns:
                    diagnostics += dialogues.contradictions(column.column, column.meaning)
        yield from few_of(diagnostics, recorded.table.file) if recorded.table else ()


def _label_column(
    parts: StudyParts, entry: Entry[AnnotatorSpec | ReferenceSpec], guidelines: Sequence[Guideline]
) -> LabelColumn:
    """Return a column of labels with its permitted values, if known."""
    annotator = next((item for item in parts.annotators if item.name == entry.name), None)
    labelling = annotator.labelling if annotator else None
    name, spelling, requested = "", {}, ""
    if entry.name == "reference" and parts.reference is not None:
        name, spelling = parts.reference.guideline, dict(parts.reference.spelling)
    elif annotator is not None and isinstance(labelling, RecordedLabels):
        name, spelling, requested = annotator.guideline, dict(labelling.spelling), labelling.question
    guideline = next((element for element in guidelines if element.name == name), None)
    question = None
    if guideline is not None:
        question = guideline.instrument.question(requested) if requested else guideline.question
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
    cases = [script.values for scenario, _ in parts.scenarios for script in scenario.scripts]
    columns += [
        column for column in dict.fromkeys(name for values in cases for name in values) if column not in columns
    ]
    columns += _plan_columns(parts) if parts.live else []
    if unread or len(parts.entry.spec.personas) > len(parts.groups):
        return
    for index, name in enumerate(parts.entry.spec.groups):
        if name not in columns:
            near = did_you_mean(name, columns) or (f"; columns are {', '.join(columns)}" if columns else "")
            message = f"group `{name}` is a column of no recorded file and no persona rows{near}"
            context.diagnostics.add(parts.entry.diagnostic("groups", index, message=message))
    _check_user_types(parts, columns, context)
    for entry in registry.own():
        if any(guideline.name == entry.name for guideline in registry.read()):
            _check_among(entry, [*(table.rows for table in tables), played], columns, context)


def _check_user_types(parts: StudyParts, columns: Sequence[str], context: LoadContext) -> None:
    typology = parts.entry.spec.typology
    if typology is None or typology.users.by in columns:
        return
    name = typology.users.by
    near = did_you_mean(name, columns) or (f"; columns are {', '.join(columns)}" if columns else "")
    message = f"types of users are by `{name}`, which is a column of no recorded file and no persona rows{near}"
    context.diagnostics.add(parts.entry.diagnostic("typology", "users", "by", message=message))


def _plan_columns(parts: StudyParts) -> list[str]:
    """Return the attributes that can split live dialogues without a column."""
    scenarios = [scenario for scenario, _ in parts.scenarios]
    has_purposes = any(script.purpose for scenario in scenarios for script in scenario.scripts)
    is_attacked = any(scenario.attacks for scenario in scenarios)
    profiled = ["user_type", "language"] if any(level.people for level in parts.entry.spec.levels.values()) else []
    return [
        *profiled,
        "scenario",
        *(["purpose"] if has_purposes else []),
        *(["strategy", "aim"] if is_attacked else []),
    ]


def _check_among(
    entry: Entry[GuidelineSpec], rows: Sequence[Rows], columns: Sequence[str], context: LoadContext
) -> None:
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
            context.diagnostics.add(entry.diagnostic("defects", name, "among", column, message=message))


def _note_unused(
    parts: StudyParts, context: LoadContext, models: Sequence[ModelEndpoint], guidelines: Sequence[Guideline]
) -> None:
    spec = parts.entry.spec
    used = {judge.model for judge in spec.judges.values()}
    used |= {
        getattr(item.spec, "model", "") for item in section(parts.entry, "applications", parts.entry.spec.applications)
    }
    used |= {reading.group.model for reading in parts.groups} | {item.model for item in spec.personas.values()}
    for model in models:
        if model.name not in used:
            _note(parts.entry, ("models", model.name), f"model `{model.name}` is used by nothing", context)
    answered = {annotator.guideline for annotator in parts.annotators}
    answered |= {parts.reference.guideline} if parts.reference else set()
    people = any(level.people for level in spec.levels.values())
    for guideline in guidelines:
        if guideline.name in spec.guidelines and guideline.name not in answered and not people:
            text = f"guideline `{guideline.name}` is answered by no judge and no annotator"
            _note(parts.entry, ("guidelines", guideline.name), text, context)
    if not (spec.judges or spec.annotators or spec.reference or people):
        text = "nobody labels the dialogues (no `judges`, no `annotators`), so there will be no rates"
        _note(parts.entry, ("study",), text, context)
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


def _note(entry: Entry[Spec], keys: tuple[str, ...], message: str, context: LoadContext) -> None:
    context.diagnostics.add(entry.diagnostic(*keys, message=message, severity=Severity.NOTE, at_key=True))


def _note_prices(parts: StudyParts, context: LoadContext, models: Sequence[ModelEndpoint]) -> None:
    unpriced = [model.name for model in models if not model.is_scripted and model.price is None]
    if parts.entry.spec.budget.usd is not None and unpriced:
        names = ", ".join(f"`{name}`" for name in unpriced)
        whose = "its" if len(unpriced) == 1 else "their"
        message = f"no price is known for {names}, so the budget cannot count {whose} calls"
        diagnostic = parts.entry.diagnostic(
            "budget", message=f"{message}; state `price`", severity=Severity.NOTE, at_key=True
        )
        context.diagnostics.add(diagnostic)


def _list_open_items(parts: StudyParts, context: LoadContext) -> None:
    """List the open tasks before people take part."""
    if not any(level.people for level in parts.entry.spec.levels.values()):
        return
    for entry in section(parts.entry, "applications", parts.entry.spec.applications):
        if isinstance(entry.spec, HttpSpec):
            message = f"`{entry.name}` was never called; {TEST_BY_COMMAND}"
            context.diagnostics.add(entry.diagnostic(message=message, severity=Severity.OPEN, at_key=True))


def note_source_material(parts: StudyParts, guidelines: Sequence[Guideline], context: LoadContext) -> None:
    """Note unused columns that look like source material, and guidelines that need material but get none."""
    _note_unused_context(parts, context)
    for guideline in guidelines:
        judge = _judge_of(parts, guideline)
        lacking = list(dict.fromkeys(_without_material(parts, guideline))) if judge and guideline.needs_context else []
        if judge and lacking:
            message = (
                f"guideline `{guideline.name}` compares responses with source material, and {_listed(lacking)} no"
                " source material: add `context: COLUMN` to a recorded application, or `source` to the scenario"
            )
            context.diagnostics.add(judge.diagnostic(message=message, severity=Severity.NOTE, at_key=True))


def _note_unused_context(parts: StudyParts, context: LoadContext) -> None:
    spec = parts.entry.spec
    read = {entry.spec.column for entry in section(parts.entry, "annotators", parts.entry.spec.annotators)}
    read |= {spec.reference.column} if spec.reference is not None else set()
    for entry, recorded in parts.recorded:
        if recorded.table is None or entry.spec.context:
            continue
        meant = {entry.spec.id, entry.spec.turn, entry.spec.prompt, entry.spec.response, entry.spec.withheld}
        used = read | meant | {entry.spec.application} | set(spec.groups)
        column = context_column([name for name in recorded.table.columns if name not in used])
        if column:
            message = (
                f"column `{column}` of {recorded.table.file} looks like source material and is not used;"
                f" add `context: {column}` so that judges read it"
            )
            context.diagnostics.add(entry.diagnostic(message=message, severity=Severity.NOTE, at_key=True))


def _judge_of(parts: StudyParts, guideline: Guideline) -> Entry[JudgeSpec] | None:
    """Return the entry of the first model or function that labels by a guideline; None if there is none."""
    kinds = (ModelJudge, PythonLabeller)
    names = [
        item.name for item in parts.annotators if item.guideline == guideline.name and isinstance(item.labelling, kinds)
    ]
    entries = section(parts.entry, "judges", parts.entry.spec.judges)
    return next((entry for entry in entries for name in names if f"{name}-".startswith(f"{entry.name}-")), None)


def _without_material(parts: StudyParts, guideline: Guideline) -> Iterator[str]:
    """Yield the scenarios and recorded applications whose dialogues have no source material, as text."""
    scenarios = [scenario for scenario, _ in parts.scenarios if _asks(scenario, guideline)]
    if parts.live or any(level.people for level in parts.entry.spec.levels.values()):
        for scenario in scenarios:
            if not (_has_own(scenario) or _has_rows(scenario, parts)):
                yield f"scenario `{scenario.name}`"
    known = parts.scenarios[0][0] if len(parts.scenarios) == 1 else None
    for entry, recorded in parts.recorded:
        if recorded.table is not None and not entry.spec.context and not (known and known.context):
            yield f"application `{entry.name}`"


def _asks(scenario: Scenario, guideline: Guideline) -> bool:
    return not scenario.guidelines or guideline.name in scenario.guidelines


def _has_own(scenario: Scenario) -> bool:
    return bool(scenario.context or scenario.corpus)


def _has_rows(scenario: Scenario, parts: StudyParts) -> bool:
    column = TASKS[scenario.task].column
    met = [reading for reading in parts.groups if scenario.is_met_by(reading.group.name)]
    return any(column in reading.columns for reading in met)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{shown} {'has' if len(names) == 1 else 'have'}"


SLOT = "context"

_ABOUT_A_TEXT = frozenset({Task.SUMMARISATION, Task.REWRITING})
"""Tasks whose text simulated users do not repeat, because the application already has it."""


def note_lost_material(parts: StudyParts, context: LoadContext) -> None:
    """Note every live application that never receives the subject of some dialogues."""
    planting = {name for name, item in catalogue_with(context.resolver.strategies).items() if item.plants}
    entries = {entry.name: entry for entry in section(parts.entry, "applications", parts.entry.spec.applications)}
    for application in parts.applications:
        key = _lacking_slot(application.connection)
        what, scenario = next(_lost(parts, planting), ("", "")) if key else ("", "")
        if what and application.name in entries:
            message = (
                f"{what} in scenario `{scenario}` does not reach application `{application.name}`:"
                f" put {{{{ {SLOT} }}}} into its `{key}`"
            )
            entry = entries[application.name]
            context.diagnostics.add(entry.diagnostic(message=message, severity=Severity.NOTE, at_key=True))


def _lacking_slot(connection: Connection) -> str:
    """Return the key that would give an application its missing source material; empty if none is missing."""
    match connection:
        case PromptedModel(system=system):
            return "" if SLOT in variables(system) else "system"
        case HttpEndpoint():
            texts = (connection.url, connection.body, *connection.headers.values())
            return "" if any(SLOT in variables(text) for text in texts) else "body"
        case AriaClass(prompt=prompt):
            return "" if SLOT in variables(prompt) else "prompt"
        case PythonCallable() | RecordedFile():
            return ""  # a function requests material itself, and recorded replies are fixed
        case _:
            assert_never(connection)


def _lost(parts: StudyParts, planting: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the losses as text, and their scenarios.

    Args:
        parts: The parsed study.
        planting: Names of the strategies that insert text into source material.
    """
    for scenario, _ in parts.scenarios:
        if scenario.corpus:
            yield "what the search finds", scenario.name
        elif scenario.task in _ABOUT_A_TEXT and _has_text(scenario, parts):
            yield "the text that dialogues are about", scenario.name
        else:
            planted = next((name for name in scenario.attacks if name in planting), "")
            if planted:
                yield f"what strategy `{planted}` plants", scenario.name


def _has_text(scenario: Scenario, parts: StudyParts) -> bool:
    column = TASKS[scenario.task].column
    met = (reading for reading in parts.groups if scenario.is_met_by(reading.group.name))
    return bool(scenario.context) or any(column in reading.columns for reading in met)
