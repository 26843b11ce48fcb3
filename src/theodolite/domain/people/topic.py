"""Topics: what in a scenario may weigh on people, and what they would rather not meet."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from theodolite.domain.choices import TopicWeight


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitiveTopic:
    """Something in some scenarios that a person may not want to meet.

    Attributes:
        name: Identifier within the study, e.g. `hate`.
        about: What people meet, in words that say it and do not hint at it.
        weight: How much it may weigh.
        scenarios: Names of the scenarios that touch it.
        words: What people read in place of the name, in another language; empty for the name itself.
    """

    name: str
    about: str = ""
    weight: TopicWeight = TopicWeight.MODERATE
    scenarios: tuple[str, ...] = ()
    words: str = ""

    @property
    def title(self) -> str:
        """The name as people read it."""
        return self.words or self.name.replace("-", " ").replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTally:
    """What it cost the balance of an event that nobody has to meet a topic; counts, and no names.

    Attributes:
        topic: Name of the topic.
        weight: How much it may weigh.
        n_asked: Testers and annotators who were asked what they would rather not meet.
        n_people: Those among them who would rather not meet it.
        n_spared: Planned sessions on the topic that were not offered to the person who has their seat.
        n_free: Planned sessions on the topic whose seat nobody has yet.
    """

    topic: str
    weight: TopicWeight
    n_asked: int = 0
    n_people: int = 0
    n_spared: int = 0
    n_free: int = 0


def scenarios_of(topics: Iterable[SensitiveTopic], names: Collection[str]) -> frozenset[str]:
    """Return the scenarios that touch any of some topics.

    Args:
        topics: All topics of a study.
        names: Those that are asked about.
    """
    return frozenset(scenario for topic in topics if topic.name in names for scenario in topic.scenarios)


def topics_in(topics: Iterable[SensitiveTopic], scenario: str) -> tuple[SensitiveTopic, ...]:
    """Return the topics that a scenario touches, the heaviest first."""
    met = (topic for topic in topics if scenario in topic.scenarios)
    return tuple(sorted(met, key=lambda topic: -topic.weight.rank))


def heavy_scenarios(topics: Iterable[SensitiveTopic]) -> frozenset[str]:
    """Return the scenarios that touch a heavy topic."""
    heavy = (topic for topic in topics if topic.weight is TopicWeight.HEAVY)
    return frozenset(scenario for topic in heavy for scenario in topic.scenarios)
