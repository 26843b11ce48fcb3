"""A draft as its page shows it: what is wrong with the text line by line, its questions, and what publishing does."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.labelling.schema_drafts import SchemaReading, read_schema, schema_text
from theodolite.config.labelling.schema_lines import QuestionBlock, question_blocks
from theodolite.domain.errors import NotFound, StudyError
from theodolite.domain.schema import AnnotationSchema, Category
from theodolite.domain.study import Study
from theodolite.web.annotator.questions import worded
from theodolite.web.events import study_in_files
from theodolite.web.models import HostedStudy, SchemaDraft, SchemaRevision
from theodolite.web.schemas.drafts import tidied
from theodolite.web.schemas.publishing import Outlook, outlook_of

TRIED = 20
"""Revisions that are tried at most until one can be read; count."""

MOST_LINES = 400
"""Lines of a comparison that a page shows at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineCategory:
    """One category with the questions that have lines of their own."""

    name: str
    title: str
    blocks: tuple[QuestionBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDraft:
    """One text of a draft and everything that its page says of it.

    Attributes:
        draft: The draft.
        revision: The text.
        reading: What it says as a schema.
        readable: The latest revision that a preview can be drawn from; None where there is none.
        categories: Its categories, as `readable` has them.
        study: The study as its files are; None where they hold faults.
    """

    draft: SchemaDraft
    revision: SchemaRevision
    reading: SchemaReading
    readable: SchemaRevision | None
    categories: tuple[Category, ...]
    study: Study | None

    @property
    def faults(self) -> tuple[LocatedDiagnostic, ...]:
        """What keeps it from being a schema."""
        return self.reading.faults

    @property
    def notes(self) -> tuple[LocatedDiagnostic, ...]:
        """What is badly asked."""
        return self.reading.notes

    @property
    def outline(self) -> tuple[OutlineCategory, ...]:
        """The questions of each category, where they have lines of their own."""
        blocks = question_blocks(self.reading.source)
        names = dict.fromkeys(block.category for block in blocks)
        titles = {category.name: category.title for category in self.categories}
        return tuple(
            OutlineCategory(
                name=name,
                title=titles.get(name) or worded(name),
                blocks=tuple(block for block in blocks if block.category == name),
            )
            for name in names
        )

    @property
    def outlook(self) -> Outlook | None:
        """What publishing would do; None while the text holds faults."""
        schema = self.reading.schema
        return outlook_of(self.draft, schema, self.study) if schema else None

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """How the text differs from the file that the study has: kind of line and line; cut to what a page holds."""
        return tuple(_compared(_published_text(self.draft), self.revision.text))[:MOST_LINES]

    @property
    def is_named(self) -> bool:
        """Whether the study uses a schema of this name."""
        return self.study is not None and any(one.name == self.draft.name for one in self.study.schemas)


def written(draft: SchemaDraft, revision: SchemaRevision) -> WrittenDraft:
    """Return a text of a draft with all that its page says of it."""
    reading = read_schema(revision.text, draft.name)
    drawn = next(_readable(draft, revision, reading.schema), None)
    return WrittenDraft(
        draft=draft,
        revision=revision,
        reading=reading,
        readable=drawn[0] if drawn else None,
        categories=drawn[1].categories if drawn else (),
        study=study_of_files(draft.hosted),
    )


def study_of_files(hosted: HostedStudy) -> Study | None:
    """Return a study as its files are; None where they hold faults."""
    try:
        return study_in_files(hosted).study
    except (NotFound, StudyError):
        return None


def _readable(
    draft: SchemaDraft, revision: SchemaRevision, schema: AnnotationSchema | None
) -> Iterator[tuple[SchemaRevision, AnnotationSchema]]:
    """Yield the revision where it could be read, then those before it that can."""
    if schema is not None:
        yield revision, schema
        return
    for one in draft.revisions.filter(number__lt=revision.number).order_by("-number")[:TRIED]:
        found = read_schema(one.text, draft.name).schema
        if found is not None:
            yield one, found


def _published_text(draft: SchemaDraft) -> str:
    text = schema_text(Path(draft.hosted.folder), draft.name, resource_resolver()) if draft.hosted.folder else None
    return tidied(text) if text else ""


def _compared(before: str, after: str) -> Iterator[tuple[str, str]]:
    kinds = {"+": "put in", "-": "taken out", "@": "place", " ": "kept"}
    compared = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    for line in list(compared)[2:]:
        yield kinds[line[0]], line
