from __future__ import annotations

import dataclasses
import shutil

import pytest

from tests.unit.config.test_annotators import TWO_CODINGS, TWO_COLUMNS
from theodolite.config.assembly import expanded
from theodolite.config.loading import load_study
from theodolite.domain.guideline import Origin


def schema_of_study(schema):
    categories = (
        dataclasses.replace(one, guideline=dataclasses.replace(one.guideline, origin=Origin.STUDY))
        for one in schema.categories
    )
    return dataclasses.replace(schema, categories=tuple(categories))


def same_origin(study):
    """Return the study with what a change of place changes: origins, names and editions of templates, consent."""
    return dataclasses.replace(
        study,
        guidelines=tuple(dataclasses.replace(item, origin=Origin.STUDY) for item in study.guidelines),
        schemas=tuple(schema_of_study(item) for item in study.schemas),
        personas=tuple(
            dataclasses.replace(
                item,
                template=dataclasses.replace(item.template, name="", edition="", shipped=False),
                rows=tuple(dataclasses.replace(row, line=0) for row in item.rows),
                example=False,
            )
            for item in study.personas
        ),
        event=study.event and dataclasses.replace(study.event, consent=""),
    )


@pytest.mark.parametrize("name", ["examples/a", "examples/b", "examples/c", "demo/xstest-replay", "demo/spoiler-guard"])
def test_the_long_form_is_the_same_study(shipped_folder, tmp_path, name):
    study = load_study(shipped_folder(name)).study
    copy = tmp_path / "copy"
    shutil.copytree(shipped_folder(name), copy)

    (copy / "study.yaml").write_text(expanded(study), encoding="utf-8")

    assert same_origin(load_study(copy).study) == same_origin(study)


def test_columns_with_different_spellings_preserve_them(folder):
    path = folder(study_yaml=TWO_COLUMNS, rows_csv=TWO_CODINGS)
    study = load_study(path).study

    (path / "study.yaml").write_text(expanded(study), encoding="utf-8")

    assert same_origin(load_study(path).study) == same_origin(study)


def test_defaults_are_written_out(shipped_folder):
    text = expanded(load_study(shipped_folder("examples/a")).study)

    assert all(words in text for words in ("attempts: 5", "repeats: 1", "guardrails: not declared", "score <= 3"))
