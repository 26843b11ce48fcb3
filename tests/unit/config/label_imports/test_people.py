"""What label files say of those who labelled."""

from __future__ import annotations

from theodolite.config.label_imports import annotator_attributes_of
from theodolite.config.tables import InputTable


def table(*rows):
    columns = ("item", "answer", "annotator", "annotator.language", "annotator.first job")
    full = tuple(dict(zip(columns, row, strict=True)) for row in rows)
    return InputTable(file="labels.csv", columns=columns, rows=full, lines=tuple(range(2, 2 + len(full))))


def test_columns_named_after_the_annotator_describe_each_respondent():
    found = annotator_attributes_of(table(("i1", "yes", "anna", " de ", "nurse"), ("i1", "no", "ben", "en", "")))

    assert found.groups("") == {"anna": {"language": "de", "first job": "nurse"}, "ben": {"language": "en"}}
    assert found.faults == ()


def test_an_empty_cell_does_not_remove_a_value():
    found = annotator_attributes_of(table(("i1", "yes", "anna", "de", ""), ("i2", "yes", "anna", "", "nurse")))

    assert found.groups("") == {"anna": {"language": "de", "first job": "nurse"}}


def test_contradicting_attributes_of_one_annotator_are_refused():
    found = annotator_attributes_of(table(("i1", "yes", "anna", "de", ""), ("i2", "yes", "anna", "en", "")))

    assert [(fault.line, fault.message) for fault in found.faults] == [
        (3, "`annotator.language` of `anna` is `en` here and `de` in line 2; keep one")
    ]


def test_rows_without_an_annotator_belong_to_the_annotator_named_for_all():
    found = annotator_attributes_of(table(("i1", "yes", "", "de", "")))

    assert found.groups("anna") == {"anna": {"language": "de"}}
    assert found.groups("") == {}
