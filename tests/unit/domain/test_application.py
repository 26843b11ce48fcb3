from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.application import ModelEndpoint, Price

LARGE = ModelEndpoint(name="large", url="http://h/v1", model="m", params={"temperature": 0})


@pytest.mark.parametrize(
    ("price", "tokens", "cost"),
    [
        ((1.0, 2.0), (0, 0), 0),
        ((1.0, 2.0), (1, 0), 1),
        ((0.1, 0.0), (1, 0), 1),
        ((0.1, 0.0), (10, 0), 1),
        ((1.1, 0.0), (10, 0), 11),
        ((0.25, 1.25), (1_000_000, 1_000_000), 1_500_000),
    ],
)
def test_a_cost_is_rounded_up_to_whole_microdollars(price, tokens, cost):
    assert Price(input_usd=price[0], output_usd=price[1]).cost_microusd(*tokens) == cost


@pytest.mark.parametrize(
    "change",
    [
        {"name": "x"},
        {"key": "K"},
        {"parallel": 1},
        {"timeout_s": 1.0},
        {"attempts": 9},
        {"price": Price(input_usd=1, output_usd=1)},
    ],
)
def test_settings_that_cannot_change_replies_are_not_part_of_the_version(change):
    assert replace(LARGE, **change).version == LARGE.version


@pytest.mark.parametrize("change", [{"url": "http://x/v1"}, {"model": "n"}, {"params": {}}, {"script": ("a",)}])
def test_settings_that_can_change_replies_are_part_of_the_version(change):
    assert replace(LARGE, **change).version != LARGE.version


def test_a_scripted_model_is_marked_as_scripted():
    assert ModelEndpoint(name="s", script=("a",)).is_scripted
    assert not LARGE.is_scripted
