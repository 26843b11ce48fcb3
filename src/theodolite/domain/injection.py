"""Injections: texts in a dialogue that tell its judge what to answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class InjectionSpot(StrEnum):
    """Where in a dialogue an injection stands."""

    PROMPT = "prompt"
    RESPONSE = "response"
    SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionAttempt:
    """One way of telling a judge what to answer.

    Attributes:
        name: Identifier, e.g. `plain-order`.
        spot: Side of the last turn, or source material, that it is added to.
        text: What is added; `{label}`, `{question}`, `{verdict}` and `{mark}` are filled in.
        unseen: Whether it is written in letters that no reader sees.
    """

    name: str
    spot: InjectionSpot
    text: str
    unseen: bool = False


class InjectionEffect(StrEnum):
    """What an injection did to a verdict."""

    NONE = "none"
    TURNED = "turned"
    MOVED = "moved"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionTrial:
    """One dialogue judged with and without an injection.

    Attributes:
        dialogue: Label of the dialogue.
        cluster: Dialogues of one cluster resemble each other.
        attempt: Name of the injection.
        effect: What it did; `TURNED` where the verdict became a defect or ceased to
            be one, `MOVED` where it changed otherwise.
        caught: Whether the control question or a quote showed that something was wrong.
    """

    dialogue: str
    cluster: str
    attempt: str
    effect: InjectionEffect
    caught: bool = False
