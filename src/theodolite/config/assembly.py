"""Builds the domain study from the sections of a study file, and the file from the study."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from theodolite.config import crosschecks
from theodolite.config.annotators import (
    annotator_attributes_of,
    annotator_to_domain,
    annotators_from_domain,
    check_spelling,
    reference_from_domain,
    reference_to_domain,
    shared_spelling,
)
from theodolite.config.applications import application_to_domain, applications_from_domain, is_recorded
from theodolite.config.cases import case_groups, cases_scenario
from theodolite.config.connections import network_settings
from theodolite.config.crosschecks import StudyParts
from theodolite.config.events import annotation_to_domain, event_to_domain, levels_to_domain, people_from_domain
from theodolite.config.guidelines import GuidelineRegistry, guidelines_from_domain
from theodolite.config.instruments import (
    Instruments,
    QuestionnaireSpec,
    SchemaSet,
    instruments_to_domain,
    questionnaires_from_domain,
    read_schemas,
    schemas_from_domain,
    written_questionnaires,
)
from theodolite.config.judges import (
    corrections_from_domain,
    corrections_to_domain,
    judges_from_domain,
    judges_to_domain,
)
from theodolite.config.load_context import TRANSLATIONS, Entry, LoadContext, dropped, is_broken, section
from theodolite.config.models import model_from_domain, model_to_domain, price_book
from theodolite.config.packets import read_packet, require_known
from theodolite.config.permissions import RefusedPath
from theodolite.config.personas import check_meetings, persona_group_from_domain, persona_group_to_domain
from theodolite.config.recordings import joined, recorded_to_domain
from theodolite.config.scenarios import ScenarioSpec, red_teaming_of, scenario_from_domain, scenario_to_domain
from theodolite.config.series import (
    RiskSpec,
    SeriesSpec,
    check_taxonomies,
    note_deviations,
    preregistered,
    risk_classes,
    risks_to_domain,
    series_from_domain,
    series_to_domain,
    topics_to_domain,
)
from theodolite.config.study import (
    Pack,
    StudySpec,
    gates_to_domain,
    measures_to_domain,
    read_packs,
    typology_from_domain,
    typology_to_domain,
)
from theodolite.config.validation import Spec, as_list, validated, without_empty
from theodolite.config.yaml_source import LocatedDiagnostic, read_yaml
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import RecordedLabels
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.guideline import Guideline
from theodolite.domain.network import NetworkSettings
from theodolite.domain.scenario import Scenario, Task
from theodolite.domain.study import Budget, Sampling, Study
from theodolite.domain.text import is_tag

if TYPE_CHECKING:
    from theodolite.domain.event import AnnotationProcess, Event, LevelPlan
    from theodolite.domain.live import RecordedDialogue
    from theodolite.domain.study_parts import CorrectionChoice, Risk, SensitiveTopic
    from theodolite.domain.tree import TreeDesign

S = TypeVar("S", bound=Spec)

RECORDED = "recorded"
"""Name of the scenario of recorded dialogues if the study describes no scenario."""


def study_to_domain(
    entry: Entry[StudySpec], context: LoadContext, environ: Mapping[str, str] | None
) -> tuple[Study | None, Sequence[RecordedDialogue]]:
    """Return the study and its recordings; errors are added to the diagnostics.

    Args:
        entry: The study file.
        context: Context of the load; collects the diagnostics.
        environ: The environment, to check which keys are set.
    """
    pack = read_packs(entry, context)
    series, series_entry = series_to_domain(entry, entry.spec.series, context)
    models, names, network = _models(entry, context, environ)
    risks = _risks(entry, pack, context)
    parts = _tested(entry, pack, context, names, risks=risks, environ=environ, network=network)
    schema_set = read_schemas(entry, entry.spec, pack.schemas, context, default=pack.schema)
    registry = _read_labels(parts, pack, schema_set, context, names)
    instruments = instruments_to_domain(_questionnaires(parts, pack, context), schema_set, registry, context)
    crosschecks.check_everything(parts, registry, context, models)
    spec, (levels, annotation, event) = entry.spec, _people(entry, pack, context)
    guidelines = _guidelines(parts, pack, registry)
    study = Study(
        name=spec.study,
        applications=tuple(parts.applications),
        scenarios=_scenarios(parts),
        title=spec.title,
        about=spec.about,
        series=series,
        models=models,
        personas=tuple(reading.group for reading in parts.groups),
        guidelines=guidelines,
        annotators=tuple(parts.annotators),
        reference=parts.reference,
        groups=tuple(dict.fromkeys([*spec.groups, *case_groups(spec.cases)])),
        risks=risks_to_domain(risks, _risk_entries(entry, pack), guidelines, instruments.questionnaires, context),
        sampling=Sampling(seed=spec.sampling.seed, dialogues=spec.sampling.dialogues, repeats=spec.sampling.repeats),
        budget=Budget(usd=spec.budget.usd, tokens=spec.budget.tokens, calls=spec.budget.calls),
        pack=", ".join(as_list(spec.pack)),
        levels=levels,
        annotation=annotation,
        event=event,
        trees=_trees(parts, guidelines, instruments, context),
        corrections=_corrections(parts, guidelines, context),
        schemas=instruments.schemas,
        questionnaires=instruments.questionnaires,
        annotator_attributes=annotator_attributes_of(entry.spec.annotators),
        preregistered=preregistered(series_entry, series, context),
    )
    whole = _with_late_parts(study, parts, pack, context)
    return in_languages(_noted(whole, entry, series_entry, context), entry, context), _dialogues(parts)


def _with_late_parts(study: Study, parts: StudyParts, pack: Pack, context: LoadContext) -> Study:
    """Return a study with the parts that refer to other parts."""
    gates = gates_to_domain(parts.entry, study, context)
    topics, measures = _topics(parts, pack, context), measures_to_domain(parts.entry, context)
    typology = typology_to_domain(parts.entry, [application.name for application in study.applications], context)
    return replace(study, topics=topics, gates=gates, measures=measures, materials=parts.materials, typology=typology)


def _dialogues(parts: StudyParts) -> Sequence[RecordedDialogue]:
    if not parts.recorded:
        return ()
    return joined([recorded.dialogues for _, recorded in parts.recorded], _label_columns(parts))


def _label_columns(parts: StudyParts) -> tuple[str, ...]:
    """Return the label columns of people: those of annotators and the reference."""
    labelled = [annotator.labelling for annotator in parts.annotators if annotator.kind is AnnotatorKind.PERSON]
    columns = [labelling.column for labelling in labelled if isinstance(labelling, RecordedLabels)]
    return (*columns, *([parts.reference.column] if parts.reference else []))


def _models(
    entry: Entry[StudySpec], context: LoadContext, environ: Mapping[str, str] | None
) -> tuple[tuple[ModelEndpoint, ...], tuple[str, ...], NetworkSettings]:
    """Return the models, the names of all including unreadable ones, and the network settings of the study."""
    network = network_settings(entry, entry.spec.connection, context, environ)
    prices = price_book(context)
    models = tuple(
        model_to_domain(
            model,
            context,
            environ,
            prices,
            network=network_settings(model, model.spec.connection, context, environ, network),
        )
        for model in section(entry, "models", entry.spec.models)
    )
    return models, tuple(model.name for model in models) + dropped(entry, "models"), network


def _registry(entry: Entry[StudySpec], pack: Pack, schema_set: SchemaSet, context: LoadContext) -> GuidelineRegistry:
    own = {item.name: item for item in [*pack.guidelines, *section(entry, "guidelines", entry.spec.guidelines)]}
    return GuidelineRegistry({**own, **schema_set.categories}, context, shipped=schema_set.shipped)


def _trees(
    parts: StudyParts, guidelines: Sequence[Guideline], instruments: Instruments, context: LoadContext
) -> tuple[TreeDesign, ...]:
    if parts.entry.spec.tree is None:
        return ()
    from theodolite.config.trees import tree_sources, trees_to_domain

    sources = tree_sources(
        guidelines, instruments.questionnaires, parts.annotators, [scenario for scenario, _ in parts.scenarios]
    )
    trees = trees_to_domain(parts.entry, sources, context)
    instruments.note_unoriented(trees, context)
    return trees


def _noted(
    study: Study, entry: Entry[StudySpec], series_entry: Entry[SeriesSpec] | None, context: LoadContext
) -> Study:
    """Return a study after noting departures from its series and unreachable nodes of its trees."""
    note_deviations(study, series_entry, context)
    if study.trees:
        from theodolite.config.trees import note_unreached

        note_unreached(study, entry, context)
    return study


def _corrections(
    parts: StudyParts, guidelines: Sequence[Guideline], context: LoadContext
) -> tuple[CorrectionChoice, ...]:
    if not parts.entry.spec.corrections:
        return ()
    lost = {*dropped(parts.entry, "judges"), *dropped(parts.entry, "annotators")}
    entries = section(parts.entry, "corrections", parts.entry.spec.corrections)
    return corrections_to_domain(entries, parts.annotators, guidelines, lost, context)


def _questionnaires(parts: StudyParts, pack: Pack, context: LoadContext) -> Sequence[Entry[QuestionnaireSpec]]:
    own = section(parts.entry, "questionnaires", parts.entry.spec.questionnaires)
    by_name = {item.name: item for item in [*pack.questionnaires, *own]}
    return written_questionnaires(parts.entry, by_name, parts.scenarios, context)


def _topics(parts: StudyParts, pack: Pack, context: LoadContext) -> tuple[SensitiveTopic, ...]:
    own = section(parts.entry, "topics", parts.entry.spec.topics)
    by_name = {item.name: item for item in [*pack.topics, *own]}
    return topics_to_domain(by_name, parts.scenarios, dropped(parts.entry, "topics"), context)


def _risk_entries(entry: Entry[StudySpec], pack: Pack) -> dict[str, Entry[RiskSpec]]:
    return {item.name: item for item in [*pack.risks, *section(entry, "risks", entry.spec.risks)]}


def _people(
    entry: Entry[StudySpec], pack: Pack, context: LoadContext
) -> tuple[tuple[LevelPlan, ...], AnnotationProcess | None, Event | None]:
    """Return the settings of participation: the levels, the annotation, the event; empty if there are none."""
    spec = entry.spec
    if not (spec.levels or spec.annotation or spec.event or spec.consent):
        return (), None, None
    return (
        levels_to_domain(spec),
        annotation_to_domain(spec, spec.sampling.seed),
        event_to_domain(entry, spec, context, pack.warning),
    )


def _risks(entry: Entry[StudySpec], pack: Pack, context: LoadContext) -> tuple[Risk, ...]:
    check_taxonomies([*pack.risks, *section(entry, "risks", entry.spec.risks)], context)
    specs = {item.name: item.spec for item in pack.risks} | dict(entry.spec.risks)
    if not specs:
        return ()
    from theodolite.domain.study_parts import Risk

    return tuple(
        Risk(
            name=name,
            taxonomy=spec.taxonomy,
            description=spec.description,
            identified_by=spec.identified_by,
            classes=risk_classes(spec.taxonomy, context) if spec.taxonomy else (),
        )
        for name, spec in specs.items()
    )


def _tested(
    entry: Entry[StudySpec],
    pack: Pack,
    context: LoadContext,
    models: tuple[str, ...],
    *,
    risks: tuple[Risk, ...],
    environ: Mapping[str, str] | None,
    network: NetworkSettings,
) -> StudyParts:
    """Return the study's parts after testers and applications: scenarios, scripts, personas."""
    parts = StudyParts(entry=entry, network=network)
    own = [*_scenario_files(context), *section(parts.entry, "scenarios", parts.entry.spec.scenarios)]
    spec = parts.entry.spec
    own += cases_scenario(entry, spec.cases, scenarios=spec.scenarios, groups=spec.groups, context=context)
    latest = _latest([*pack.scenarios, *own])
    packet = read_packet(entry, spec.held_out, context)
    require_known(entry, packet, [item.name for item in latest], context)
    entries = [packet.over(item) for item in latest]
    parts.materials = (*pack.materials, *filter(None, [packet.material]))
    risk_names = (*(risk.name for risk in risks), *dropped(parts.entry, "risks"))
    red_teaming = red_teaming_of(parts.entry, parts.entry.spec.levels, context, models)
    parts.scenarios = [
        (scenario_to_domain(item, context, risks=risk_names, red_teaming=red_teaming), item) for item in entries
    ]
    playable = [item for item in pack.personas if item.spec.model in models]
    groups = _latest([*playable, *section(parts.entry, "personas", parts.entry.spec.personas)])
    readings = [persona_group_to_domain(item, context, models=models) for item in groups]
    parts.groups = [reading for reading in readings if reading is not None]
    known = (*(item.name for item in groups), *dropped(parts.entry, "personas"))
    resting = tuple(item.name for item in pack.personas if item.name not in known)
    crosschecks.check_persona_names(parts.scenarios, (*known, *resting), context)
    if len(parts.groups) == len(known) and not is_broken(parts.entry, "personas"):
        check_meetings(parts.groups, parts.scenarios, context)
    _read_applications(parts, context, models, environ)
    return parts


