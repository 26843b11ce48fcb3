"""JSON Schemas of study files and results, and text edits of annotation schemas."""

from __future__ import annotations

import ast
import functools
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from theodolite.config.guidelines import GuidelineRegistry, GuidelineSpec
from theodolite.config.instruments import (
    SCHEMA_FOLDER,
    AnnotationSchemaSpec,
    QuestionnaireSpec,
    SchemaSet,
    category_entries,
    note_questions,
    schemas_to_domain,
)
from theodolite.config.load_context import Entry, LoadContext, ResourceResolver, shipped_text
from theodolite.config.models import PriceListSpec
from theodolite.config.scenarios import ScenarioSpec
from theodolite.config.series import SeriesSpec, TaxonomySpec
from theodolite.config.study import PackSpec, StudySpec, TreeSpec
from theodolite.config.translations import TranslationSpec
from theodolite.config.validation import Spec
from theodolite.config.yaml_source import LocatedDiagnostic, YamlSource, read_yaml
from theodolite.domain.errors import InputError, Severity
from theodolite.domain.schema import AnnotationSchema

SPECS: Mapping[str, type[Spec]] = {
    "study.schema.json": StudySpec,
    "scenario.schema.json": ScenarioSpec,
    "guideline.schema.json": GuidelineSpec,
    "pack.schema.json": PackSpec,
    "tree.schema.json": TreeSpec,
    "annotation-schema.schema.json": AnnotationSchemaSpec,
    "questionnaire.schema.json": QuestionnaireSpec,
    "translation.schema.json": TranslationSpec,
    "prices.schema.json": PriceListSpec,
    "series.schema.json": SeriesSpec,
    "taxonomy.schema.json": TaxonomySpec,
}
"""Spec behind each file name."""

WRITTEN = (
    "results.schema.json",
    "compare.schema.json",
    "monitor.schema.json",
    "series-report.schema.json",
    "json-output.schema.json",
)
"""File names of the schemas of output files, e.g. `results.json` and `--json`; maintained by hand."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_texts() -> dict[str, str]:
    """Return the schema of each file name; the first line of a study may name it.

    Example:
        ``# yaml-language-server: $schema=schemas/study.schema.json``
    """
    describe_specs()
    return {name: _text(spec) for name, spec in SPECS.items()}


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write all schemas, including those of output files, to a folder and return their paths.

    Raises:
        InputError: If the folder cannot be written to.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written_files = {name: shipped_text(f"schemas/{name}") for name in WRITTEN}
        for name, text in (schema_texts() | written_files).items():
            path = folder / name
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        message = f"the schemas cannot be written to `{folder}`: {error.strerror}; name another folder"
        raise InputError(message) from error
    return tuple(written)


def _text(spec: type[Spec]) -> str:
    schema = {"$schema": _DIALECT, **_untitled(spec.model_json_schema(by_alias=True))}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _untitled(node: Any, *, names: bool = False) -> Any:
    """Remove titles that only repeat a key; keys with the name `title` are unchanged."""
    if isinstance(node, list):
        return [_untitled(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _untitled(value, names=key in {"properties", "$defs"} and not names)
        for key, value in node.items()
        if names or key != "title"
    }


@cache
def describe_specs() -> None:
    """Add descriptions to the keys of all loaded specs; a second call does nothing."""
    specs = list(_below(Spec))
    for spec in specs:
        for parent in reversed(spec.__mro__):
            if issubclass(parent, Spec) and parent is not Spec:
                for name, text in _docstrings_of(parent).items():
                    spec.model_fields[name].description = text
    for spec in (*specs, *specs):  # twice, because parents may come before their children
        spec.model_rebuild(force=True)


def _below(spec: type[Spec]) -> Iterator[type[Spec]]:
    for child in spec.__subclasses__():
        yield child
        yield from _below(child)


@cache
def _docstrings_of(spec: type[Spec]) -> dict[str, str]:
    """Return the text below each field."""
    tree = ast.parse(inspect.getsource(spec))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: inspect.cleandoc(wording)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(wording := text.value.value, str)
    }


LONGEST = 200_000
"""Maximum length of a draft; characters. The shipped schema has about 25,000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReading:
    """A text parsed as a schema.

    Attributes:
        source: The text as YAML.
        schema: The schema; None if the text has errors.
        placed: Errors and notes, worst first.
    """

    source: YamlSource
    schema: AnnotationSchema | None
    placed: tuple[LocatedDiagnostic, ...]

    @property
    def faults(self) -> tuple[LocatedDiagnostic, ...]:
        """Errors that prevent a schema."""
        return tuple(item for item in self.placed if item.severity is Severity.ERROR)

    @property
    def notes(self) -> tuple[LocatedDiagnostic, ...]:
        """Weaknesses of the wording."""
        return tuple(item for item in self.placed if item.severity is not Severity.ERROR)


