"""Blinding: the content that an annotator or tester may see, and the words that identify an application."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from theodolite.domain.annotating.work import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.application import Application, AriaClass, HttpEndpoint, PythonCallable
from theodolite.domain.dialogue import Dialogue, Level
from theodolite.domain.event_record import IdentifyingKind, IdentifyingSpan, apart, masked
from theodolite.domain.identity import digest
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study

MASKED = "[name withheld]"
"""Replacement for a name that would reveal the application."""

NAME = 8
"""Characters of a blind dialogue's name; 32 bits of a hash."""

Mask = Callable[[str], str]
"""A function that masks the names in a text that would reveal the application."""

_SLOT = "{{"

_PLAIN = re.compile(r"[a-z]+")


def blind_name(dialogue: str, participant: str, salt: str) -> str:
    """Return the name of a dialogue on one annotator's pages; each annotator has a different name for it.

    Args:
        dialogue: Key of the dialogue.
        participant: Key of the annotator.
        salt: Secret of the queue, so that names cannot be computed from keys.
    """
    return digest("blind dialogue", salt, dialogue, participant)[:NAME].upper()


def blinded(dialogue: Dialogue, name: str, *, scenario: Scenario, mask: Mask) -> BlindDialogue:
    """Return the parts of a dialogue that an annotator may see.

    Texts are masked turn by turn, so that turn numbers are unchanged.

    Args:
        dialogue: The dialogue.
        name: Name on this annotator's pages.
        scenario: Its scenario.
        mask: Masks the names that reveal the application.
    """
    turns = tuple(
        BlindTurn(number=turn.number, prompt=turn.prompt, response=turn.response)
        for turn in masked_dialogue(dialogue, mask).turns
    )
    packet = scenario.packet
    return BlindDialogue(
        name=name,
        turns=turns,
        material=mask(dialogue.material),
        withheld=dialogue.withheld,
        reference=BlindReference(
            situation="" if _SLOT in scenario.goal else mask(scenario.goal),
            permitted=tuple(map(mask, packet.permitted)),
            prohibited=tuple(map(mask, packet.prohibited)),
            facts=tuple((mask(source.name), mask(source.text)) for source in packet.sources),
        ),
    )


def masked_dialogue(dialogue: Dialogue, mask: Mask) -> Dialogue:
    """Return a dialogue with the texts that an annotator sees, so that quotes can be located in it."""
    turns = (
        replace(turn, prompt=mask(turn.prompt), response=mask(turn.response), context=mask(turn.context))
        for turn in dialogue.turns
    )
    return replace(dialogue, turns=tuple(turns), context=mask(dialogue.context))


def names_of(study: Study) -> tuple[str, ...]:
    """Return the names that would reveal an application of a study: applications and models.

    Plain words ("green", "bot") are masked only where the application uses them for itself.
    """
    names = {application.name for application in study.applications} | {model.name for model in study.models}
    return tuple(sorted(name for name in names if len(name) > 1 and not _PLAIN.fullmatch(name)))


def mask_for(study: Study) -> Mask:
    """Return the mask of a study: its own names, and names that an application states of itself or its maker."""
    of_names, named = mask_of(names_of(study)), identifying_names(study)
    return lambda text: mask_naming(of_names(text), named)


def mask_of(names: Iterable[str]) -> Mask:
    """Return a mask that replaces whole words; case is ignored.

    Example:
        >>> mask_of(["Bot-1"])("I am bot-1, a bot.")
        'I am [name withheld], a bot.'
    """
    masked_names = sorted({name for name in names if name.strip()}, key=len, reverse=True)
    if not masked_names:
        return lambda text: text
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, masked_names))})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(MASKED, text)


