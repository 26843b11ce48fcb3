"""The summary of a dry run."""

from __future__ import annotations

from dataclasses import replace

from theodolite.cli.serve import summary_of
from theodolite.domain.run import FailureSource
from theodolite.dry_run.event import CellTally, DryRunResult, Problem

WELL = DryRunResult(
    people={"red teaming": 2, "field testing": 2},
    completed=4,
    questionnaires=8,
    annotators=2,
    annotations=16,
    pages=119,
    cells=(CellTally(level="red teaming", application="careful", sessions=2, dialogues=3, turns=6, failed=1),),
    problems=(),
    took_s=90.0,
    results="out/results.json",
    folder="out/pages",
    pictures=30,
)


def test_the_summary_of_a_server_fits_80_columns() -> None:
    lines = summary_of(WELL, "spoilers").splitlines()

    assert lines[0] == "Bots      2 red teaming, 2 field testing; 4 of 4 completed the event"
    assert lines[2] == "Labels    16 annotations by 2 bots"
    assert lines[3] == "Took      1.5 minutes"
    assert lines[6].split() == ["red", "teaming", "careful", "3", "6", "1"]
    assert "Failed    nothing" in lines
    assert max(map(len, lines)) <= 80


def test_an_unreachable_application_is_named() -> None:
    cell = CellTally(level="red teaming", application="green", sessions=1, turns=2, failed=2)
    problem = Problem(source=FailureSource.APPLICATION, who="green", what="unreachable: " + "x" * 99, n=2)

    lines = summary_of(replace(WELL, cells=(cell,), problems=(problem,), results=""), "spoilers").splitlines()

    assert "DEAD      green answered no prompt at all" in lines
    assert any(line.startswith("Failed    application green, 2 x: unreachable") for line in lines)
    assert "Measured  nothing: no dialogue was completed" in lines
    assert max(map(len, lines)) <= 80


def test_an_empty_draw_is_reported() -> None:
    said = summary_of(replace(WELL, pictures=None), "spoilers")

    assert "Pictures  none: no Chromium was found, or --no-pictures was given" in said


def test_a_count_of_one_uses_the_singular():
    said = summary_of(replace(WELL, questionnaires=1, pages=1), "spoilers")

    assert "1 questionnaire, 1 page\n" in said


def test_missing_participant_texts_are_reported() -> None:
    lines = summary_of(replace(WELL, missing=("no consent text is named",)), "spoilers").splitlines()

    assert "Missing   no consent text is named; the event does not open without" in lines
