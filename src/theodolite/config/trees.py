"""Trees of a study: found by name or written out, grown over its guidelines, and checked against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.resources import SHIPPED
from theodolite.config.specs.study import StudySpec
from theodolite.config.specs.trees import TreeSpec
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, RecordedLabels
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.fault import Diagnostic, Severity, did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Orientation, Question, ScaleKind
from theodolite.domain.questionnaire import Questionnaire
from theodolite.domain.scenario import Scenario
from theodolite.domain.trees.form import design_of, outline_of
from theodolite.domain.trees.tree import AnswersNode, TreeDesign, TreeNode, ValueRange
from theodolite.measurement.trees.checks import design_faults
from theodolite.measurement.trees.construction import Soil, grown
from theodolite.measurement.trees.methods import methods_with

FOLDER = "trees"
"""Folder of a study, and of resources, with trees."""


def soil_of(
    guidelines: Sequence[Guideline],
    questionnaires: Sequence[Questionnaire],
    annotators: Iterable[Annotator],
    scenarios: Sequence[Scenario],
) -> Soil:
    """Return what the trees of a study grow over.

    Args:
        guidelines: The study's guidelines.
        questionnaires: What its testers are asked.
        annotators: Who labels by the guidelines.
        scenarios: They say after which levels of testing a questionnaire is asked.
    """
    asked_at = {
        one.instrument.name: frozenset(
            level for level in Level for each in scenarios if one.name in each.questionnaires.get(level.value, ())
        )
        for one in questionnaires
    }
    return Soil(
        guidelines=guidelines,
        questionnaires=[questionnaire.instrument for questionnaire in questionnaires],
        by=_by(guidelines, annotators),
        asked_at={name: levels for name, levels in asked_at.items() if levels},
    )


def trees_of(entry: Entry[StudySpec], soil: Soil, context: LoadContext) -> tuple[TreeDesign, ...]:
    """Return the trees that a study asks for; faults are added to the diagnostics.

    Args:
        entry: The study file.
        soil: What the trees grow over.
        context: Context of the load; collects the diagnostics.
    """
    form = entry.spec.tree
    if form is None:
        return ()
    if isinstance(form, TreeSpec):
        written = Entry(name=form.tree or entry.spec.study, spec=form, source=entry.source, path=("tree",))
        entries = [written]
    else:
        names = [form] if isinstance(form, str) else form
        entries = [found for name in names if (found := _found(entry, name, context)) is not None]
    designs = [_design(each, soil, context) for each in entries]
    return tuple(design for design in designs if design is not None)


def _found(entry: Entry[StudySpec], name: str, context: LoadContext) -> Entry[TreeSpec] | None:
    before = len(context.diagnostics.placed)
    found = context.read_spec(FOLDER, name, TreeSpec, "tree")
    if found is None and len(context.diagnostics.placed) == before:
        known = context.names_in(FOLDER, ".yaml")
        near = did_you_mean(name, known) or f"; trees are {', '.join(known)}"
        message = f"there is no tree `{name}` in the study's folder or among the shipped ones{near}"
        context.diagnostics.add(entry.fault("tree", message=message, words=name))
    return found


def _by(guidelines: Sequence[Guideline], annotators: Iterable[Annotator]) -> Mapping[str, tuple[str, ...]]:
    """Return the guidelines that people label in a recorded file: there, their answers count and no judge's."""
    recorded = (annotator for annotator in annotators if isinstance(annotator.labelling, RecordedLabels))
    people = {annotator.guideline for annotator in recorded if annotator.kind is AnnotatorKind.PERSON}
    return {guideline.name: (AnnotatorKind.PERSON.value,) for guideline in guidelines if guideline.name in people}


def _design(entry: Entry[TreeSpec], soil: Soil, context: LoadContext) -> TreeDesign | None:
    plain = _plain(entry)
    try:
        design = grown(outline_of(plain), soil) if entry.spec.topology else design_of(plain)
    except InputError as error:
        _complain(entry, error.faults or (Diagnostic(path=(), message=str(error)),), context)
        return None
    _note_left_out(entry, soil, context)
    bound = _bound(entry, design, soil, context)
    faults = design_faults(bound, methods_with(context.resolver.summaries))
    _complain(entry, faults, context)
    return None if faults else bound


def _note_left_out(entry: Entry[TreeSpec], soil: Soil, context: LoadContext) -> None:
    """Note what the crosswalk of a tree of one's own names and the study does not ask; shipped trees name much."""
    if any(found.where == SHIPPED and found.name == entry.name for found in context.found):
        return
    dimensions = outline_of(_plain(entry)).dimensions if entry.spec.topology else ()
    items = soil.items() | soil.named_answers(dimensions)
    known = [*items, *(guideline.name for guideline in soil.guidelines)]
    for dimension in dimensions:
        for name in dimension.crosswalk:
            if name not in items and not soil.rules(name):
                near = did_you_mean(name, known)
                message = (
                    f"the crosswalk of `{dimension.node}` names `{name}`, of which this study has no scores and no"
                    f" defect rule; it is left out{near}"
                )
                place = ("dimensions", dimension.node, "crosswalk")
                context.diagnostics.add(entry.fault(*place, message=message, words=name, severity=Severity.NOTE))


def _plain(entry: Entry[TreeSpec]) -> dict[str, Any]:
    plain = entry.spec.model_dump(mode="json", exclude_unset=True)
    plain["tree"] = entry.spec.tree or entry.name
    if entry.spec.topology:
        plain.pop("nodes", None)
    else:
        plain.pop("topology", None)
    return plain


def _complain(entry: Entry[TreeSpec], faults: Iterable[Diagnostic], context: LoadContext) -> None:
    for fault in faults:
        path = fault.path if not entry.spec.topology else fault.path[:1]
        placed = entry.fault(*path, message=fault.message, words=fault.words, at_key=fault.at_key)
        context.diagnostics.add(placed)


def _bound(entry: Entry[TreeSpec], design: TreeDesign, soil: Soil, context: LoadContext) -> TreeDesign:
    """Return a design whose answers have the scales of the study's instruments, where it states none."""
    instruments = [*(guideline.instrument for guideline in soil.guidelines), *soil.questionnaires]
    questions = {f"{each.name}.{question.name}": question for each in instruments for question in each.questions}
    nodes: list[TreeNode] = []
    for node in design.nodes:
        if isinstance(node, AnswersNode) and not node.has_scale:
            question = questions.get(node.question)
            if question is None:
                known = did_you_mean(node.question, questions) or f"; questions are {', '.join(questions) or 'none'}"
                message = f"node `{node.name}` is about a question `{node.question}` that the study does not ask{known}"
                context.diagnostics.add(entry.fault("nodes", node.name, "answers", message=message))
            nodes.append(replace(node, free_text=True) if question is None else _scaled(node, question))
        else:
            nodes.append(node)
    return replace(design, nodes=tuple(nodes))


def _scaled(node: AnswersNode, question: Question) -> AnswersNode:
    scale = question.scale
    stated = scale.orientation if node.orientation is Orientation.UNSTATED else node.orientation
    if scale.kind is ScaleKind.TEXT:
        return replace(node, free_text=True)
    if scale.is_numeric and scale.lowest is not None and scale.highest is not None:
        return replace(node, range=ValueRange(lowest=scale.lowest, highest=scale.highest), orientation=stated)
    return replace(node, labels=scale.categories, orientation=stated)
