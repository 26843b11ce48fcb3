from __future__ import annotations

from theodolite.config.yaml_source import Diagnostics, LocatedDiagnostic, few_of, render_diagnostics
from theodolite.domain.errors import Severity


def fault(line=1, **more):
    return LocatedDiagnostic(**{"file": "study.yaml", "message": f"wrong {line}", "line": line, "column": 2} | more)


def test_twenty_errors_are_shown_and_the_rest_counted():
    lines = render_diagnostics([fault(n) for n in range(1, 28)]).splitlines()

    assert lines[-2:] == ["and 7 more (--all)", "27 errors. Nothing was run, nothing was sent."]
    assert len(lines) == 22


def test_all_errors_are_shown_on_request():
    assert "more (--all)" not in render_diagnostics([fault(n) for n in range(1, 28)], limit=None)


def test_notes_alone_do_not_stop_loading_and_show_no_source():
    note = fault(3, severity=Severity.NOTE, excerpt="some line")

    assert render_diagnostics([note]) == "study.yaml:3   note: wrong 3"


def test_the_caret_is_below_the_text_on_a_long_line():
    excerpt = "x" * 90 + "HERE" + "y" * 50

    _, source, carets, _ = render_diagnostics([fault(9, column=91, width=4, excerpt=excerpt)]).splitlines()

    assert source[carets.index("^") :][:4] == "HERE"
    assert len(source) <= 80


def test_a_terminal_with_colours_gets_a_coloured_caret():
    assert "\x1b[31m^\x1b[0m" in render_diagnostics([fault(excerpt="abc")], color=True)


def test_no_line_is_wider_than_the_terminal():
    screen = render_diagnostics([fault(message="word " * 60, excerpt="z" * 200)])

    assert max(map(len, screen.splitlines())) <= 80


def test_the_worst_error_is_shown_first_and_then_file_order_applies():
    diagnostics = Diagnostics(first="study.yaml")
    other = LocatedDiagnostic(file="rows.csv", message="wrong", line=4)
    note, late, early = fault(1, severity=Severity.NOTE), fault(9), fault(2)

    diagnostics.add(other, note, late, early, late)

    assert diagnostics.in_order() == (early, late, other, note)


def test_the_first_errors_are_shown_and_the_rest_counted():
    faults = [LocatedDiagnostic(file="log.csv", line=line, message="is wrong") for line in range(1, 1052)]

    assert few_of(faults[:50], "log.csv") == tuple(faults[:50])
    assert few_of(faults, "log.csv") == (
        *faults[:50],
        LocatedDiagnostic(file="log.csv", message="has 1,001 further errors"),
    )
