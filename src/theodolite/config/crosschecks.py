"""Checks across sections: names that nobody defines, things that nobody uses, columns that no file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from theodolite.config.labelling.annotators import GuidelineShelf, LabelColumn, unfit_labels
from theodolite.config.lookup import Desk, Entry
from theodolite.config.lost_material import note_lost_material
from theodolite.config.parts import Parts, dropped, is_broken, section
from theodolite.config.personas import GroupReading, unused_columns
from theodolite.config.places import PlacedFault, few_of
from theodolite.config.shapes.applications import HttpShape
from theodolite.config.shapes.scenarios import ScenarioShape
from theodolite.config.source_material import note_source_material
from theodolite.config.templates import variables
from theodolite.domain.annotator import RecordedLabels
from theodolite.domain.application import Claim
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.scenario import Scenario
from theodolite.testing.tasks import TASKS

Rows = Sequence[Mapping[str, str]]


def check_everything(parts: Parts, shelf: GuidelineShelf, desk: Desk, models: Sequence[ModelEndpoint]) -> None:
    """Add everything that only shows when the whole study is looked at."""
    _check_applications(parts, desk)
    _check_bound_scenarios(parts, desk)
    _check_variants(parts, desk)
    _check_recorded_scenario(parts, desk)
    _check_testers(parts, desk)
    _check_claims(parts, desk)
    _check_claimed_rules(parts, shelf, desk)
    _check_annotator_names(parts, desk)
    _check_asked_guidelines(parts, shelf, desk)
    _check_label_columns(parts, shelf, desk)
    _check_groups(parts, shelf, desk)
    _note_unused(parts, desk, models, shelf.read())
    _note_prices(parts, desk, models)
    note_lost_material(parts, desk)
    note_source_material(parts, shelf.read(), desk)
    _list_open_items(parts, desk)


def check_persona_names(
    scenarios: Iterable[tuple[Scenario, Entry[ScenarioShape]]], known: Sequence[str], desk: Desk
) -> None:
    """Add a fault for every persona group that a scenario names and nobody defines."""
    for scenario, entry in scenarios:
        for place, name in enumerate(scenario.personas):
            if name not in known:
                tail = did_you_mean(name, known) or "; name it under `personas`"
                message = (
                    f"scenario `{scenario.name}` names a persona group `{name}` that the study does not have{tail}"
                )
                desk.complaints.add(entry.fault("personas", place, message=message))


def _check_applications(parts: Parts, desk: Desk) -> None:
    if not parts.applications and not parts.recorded and not is_broken(parts.entry, "applications"):
        message = "the study names no application; name what is to be tested under `applications`"
        desk.complaints.add(parts.entry.fault("study", message=message))
    twice = [name for name, n in Counter(item.name for item in parts.applications).items() if n > 1]
    for name in twice:
        entry = _application_entry(parts, name)
        message = f"two applications are called `{name}`; names in a recorded file count too"
        desk.complaints.add(entry.fault(message=message, at_key=True))


def _check_bound_scenarios(parts: Parts, desk: Desk) -> None:
    """Refuse scenarios of applications that are not there, and note scenarios that no application is tested in."""
    known = [scenario.name for scenario, _ in parts.scenarios]
    for entry in section(parts.entry, "applications"):
        for place, name in enumerate(entry.shape.scenarios):
            if name not in {*known, *dropped(parts.entry, "scenarios")}:
                message = f"application `{entry.name}` names a scenario `{name}` that the study does not have"
                message += did_you_mean(name, known)
                desk.complaints.add(entry.fault("scenarios", place, message=message))
    for scenario, entry in parts.scenarios:
        if parts.applications and not any(one.is_tested_in(scenario.name) for one in parts.applications):
            message = f"no application is tested in scenario `{scenario.name}`: `scenarios` of each names others"
            desk.complaints.add(entry.fault(message=message, at_key=True, severity=Severity.NOTE))


def _check_variants(parts: Parts, desk: Desk) -> None:
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
        desk.complaints.add(_application_entry(parts, name).fault("variant_of", message=message))


def _check_recorded_scenario(parts: Parts, desk: Desk) -> None:
    """Refuse recorded and live applications with several scenarios: nobody could tell which one was recorded."""
    if parts.recorded and parts.live and len(parts.scenarios) > 1:
        entry = parts.recorded[0][0]
        message = (
            f"application `{entry.name}` is recorded, and the study has {len(parts.scenarios)} scenarios that its"
            " dialogues could belong to; give it a study of its own"
        )
        desk.complaints.add(entry.fault(message=message, at_key=True))


def _application_entry(parts: Parts, name: str) -> Entry[Any]:
    entries = section(parts.entry, "applications")
    return next((entry for entry in entries if entry.name == name), entries[-1])


def _check_testers(parts: Parts, desk: Desk) -> None:
    people = any(level.people for level in parts.entry.shape.levels.values())
    lost_pack = bool(parts.entry.shape.pack) and not desk.packs
    for name in parts.live:
        if not parts.scenarios and not is_broken(parts.entry, "scenarios") and not lost_pack:
            entry = _application_entry(parts, name)
            message = f"nobody speaks to application `{name}`: the study has no scenario"
            desk.complaints.add(entry.fault(message=message, at_key=True))
    groups = [reading.group.name for reading in parts.groups]
    unclear = is_broken(parts.entry, "personas") or len(section(parts.entry, "personas")) > len(parts.groups)
    for scenario, entry in parts.scenarios:
        met = [name for name in groups if not scenario.personas or name in scenario.personas]
        testers = scenario.scripts or scenario.attacks or entry.shape.attacks or met or people or scenario.personas
        if parts.live and not (testers or unclear):
            message = (
                f"nobody tests scenario `{scenario.name}`: it has no `scripts` or `attacks`, and no personas meet it"
            )
            desk.complaints.add(entry.fault(message=message, at_key=True))
        if met and not scenario.goal and not scenario.starter:
            message = f"scenario `{scenario.name}` needs `goal`: personas meet it and must know what to reach"
            desk.complaints.add(entry.fault(message=message, at_key=True))


def _check_claims(parts: Parts, desk: Desk) -> None:
    known = [script.key for scenario, _ in parts.scenarios for script in scenario.scripts]
    for entry in section(parts.entry, "applications"):
        for place, claim in enumerate(entry.shape.claims):
            begin = f"a claim of application `{entry.name}`"
            if claim.scripts and claim.untestable:
                message = f"{begin} names scripts that test it and says that it is untestable; leave out one of them"
                desk.complaints.add(entry.fault("claims", place, "untestable", message=message))
            elif not claim.scripts and not claim.untestable:
                message = f"{begin} stays untested: name `scripts` that test it, or say by `untestable` why none can"
                desk.complaints.add(entry.fault("claims", place, message=message, severity=Severity.NOTE))
            for number, key in enumerate(claim.scripts):
                if key not in known:
                    tail = did_you_mean(key, known)
                    message = f"a claim of application `{entry.name}` names a script `{key}` that no scenario has{tail}"
                    desk.complaints.add(entry.fault("claims", place, "scripts", number, message=message))


def _check_claimed_rules(parts: Parts, shelf: GuidelineShelf, desk: Desk) -> None:
    """Refuse rules that nothing has, and note where several could be meant."""
    if not any(entry.shape.claims for entry in section(parts.entry, "applications")):
        return
    from theodolite.domain.claim import rules_meant

    guidelines = shelf.read()
    known = [name for g in guidelines for rule in g.defect_rules for name in (rule.name, f"{g.name}.{rule.name}")]
    known += [guideline.name for guideline in guidelines]
    labelled = {annotator.guideline for annotator in parts.annotators}
    answered = [guideline for guideline in guidelines if guideline.name in labelled]
    for entry in section(parts.entry, "applications"):
        for place, shape in enumerate(entry.shape.claims):
            claim = Claim(text=shape.text, kind=shape.kind, rule=shape.rule)
            meant = rules_meant(claim, guidelines)
            begin = f"a claim of application `{entry.name}`"
            if shape.rule and not meant:
                message = f"{begin} names a rule `{shape.rule}` that no guideline has{did_you_mean(shape.rule, known)}"
                desk.complaints.add(entry.fault("claims", place, "rule", message=message))
            elif shape.scripts and (n_meant := len(rules_meant(claim, answered) or meant)) > 1:
                message = f"{begin} could mean {n_meant} defect rules; it stays untested until `rule` names one"
                desk.complaints.add(entry.fault("claims", place, message=message, severity=Severity.NOTE))


def _check_annotator_names(parts: Parts, desk: Desk) -> None:
    recorded = parts.entry.shape.annotators
    for entry in section(parts.entry, "judges"):
        if entry.name in recorded:
            message = f"`{entry.name}` is a judge and an annotator; each needs its own name"
            desk.complaints.add(entry.fault(message=message, at_key=True))


def _check_asked_guidelines(parts: Parts, shelf: GuidelineShelf, desk: Desk) -> None:
    """Refuse scenarios that ask for a guideline nobody labels by: their dialogues would stay without a label."""
    if any(is_broken(parts.entry, name) for name in ("judges", "annotators", "guidelines")) or not parts.annotators:
        return
    known = list(dict.fromkeys(annotator.guideline for annotator in parts.annotators))
    known += [parts.reference.guideline] if parts.reference else []
    known += shelf.broken
    for scenario, entry in parts.scenarios:
        for place, name in enumerate(scenario.guidelines):
            if name not in known:
                tail = did_you_mean(name, known) or f"; judges and annotators answer {', '.join(known)}"
                message = f"scenario `{scenario.name}` asks for guideline `{name}`, by which nobody labels{tail}"
                desk.complaints.add(entry.fault("guidelines", place, message=message))


def _check_label_columns(parts: Parts, shelf: GuidelineShelf, desk: Desk) -> None:
    tables = [recorded.table for _, recorded in parts.recorded if recorded.table is not None]
    unread = len(tables) < len(parts.recorded)
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    named = [entry for entry in section(parts.entry, "annotators") if entry.shape.column]
    if parts.entry.shape.reference is not None:
        shape = parts.entry.shape.reference
        named.append(Entry(name="reference", shape=shape, source=parts.entry.source, path=("reference",)))
    fitting: list[LabelColumn] = []
    for entry in named:
        column = entry.shape.column
        if not parts.recorded and not is_broken(parts.entry, "applications"):
            message = f"`{entry.name}` reads column `{column}`, but no application of the study is recorded"
            desk.complaints.add(entry.fault("column", message=message))
        elif column not in columns and not unread:
            near = did_you_mean(column, columns) or f"; columns are {', '.join(columns)}"
            files = ", ".join(table.file for table in tables)
            desk.complaints.add(entry.fault("column", message=f"`{files}` has no column `{column}`{near}"))
        else:
            fitting.append(_label_column(parts, entry, shelf.read()))
    desk.complaints.add(*_contradictions(parts, fitting))
    desk.complaints.add(*unfit_labels(fitting, [table.rows for table in tables], desk.on_rows))


def _contradictions(parts: Parts, columns: Sequence[LabelColumn]) -> Iterator[PlacedFault]:
    """Yield faults of rows that give one dialogue several labels for a question about all of it."""
    if not parts.recorded:
        return
    from theodolite.config.recordings import by_application

    for _, recorded in parts.recorded:
        faults: list[PlacedFault] = []
        for dialogues in by_application(recorded.dialogues):
            for one in columns:
                if one.scale is not None and not one.at_turns:
                    faults += dialogues.contradictions(one.column, one.meaning)
        yield from few_of(faults, recorded.table.file) if recorded.table else ()


def _label_column(parts: Parts, entry: Entry[Any], guidelines: Sequence[Guideline]) -> LabelColumn:
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
        column=entry.shape.column,
        spelling=spelling,
        scale=question.scale if question else None,
        at_turns=annotator is not None and question is not None and question.level is QuestionLevel.TURN,
    )


def _check_groups(parts: Parts, shelf: GuidelineShelf, desk: Desk) -> None:
    tables = [recorded.table for _, recorded in parts.recorded if recorded.table]
    played = [row.values for reading in parts.groups for row in reading.group.rows]
    unread = any(recorded.table is None for _, recorded in parts.recorded)
    columns = list(dict.fromkeys(column for table in tables if table.rows for column in table.columns))
    columns += [column for column in dict.fromkeys(name for row in played for name in row) if column not in columns]
    columns += _told_by_plans(parts) if parts.live else []
    if unread or len(section(parts.entry, "personas")) > len(parts.groups):
        return
    for place, name in enumerate(parts.entry.shape.groups):
        if name not in columns:
            near = did_you_mean(name, columns) or (f"; columns are {', '.join(columns)}" if columns else "")
            message = f"group `{name}` is a column of no recorded file and no persona rows{near}"
            desk.complaints.add(parts.entry.fault("groups", place, message=message))
    for entry in shelf.own():
        if any(guideline.name == entry.name for guideline in shelf.read()):
            _check_among(entry, [*(table.rows for table in tables), played], columns, desk)


def _told_by_plans(parts: Parts) -> list[str]:
    """Return what live dialogues can be split by without a column of anybody's."""
    scenarios = [scenario for scenario, _ in parts.scenarios]
    has_purposes = any(script.purpose for scenario in scenarios for script in scenario.scripts)
    is_attacked = any(scenario.attacks for scenario in scenarios)
    return ["scenario", *(["purpose"] if has_purposes else []), *(["strategy", "aim"] if is_attacked else [])]


