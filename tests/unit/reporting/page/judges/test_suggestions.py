"""Effects of suggestions in the report: a table beside the effects of orders, with a note on its limit."""

from __future__ import annotations

from tests.fakes.evidence import facts
from tests.fakes.report import words
from tests.unit.measurement.study.test_order_metrics import suggested
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.judges import order_effect_tables
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.results.annotators import order_effect_entry


def test_effects_of_suggestions_have_a_table_with_a_note() -> None:
    evidence = suggested(10)
    findings = measure_study(evidence)
    tables = order_effect_tables(subject_of(evidence, findings, facts(), words()))
    (table,) = [one for one in tables if one.title.startswith("Suggestions of a judge")]

    assert len(table.rows) == 2
    assert table.notes[0].startswith("Labels with suggestions do not validate a judge")
    assert all(not one.notes for one in tables if one is not table)


def test_effects_of_suggestions_are_in_the_results_file() -> None:
    entries = [order_effect_entry(effect) for effect in measure_study(suggested(10)).orders]
    found = [entry for entry in entries if entry["factor"] == "suggestions of a judge"]

    assert [entry["first"]["n"] for entry in found] == [40, 38], "the judge has no label for one dialogue"
    assert [entry["second"]["n"] for entry in found] == [20, 20]
    assert found[1]["measured"] == "share of answers equal to the judge's"
