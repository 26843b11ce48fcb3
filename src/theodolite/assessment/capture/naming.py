"""Self-identification: words by which an application tells what it is, or who made it.

Found at capture and recorded with the turn; nothing is deleted. Annotators see
the same words masked, since they would tell them what they annotate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from theodolite.domain.event_record import IdentifyingKind, IdentifyingSpan, apart, masked
from theodolite.domain.study import Study

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
"""Names of makers and models that mean nothing else; counted wherever they stand."""

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
"""Names that mean other things as well; counted only where somebody says "I am ..." or "made by ..."."""

_SELF = r"(?:\bI(?:\s+am|['\N{RIGHT SINGLE QUOTATION MARK}]m)|\bmy\s+name\s+is|\bcall\s+me|\bas)\s+(?:an?\s+|the\s+)?"
_MADE = (
    r"\b(?:made|developed|created|trained|built|designed|provided|powered|released)\s+(?:and\s+\w+\s+)?(?:by|at)\s+"
    r"(?:the\s+team\s+at\s+)?"
)
_MODEL_BY = re.compile(
    r"\b(?:AI|language|chat)\s+(?:model|assistant|bot)\s*,?\s+(?:\w+\s+){0,3}?(?:by|from|at)\s+(?P<name>[A-Z][\w.-]*(?:\s[A-Z][\w.-]*)?)"
)
_PLAIN = re.compile(r"[a-z]+")


def names_of(study: Study) -> tuple[str, ...]:
    """Return what the applications of a study and the models behind them are called elsewhere."""
    names = [one.name for one in study.applications] + [model.model for model in study.models]
    return tuple(dict.fromkeys(name for name in names if name))


def self_identification(text: str, names: Iterable[str] = ()) -> tuple[IdentifyingSpan, ...]:
    """Return the words by which a response tells what it is, in order of their place.

    A name of the study that is a plain lower-case word ("green") counts only where
    it is said of oneself; any other name counts wherever it stands.

    Args:
        text: A response.
        names: What the study calls its applications and models.

    Example:
        >>> [one.words for one in self_identification("I am Claude. Claude Monet was a painter.")]
        ['Claude']
    """
    return apart(_found(text, tuple(names)))


def mask_naming(text: str, names: Iterable[str] = ()) -> str:
    """Return a response with every letter of a name replaced by which it gives itself away; its length stays."""
    return masked(text, self_identification(text, names))


def _found(text: str, names: tuple[str, ...]) -> Iterator[IdentifyingSpan]:
    anywhere, of_oneself = _patterns(names)
    for pattern in (anywhere, of_oneself, _MODEL_BY):
        for match in pattern.finditer(text):
            start, end = match.span("name")
            yield IdentifyingSpan(kind=IdentifyingKind.APPLICATION, start=start, end=end, words=text[start:end])


@lru_cache(maxsize=64)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds names wherever they stand, and what finds those that are said of oneself."""
    plain = tuple(name for name in names if _PLAIN.fullmatch(name))
    telling = tuple(name for name in names if name not in plain)
    anywhere = re.compile(rf"(?<![\w-])(?P<name>{_any_of((*KNOWN, *telling))})(?![\w-])", re.IGNORECASE)
    said = rf"(?:{_SELF}|{_MADE})(?P<name>{_any_of((*AMBIGUOUS, *plain))})(?![\w-])"
    return anywhere, re.compile(said, re.IGNORECASE)


def _any_of(names: Iterable[str]) -> str:
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    return "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)