KNOWN = (
    "ChatGPT",
    "GPT-3",
    "GPT-3.5",
    "GPT-4",
    "GPT-4o",
    "GPT-5",
    "OpenAI",
    "Anthropic",
    "DeepMind",
    "DeepSeek",
    "Meta AI",
    "Mistral AI",
    "Mixtral",
    "Qwen",
    "Tongyi",
    "Alibaba Cloud",
    "Cohere",
    "Command R",
    "xAI",
    "Moonshot AI",
    "Kimi",
    "Zhipu",
    "ChatGLM",
    "Baichuan",
    "Microsoft Copilot",
    "Amazon Nova",
    "Amazon Titan",
    "IBM Granite",
    "Nemotron",
    "LLaMA",
    "Vicuna",
    "Perplexity AI",
)
"""Names of makers and models without another meaning; they count wherever they occur."""

AMBIGUOUS = (
    "Claude",
    "Gemini",
    "Bard",
    "Google",
    "Meta",
    "Microsoft",
    "Amazon",
    "Apple",
    "IBM",
    "Nvidia",
    "Copilot",
    "Bing",
    "Grok",
    "Mistral",
    "Falcon",
    "Phi",
    "Granite",
    "Nova",
    "Titan",
    "Perplexity",
    "Alibaba",
    "Siri",
    "Alexa",
)
"""Names with other meanings; masked only after "I am ..." or "made by ..."."""

_SELF = r"(?:\bI(?:\s+am|['\N{RIGHT SINGLE QUOTATION MARK}]m)|\bmy\s+name\s+is|\bcall\s+me|\bas)\s+(?:an?\s+|the\s+)?"

_MADE = (
    r"\b(?:made|developed|created|trained|built|designed|provided|powered|released)\s+(?:and\s+\w+\s+)?(?:by|at)\s+"
    r"(?:the\s+team\s+at\s+)?"
)

_MODEL_BY = re.compile(
    r"\b(?:AI|language|chat)\s+(?:model|assistant|bot)\s*,?\s+(?:\w+\s+){0,3}?(?:by|from|at)\s+(?P<name>[A-Z][\w.-]*(?:\s[A-Z][\w.-]*)?)"
)


def identifying_names(study: Study) -> tuple[str, ...]:
    """Return other names of a study's applications and of the models behind them."""
    names = [application.name for application in study.applications] + [model.model for model in study.models]
    return tuple(dict.fromkeys(name for name in names if name))


def self_identification(text: str, names: Iterable[str] = ()) -> tuple[IdentifyingSpan, ...]:
    """Return the words by which a response identifies itself, in order of position.

    A name of the study that is a plain lower-case word ("green") counts only where
    the application uses it for itself; any other name counts anywhere.

    Args:
        text: A response.
        names: Names of the study's applications and models.

    Example:
        >>> [one.words for one in self_identification("I am Claude. Claude Monet was a painter.")]
        ['Claude']
    """
    return apart(_found(text, tuple(names)))


def mask_naming(text: str, names: Iterable[str] = ()) -> str:
    """Return a response with revealing names replaced letter by letter; the length is unchanged."""
    return masked(text, self_identification(text, names))


def _found(text: str, names: tuple[str, ...]) -> Iterator[IdentifyingSpan]:
    anywhere, of_oneself = _patterns(names)
    for pattern in (anywhere, of_oneself, _MODEL_BY):
        for match in pattern.finditer(text):
            start, end = match.span("name")
            yield IdentifyingSpan(kind=IdentifyingKind.APPLICATION, start=start, end=end, words=text[start:end])


