from __future__ import annotations

from dataclasses import replace

from theodolite.domain import scenario
from theodolite.domain.identity import version_of
from theodolite.domain.persona import StrategyInfo


def test_the_sources_of_a_scenario_are_one_text():
    sources = tuple(scenario.SourceText(name=name, text=f"Text {name}.") for name in "ab")
    shop = scenario.Scenario(name="s", packet=scenario.TestPacket(sources=sources))

    assert shop.context == "Text a.\n\nText b."
    assert scenario.Scenario(name="s").context == ""


def test_a_strategy_is_identified_by_its_behaviour_regardless_of_its_source():
    ours = StrategyInfo(name="ours/beg", tries=2, title="begs")
    told = (scenario.Scenario(name="s"), scenario.Scenario(name="t", brought=(ours,)))

    titles = [scenario.strategy_title(told, name) for name in ("role_play", "ours/beg", "own_way", "long_gone")]

    assert titles == ["the request as part of a story", "begs", "a way of the tester's own", "long gone"]


def test_the_title_of_a_strategy_is_not_part_of_a_study_version():
    plain = StrategyInfo(name="ours/beg", tries=2)
    versions = {version_of(replace(plain, title=title)) for title in ("", "begs")}

    assert versions == {version_of(plain)}
