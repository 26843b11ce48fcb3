from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import guideline, live, rule, study
from theodolite.domain.estimate import Estimate, Measurement, Outcomes
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.reporting.queries.rates import Rate, matrix_of

AREAS = ("songs", "books", "news", "jokes")
STUDY = replace(
    study(applications=(live("none"), live("strict"))), guidelines=tuple(guideline(name=name) for name in AREAS)
)


def rate(area, application, defects, n=20, low=0.1, high=0.5, ceiling=None, *, by_rule="defect", **subject):
    result = Estimate(
        value=defects / n, n=n, count=defects, low=low, high=high, method="wilson", unit="dialogue", confidence=0.95
    )
    measurement = Measurement(
        measure=Measure.DEFECT_RATE,
        subject=EstimateSubject(
            application=application, guideline=area, rule=by_rule, annotators=("signs",), **subject
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


TWO_RULES = guideline(
    name="travel-facts",
    rules=[
        replace(rule(), name="wrong", title="Travel facts"),
        replace(rule(), name="unsupported", title="Travel facts"),
    ],
)


def test_two_rules_with_one_title_are_distinguished_by_their_names():
    several = replace(STUDY, guidelines=(*STUDY.guidelines, TWO_RULES))
    found = (
        *rates(),
        *(
            rate("travel-facts", app, 1, by_rule=name)
            for name in ("wrong", "unsupported")
            for app in ("none", "strict")
        ),
    )

    areas = [row.area for row in matrix_of(several, found)]

    assert areas == [*AREAS, "Travel facts: wrong", "Travel facts: unsupported"]


def test_two_rules_in_one_scenario_are_distinguished():
    several = replace(STUDY, guidelines=(TWO_RULES,))
    found = tuple(
        rate("travel-facts", app, 1, by_rule=name, group=scene and GroupValue(name="scenario", value=scene))
        for name in ("wrong", "unsupported")
        for scene in (None, "isle", "coast")
        for app in ("none", "strict")
    )

    areas = [row.area for row in matrix_of(several, found)]

    assert areas == ["isle: wrong", "coast: wrong", "isle: unsupported", "coast: unsupported"]


def test_two_guidelines_with_one_title_are_distinguished_by_both_names():
    rules = [replace(rule(), title="Released")]
    alike = tuple(guideline(name=name, rules=rules) for name in ("first", "second"))
    several = replace(STUDY, guidelines=(*STUDY.guidelines, *alike))
    found = (*rates(), *rates(("first", "second")))

    assert [row.area for row in matrix_of(several, found)][-2:] == [
        "Released: first, defect",
        "Released: second, defect",
    ]
