"""Topics, and the scenarios that touch them."""

from __future__ import annotations

from theodolite.domain.choices import TopicWeight
from theodolite.domain.study_parts import SensitiveTopic, heavy_scenarios, scenarios_of, topics_in

HATE = SensitiveTopic(name="open-hate", weight=TopicWeight.HEAVY, scenarios=("forum", "street"))
EATING = SensitiveTopic(name="eating", scenarios=("kitchen", "street"))
TOPICS = (EATING, HATE)


def test_scenarios_are_those_that_touch_any_of_the_named_topics() -> None:
    assert scenarios_of(TOPICS, {"eating"}) == {"kitchen", "street"}
    assert scenarios_of(TOPICS, ()) == frozenset()


def test_the_topics_of_a_scenario_come_with_the_heaviest_first() -> None:
    assert topics_in(TOPICS, "street") == (HATE, EATING)
    assert topics_in(TOPICS, "garden") == ()


def test_heavy_is_what_touches_a_heavy_topic() -> None:
    assert heavy_scenarios(TOPICS) == {"forum", "street"}
    assert HATE.title == "Open hate"
