"""Drafts of annotation schemas: a text that somebody is writing, read as a study would read its file."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.labelling.annotation_schemas import FOLDER, Written, category_entries, schemas_of
from theodolite.config.labelling.annotators import GuidelineRegistry
from theodolite.config.labelling.question_notes import note_questions
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.resources import ResourceResolver
from theodolite.config.specs.instruments import AnnotationSchemaSpec
from theodolite.config.yaml_source import YamlSource, read_yaml
from theodolite.domain.fault import Severity
from theodolite.domain.schema import AnnotationSchema

LONGEST = 200_000
"""Letters of a draft at most; count. The shipped schema has about 25,000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReading:
    """What a text says as a schema.

    Attributes:
        source: The text as YAML.
        schema: What it says; None where it holds faults.
        placed: Faults and notes, the worst first.
    """

    source: YamlSource
    schema: AnnotationSchema | None
    placed: tuple[LocatedDiagnostic, ...]

    @property
    def faults(self) -> tuple[LocatedDiagnostic, ...]:
        """What keeps it from being a schema."""
        return tuple(one for one in self.placed if one.severity is Severity.FAULT)

    @property
    def notes(self) -> tuple[LocatedDiagnostic, ...]:
        """What is badly asked, though it can be."""
        return tuple(one for one in self.placed if one.severity is not Severity.FAULT)


def schema_path(name: str) -> str:
    """Return the path of a schema's file in a study's folder.

    Example:
        >>> schema_path("tone")
        'schemas/tone.yaml'
    """
    return f"{FOLDER}/{name}.yaml"


@functools.lru_cache(maxsize=16)
def read_schema(text: str, name: str) -> SchemaReading:
    """Return what a text says as the schema of a name, by itself: what a study's trees make of it is not looked at.

    The last texts are remembered, since an editor and its preview ask for the same one many times.

    Args:
        text: YAML, as `schemas/NAME.yaml` would hold it.
        name: Name of the schema.
    """
    raw = text.encode("utf-8")
    context = LoadContext(folder=Path("nowhere"), instead={schema_path(name): raw})
    context.diagnostics.first = schema_path(name)
    entry = context.read_spec(FOLDER, name, AnnotationSchemaSpec, "schema")
    schema = _schema(entry, context) if entry else None
    placed = context.diagnostics.in_order()
    is_whole = not any(one.severity is Severity.FAULT for one in placed)
    source = entry.source if entry else read_yaml(raw, schema_path(name))
    return SchemaReading(source=source, schema=schema if is_whole else None, placed=placed)


def _schema(entry: Entry[AnnotationSchemaSpec], context: LoadContext) -> AnnotationSchema | None:
    categories: dict[str, Entry[Any]] = {category.name: category for category in category_entries(entry)}
    registry = GuidelineRegistry(categories, context)
    read = schemas_of(Written(entries=(entry,), categories=categories, shipped=frozenset()), registry, context)
    for guideline in registry.read():
        note_questions(categories[guideline.name], guideline.instrument.questions, context)
    return read[0] if read else None


def schema_text(folder: Path, name: str, resolver: ResourceResolver) -> str | None:
    """Return the text of a schema's file, from a study's folder or shipped; None where it has no file of its own."""
    path = folder / schema_path(name)
    if path.is_file():
        return path.read_text(encoding="utf-8-sig")
    resource = resolver.resource(schema_path(name))
    return resource.raw.decode("utf-8-sig") if resource else None
