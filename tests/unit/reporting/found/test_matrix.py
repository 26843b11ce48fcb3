from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import guideline, live, study
from theodolite.domain.estimate import Estimate, Measurement, Outcomes
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.reporting.found.matrix import matrix_of
from theodolite.reporting.found.rates import Rate

AREAS = ("songs", "books", "news", "jokes")
STUDY = replace(
    study(applications=(live("none"), live("strict"))), guidelines=tuple(guideline(name=name) for name in AREAS)
)


def rate(area, application, defects, n=20, low=0.1, high=0.5, ceiling=None, **subject):
    result = Estimate(
        value=defects / n, n=n, count=defects, low=low, high=high, method="wilson", unit="dialogue", confidence=0.95
    )
    measurement = Measurement(
        measure=Measure.DEFECT_RATE,
        subject=EstimateSubject(
            application=application, guideline=area, rule="defect", annotators=("signs",), **subject
        ),
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
        rate("songs", app, 1, group=GroupValue(name="scenario", value=name))
        for name in ("a", "b", "c", "d")
        for app in ("none", "strict")
    )

    rows = matrix_of(STUDY, (*rates(("songs",)), *split))

    assert [row.area for row in rows] == ["a", "b", "c", "d"]