def _scenario_files(context: LoadContext) -> list[Entry[ScenarioSpec]]:
    """Return the scenarios that have their own file in `scenarios/`."""
    entries = []
    for file in context.own_files_in("scenarios", ".yaml"):
        path = context.find(file)
        if isinstance(path, RefusedPath):
            context.diagnostics.add(LocatedDiagnostic(file=file, message=path.message))
        if not isinstance(path, Path):
            continue
        source = read_yaml(context.paths.read(path), context.named(path))
        spec = validated(source, ScenarioSpec, owner=f"scenario `{path.stem}`") if source.content else None
        context.diagnostics.add(*source.faults)
        if spec is not None:
            entries.append(Entry(name=path.stem, spec=spec, source=source, path=()))
    return entries


def _latest(entries: Iterable[Entry[S]]) -> list[Entry[S]]:
    """Return one entry for each name; the study's own entries override those of packs."""
    return list({entry.name: entry for entry in entries}.values())


def _read_applications(
    parts: StudyParts, context: LoadContext, models: tuple[str, ...], environ: Mapping[str, str] | None
) -> None:
    for entry in section(parts.entry, "applications", parts.entry.spec.applications):
        if is_recorded(entry):
            recorded = recorded_to_domain(entry, context)
            parts.recorded.append((entry, recorded))
            parts.applications += recorded.applications
            continue
        application = application_to_domain(entry, context, models=models, environ=environ, network=parts.network)
        if application is not None:
            parts.applications.append(application)
            parts.live.append(entry.name)


