from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import guideline, live, study
from theodolite.domain.estimate import Estimate, Measurement, Outcomes
from theodolite.reporting.matrix import matrix_lines, matrix_of
from theodolite.reporting.rates import Rate

AREAS = ("songs", "books", "news", "jokes")
STUDY = replace(
    study(applications=(live("none"), live("strict"))), guidelines=tuple(guideline(name=name) for name in AREAS)
)


def rate(area, application, defects, n=20, low=0.1, high=0.5, ceiling=None, **about):
    result = Estimate(
        value=defects / n, n=n, count=defects, low=low, high=high, method="wilson", unit="dialogue", confidence=0.95
    )
    measurement = Measurement(
        measure="defect_rate",
        application=application,
        about={"guideline": area, "rule": "defect", "annotator": "signs", **about},
        result=result,
        outcomes=Outcomes(planned=n, used=n),
    )
    return Rate(place=0, measurement=measurement, ceiling=ceiling)


def rates(areas=AREAS, applications=("none", "strict"), **more):
    return tuple(rate(area, app, 5, **more) for area in areas for app in applications)


def test_many_areas_and_applications_make_a_matrix_in_order_of_the_study():
    rows = matrix_of(STUDY, rates(tuple(reversed(AREAS))))

    assert [row.area for row in rows] == list(AREAS)
    assert {len(row.cells) for row in rows} == {2}


def test_few_areas_or_a_single_application_make_none():
    alone = replace(STUDY, applications=STUDY.applications[:1])

    assert matrix_of(STUDY, rates(AREAS[:3])) == ()
    assert matrix_of(alone, rates(applications=("none",))) == ()


def test_one_guideline_in_several_scenarios_is_several_areas():
    split = tuple(
        rate("songs", app, 1, **{"group.scenario": name}) for name in ("a", "b", "c", "d") for app in ("none", "strict")
    )

    rows = matrix_of(STUDY, (*rates(("songs",)), *split))

    assert [row.area for row in rows] == ["a", "b", "c", "d"]


def test_levels_of_testing_stand_apart():
    levels = [{"level": "red teaming", "held_by": "person"}, {"level": "model testing", "held_by": "script"}]
    found = tuple(one for about in levels for one in rates(**about))

    lines = matrix_lines(STUDY, matrix_of(STUDY, found), width=80)

    assert [line for line in lines if not line.startswith(" ")] == ["red teaming, person", "model testing, script"]


def test_each_cell_holds_a_count_and_what_is_not_measured_says_so():
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
