from __future__ import annotations

from datetime import UTC, datetime

import pytest

from theodolite.config.histories import EARLIER, DeclaredChange, HistoryForm, ScoreTable, aware, holds, read_history
from theodolite.config.questions import parse_condition
from theodolite.config.tables import EVERY
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.annotation import Outcome
from theodolite.domain.monitoring import ScaleDirection


def table(*rows, columns=("stars", "at", "model", "anchor", "human")):
    cells = [(*row, *[""] * len(columns))[: len(columns)] for row in rows]
    return ScoreTable(name="t.csv", columns=columns, rows=enumerate(cells, start=2))


def read(*rows, **form):
    return read_history(table(*rows), HistoryForm(**form))


def diagnostics(*rows, **form):
    with pytest.raises(InvalidStudyError) as caught:
        read(*rows, **form)
    return str(caught.value)


def plain(text):
    return " ".join(text.split())


def test_columns_are_detected_by_their_usual_names():
    (score,) = read(("4", "2026-03-01", "bot", "yes", "5")).scores

    assert (score.value, score.application, score.human, score.is_anchor) == (4, "bot", 5, True)
    assert score.at == datetime(2026, 3, 1, tzinfo=UTC)


def test_rows_are_sorted_by_time_unless_one_has_none():
    assert [score.value for score in read(("4", "2026-03-02"), ("5", "2026-03-01")).scores] == [5, 4]
    assert [score.value for score in read(("4", "2026-03-02"), ("5", "")).scores] == [4, 5]


@pytest.mark.parametrize(
    ("cell", "outcome"),
    [("", Outcome.MISSING), ("Failed", Outcome.FAILED), ("good", Outcome.UNPARSEABLE)],
)
def test_a_missing_score_preserves_its_position(cell, outcome):
    scores = read((cell,), ("4",)).scores

    assert (scores[0].value, scores[0].outcome, len(scores)) == (None, outcome, 2)


@pytest.mark.parametrize(
    ("cells", "scale"), [("01", (0, 1)), ("15", (1, 5)), ("19", (1, 10)), (("0.5", "40"), (0, 100))]
)
def test_the_shortest_common_scale_is_detected(cells, scale):
    history = read(*((cell,) for cell in cells))

    assert (history.lowest, history.highest) == scale
    assert "detected from the scores" in history.source


def test_a_rule_defines_defects_and_the_bad_end():
    low = read(("3",), ("4",), defect=parse_condition("<= 3"))
    high = read(("3",), ("4",), defect=parse_condition("> 3"))

    assert [score.defect for score in low.scores] == [True, False]
    assert (low.worse, high.worse) == (ScaleDirection.LOW, ScaleDirection.HIGH)


def test_declared_changes_become_instruments():
    change = DeclaredChange(part="judge", version="2", since=aware("2026-02-01"))

    history = read(("4", "2026-01-01"), ("4", "2026-02-01"), changes=(change,))

    assert [score.instruments["judge"] for score in history.scores] == [EARLIER, "2"]


def test_republished_scores_are_marked_except_anchors():
    rows = [("4", "", "a"), ("4", "", "a"), ("4", "", "b"), ("5", "", "a"), ("5", "", "a", "yes")]

    history = read(*rows, published=True)

    assert [score.is_repeat for score in history.scores] == [False, True, False, False, False]


def test_all_errors_are_reported_at_once():
    said = diagnostics(("4", "yesterday", "a", "maybe", "much"), ("4", "1767225600"))

    assert "t.csv:2" in said
    assert "`yesterday` is not a time" in said
    assert "neither yes nor no" in said
    assert "`much` in `human` is not a number" in said
    assert "3 errors. Nothing was watched." in said


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"scores": "stars"}, "no column can be a `scores`; expected one of score, at,"),
        ({"score": "star"}, "there is no column `star`; it has stars, at, model, anchor, human. Did you mean `stars`?"),
    ],
)
def test_missing_columns_are_detected_by_name(columns, words):
    assert words in " ".join(diagnostics(("4",), columns=columns).split())


def test_a_table_without_scores_is_refused():
    assert "no column looks like a score" in _faults(table(("4",), columns=("mark",)))
    assert "has no row" in _faults(table())
    assert "(1 unparseable), so there is nothing to watch; is `stars` the right column?" in plain(
        diagnostics(("good",))
    )
    assert "fit no usual scale" in diagnostics(("-4",))


def _faults(made):
    with pytest.raises(InvalidStudyError) as caught:
        read_history(made, HistoryForm())
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize("text", ["1767225600", "1767225600000", "2026-01-01", "2026-01-01T01:00:00+01:00"])
def test_times_are_parsed_in_many_formats(text):
    assert read(("4", text)).scores[0].at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [("== 3", 3, True), ("!= 3", 3, False), ("< 3", 2, True), (">= 3", 3, True), ("in 1, 2", 2, True)],
)
def test_rules_compare_numbers(rule, value, expected):
    assert holds(parse_condition(rule), value) is expected


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "NaN", "1e999"])
def test_infinities_and_nan_are_refused_with_their_lines(cell):
    assert f"t.csv:3 `{cell}` in `stars` is not a finite number" in " ".join(diagnostics(("4",), (cell,)).split())


def test_a_table_of_failures_is_reported_as_failures():
    text = " ".join(diagnostics(("failed",), ("failed",), ("refused",)).split())

    assert "none of 3 rows has a score (1 refused, 2 failed), so there is nothing to watch" in text
    assert "column" not in text


def test_the_reason_of_a_score_is_loaded_from_its_column():
    rows = table(("1", "no brand"), columns=("stars", "why"))

    assert read_history(rows, HistoryForm()).scores[0].reason == "no brand"


def test_progress_is_reported_while_rows_are_loaded():
    told = []
    rows = ScoreTable(name="t.csv", columns=("stars",), rows=((line, ("4",)) for line in range(EVERY + 1)))

    read_history(rows, HistoryForm(), on_rows=lambda *step: told.append(step))

    assert told == [("Reading scores of t.csv", 0), ("Reading scores of t.csv", EVERY)]