def _read_labels(
    parts: StudyParts, pack: Pack, schema_set: SchemaSet, context: LoadContext, models: tuple[str, ...]
) -> GuidelineRegistry:
    """Read the annotators and their guidelines, and return the guidelines."""
    entry, spelling = parts.entry, dict(parts.entry.spec.spelling)
    registry = _registry(entry, pack, schema_set, context)
    registry.broken |= set(dropped(entry, "guidelines"))
    registry.read_own()
    people = [
        annotator_to_domain(item, registry, context, spelling)
        for item in section(entry, "annotators", entry.spec.annotators)
    ]
    requested = _requested_guidelines(parts, pack)
    judges = [
        judge
        for item in section(entry, "judges", entry.spec.judges)
        for judge in judges_to_domain(item, registry, context, models, requested)
    ]
    parts.annotators = [*(annotator for annotator in people if annotator is not None), *judges]
    if entry.spec.reference is not None:
        named = Entry(name="reference", spec=entry.spec.reference, source=entry.source, path=("reference",))
        parts.reference = reference_to_domain(named, registry, context, spelling)
    if not registry.broken:
        check_spelling(entry, spelling, registry.read(), context)
    return registry


def _requested_guidelines(parts: StudyParts, pack: Pack) -> tuple[str, ...]:
    """Return the names of all guidelines that scenarios use, those of the packs and of the study."""
    by_scenarios = [name for scenario, _ in parts.scenarios for name in scenario.guidelines]
    own = [item.name for item in [*pack.guidelines, *section(parts.entry, "guidelines", parts.entry.spec.guidelines)]]
    return tuple(dict.fromkeys([*by_scenarios, *own]))