def schema_path(name: str) -> str:
    """Return the path of a schema's file in a study's folder.

    Example:
        >>> schema_path("tone")
        'schemas/tone.yaml'
    """
    return f"{SCHEMA_FOLDER}/{name}.yaml"


@functools.lru_cache(maxsize=16)
def read_schema(text: str, name: str) -> SchemaReading:
    """Return a text parsed as the schema of a name, without checks of a study's trees.

    The latest texts are cached, since an editor and its preview parse the same text many times.

    Args:
        text: YAML, as in `schemas/NAME.yaml`.
        name: Name of the schema.
    """
    raw = text.encode("utf-8")
    context = LoadContext(folder=Path("nowhere"), instead={schema_path(name): raw})
    context.diagnostics.first = schema_path(name)
    entry = context.read_spec(SCHEMA_FOLDER, name, AnnotationSchemaSpec, "schema")
    schema = _schema(entry, context) if entry else None
    placed = context.diagnostics.in_order()
    is_whole = not any(item.severity is Severity.ERROR for item in placed)
    source = entry.source if entry else read_yaml(raw, schema_path(name))
    return SchemaReading(source=source, schema=schema if is_whole else None, placed=placed)


def _schema(entry: Entry[AnnotationSchemaSpec], context: LoadContext) -> AnnotationSchema | None:
    categories = {category.name: category for category in category_entries(entry)}
    registry = GuidelineRegistry(categories, context)
    read = schemas_to_domain(SchemaSet(entries=(entry,), categories=categories, shipped=frozenset()), registry, context)
    for guideline in registry.read():
        note_questions(categories[guideline.name], guideline.instrument.questions, context)
    return read[0] if read else None


def schema_text(folder: Path, name: str, resolver: ResourceResolver) -> str | None:
    """Return the text of a schema's file, from a study folder or shipped; None if it has no separate file."""
    path = folder / schema_path(name)
    if path.is_file():
        return path.read_text(encoding="utf-8-sig")
    resource = resolver.resource(schema_path(name))
    return resource.raw.decode("utf-8-sig") if resource else None