def _check_among(entry: Entry[Any], rows: Sequence[Rows], columns: Sequence[str], desk: Desk) -> None:
    for name, rule in entry.shape.defects.items():
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
            desk.complaints.add(entry.fault("defects", name, "among", column, message=message))


def _note_unused(parts: Parts, desk: Desk, models: Sequence[ModelEndpoint], guidelines: Sequence[Guideline]) -> None:
    shape = parts.entry.shape
    used = {judge.model for judge in shape.judges.values()}
    used |= {getattr(item.shape, "model", "") for item in section(parts.entry, "applications")}
    used |= {reading.group.model for reading in parts.groups} | {item.model for item in shape.personas.values()}
    for model in models:
        if model.name not in used:
            _note(parts.entry, ("models", model.name), f"model `{model.name}` is used by nothing", desk)
    answered = {annotator.guideline for annotator in parts.annotators}
    answered |= {parts.reference.guideline} if parts.reference else set()
    people = any(level.people for level in shape.levels.values())
    for guideline in guidelines:
        if guideline.name in shape.guidelines and guideline.name not in answered and not people:
            words = f"guideline `{guideline.name}` is answered by no judge and no annotator"
            _note(parts.entry, ("guidelines", guideline.name), words, desk)
    if not (shape.judges or shape.annotators or shape.reference or people):
        words = "nobody labels the dialogues (no `judges`, no `annotators`), so there will be no rates"
        _note(parts.entry, ("study",), words, desk)
    for reading in parts.groups:
        _note_unused_columns(parts, reading, guidelines, desk)