def _guidelines(parts: StudyParts, pack: Pack, registry: GuidelineRegistry) -> tuple[Guideline, ...]:
    """Return the guidelines of a study; those of a pack only if an annotator uses them, or without annotators."""
    named = {annotator.guideline for annotator in parts.annotators}
    spare = {item.name for item in pack.guidelines} - named if named else set()
    return tuple(guideline for guideline in registry.read() if guideline.name not in spare)


def _scenarios(parts: StudyParts) -> tuple[Scenario, ...]:
    """Return the scenarios, with an additional one for recorded dialogues that cannot be assigned."""
    scenarios = tuple(scenario for scenario, _ in parts.scenarios)
    if not parts.recorded or len(scenarios) == 1:
        return scenarios
    return (*scenarios, Scenario(name=RECORDED, task=Task.CHAT))


def in_languages(study: Study, entry: Entry[StudySpec], context: LoadContext) -> Study:
    """Return a study with its own language and its translations; errors are added to the diagnostics.

    Args:
        study: The study without languages.
        entry: The study file.
        context: Context of the load; collects the diagnostics.
    """
    language = str(entry.spec.language)
    if not is_tag(language):
        message = f"`language` is `{language}`; expected a language tag, e.g. `en`, `de` or `pt-BR`"
        context.diagnostics.add(entry.diagnostic("language", message=message))
    translated = replace(study, language=language)
    names = context.own_names_in(TRANSLATIONS, ".yaml")
    if not names:
        return translated
    from theodolite.config.translations import translations_of

    return replace(translated, translations=translations_of(translated, names, context))


