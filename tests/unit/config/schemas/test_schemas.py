from __future__ import annotations

import functools
import json

import jsonschema
import pytest

from theodolite.config.schemas import SPECS, WRITTEN, schema_texts, write_schemas
from theodolite.config.yaml_source import read_yaml, typed
from theodolite.domain.errors import InputError

STUDIES = ["examples/a", "examples/b", "examples/c", "demo/xstest-replay", "demo/spoiler-guard"]


@functools.cache
def schema(name):
    return json.loads(schema_texts()[name])


def as_editors_read(path):
    return typed(read_yaml(path.read_bytes(), path.name).content)


@pytest.mark.parametrize("name", SPECS)
def test_the_shipped_schema_is_up_to_date(shipped_folder, name):
    assert (shipped_folder("schemas") / name).read_text(encoding="utf-8") == schema_texts()[name]


@pytest.mark.parametrize("name", SPECS)
def test_a_schema_is_valid_and_explains_every_key(name):
    document = schema(name)

    jsonschema.Draft202012Validator.check_schema(document)
    specs = [document, *(part for part in document.get("$defs", {}).values() if "properties" in part)]
    silent = [key for spec in specs for key, part in spec["properties"].items() if "description" not in part]
    assert silent == []


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_that_loads_is_valid_in_an_editor_too(shipped_folder, name):
    jsonschema.validate(as_editors_read(shipped_folder(name) / "study.yaml"), schema("study.schema.json"))


def test_shipped_guidelines_and_packs_are_valid_in_an_editor(shipped_folder):
    kinds = {
        "guideline": shipped_folder("guidelines").glob("*.yaml"),
        "pack": shipped_folder("packs").rglob("pack.yaml"),
        "translation": [
            path for name in ("packs", "demo") for path in shipped_folder(name).rglob("translations/*.yaml")
        ],
        "annotation-schema": shipped_folder("schemas").glob("*.yaml"),
    }
    for kind, paths in kinds.items():
        validator = jsonschema.Draft202012Validator(schema(f"{kind}.schema.json"))
        for path in paths:
            validator.validate(as_editors_read(path))


def test_an_editor_marks_a_misspelt_key():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"study": "a", "promptz": []}, schema("study.schema.json"))


def test_schemas_are_written_to_a_folder(tmp_path):
    assert [path.name for path in write_schemas(tmp_path / "schemas")] == [*SPECS, *WRITTEN]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_schema_of_a_written_file_is_the_shipped_one(shipped_folder, tmp_path, name):
    found = {path.name: path.read_text(encoding="utf-8") for path in write_schemas(tmp_path)}

    assert found[name] == (shipped_folder("schemas") / name).read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(found[name]))


def test_an_unwritable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(InputError, match="name another folder"):
        write_schemas(tmp_path / "file" / "schemas")