def _note_unused_columns(parts: Parts, reading: GroupReading, guidelines: Sequence[Guideline], desk: Desk) -> None:
    used = set(reading.used) | set(parts.entry.shape.groups)
    used |= {column for guideline in guidelines for rule in guideline.defect_rules for column in rule.among}
    for scenario, _ in parts.scenarios:
        used |= variables(scenario.goal) | variables(scenario.starter) | {TASKS[scenario.task].column}
    unused_columns(reading, used, desk)


def _note(entry: Entry[Any], keys: tuple[str, ...], message: str, desk: Desk) -> None:
    desk.complaints.add(entry.fault(*keys, message=message, severity=Severity.NOTE, at_key=True))


def _note_prices(parts: Parts, desk: Desk, models: Sequence[ModelEndpoint]) -> None:
    unpriced = [model.name for model in models if not model.is_scripted and model.price is None]
    if parts.entry.shape.budget.usd is not None and unpriced:
        names = ", ".join(f"`{name}`" for name in unpriced)
        whose = "its" if len(unpriced) == 1 else "their"
        message = f"no price is known for {names}, so the budget cannot count {whose} calls"
        fault = parts.entry.fault("budget", message=f"{message}; state `price`", severity=Severity.NOTE, at_key=True)
        desk.complaints.add(fault)


def _list_open_items(parts: Parts, desk: Desk) -> None:
    """List what is still to be done before people take part."""
    if not any(level.people for level in parts.entry.shape.levels.values()):
        return
    for entry in section(parts.entry, "applications"):
        if isinstance(entry.shape, HttpShape):
            message = f"`{entry.name}` was never called; try theodolite probe"
            desk.complaints.add(entry.fault(message=message, severity=Severity.OPEN, at_key=True))
