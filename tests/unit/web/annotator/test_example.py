"""Worked examples as sheets."""

from __future__ import annotations

from pathlib import Path

import pytest

from theodolite.annotation.rules import examples_for, worked_examples
from theodolite.config.labelling.schema_drafts import read_schema
from theodolite.config.shipped import shipped
from theodolite.domain.annotating.blind import BlindReference
from theodolite.web.annotator.example import ExampleFrame, example_sheet


def shipped_examples():
    for path in sorted(Path(str(shipped("schemas"))).glob("*.yaml")):
        for category in read_schema(path.read_text(), path.stem).schema.categories:
            for places in examples_for(category.guideline):
                yield from (pytest.param(category.guideline, place, id=f"{category.name} {place}") for place in places)


@pytest.mark.parametrize(("guideline", "place"), list(shipped_examples()))
def test_every_shipped_example_asks_exactly_what_it_answers(guideline, place):
    sheet = example_sheet(guideline, place, (), ExampleFrame(title="Practice", reference=BlindReference()))

    assert {item.question.name for item in sheet.items} == set(worked_examples(guideline)[place].answers)
    assert sheet.open
    assert (sheet.exemplars, sheet.examples) == ((), ())
