"""JSON Schemas: of all kinds of study files, for completion in editors, and of what a run writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theodolite.config.described import describe_specs
from theodolite.config.resources import shipped_text
from theodolite.config.specs.base import Spec
from theodolite.config.specs.guidelines import GuidelineSpec
from theodolite.config.specs.instruments import AnnotationSchemaSpec, QuestionnaireSpec
from theodolite.config.specs.prices import PriceListSpec
from theodolite.config.specs.scenarios import ScenarioSpec
from theodolite.config.specs.series import SeriesSpec, TaxonomySpec
from theodolite.config.specs.study import PackSpec, StudySpec
from theodolite.config.specs.translations import TranslationSpec
from theodolite.config.specs.trees import TreeSpec
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