_BEGINNING = """\
{key}:
  ask: What is to be asked?
  may_be_unable: yes
  exemplars:
    - {{text: "User: ... Reply: ...", answer: yes, reason: Why.}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLines:
    """The lines of one question.

    Attributes:
        category: Name of its category.
        name: Name of the question.
        first: Number of its first line, from 1.
        last: Number of its last line.
        indent: Spaces before its name; count.
    """

    category: str
    name: str
    first: int
    last: int
    indent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelineNote:
    """A clarification of the guidance, and the thread that decided it."""

    words: str
    thread: str


def question_blocks(source: YamlSource) -> tuple[QuestionLines, ...]:
    """Return the questions that have their own lines, in the order of the file.

    A question in a category written on one line (`{...}`) is omitted; it is edited as text.

    Args:
        source: The file.
    """
    return tuple(
        block
        for path, key in source.keys.items()
        if len(path) == 4 and (path[0], path[2]) == ("categories", "questions")
        if (block := _block(source.lines, str(path[1]), str(path[3]), key.line)) is not None
    )


def _block(lines: Sequence[str], category: str, name: str, first: int) -> QuestionLines | None:
    line = lines[first - 1]
    indent = len(line) - len(line.lstrip())
    if not line.lstrip().lstrip("\"'").startswith(name):
        return None
    last = first
    for number in range(first + 1, len(lines) + 1):
        following = lines[number - 1]
        is_blank = not following.strip()
        if not is_blank and len(following) - len(following.lstrip()) <= indent:
            break
        last = last if is_blank else number
    return QuestionLines(category=category, name=name, first=first, last=last, indent=indent)


def moved(text: str, source: YamlSource, category: str, name: str, by: int) -> str:
    """Return the text with a question moved up or down by one within its category.

    Args:
        text: The file.
        source: The same file, parsed.
        category: Name of the category.
        name: Name of the question.
        by: 1 for down, -1 for up.

    Raises:
        InputError: If the question has no lines of its own, or is already first or last.
    """
    block, siblings = _find_schema(source, category, name), _of_category(source, category)
    position = siblings.index(block) + by
    if not 0 <= position < len(siblings):
        message = f"question `{name}` is already {'the last' if by > 0 else 'the first'} of `{category}`"
        raise InputError(message)
    entry, two = sorted((block, siblings[position]), key=lambda item: item.first)
    lines = _lines(text)
    between = lines[entry.last : two.first - 1]
    swapped = [*lines[two.first - 1 : two.last], *between, *lines[entry.first - 1 : entry.last]]
    return _joined([*lines[: entry.first - 1], *swapped, *lines[two.last :]])


def doubled(text: str, source: YamlSource, category: str, name: str) -> str:
    """Return the text with a copy of a question after it, under a new name.

    Raises:
        InputError: If the question has no lines of its own.
    """
    block, lines = _find_schema(source, category, name), _lines(text)
    copied = lines[block.first - 1 : block.last]
    copied[0] = copied[0].replace(name, _free(source, category, name), 1)
    return _joined([*lines[: block.last], *copied, *lines[block.last :]])


def without(text: str, source: YamlSource, category: str, name: str) -> str:
    """Return the text without a question.

    Raises:
        InputError: If the question has no lines of its own, or is the only one of its category.
    """
    block, lines = _find_schema(source, category, name), _lines(text)
    if len(_of_category(source, category)) < 2:
        message = f"question `{name}` is the only one of `{category}`; a category asks one at least"
        raise InputError(message)
    return _joined([*lines[: block.first - 1], *lines[block.last :]])


def added(text: str, source: YamlSource, category: str) -> str:
    """Return the text with a template of a new question at the end of a category.

    Raises:
        InputError: If no question of the category has its own lines.
    """
    siblings, lines = _of_category(source, category), _lines(text)
    if not siblings:
        message = f"no question of `{category}` has lines of its own; add one in the text"
        raise InputError(message)
    last = siblings[-1]
    beginning = _BEGINNING.format(key=_free(source, category, "new_question")).splitlines()
    indented = [" " * last.indent + line for line in beginning]
    return _joined([*lines[: last.last], *indented, *lines[last.last :]])


def advised(text: str, source: YamlSource, category: str, name: str, note: GuidelineNote) -> str:
    """Return the text with a note on how to read a question or a category.

    The note is added to the existing `guidance`, with a comment that names its thread.

    Args:
        text: The file.
        source: The same file, parsed.
        category: Name of the category.
        name: Name of the question; empty for the category as a whole.
        note: The note to add.

    Raises:
        InputError: If the question or category, or its guidance, has no lines of its own.
    """
    lines = _lines(text)
    item = f"- {json.dumps(note.words, ensure_ascii=False)}  # thread {note.thread}"
    path = ("categories", category, "questions", name) if name else ("categories", category)
    there = source.keys.get((*path, "guidance"))
    if there is not None:
        last, indent = _list_end(lines, there.line)
        return _joined([*lines[:last], " " * indent + item, *lines[last:]])
    position, indent = _room_in_question(source, category, name) if name else _room_in_category(source, category)
    return _joined([*lines[:position], " " * indent + "guidance:", " " * (indent + 2) + item, *lines[position:]])


def _room_in_question(source: YamlSource, category: str, name: str) -> tuple[int, int]:
    """Return the line after which a new key of a question belongs, and its indentation; counts."""
    block = _find_schema(source, category, name)
    if not source.lines[block.first - 1].split("#")[0].rstrip().endswith(":"):
        message = f"question `{name}` of `{category}` stands in one line; edit it as text"
        raise InputError(message)
    return block.last, block.indent + 2


def _room_in_category(source: YamlSource, category: str) -> tuple[int, int]:
    """Return the same for a category: directly before its questions."""
    location = source.keys.get(("categories", category, "questions"))
    line = source.lines[location.line - 1] if location else ""
    if location is None or not line.lstrip().startswith("questions"):
        message = f"category `{category}` has no lines of its own in this text; edit it as text"
        raise InputError(message)
    return location.line - 1, len(line) - len(line.lstrip())


def _list_end(lines: Sequence[str], key: int) -> tuple[int, int]:
    """Return the number of the last line of a list, and the spaces before its items, from the line of its key."""
    begin = lines[key - 1]
    outer, last, indent = len(begin) - len(begin.lstrip()), key, -1
    for number in range(key + 1, len(lines) + 1):
        line = lines[number - 1]
        inner = len(line) - len(line.lstrip())
        is_item = line.lstrip().startswith("- ")
        if line.strip() and (inner < outer or (inner == outer and not is_item)):
            break
        if line.strip():
            last, indent = number, inner if is_item and indent < 0 else indent
    if indent < 0:
        message = f"the notes in line {key} stand in one line; edit them as text"
        raise InputError(message)
    return last, indent


def _find_schema(source: YamlSource, category: str, name: str) -> QuestionLines:
    for block in _of_category(source, category):
        if block.name == name:
            return block
    message = f"question `{name}` of `{category}` has no lines of its own in this text; edit it as text"
    raise InputError(message)


def _of_category(source: YamlSource, category: str) -> list[QuestionLines]:
    return [block for block in question_blocks(source) if block.category == category]


def _free(source: YamlSource, category: str, name: str) -> str:
    """Return a name that is unused in the category."""
    taken = {path[3] for path in source.keys if len(path) == 4 and path[:2] == ("categories", category)}
    return next(item for item in _names(name) if item not in taken)


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
