"""Statements that are prepared once bind what the models' fields would have bound."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from theodolite.domain.errors import StoreError
from theodolite.store.models import DialogueRow, JournalEntryRow, UnitRow
from theodolite.store.statements import _insertion


def bound(model, column, value):
    """Return what would be bound for one column."""
    form = _insertion(model)
    names = [field.attname for field in model._meta.concrete_fields if not field.primary_key]
    place = names.index(column)
    return form.bound({**dict.fromkeys(names), column: value})[place]


def test_every_column_except_the_primary_key_is_named():
    columns = _insertion(UnitRow).head.partition("(")[2].partition(")")[0].split(", ")

    assert columns == [field.column for field in UnitRow._meta.concrete_fields if not field.primary_key]


def test_a_row_with_a_missing_column_is_refused():
    with pytest.raises(KeyError, match="run_id"):
        _insertion(UnitRow).bound({"key": "ab" * 32})


@pytest.mark.parametrize(
    ("model", "column", "value", "expected"),
    [
        (JournalEntryRow, "request_hash", "ab" * 32, b"\xab" * 32),
        (JournalEntryRow, "text", "a\x00b", "a\N{REPLACEMENT CHARACTER}b"),
        (JournalEntryRow, "created", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1_000_000),
        (JournalEntryRow, "cost_microusd", None, None),
        (DialogueRow, "persona_id", "cd" * 32, b"\xcd" * 32),
    ],
    ids=["hash", "text", "moment", "nothing", "foreign hash"],
)
def test_values_are_bound_like_fields(model, column, value, expected):
    assert bound(model, column, value) == expected


@pytest.mark.parametrize(("column", "error"), [("tokens_in", ValueError), ("request_hash", StoreError)])
def test_an_invalid_value_of_a_column_is_refused(column, error):
    with pytest.raises(error):
        bound(JournalEntryRow, column, "many")
