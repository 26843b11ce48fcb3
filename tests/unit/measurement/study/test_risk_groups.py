from __future__ import annotations

from theodolite.measurement.study.risk_groups import RiskUnit, risk_contrasts, risk_parts


def units(part, *said):
    return [RiskUnit(person=f"{part}{n}", groups={"age": part}, is_real=one) for n, one in enumerate(said)]


def test_what_nobody_labelled_is_undecided_and_not_free_of_the_risk():
    old, young = risk_parts([*units("old", True, None, None), *units("young", *[False] * 5, None)])

    assert (old.n, old.n_undecided, old.n_people, old.count) == (1, 2, 1, None)
    assert (young.n, young.n_undecided, young.n_people, young.count) == (5, 1, 5, 0)


def test_a_group_with_one_value_is_no_split_and_people_without_one_belong_to_none():
    assert risk_parts(units("old", True, False)) == ()
    nobody = RiskUnit(person="x", groups={}, is_real=True)
    assert [part.part for part in risk_parts([*units("a", True), *units("b", True), nobody])] == ["a", "b"]


def test_parts_that_are_withheld_are_not_compared():
    told = [*units("old", *[True] * 4), *units("young", *[False] * 6)]

    assert list(risk_contrasts(told, risk_parts(told), seed=1)) == []