@lru_cache(maxsize=64)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return two patterns: for names anywhere, and for names that an application uses for itself."""
    plain = tuple(name for name in names if _PLAIN.fullmatch(name))
    telling = tuple(name for name in names if name not in plain)
    anywhere = re.compile(rf"(?<![\w-])(?P<name>{_any_of((*KNOWN, *telling))})(?![\w-])", re.IGNORECASE)
    self_named = rf"(?:{_SELF}|{_MADE})(?P<name>{_any_of((*AMBIGUOUS, *plain))})(?![\w-])"
    return anywhere, re.compile(self_named, re.IGNORECASE)


def _any_of(names: Iterable[str]) -> str:
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    return "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)


AROUND = 40
"""Characters shown on each side of a match; count."""

_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://(?P<host>[^/?#:\[\]]+)", re.IGNORECASE)

_OWN_HOSTS = {"localhost", "127.0.0.1"}

_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class SecretWord:
    """A secret that a page must not reveal.

    Attributes:
        words: The words as they would appear on the page.
        what: Kind of information that the words would reveal.
    """

    words: str
    what: str


@dataclass(frozen=True, slots=True)
class UnblindingWord:
    """A secret word that occurs on a page.

    Attributes:
        secret: Which one.
        excerpt: Its context.
    """

    secret: SecretWord
    excerpt: str


def secrets_for_testers(study: Study) -> tuple[SecretWord, ...]:
    """Return the words that would reveal the application to a tester: names, models, addresses, modules, makers.

    A name that is a plain lower-case word ("green") occurs on pages for other
    reasons as well; see `plain_names`.
    """
    result = [*_of_applications(study), *(SecretWord(name, "a maker or model") for name in KNOWN)]
    return tuple(dict.fromkeys(secret for secret in result if _is_telling(secret.words)))


def secrets_for_annotators(
    study: Study, people: Iterable[str] = (), keys: Iterable[str] = ()
) -> tuple[SecretWord, ...]:
    """Return the words that would reveal application, level, tester or others' answers to an annotator.

    Args:
        study: The study.
        people: Names, addresses and keys of testers and of the other annotators.
        keys: Keys and labels of dialogues.
    """
    result = [
        *secrets_for_testers(study),
        *(SecretWord(level.value, "the level of testing") for level in Level),
        *(SecretWord(words, "a person") for words in people if len(words) >= _SHORTEST),
        *(SecretWord(words, "a dialogue's key") for words in keys if len(words) >= _SHORTEST),
    ]
    return tuple(dict.fromkeys(result))


def plain_names(study: Study) -> tuple[str, ...]:
    """Return the names that cannot be searched because they are common words: "green", "one"."""
    names = {application.name for application in study.applications} | {model.name for model in study.models}
    return tuple(sorted(name for name in names if not _is_telling(name)))


def unblinding_words(text: str, secrets: tuple[SecretWord, ...]) -> tuple[UnblindingWord, ...]:
    """Return the secret words that occur in a text, each once, with their context.

    Args:
        text: Address, headers and body of a page.
        secrets: Words that must not occur in it.

    Example:
        >>> [word.secret.what for word in unblinding_words("<p>bot-1</p>", (SecretWord("bot-1", "an application"),))]
        ['an application']
    """
    if not secrets:
        return ()
    by_words = {" ".join(secret.words.lower().split()): secret for secret in secrets}
    result: dict[SecretWord, UnblindingWord] = {}
    for match in _pattern(secrets).finditer(text):
        secret = by_words[" ".join(match[0].lower().split())]
        excerpt = " ".join(text[max(match.start() - AROUND, 0) : match.end() + AROUND].split())
        result.setdefault(secret, UnblindingWord(secret, excerpt))
    return tuple(result.values())


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
    result = _HOST.match(url)
    if result and result["host"].lower() not in _OWN_HOSTS:
        yield SecretWord(result["host"], "an application's address")


def _is_telling(words: str) -> bool:
    return len(words) >= _SHORTEST and not _PLAIN.fullmatch(words)


@lru_cache(maxsize=64)
def _pattern(secrets: tuple[SecretWord, ...]) -> re.Pattern[str]:
    longest_first = sorted({secret.words for secret in secrets}, key=lambda words: (-len(words), words))
    any_of = "|".join(r"\s+".join(map(re.escape, words.split())) for words in longest_first)
    return re.compile(rf"(?<![\w-])(?:{any_of})(?![\w-])", re.IGNORECASE)
