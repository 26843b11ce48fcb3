"""Instruments of a study: its annotation schemas and questionnaires, with notes on their wording."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theodolite.assessment.outcome_set import IMPACTS, NEITHER
from theodolite.config.annotation_schemas import CategorySpec, SchemaSet, schemas_to_domain
from theodolite.config.guidelines import GuidelineRegistry
from theodolite.config.load_context import Entry, LoadContext, Pack
from theodolite.config.questionnaires import questionnaire_to_domain, written_questionnaires
from theodolite.config.study_parts import StudyParts
from theodolite.domain.fault import Severity
from theodolite.domain.instrument import Orientation, Question, Scale, ScaleKind

if TYPE_CHECKING:
    from theodolite.domain.questionnaire import Questionnaire
    from theodolite.domain.schema import AnnotationSchema
    from theodolite.domain.trees.tree import TreeDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruments:
    """What the people of a study are asked.

    Attributes:
        schemas: What annotators are asked.
        questionnaires: What testers are asked.
        entries: Where the categories and questionnaires stand.
    """

    schemas: tuple[AnnotationSchema, ...]
    questionnaires: tuple[Questionnaire, ...]
    entries: tuple[Entry[Any], ...]

    def note_unoriented(self, trees: Iterable[TreeDesign], context: LoadContext) -> None:
        """Add a note for every question that a tree sums up and whose bad end nothing states."""
        note_orientations(self.entries, trees, context)


def instruments_to_domain(
    parts: StudyParts, pack: Pack, schema_set: SchemaSet, registry: GuidelineRegistry, context: LoadContext
) -> Instruments:
    """Return what people are asked, with notes on how it is asked; faults are added to the diagnostics.

    Args:
        parts: What has been read of the study: its scenarios name the questionnaires.
        pack: What its packs bring.
        schema_set: Its schemas as they are written.
        registry: Its guidelines; it reads those of the schemas' categories.
        context: Context of the load; collects the diagnostics.
    """
    entries = written_questionnaires(parts.entry, pack, parts.scenarios, context)
    read = {entry.name: (entry, questionnaire_to_domain(entry, context)) for entry in entries}
    instruments = Instruments(
        schemas=schemas_to_domain(schema_set, registry, context),
        questionnaires=tuple(questionnaire for _, questionnaire in read.values() if questionnaire is not None),
        entries=(*schema_set.categories.values(), *entries),
    )
    for entry, questionnaire in read.values():
        note_questions(entry, questionnaire.instrument.questions if questionnaire else (), context)
    for guideline in registry.read():
        if guideline.name in schema_set.categories:
            note_questions(schema_set.categories[guideline.name], guideline.instrument.questions, context)
    return instruments


_LEADING = (
    (r"\b(don't|do not|wouldn't|isn't|wasn't|didn't|aren't|weren't) (you|it|that|this|they)\b", "asks for a yes"),
    (r"\b(would|do) you agree\b", "asks for a yes"),
    (r"\b(obviously|clearly|surely|of course|everybody knows|undoubtedly)\b", "takes the answer for granted"),
    (
        r"\bhow (good|bad|great|terrible|helpful|useless|useful|rude|friendly|dangerous|safe|wrong|right)\b",
        "names one end",
    ),
    (r"\bhow much (better|worse)\b", "names one end"),
)
"""Wordings that push an answer one way, and in which way."""

_BOTH_NAMED = re.compile(r"\b(or|at all|if at all|whether)\b", re.IGNORECASE)
"""Words that give the other answer a place in the question."""


def note_questions(entry: Entry[Any], questions: Iterable[Question], context: LoadContext) -> None:
    """Add notes on the questions of one instrument.

    Args:
        entry: The category of a schema, or the questionnaire, that asks them.
        questions: The questions.
        context: What takes the notes.
    """
    specs = entry.spec.questions if not getattr(entry.spec, "ask", "") else {}
    for question in questions:
        if question.name in specs:
            for words in _notes(question, needs_exemplars=isinstance(entry.spec, CategorySpec)):
                message = f"question `{question.name}` {words}"
                context.diagnostics.add(
                    entry.fault("questions", question.name, message=message, severity=Severity.NOTE, at_key=True)
                )


def note_orientations(entries: Iterable[Entry[Any]], trees: Iterable[TreeDesign], context: LoadContext) -> None:
    """Add a note for every scale that a tree sums up and whose bad end nothing states.

    Args:
        entries: The categories and questionnaires of a study.
        trees: Its trees.
        context: What takes the notes.
    """
    from theodolite.domain.trees.tree import AnswersNode

    nodes = [(tree.name, node) for tree in trees for node in tree.nodes if isinstance(node, AnswersNode)]
    unstated = {node.question: tree for tree, node in nodes if node.range and node.orientation is Orientation.UNSTATED}
    for entry in entries:
        for name in entry.spec.questions:
            tree = unstated.get(f"{entry.name}.{name}")
            if tree:
                message = (
                    f"question `{name}` enters tree `{tree}`, and nothing says which end of its scale is the bad one"
                )
                context.diagnostics.add(
                    entry.fault("questions", name, message=message, severity=Severity.NOTE, at_key=True)
                )


def _notes(question: Question, *, needs_exemplars: bool) -> Iterator[str]:
    if needs_exemplars and not question.exemplars and question.scale not in (IMPACTS, NEITHER):
        yield "has no exemplar: annotators will each make up what it means"
    missing = _unnamed_ends(question.scale)
    if missing:
        verb = "means" if len(missing) == 1 else "mean"
        yield f"does not say what {' and '.join(missing)} {verb}; name both ends of its scale"
    for pattern, why in _LEADING:
        match = re.search(pattern, question.text, re.IGNORECASE)
        if match and not (why == "names one end" and _BOTH_NAMED.search(question.text)):
            yield f'leads: "{match.group()}" {why}'
    if question.text.count("?") > 1:
        yield "asks two things at once; nobody can tell which of them was answered"


def _unnamed_ends(scale: Scale) -> list[str]:
    if scale.kind is not ScaleKind.NUMBERS:
        return []
    named = {label.value for label in scale.labels if label.meaning}
    return [end for end in (str(scale.lowest), str(scale.highest)) if end not in named]
