"""Topics as pages tell them: what it is, how much it may weigh, how often it is met."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from theodolite.domain.study import Study
from theodolite.domain.topic import SensitiveTopic, TopicWeight, topics_in

_WEIGHTS = {
    TopicWeight.LIGHT: _("light"),
    TopicWeight.MODERATE: _("may weigh on you"),
    TopicWeight.HEAVY: _("heavy"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTopic:
    """One topic as it is told.

    Attributes:
        name: Identifier.
        title: Its heading.
        about: What people meet.
        weight: How much it may weigh, in words.
        is_heavy: Whether it is among the heaviest.
        where: How many of the scenarios touch it, in words.
        is_avoided: Whether the reader would rather not meet it.
    """

    name: str
    title: str
    about: str
    weight: str
    is_heavy: bool
    where: str
    is_avoided: bool = False


def told_topics(study: Study, avoided: Collection[str] = ()) -> tuple[ToldTopic, ...]:
    """Return all topics of a study as they are told, the heaviest first."""
    of = len(study.scenarios)
    heaviest_first = sorted(study.topics, key=lambda topic: -topic.weight.rank)
    return tuple(_told(topic, of, is_avoided=topic.name in avoided) for topic in heaviest_first)


def told_topics_in(study: Study, scenario: str) -> tuple[ToldTopic, ...]:
    """Return the topics that a scenario touches as they are told, the heaviest first."""
    return tuple(_told(topic, len(study.scenarios)) for topic in topics_in(study.topics, scenario))


def topics_in_words(topics: Iterable[SensitiveTopic]) -> str:
    """Return topics as a list in Markdown, the same in every language, since people agree to it; empty for none."""
    heaviest_first = sorted(topics, key=lambda topic: -topic.weight.rank)
    return "\n".join(f"- **{one.title}** ({one.weight.value}): {one.about.strip()}" for one in heaviest_first)


def _told(topic: SensitiveTopic, of: int, *, is_avoided: bool = False) -> ToldTopic:
    n = len(topic.scenarios)
    return ToldTopic(
        name=topic.name,
        title=topic.title,
        about=topic.about,
        weight=str(_WEIGHTS[topic.weight]),
        is_heavy=topic.weight is TopicWeight.HEAVY,
        where=gettext("in every scenario") if n == of else gettext("in %(n)s of %(of)s scenarios") % {"n": n, "of": of},
        is_avoided=is_avoided,
    )
