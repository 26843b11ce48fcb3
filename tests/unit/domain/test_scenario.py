from __future__ import annotations

from theodolite.domain import scenario


def test_the_sources_of_a_scenario_are_one_text():
    sources = tuple(scenario.SourceText(name=name, text=f"Text {name}.") for name in "ab")
    shop = scenario.Scenario(name="s", packet=scenario.TestPacket(sources=sources))

    assert shop.context == "Text a.\n\nText b."
    assert scenario.Scenario(name="s").context == ""
