"""Topics, and the scenarios that touch them."""

from __future__ import annotations

from theodolite.domain.choices import TopicWeight
from theodolite.domain.study_parts import SensitiveTopic, heavy_scenarios, scenarios_of, topics_in

HATE = SensitiveTopic(name="open-hate", weight=TopicWeight.HEAVY, scenarios=("forum", "street"))
EATING = SensitiveTopic(name="eating", scenarios=("kitchen", "street"))
TOPICS = (EATING, HATE)


def test_scenarios_are_those_with_any_of_the_named_topics() -> None:
    assert scenarios_of(TOPICS, {"eating"}) == {"kitchen", "street"}
    assert scenarios_of(TOPICS, ()) == frozenset()


def test_the_topics_of_a_scenario_are_sorted_by_sensitivity() -> None:
    assert topics_in(TOPICS, "street") == (HATE, EATING)
    assert topics_in(TOPICS, "garden") == ()


def test_a_scenario_is_sensitive_if_one_of_its_topics_is() -> None:
    assert heavy_scenarios(TOPICS) == {"forum", "street"}
    assert HATE.title == "Open hate"
