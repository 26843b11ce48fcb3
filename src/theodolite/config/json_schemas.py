"""JSON Schemas of all files that people write and of the files that a run writes."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from theodolite.config.guidelines import GuidelineSpec
from theodolite.config.instruments import AnnotationSchemaSpec, QuestionnaireSpec
from theodolite.config.load_context import shipped_text
from theodolite.config.models import PriceListSpec
from theodolite.config.scenarios import ScenarioSpec
from theodolite.config.series import SeriesSpec, TaxonomySpec
from theodolite.config.study import PackSpec, StudySpec, TreeSpec
from theodolite.config.translations import TranslationSpec
from theodolite.config.validation import Spec
from theodolite.domain.errors import InputError

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
"""File name to the spec that it describes."""

WRITTEN = ("results.schema.json", "compare.schema.json", "monitor.schema.json", "series-report.schema.json")
"""File names of the schemas of what is written, e.g. `results.json`; they are kept by hand and shipped."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_texts() -> dict[str, str]:
    """Return file name to schema; the first line of a study may then name it.

    Example:
        ``# yaml-language-server: $schema=schemas/study.schema.json``
    """
    describe_specs()
    return {name: _text(spec) for name, spec in SPECS.items()}


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write all schemas, those of written files too, into a folder and return where they are.

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
    """Take out the titles that only repeat a key; keys that are called `title` stay."""
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
    """Give the keys of all specs that were loaded their descriptions; a second call has nothing to do."""
    specs = list(_below(Spec))
    for spec in specs:
        for parent in reversed(spec.__mro__):
            if issubclass(parent, Spec) and parent is not Spec:
                for name, words in _docstrings_of(parent).items():
                    spec.model_fields[name].description = words
    for spec in (*specs, *specs):  # twice, since those that hold others may come before them
        spec.model_rebuild(force=True)


def _below(spec: type[Spec]) -> Iterator[type[Spec]]:
    for child in spec.__subclasses__():
        yield child
        yield from _below(child)


@cache
def _docstrings_of(spec: type[Spec]) -> dict[str, str]:
    """Return field to the text that stands under it."""
    tree = ast.parse(inspect.getsource(spec))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: inspect.cleandoc(words)
        for field, said in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
        if isinstance(words := said.value.value, str)
    }
