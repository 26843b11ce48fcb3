"""Profiles and content opt-outs of participants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.choices import TopicWeight, UserType
from theodolite.domain.errors import InputError
from theodolite.domain.event import PersonProfile
from theodolite.domain.study_parts import SensitiveTopic, topics_in
from theodolite.domain.text import best_language
from theodolite.domain.wording import WARNING, LocalisedStudy
from theodolite.web.languages import PLAIN, page_languages


def read_profile(sent: Mapping[str, str]) -> PersonProfile:
    """Return what a form says of a person; saying nothing is an answer, too.

    Args:
        sent: Fields of the form; `skip` leaves everything unsaid.

    Raises:
        InputError: If a line of the self-description names a thing and not what it is.
    """
    fields = {} if sent.get("skip") else sent
    return PersonProfile(
        user_type=next((kind for kind in UserType if kind.value == fields.get("user_type")), None),
        expertise=fields.get("expertise", "")[:300].strip(),
        languages=tuple(filter(None, (word.strip() for word in fields.get("languages", "")[:120].split(",")))),
        groups=_groups(fields.get("groups", "")),
    )


def _groups(text: str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text[:600].splitlines())):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not (name and colon and value):
            template = _("“%(line)s” has no colon; expected the form “age: 40 to 49”.")
            message = template % {"line": line}
            raise InputError(message)
        groups[name] = value
    return groups


_WEIGHTS = {
    TopicWeight.LIGHT: lazy("light"),
    TopicWeight.MODERATE: lazy("moderate"),
    TopicWeight.HEAVY: lazy("heavy"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTopic:
    """One topic as people see it.

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
    """Return all topics of a study as people see them, heaviest first."""
    return tuple(_told(topic, read, is_avoided=topic.name in avoided) for topic in _heaviest_first(read.study.topics))


def told_topics_in(read: LocalisedStudy, scenario: str) -> tuple[ToldTopic, ...]:
    """Return the topics of a scenario as people see them, heaviest first."""
    return tuple(_told(topic, read) for topic in topics_in(read.study.topics, scenario))


def topics_in_words(read: LocalisedStudy) -> str:
    """Return topics as a list in Markdown; empty for none.

    The words hang on the language of the list and not on that of the page, since people agree to them.
    """
    with translation.override(best_language((read.language_of(WARNING),), page_languages()) or PLAIN):
        topics = [
            (topic.title, _WEIGHTS[topic.weight], topic.about.strip()) for topic in _heaviest_first(read.study.topics)
        ]
        return "\n".join(f"- **{title}** ({weight}): {about}" for title, weight, about in topics)


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
