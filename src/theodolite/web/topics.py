"""Topics as pages tell them: what it is, how much it may weigh, how often it is met."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from theodolite.domain.choices import TopicWeight
from theodolite.domain.language import best_language
from theodolite.domain.people.topic import SensitiveTopic, topics_in
from theodolite.domain.wording import WARNING, LocalisedStudy
from theodolite.web.languages import PLAIN, page_languages

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
        inline: The same within a sentence.
        about: What people meet.
        language: Of title and `about`.
        weight: How much it may weigh, in words.
        is_heavy: Whether it is among the heaviest.
        where: How many of the scenarios touch it, in words.
        is_avoided: Whether the reader would rather not meet it.
    """

    name: str
    title: str
    inline: str
    about: str
    language: str
    weight: str
    is_heavy: bool
    where: str
    is_avoided: bool = False


def told_topics(read: LocalisedStudy, avoided: Collection[str] = ()) -> tuple[ToldTopic, ...]:
    """Return all topics of a study as they are told, the heaviest first."""
    return tuple(_told(topic, read, is_avoided=topic.name in avoided) for topic in _heaviest_first(read.study.topics))


def told_topics_in(read: LocalisedStudy, scenario: str) -> tuple[ToldTopic, ...]:
    """Return the topics that a scenario touches as they are told, the heaviest first."""
    return tuple(_told(topic, read) for topic in topics_in(read.study.topics, scenario))


def topics_in_words(read: LocalisedStudy) -> str:
    """Return topics as a list in Markdown; empty for none.

    The words hang on the language of the list and not on that of the page, since people agree to them.
    """
    with translation.override(best_language((read.language_of(WARNING),), page_languages()) or PLAIN):
        told = [(one.title, _WEIGHTS[one.weight], one.about.strip()) for one in _heaviest_first(read.study.topics)]
        return "\n".join(f"- **{title}** ({weight}): {about}" for title, weight, about in told)


def _heaviest_first(topics: Iterable[SensitiveTopic]) -> list[SensitiveTopic]:
    return sorted(topics, key=lambda topic: -topic.weight.rank)


def _told(topic: SensitiveTopic, read: LocalisedStudy, *, is_avoided: bool = False) -> ToldTopic:
    n, of = len(topic.scenarios), len(read.study.scenarios)
    return ToldTopic(
        name=topic.name,
        title=topic.title,
        inline=topic.words or topic.title.lower(),
        about=topic.about,
        language=read.language_of(WARNING),
        weight=str(_WEIGHTS[topic.weight]),
        is_heavy=topic.weight is TopicWeight.HEAVY,
        where=gettext("in every scenario") if n == of else gettext("in %(n)s of %(of)s scenarios") % {"n": n, "of": of},
        is_avoided=is_avoided,
    )
