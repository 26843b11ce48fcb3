"""Tables write typed values by the kind of their column."""

from __future__ import annotations

import pytest

from theodolite.domain.estimate import Undefined
from theodolite.measurement.proportion import defect_rate
from theodolite.reporting.tables import Column, ColumnKind, Table, TableCell, columns, value_text

RATE = defect_rate(10, 40)
TABLE = Table(
    title="Rates",
    columns=columns(
        "Application",
        Column("Sessions", ColumnKind.COUNT),
        Column("Rate", ColumnKind.RATE),
        Column("Share", ColumnKind.SHARE),
    ),
    rows=(("bot", 1200, RATE, TableCell(value=RATE, opens="set")), ("toy", 0, Undefined(reason="No labels."), None)),
)


def test_each_column_writes_its_values():
    assert TABLE.texts == (
        ("bot", "1,200", "10 of 40 (25.0%, 14.2 to 40.2)", "25.0% (14.2 to 40.2)"),
        ("toy", "0", "undefined: no labels", "none"),
    )


def test_a_cell_preserves_its_dialogues_and_has_the_kind_of_its_column():
    cell = TABLE.cells[0][3]

    assert (cell.kind, cell.opens) == (ColumnKind.SHARE, "set")


def test_missing_and_undefined_values_are_not_zero():
    assert [cell.is_undefined for cell in TABLE.cells[1]] == [False, False, True, True]


@pytest.mark.parametrize(
    ("reason", "text"),
    [("Too few.", "too few"), ("Cohen's kappa needs two labels.", "Cohen's kappa needs two labels"), ("x", "x")],
)
def test_a_reason_is_part_of_a_sentence(reason, text):
    assert value_text(Undefined(reason=reason)) == f"undefined: {text}"


def test_a_row_with_another_number_of_values_is_rejected():
    with pytest.raises(ValueError, match="zip"):
        Table(title="t", columns=columns("a"), rows=(("x", "y"),)).cells  # noqa: B018
