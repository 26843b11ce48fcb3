"""What the people of a study are asked: its schemas and questionnaires, read and looked through together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theodolite.config.labelling.annotation_schemas import Written, schemas_of
from theodolite.config.labelling.annotators import GuidelineRegistry
from theodolite.config.labelling.question_notes import note_orientations, note_questions
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.packs import Pack
from theodolite.config.parts import Parts
from theodolite.config.questionnaires import questionnaire_of, written_questionnaires

if TYPE_CHECKING:  # loaded by whoever reads one
    from theodolite.domain.questionnaire import Questionnaire
    from theodolite.domain.schema import AnnotationSchema
    from theodolite.domain.trees.tree import TreeDesign


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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


def asked_of(parts: Parts, pack: Pack, written: Written, registry: GuidelineRegistry, context: LoadContext) -> Asked:
    """Return what people are asked, with notes on how it is asked; faults are added to the diagnostics.

    Args:
        parts: What has been read of the study: its scenarios name the questionnaires.
        pack: What its packs bring.
        written: Its schemas as they are written.
        registry: Its guidelines; it reads those of the schemas' categories.
        context: Context of the load; collects the diagnostics.
    """
    entries = written_questionnaires(parts.entry, pack, parts.scenarios, context)
    read = {entry.name: (entry, questionnaire_of(entry, context)) for entry in entries}
    asked = Asked(
        schemas=schemas_of(written, registry, context),
        questionnaires=tuple(questionnaire for _, questionnaire in read.values() if questionnaire is not None),
        entries=(*written.categories.values(), *entries),
    )
    for entry, questionnaire in read.values():
        note_questions(entry, questionnaire.instrument.questions if questionnaire else (), context)
    for guideline in registry.read():
        if guideline.name in written.categories:
            note_questions(written.categories[guideline.name], guideline.instrument.questions, context)
    return asked
