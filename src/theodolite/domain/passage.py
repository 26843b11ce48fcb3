"""Passages: what a search over a corpus may find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One paragraph of a corpus.

    Attributes:
        name: Where it stands, e.g. `manual.md, paragraph 4`.
        text: Its words.
    """

    name: str
    text: str


Search: TypeAlias = Callable[[str], tuple[Passage, ...]]
"""From a query to the passages that fit it best, best first; the same query finds the same."""


def passages_in(name: str, text: str) -> tuple[Passage, ...]:
    r"""Return the paragraphs of a document: what blank lines keep apart.

    Example:
        >>> [passage.name for passage in passages_in("faq.md", "One.\n\n \nTwo,\nstill two.")]
        ['faq.md, paragraph 1', 'faq.md, paragraph 2']
    """
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            paragraphs[-1].append(line.rstrip())
        elif paragraphs[-1]:
            paragraphs.append([])
    return tuple(
        Passage(name=f"{name}, paragraph {number}", text="\n".join(lines))
        for number, lines in enumerate(filter(None, paragraphs), start=1)
    )
