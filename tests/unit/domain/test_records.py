"""What holds for every record of the domain."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections import Counter

import theodolite.domain
from theodolite.domain.flow import Returned, Waiting

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


def named(records):
    return [f"{record.__module__}.{record.__name__}" for record in records]


def test_every_record_is_frozen_and_has_slots():
    assert len(RECORDS) > 250
    assert named(record for record in RECORDS if not record.__dataclass_params__.frozen) == []
    assert named(record for record in RECORDS if "__slots__" not in vars(record)) == []


def test_the_fields_of_a_record_are_passed_by_name():
    positional = [record for record in RECORDS if not all(field.kw_only for field in dataclasses.fields(record))]

    assert {*positional} == STATES, named(positional)


def test_the_names_of_records_are_unique_across_modules():
    counts = Counter(record.__name__ for record in RECORDS)

    assert named(record for record in RECORDS if counts[record.__name__] > 1) == []
