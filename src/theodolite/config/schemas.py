"""JSON Schemas: of all kinds of study files, for completion in editors, and of what a run writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theodolite.config.described import describe_shapes
from theodolite.config.shapes.base import Shape
from theodolite.config.shapes.guidelines import GuidelineShape
from theodolite.config.shapes.instruments import QuestionnaireShape, SchemaShape
from theodolite.config.shapes.prices import PriceListShape
from theodolite.config.shapes.scenarios import ScenarioShape
from theodolite.config.shapes.series import SeriesShape, TaxonomyShape
from theodolite.config.shapes.study import PackShape, StudyShape
from theodolite.config.shapes.translations import TranslationShape
from theodolite.config.shapes.trees import TreeShape
from theodolite.config.shipped import shipped_text
from theodolite.domain.errors import InputError

SHAPES: Mapping[str, type[Shape]] = {
    "study.schema.json": StudyShape,
    "scenario.schema.json": ScenarioShape,
    "guideline.schema.json": GuidelineShape,
    "pack.schema.json": PackShape,
    "tree.schema.json": TreeShape,
    "annotation-schema.schema.json": SchemaShape,
    "questionnaire.schema.json": QuestionnaireShape,
    "translation.schema.json": TranslationShape,
    "prices.schema.json": PriceListShape,
    "series.schema.json": SeriesShape,
    "taxonomy.schema.json": TaxonomyShape,
}
"""File name to the shape that it describes."""

WRITTEN = ("results.schema.json", "compare.schema.json", "monitor.schema.json", "series-report.schema.json")
"""File names of the schemas of what is written, e.g. `results.json`; they are kept by hand and shipped."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_texts() -> dict[str, str]:
    """Return file name to schema; the first line of a study may then name it.

    Example:
        ``# yaml-language-server: $schema=schemas/study.schema.json``
    """
    describe_shapes()
    return {name: _text(shape) for name, shape in SHAPES.items()}


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


def _text(shape: type[Shape]) -> str:
    schema = {"$schema": _DIALECT, **_untitled(shape.model_json_schema(by_alias=True))}
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
