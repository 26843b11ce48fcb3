"""Blind dialogues: what an annotator may see of a dialogue, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindTurn:
    """One turn as an annotator sees it.

    Attributes:
        number: Place in the dialogue, from 1.
        prompt: What the tester said, masked.
        response: What the application said, masked.
    """

    number: int
    prompt: str
    response: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindReference:
    """What the scenario says may be said and must be withheld, as annotators may look it up.

    Attributes:
        situation: What the tester was to do, in the words of the scenario.
        permitted: What may be said.
        prohibited: What must be withheld.
        facts: Title and text of each piece of ground truth.
    """

    situation: str = ""
    permitted: tuple[str, ...] = ()
    prohibited: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindDialogue:
    """A dialogue without anything that tells where it comes from.

    It has no level, application, tester, time, interruption, script or label;
    its name differs from annotator to annotator.

    Attributes:
        name: What this annotator's page calls it.
        turns: What was said.
        material: Source material that the application was given; empty for none.
        withheld: Why texts are not shown; empty where they are.
        reference: What the scenario lays down.
    """

    name: str
    turns: tuple[BlindTurn, ...]
    material: str = ""
    withheld: str = ""
    reference: BlindReference = BlindReference()
