"""Plain agreement: counting, chance and refusals."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import exact_agreement, relaxed_agreement


def test_chance_is_what_the_use_of_the_labels_alone_would_give():
    agreement = exact_agreement(["yes"] * 9 + ["no"], ["yes"] * 8 + ["no"] * 2)

    assert agreement.chance == pytest.approx(0.9 * 0.8 + 0.1 * 0.2)


def test_texts_need_the_order_of_the_scale():
    with pytest.raises(InputError, match="needs numbers, or `categories` with the scale in order"):
        relaxed_agreement(["low"], ["high"])


def test_steps_are_counted_on_the_scale_that_is_given():
    far = relaxed_agreement(["low", "low"], ["high", "mid"], categories=["low", "mid", "high"])

    assert (far.count, far.n) == (1, 2)


def test_a_label_off_the_scale_is_refused():
    with pytest.raises(InputError, match="`categories` must hold every label"):
        relaxed_agreement(["low"], ["huge"], categories=["low", "high"])


def test_distances_bear_rounding():
    assert relaxed_agreement([0.4], [0.3], within=0.1).count == 1


@pytest.mark.parametrize("within", [-1, float("nan"), float("inf")])
def test_a_distance_that_is_none_is_refused(within):
    with pytest.raises(InputError, match="`within` must be a distance of 0 or more"):
        relaxed_agreement([1], [1], within=within)


@pytest.mark.parametrize("agreement", [exact_agreement, relaxed_agreement])
def test_no_pair_is_undefined(agreement):
    result = agreement([1, None], [None, 2])

    assert isinstance(result, Undefined)
    assert result.reason == "No dialogue has a label of both annotators."


def test_forty_of_forty_is_not_certainty():
    agreement = exact_agreement(["yes"] * 40, ["yes"] * 40)

    assert agreement.value == 1.0
    assert agreement.low == pytest.approx(0.912, abs=1e-3)
