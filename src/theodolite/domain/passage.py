"""Passages: what a search over a corpus may find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassages:
    """What one search has found, as the record of a dialogue keeps it.

    Attributes:
        turn: Number of the turn whose prompt was the query.
        passages: What was found, best first.
    """

    turn: int
    passages: tuple[Passage, ...]


FOUND = 'Passages found for "{query}": {n}'
"""What begins the record of a search."""


def found_text(query: str, passages: Sequence[Passage]) -> str:
    """Return what a search has found, as an application reads it."""
    parts = [f"[{number}] {passage.name}\n{passage.text}" for number, passage in enumerate(passages, start=1)]
    return "\n\n".join([FOUND.format(query=query, n=len(passages)), *parts])


def in_turn(number: int, found: str) -> str:
    """Return the same as judges and readers of the whole dialogue read it."""
    return f"Turn {number}. {found}"


def material_with(*texts: str) -> str:
    """Return several pieces of source material as one text."""
    return "\n\n".join(filter(None, texts))


def found_in(material: str, prompts: Sequence[str]) -> tuple[str, tuple[FoundPassages, ...]]:
    """Return source material without the records of searches, and what these searches found.

    Args:
        material: As `material_with` has put it together.
        prompts: Prompts of the dialogue in order: each was a query, if any was.

    Example:
        >>> passages = (Passage(name="faq.md, paragraph 1", text="Returns are free."),)
        >>> material = material_with("We sell coats.", in_turn(1, found_text("Returns?", passages)))
        >>> found_in(material, ["Returns?"]) == ("We sell coats.", (FoundPassages(turn=1, passages=passages),))
        True
    """
    heads = [in_turn(number, FOUND.format(query=prompt, n="")) for number, prompt in enumerate(prompts, start=1)]
    first = f"\n\n{material}".find(f"\n\n{heads[0]}") if heads else -1
    if first < 0:
        return material, ()
    rest, found = material[first:], []
    for number, head in enumerate(heads, start=1):
        following = rest.find(f"\n\n{heads[number]}") if number < len(heads) else -1
        own, rest = (rest[:following], rest[following + 2 :]) if following >= 0 else (rest, "")
        found.append(FoundPassages(turn=number, passages=_passages(own.removeprefix(head))))
    return material[: max(0, first - 2)], tuple(found)


def _passages(record: str) -> tuple[Passage, ...]:
    """Return the passages of one record; passages hold no blank lines, so that these keep them apart."""
    blocks = (block.partition("\n") for block in record.split("\n\n")[1:])
    return tuple(Passage(name=head.partition("] ")[2], text=text) for head, _, text in blocks)
