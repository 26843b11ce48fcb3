"""A published table over two years, with a declared change of its judge."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from theodolite.config.histories import DeclaredChange, HistoryForm, ScoreTable, aware, read_history
from theodolite.config.tables import read_table
from theodolite.domain.monitoring import AlertKind, ScaleDirection
from theodolite.measurement.monitoring import watch_history

CHANGE = DeclaredChange(part="judge", version="HHEM-2.1", since=aware("2024-07-25T18:47:14-07:00"))
FORM = {"columns": {"score": "rate_pct"}, "scale": (0.0, 100.0), "worse": ScaleDirection.HIGH, "published": True}


@cache
def watched(*changes):
    read = read_table(Path(__file__).with_name("hallucination_history.csv.gz"), "history")
    rows = ((line, list(row.values())) for line, row in zip(read.lines, read.rows, strict=True))
    table = ScoreTable(name="h", columns=read.columns, rows=rows, faults=read.faults)
    return watch_history(read_history(table, HistoryForm(changes=changes, **FORM)))


def test_the_table_is_loaded_completely():
    scores = watched().history.scores

    assert (len(scores), len({score.application for score in scores})) == (11_297, 344)


def test_the_declared_change_of_the_judge_is_reported_with_its_shifts():
    change = next(change for change in watched(CHANGE).changes if change.part == "judge")

    assert (f"{change.at:%Y-%m-%d}", change.after, change.is_suspected) == ("2024-07-25", "HHEM-2.1", False)
    assert (change.n_lower, change.n_higher) == (9, 27)


def test_the_declared_change_raises_no_alert_about_an_application():
    assert {alert.kind for alert in watched(CHANGE).alerts} <= {AlertKind.RECALIBRATION_DUE}


def test_scores_of_gpt_4_are_not_compared_across_the_change():
    segments = [one for one in watched(CHANGE).segments if one.application in {"GPT 4", "GPT-4", "OpenAI GPT-4"}]

    before = [one.level for one in segments if one.instruments["judge"] != "HHEM-2.1"]
    after = [one.level for one in segments if one.instruments["judge"] == "HHEM-2.1"]
    assert 3.0 in before
    assert 1.8 in after


def test_an_undeclared_change_is_detected():
    days = [f"{change.at:%Y-%m-%d}" for change in watched().changes if change.is_suspected]

    assert days == ["2024-07-25", "2024-08-14", "2025-11-18"]
