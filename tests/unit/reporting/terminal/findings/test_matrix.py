from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import guideline
from tests.unit.reporting.queries.rates.test_matrix import AREAS, STUDY, rate, rates
from theodolite.domain.dialogue import Level, TesterType
from theodolite.reporting.queries.rates import matrix_of
from theodolite.reporting.terminal.findings import matrix_lines


def test_levels_of_testing_are_separate():
    levels = [(Level.RED_TEAMING, TesterType.PERSON), (Level.MODEL_TESTING, TesterType.SCRIPT)]
    found = tuple(one for level, tester_type in levels for one in rates(level=level, tester_type=tester_type))

    lines = matrix_lines(STUDY, matrix_of(STUDY, found), width=80)

    assert [line for line in lines if not line.startswith(" ")] == ["red teaming, person", "model testing, script"]


def test_each_cell_has_a_count_and_unmeasured_cells_say_so():
    cells = (
        rate("songs", "none", 5, low=0.102, high=0.498),
        rate("songs", "strict", 0, ceiling=0.004),
        rate("books", "none", 3, n=6),
        *rates(AREAS[2:]),
    )

    lines = matrix_lines(STUDY, matrix_of(STUDY, cells), width=80)

    assert lines[0].split() == ["none", "strict"]
    assert lines[1].split(maxsplit=1) == ["songs", "5 of 20, 10 to 50   0 of 20, to <1"]
    assert lines[2].split(maxsplit=1) == ["books", "3 of 6              not measured"]


def test_applications_that_do_not_fit_follow_in_a_further_table():
    lines = matrix_lines(STUDY, matrix_of(STUDY, rates()), width=45)

    assert [line.strip() for line in lines if line.strip() in {"none", "strict"}] == ["none", "strict"]
    assert max(len(line) for line in lines[:-1]) <= 45
    assert max(len(line) for line in lines) <= 80


def test_names_shortened_alike_are_listed_in_full_below():
    names = ("a very long name of an area, one", "a very long name of an area, two", "books", "news")
    long = replace(STUDY, guidelines=tuple(guideline(name=name) for name in names))

    lines = matrix_lines(long, matrix_of(long, rates(names)), width=80)

    assert [line for line in lines if line in names] == list(names[:2])
