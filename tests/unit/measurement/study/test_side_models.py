from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.fakes.responses import AFTER, response
from theodolite.domain.estimate import Undefined
from theodolite.measurement.questionnaire.ordinal import ordinal_model
from theodolite.measurement.study.side_models import side_model

BAD = AFTER.instrument.question("bad")
PEOPLE = [f"p{number:02}" for number in range(12)]
BLUE = [2, 3, 1, 4, 3, 2, 5, 3, 2, 4, 3, 1]
GREEN = [4, 3, 3, 6, 5, 2, 7, 5, 3, 4, 5, 3]


def given(blue=BLUE, green=GREEN, people=PEOPLE):
    sides = (("blue", blue), ("green", green))
    return [response(who, side, bad) for side, answers in sides for who, bad in zip(people, answers, strict=True)]


def by_application(one):
    return one.application


def test_odds_are_those_of_the_ordinal_model_with_each_testers_tendency():
    found = side_model(BAD, given(), by_application)
    fit = ordinal_model(
        [*BLUE, *GREEN], {"green": [0.0] * 12 + [1.0] * 12}, categories=range(1, 8), people=[*PEOPLE, *PEOPLE]
    )

    assert (found.against, list(found.odds), found.n, found.n_people) == ("blue", ["green"], 24, 12)
    assert found.odds["green"].value == pytest.approx(math.exp(fit.coefficients["green"].value))
    assert found.odds["green"].low == pytest.approx(math.exp(fit.coefficients["green"].low))
    assert found.odds["green"].low > 1


def test_testers_who_answered_once_need_no_tendency():
    one_each = [*given()[:12], *given(people=[f"q{number:02}" for number in range(12)])[12:]]

    assert side_model(BAD, one_each, by_application).odds["green"].method == "proportional odds, Wald"


def test_what_else_differs_is_held_equal_and_named():
    half = [replace(one, scenario="other") if one.participant < "p06" else one for one in given()]
    found = side_model(BAD, half, by_application, {"scenario": lambda one: one.scenario, "none": lambda one: "x"})

    assert (found.held_equal, list(found.odds)) == (("scenario",), ["green"])


def test_an_effect_at_some_points_alone_is_told():
    blue, green = [1, *[3, 4] * 19, 7], [1, 2, 6, 7] * 10
    many = given(blue, green, [f"p{number:02}" for number in range(40)])

    assert not side_model(BAD, many, by_application).is_even
    assert side_model(BAD, given(), by_application).is_even


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        (given()[:12], "one side"),
        (given(BLUE[:9], GREEN[:9], PEOPLE[:9]), "Fewer than 10 testers"),
        (given([1] * 12, [1] * 12), "One point"),
        (given([1] * 12, [7] * 12), "settles"),
    ],
    ids=["one side", "few testers", "one answer", "settled"],
)
def test_what_cannot_be_modelled_says_why(responses, words):
    found = side_model(BAD, responses, by_application)

    assert isinstance(found, Undefined)
    assert words in found.reason
