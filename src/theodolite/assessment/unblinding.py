"""Unblinding words: what no page may tell testers or annotators, and where it stands all the same.

Of what people and applications said, only annotators' pages are looked through:
testers have read it themselves, and self-identifications are counted where they
are captured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from theodolite.assessment.capture.naming import KNOWN
from theodolite.domain.application import Application, AriaClass, HttpEndpoint, PythonCallable
from theodolite.domain.dialogue import Level
from theodolite.domain.study import Study

AROUND = 40
"""Letters that are shown at each side of what was found; count."""

_PLAIN = re.compile(r"[a-z]+")
_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://(?P<host>[^/?#:\[\]]+)", re.IGNORECASE)
_OWN_HOSTS = {"localhost", "127.0.0.1"}
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class SecretWord:
    """Something that a page must not tell.

    Attributes:
        words: As they would stand there.
        what: What they would tell.
    """

    words: str
    what: str


@dataclass(frozen=True, slots=True)
class UnblindingWord:
    """A secret word that stands on a page after all.

    Attributes:
        secret: Which one.
        excerpt: What stands around it.
    """

    secret: SecretWord
    excerpt: str


def secrets_for_testers(study: Study) -> tuple[SecretWord, ...]:
    """Return what would tell a tester which application answers: names, models, addresses, modules, makers.

    A name that is a plain lower-case word ("green") stands on pages for other
    reasons as well; see `plain_names`.
    """
    found = [*_of_applications(study), *(SecretWord(name, "a maker or model") for name in KNOWN)]
    return tuple(dict.fromkeys(secret for secret in found if _is_telling(secret.words)))


def secrets_for_annotators(
    study: Study, people: Iterable[str] = (), keys: Iterable[str] = ()
) -> tuple[SecretWord, ...]:
    """Return what would tell an annotator which application spoke, at which level, with whom, or how others judge.

    Args:
        study: The study.
        people: Names, addresses and keys of testers and of the other annotators.
        keys: Keys and labels of dialogues.
    """
    found = [
        *secrets_for_testers(study),
        *(SecretWord(level.value, "the level of testing") for level in Level),
        *(SecretWord(words, "a person") for words in people if len(words) >= _SHORTEST),
        *(SecretWord(words, "a dialogue's key") for words in keys if len(words) >= _SHORTEST),
    ]
    return tuple(dict.fromkeys(found))


def plain_names(study: Study) -> tuple[str, ...]:
    """Return the names that cannot be looked for, since they are words like others: "green", "one"."""
    names = {application.name for application in study.applications} | {model.name for model in study.models}
    return tuple(sorted(name for name in names if not _is_telling(name)))


def told_in(text: str, secrets: tuple[SecretWord, ...]) -> tuple[UnblindingWord, ...]:
    """Return the secret words that stand in a text, each once, with what stands around them.

    Args:
        text: Address, headers and body of a page.
        secrets: What it must not tell.

    Example:
        >>> [told.secret.what for told in told_in("<p>bot-1</p>", (SecretWord("bot-1", "an application"),))]
        ['an application']
    """
    if not secrets:
        return ()
    by_words = {" ".join(secret.words.lower().split()): secret for secret in secrets}
    found: dict[SecretWord, UnblindingWord] = {}
    for match in _pattern(secrets).finditer(text):
        secret = by_words[" ".join(match[0].lower().split())]
        excerpt = " ".join(text[max(match.start() - AROUND, 0) : match.end() + AROUND].split())
        found.setdefault(secret, UnblindingWord(secret, excerpt))
    return tuple(found.values())


def _of_applications(study: Study) -> Iterator[SecretWord]:
    for application in study.applications:
        yield SecretWord(application.name, "an application")
        yield from _of_connection(application)
    for model in study.models:
        yield from (SecretWord(name, "a model") for name in (model.name, model.model) if name)
        yield from _of_address(model.url)
        yield from ([SecretWord(model.key, "a key's name")] if model.key else [])


def _of_connection(application: Application) -> Iterator[SecretWord]:
    connection = application.connection
    if isinstance(connection, HttpEndpoint):
        yield from _of_address(connection.url)
        yield from ([SecretWord(connection.key, "a key's name")] if connection.key else [])
    elif isinstance(connection, PythonCallable | AriaClass):
        yield SecretWord(connection.target, "an application's code")
        yield SecretWord(connection.target.partition(":")[0], "an application's code")


def _of_address(url: str) -> Iterator[SecretWord]:
    found = _HOST.match(url)
    if found and found["host"].lower() not in _OWN_HOSTS:
        yield SecretWord(found["host"], "an application's address")


def _is_telling(words: str) -> bool:
    return len(words) >= _SHORTEST and not _PLAIN.fullmatch(words)


@lru_cache(maxsize=64)
def _pattern(secrets: tuple[SecretWord, ...]) -> re.Pattern[str]:
    longest_first = sorted({secret.words for secret in secrets}, key=lambda words: (-len(words), words))
    any_of = "|".join(r"\s+".join(map(re.escape, words.split())) for words in longest_first)
    return re.compile(rf"(?<![\w-])(?:{any_of})(?![\w-])", re.IGNORECASE)
