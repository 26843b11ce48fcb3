"""Assembly: all entries of a study file become one `Study`, each section after those that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from theodolite.config import crosschecks
from theodolite.config.applications import is_recorded, live_application
from theodolite.config.asked import Asked, asked_of
from theodolite.config.attacks import red_teaming_of
from theodolite.config.connections import network_settings
from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.endpoints import endpoint_of
from theodolite.config.labelling.annotation_schemas import Written, written_schemas
from theodolite.config.labelling.annotators import (
    GuidelineRegistry,
    annotator_attributes_of,
    check_spelling,
    labelling_annotator,
    reference_of,
)
from theodolite.config.labelling.judges import judges_of
from theodolite.config.languages import in_languages
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.packs import Pack, read_packs
from theodolite.config.parts import Parts, dropped, is_broken, section
from theodolite.config.personas import check_meetings, group_of
from theodolite.config.prices import price_book
from theodolite.config.risks import shown_risks
from theodolite.config.scenarios import scenario_of
from theodolite.config.series import check_taxonomies, note_deviations, preregistered, series_of
from theodolite.config.specs.base import Spec, as_list
from theodolite.config.specs.scenarios import ScenarioSpec
from theodolite.config.specs.series import SeriesSpec
from theodolite.config.specs.study import StudySpec
from theodolite.config.study_paths import RefusedPath
from theodolite.config.topics import topics_of
from theodolite.config.validation import validated
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import RecordedLabels
from theodolite.domain.guideline import Guideline
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.network_settings import NetworkSettings
from theodolite.domain.scenario import Scenario, Task
from theodolite.domain.study import Budget, Sampling, Study

if TYPE_CHECKING:  # here and below: a study waits for nothing that it has none of
    from theodolite.domain.correction import CorrectionChoice
    from theodolite.domain.people.event import AnnotationProcess, Event, LevelPlan
    from theodolite.domain.recording import RecordedDialogue
    from theodolite.domain.risk import Risk
    from theodolite.domain.trees.tree import TreeDesign

S = TypeVar("S", bound=Spec)

RECORDED = "recorded"
"""Name of the scenario that recorded dialogues have where the study describes none."""


def assemble(
    entry: Entry[StudySpec], context: LoadContext, environ: Mapping[str, str] | None
) -> tuple[Study | None, Sequence[RecordedDialogue]]:
    """Return the study and its recordings; faults are added to the diagnostics.

    Args:
        entry: The study file.
        context: Context of the load; collects the diagnostics.
        environ: The environment, to see which keys are there.
    """
    pack = read_packs(entry, context)
    series, series_entry = series_of(entry, context)
    models, names = _models(entry, context, environ, network := network_settings(entry, context, environ))
    risks = _risks(entry, pack, context)
    parts = _tested(entry, pack, context, names, risks=risks, environ=environ, network=network)
    written = written_schemas(entry, pack, context)
    registry = _read_labels(parts, pack, written, context, names)
    asked = asked_of(parts, pack, written, registry, context)
    crosschecks.check_everything(parts, registry, context, models)
    spec, guidelines = entry.spec, _guidelines(parts, pack, registry)
    levels, annotation, event = _people(entry, pack, context)
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
        groups=tuple(spec.groups),
        risks=shown_risks(risks, parts, pack, guidelines, asked.questionnaires, context),
        sampling=Sampling(seed=spec.sampling.seed, dialogues=spec.sampling.dialogues, repeats=spec.sampling.repeats),
        budget=Budget(usd=spec.budget.usd, tokens=spec.budget.tokens, calls=spec.budget.calls),
        pack=", ".join(as_list(spec.pack)),
        levels=levels,
        annotation=annotation,
        event=event,
        trees=_trees(parts, guidelines, asked, context),
        corrections=_corrections(parts, guidelines, context),
        schemas=asked.schemas,
        questionnaires=asked.questionnaires,
        annotator_attributes=annotator_attributes_of(entry.spec.annotators),
        preregistered=preregistered(series_entry, series, context),
    )
    whole = replace(study, topics=topics_of(parts, pack, context))
    return in_languages(_noted(whole, entry, series_entry, context), entry, context), _dialogues(parts)


def _dialogues(parts: Parts) -> Sequence[RecordedDialogue]:
    if not parts.recorded:
        return ()
    from theodolite.config.recordings import joined

    return joined([recorded.dialogues for _, recorded in parts.recorded], _label_columns(parts))


def _label_columns(parts: Parts) -> tuple[str, ...]:
    """Return the columns that hold labels of people: those of annotators and the reference."""
    labelled = [one.labelling for one in parts.annotators if one.kind is AnnotatorKind.PERSON]
    columns = [labelling.column for labelling in labelled if isinstance(labelling, RecordedLabels)]
    return (*columns, *([parts.reference.column] if parts.reference else []))


def _models(
    entry: Entry[StudySpec], context: LoadContext, environ: Mapping[str, str] | None, network: NetworkSettings
) -> tuple[tuple[ModelEndpoint, ...], tuple[str, ...]]:
    """Return the models, and the names of all that the study has, those that could not be read included."""
    prices = price_book(context)
    models = tuple(
        endpoint_of(model, context, environ, prices, network=network_settings(model, context, environ, network))
        for model in section(entry, "models")
    )
    return models, tuple(model.name for model in models) + dropped(entry, "models")


def _registry(entry: Entry[StudySpec], pack: Pack, written: Written, context: LoadContext) -> GuidelineRegistry:
    own = {item.name: item for item in [*pack.guidelines, *section(entry, "guidelines")]}
    return GuidelineRegistry({**own, **written.categories}, context, shipped=written.shipped)


def _trees(parts: Parts, guidelines: Sequence[Guideline], asked: Asked, context: LoadContext) -> tuple[TreeDesign, ...]:
    if parts.entry.spec.tree is None:
        return ()
    from theodolite.config.trees import soil_of, trees_of

    soil = soil_of(guidelines, asked.questionnaires, parts.annotators, [scenario for scenario, _ in parts.scenarios])
    trees = trees_of(parts.entry, soil, context)
    asked.note_unoriented(trees, context)
    return trees


def _noted(
    study: Study, entry: Entry[StudySpec], series_entry: Entry[SeriesSpec] | None, context: LoadContext
) -> Study:
    """Return a study once departures from its series and unreached nodes of its trees are noted."""
    note_deviations(study, series_entry, context)
    if study.trees:
        from theodolite.config.tree_coverage import note_unreached

        note_unreached(study, entry, context)
    return study


def _corrections(parts: Parts, guidelines: Sequence[Guideline], context: LoadContext) -> tuple[CorrectionChoice, ...]:
    if not parts.entry.spec.corrections:
        return ()
    from theodolite.config.labelling.corrections import corrections_of

    return corrections_of(parts, guidelines, context)


def _people(
    entry: Entry[StudySpec], pack: Pack, context: LoadContext
) -> tuple[tuple[LevelPlan, ...], AnnotationProcess | None, Event | None]:
    """Return how people take part: the levels, the annotation, the event; nothing where none do."""
    spec = entry.spec
    if not (spec.levels or spec.annotation or spec.event or spec.consent):
        return (), None, None
    from theodolite.config.events import annotation_of, event_of, levels_of

    return levels_of(spec), annotation_of(spec), event_of(entry, context, pack.warning)


def _risks(entry: Entry[StudySpec], pack: Pack, context: LoadContext) -> tuple[Risk, ...]:
    check_taxonomies([*pack.risks, *section(entry, "risks")], context)
    specs = {item.name: item.spec for item in pack.risks} | dict(entry.spec.risks)
    if not specs:
        return ()
    from theodolite.domain.risk import Risk

    return tuple(
        Risk(
            name=name,
            taxonomy=spec.taxonomy,
            description=spec.description,
            identified_by=spec.identified_by,
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
) -> Parts:
    """Return what has been read of the study once testers and applications have: scenarios, scripts, personas."""
    parts = Parts(entry=entry, network=network)
    own = [*_scenario_files(context), *section(parts.entry, "scenarios")]
    entries = _latest([*pack.scenarios, *own])
    risk_names = (*(risk.name for risk in risks), *dropped(parts.entry, "risks"))
    red_teaming = red_teaming_of(parts.entry, context, models)
    parts.scenarios = [
        (scenario_of(item, context, risks=risk_names, red_teaming=red_teaming), item) for item in entries
    ]
    playable = [item for item in pack.personas if item.spec.model in models]
    groups = _latest([*playable, *section(parts.entry, "personas")])
    readings = [group_of(item, context, models=models) for item in groups]
    parts.groups = [reading for reading in readings if reading is not None]
    known = (*(item.name for item in groups), *dropped(parts.entry, "personas"))
    resting = tuple(item.name for item in pack.personas if item.name not in known)
    crosschecks.check_persona_names(parts.scenarios, (*known, *resting), context)
    if len(parts.groups) == len(known) and not is_broken(parts.entry, "personas"):
        check_meetings(parts.groups, parts.scenarios, context)
    _read_applications(parts, context, models, environ)
    return parts


def _scenario_files(context: LoadContext) -> list[Entry[ScenarioSpec]]:
    """Return the scenarios that have a file of their own in `scenarios/`."""
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
    """Return one entry for each name: the study's own takes the place of a pack's."""
    return list({entry.name: entry for entry in entries}.values())


def _read_applications(
    parts: Parts, context: LoadContext, models: tuple[str, ...], environ: Mapping[str, str] | None
) -> None:
    for entry in section(parts.entry, "applications"):
        if is_recorded(entry):
            from theodolite.config.recordings import recorded_of

            recorded = recorded_of(entry, context)
            parts.recorded.append((entry, recorded))
            parts.applications += recorded.applications
            continue
        application = live_application(entry, context, models=models, environ=environ, network=parts.network)
        if application is not None:
            parts.applications.append(application)
            parts.live.append(entry.name)


def _read_labels(
    parts: Parts, pack: Pack, written: Written, context: LoadContext, models: tuple[str, ...]
) -> GuidelineRegistry:
    """Read who labels and by what, and return the guidelines."""
    entry, spelling = parts.entry, dict(parts.entry.spec.spelling)
    registry = _registry(entry, pack, written, context)
    registry.broken |= set(dropped(entry, "guidelines"))
    registry.read_own()
    people = [labelling_annotator(item, registry, context, spelling) for item in section(entry, "annotators")]
    asked = _asked(parts, pack)
    judges = [judge for item in section(entry, "judges") for judge in judges_of(item, registry, context, models, asked)]
    parts.annotators = [*(annotator for annotator in people if annotator is not None), *judges]
    if entry.spec.reference is not None:
        named = Entry(name="reference", spec=entry.spec.reference, source=entry.source, path=("reference",))
        parts.reference = reference_of(named, registry, context, spelling)
    if not registry.broken:
        check_spelling(entry, spelling, registry.read(), context)
    return registry


def _asked(parts: Parts, pack: Pack) -> tuple[str, ...]:
    """Return the names of all guidelines that scenarios ask for, those of the packs and the study's own."""
    by_scenarios = [name for scenario, _ in parts.scenarios for name in scenario.guidelines]
    own = [item.name for item in [*pack.guidelines, *section(parts.entry, "guidelines")]]
    return tuple(dict.fromkeys([*by_scenarios, *own]))


def _guidelines(parts: Parts, pack: Pack, registry: GuidelineRegistry) -> tuple[Guideline, ...]:
    """Return the guidelines of a study; a pack's own only where somebody labels by it, or nobody labels at all."""
    named = {annotator.guideline for annotator in parts.annotators}
    spare = {item.name for item in pack.guidelines} - named if named else set()
    return tuple(guideline for guideline in registry.read() if guideline.name not in spare)


def _scenarios(parts: Parts) -> tuple[Scenario, ...]:
    """Return the scenarios, with one for recorded dialogues where it is not clear which they belong to."""
    scenarios = tuple(scenario for scenario, _ in parts.scenarios)
    if not parts.recorded or len(scenarios) == 1:
        return scenarios
    return (*scenarios, Scenario(name=RECORDED, task=Task.CHAT))
