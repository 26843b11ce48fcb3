"""Laws of defect rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import rule

from theodolite.domain.instrument import Operator, Scale, ScaleKind

OPPOSITES = [
    (Operator.EQUAL, Operator.UNEQUAL),
    (Operator.BELOW, Operator.AT_LEAST),
    (Operator.AT_MOST, Operator.ABOVE),
]
SCALES = st.tuples(st.integers(-12, 12), st.integers(1, 12)).map(
    lambda ends: Scale(kind=ScaleKind.NUMBERS, lowest=ends[0], highest=ends[0] + ends[1])
)


class TestOpposites:
    """Of two opposite operators exactly one finds a defect."""

    @pytest.mark.parametrize(("operator", "opposite"), OPPOSITES, ids=str)
    @given(scale=SCALES, data=st.data())
    def test_exactly_one_of_two_opposite_operators_finds_a_defect(self, operator, opposite, scale, data):
        value, limit = (data.draw(st.sampled_from(scale.categories)) for _ in range(2))

        assert rule(operator, limit).is_defect(value, scale) != rule(opposite, limit).is_defect(value, scale)


class TestOrder:
    """Numbers are compared as numbers, not letter by letter."""

    @given(SCALES, st.data())
    def test_numbers_are_compared_as_numbers(self, scale, data):
        value, limit = (data.draw(st.sampled_from(scale.categories)) for _ in range(2))

        assert rule(Operator.BELOW, limit).is_defect(value, scale) == (int(value) < int(limit))


class TestOneOf:
    """Being one of several is being equal to any of them."""

    @given(SCALES, st.data())
    def test_one_of_equals_a_match_with_any_value(self, scale, data):
        value = data.draw(st.sampled_from(scale.categories))
        wanted = data.draw(st.lists(st.sampled_from(scale.categories), min_size=1, max_size=3))

        any_equal = any(rule(Operator.EQUAL, each).is_defect(value, scale) for each in wanted)
        assert rule(Operator.ONE_OF, *wanted).is_defect(value, scale) == any_equal