def expanded(study: Study) -> str:
    """Return the study as a self-contained study file with all defaults written out."""
    return study_text(without_empty(**study_from_domain(study)))


def study_text(content: Mapping[str, Any]) -> str:
    """Return the content of a study file as YAML."""
    writer = YAML(typ="rt", pure=True)
    writer.default_flow_style = False
    writer.allow_unicode = True
    writer.width = 110
    writer.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    writer.dump(_blocks(dict(content)), out)
    return out.getvalue()


def study_from_domain(study: Study) -> dict[str, Any]:
    """Return a study as the mapping of a study file, with all defaults."""
    return {
        "study": study.name,
        "title": study.title,
        "about": study.about,
        "language": "" if study.language == "en" else study.language,
        "series": series_from_domain(study.preregistered) if study.preregistered else study.series,
        "pack": _packs(study),
        "models": {model.name: model_from_domain(model) for model in study.models},
        "applications": applications_from_domain(study.applications),
        "scenarios": {scenario.name: scenario_from_domain(study, scenario) for scenario in study.scenarios},
        "personas": {group.name: persona_group_from_domain(group) for group in study.personas},
        "guidelines": guidelines_from_domain(study),
        "schemas": schemas_from_domain(study),
        "questionnaires": questionnaires_from_domain(study),
        "judges": judges_from_domain(study),
        "annotators": annotators_from_domain(study),
        "spelling": shared_spelling(study),
        "reference": reference_from_domain(study),
        "corrections": corrections_from_domain(study),
        "groups": list(study.groups),
        **typology_from_domain(study),
        "risks": {
            risk.name: {
                "taxonomy": risk.taxonomy,
                "description": risk.description,
                "identified_by": risk.identified_by.value,
                **without_empty(shown_by=[*risk.rules, *(answer.text for answer in risk.answers)]),
            }
            for risk in study.risks
        },
        "topics": {topic.name: {"about": topic.about, "weight": topic.weight.value} for topic in study.topics},
        "tree": _trees_from_domain(study),
        "sampling": without_empty(
            dialogues=study.sampling.dialogues, seed=study.sampling.seed, repeats=study.sampling.repeats
        ),
        "gates": {gate.name: gate.text for gate in study.gates},
        "measures": list(study.measures),
        "budget": without_empty(usd=study.budget.usd, tokens=study.budget.tokens, calls=study.budget.calls),
        **people_from_domain(study),
    }


def _blocks(value: Any) -> Any:
    """Write multi-line texts as blocks."""
    if isinstance(value, dict):
        return {key: _blocks(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_blocks(item) for item in value]
    return LiteralScalarString(value) if isinstance(value, str) and "\n" in value else value


def _trees_from_domain(study: Study) -> Any:
    """Return the study's tree with all its nodes; for several trees their names, since a file can contain one."""
    if len(study.trees) == 1:
        from theodolite.domain.tree_form import design_document

        return design_document(study.trees[0])
    return [design.name for design in study.trees]


def _packs(study: Study) -> str | list[str]:
    packs = study.pack.split(", ") if study.pack else []
    return packs[0] if len(packs) == 1 else packs
