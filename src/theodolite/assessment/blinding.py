"""Blinding: a dialogue as an annotator may see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from theodolite.assessment.capture import naming
from theodolite.domain.annotating.work import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.identity import digest
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study

MASKED = "[name withheld]"
"""What stands in place of a name that would tell which application speaks."""

NAME = 8
"""Characters of a blind dialogue's name; 32 bits of a hash."""

Mask = Callable[[str], str]
"""From a text to the same text without names that unblind."""

_SLOT = "{{"
_PLAIN = re.compile(r"[a-z]+")


def blind_name(dialogue: str, participant: str, salt: str) -> str:
    """Return what one annotator's pages call a dialogue; another annotator's pages call it otherwise.

    Args:
        dialogue: Key of the dialogue.
        participant: Key of the annotator.
        salt: Secret of the queue, so that nobody who knows keys can work names out.
    """
    return digest("blind dialogue", salt, dialogue, participant)[:NAME].upper()


def blinded(dialogue: Dialogue, name: str, *, scenario: Scenario, mask: Mask) -> BlindDialogue:
    """Return what an annotator may see of a dialogue.

    Texts are masked turn by turn, so that the numbers of turns stay.

    Args:
        dialogue: The dialogue.
        name: What this annotator's pages call it.
        scenario: Its scenario.
        mask: Takes out what tells which application speaks.
    """
    turns = tuple(
        BlindTurn(number=turn.number, prompt=turn.prompt, response=turn.response)
        for turn in masked(dialogue, mask).turns
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


def masked(dialogue: Dialogue, mask: Mask) -> Dialogue:
    """Return a dialogue with the words that an annotator sees, in which their quotes can be looked up."""
    turns = (
        replace(turn, prompt=mask(turn.prompt), response=mask(turn.response), context=mask(turn.context))
        for turn in dialogue.turns
    )
    return replace(dialogue, turns=tuple(turns), context=mask(dialogue.context))


def names_of(study: Study) -> tuple[str, ...]:
    """Return the names that would tell which application of a study speaks: applications and models.

    Plain words ("green", "bot") are no names wherever they stand; they are masked where they are said of oneself.
    """
    names = {application.name for application in study.applications} | {model.name for model in study.models}
    return tuple(sorted(name for name in names if len(name) > 1 and not _PLAIN.fullmatch(name)))


def mask_for(study: Study) -> Mask:
    """Return the mask of a study: its own names, and whatever an application says of what it is or who made it."""
    of_names, named = mask_of(names_of(study)), naming.names_of(study)
    return lambda text: naming.mask_naming(of_names(text), named)


def mask_of(names: Iterable[str]) -> Mask:
    """Return a mask that replaces whole words; letters' case is ignored.

    Example:
        >>> mask_of(["Bot-1"])("I am bot-1, a bot.")
        'I am [name withheld], a bot.'
    """
    wanted = sorted({name for name in names if name.strip()}, key=len, reverse=True)
    if not wanted:
        return lambda text: text
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, wanted))})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(MASKED, text)
