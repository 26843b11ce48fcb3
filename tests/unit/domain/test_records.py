"""What holds for every record of the domain."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

import theodolite.domain
from theodolite.domain.replay import Returned, Waiting

MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(theodolite.domain.__path__, "theodolite.domain.")
]
RECORDS = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__module__ == module.__name__
]
STATES = {Waiting, Returned}
"""States of a flow, matched by position; they are never kept."""


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_is_frozen_and_has_slots(record):
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)


@pytest.mark.parametrize("record", [record for record in RECORDS if record not in STATES], ids=lambda r: r.__name__)
def test_the_fields_of_a_record_are_named_when_it_is_made(record):
    assert all(field.kw_only for field in dataclasses.fields(record))


def test_the_names_of_records_are_told_apart_without_their_modules():
    names = [record.__name__ for record in RECORDS]

    assert len(set(names)) == len(names)
