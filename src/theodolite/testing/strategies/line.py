"""Lines of attack: what every strategy yields, is told and is known by."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

from theodolite.domain.flow import AskModel
from theodolite.domain.strategy import Attack, AttemptOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One thing to say to the application.

    Attributes:
        prompt: The words.
        description: What is tried, in a few words.
        refines: Number of the try that it builds on, from 1; None for a fresh start.
        planted: Text to put into the application's source material for this turn.
        goes_back: Whether the application is to go on from the try that this one refines, or from
            an empty chat, as if what came in between had not been said. One that keeps its
            dialogues under ids of ours remembers it all the same.
    """

    prompt: str
    description: str
    refines: int | None = None
    planted: str = ""
    goes_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came back: from the application with its outcome, from a model without one."""

    text: str
    outcome: AttemptOutcome = AttemptOutcome.UNCLEAR


Line: TypeAlias = Generator[Try | AskModel, Heard, None]
"""Yields what to do next and is sent what came of it; is closed once something was released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """A strategy as the program knows it.

    Attributes:
        name: What study files call it.
        title: What it does, in one line.
        line: Begins a line of attack.
        tries: Tries at most; count.
        needs_model: Whether a model plays it.
        edition: Number of its rules and words; raised by hand when they change.
        plants: Whether it puts text into the application's source material.
    """

    name: str
    title: str
    line: Callable[[Attack], Line]
    tries: int
    needs_model: bool = False
    edition: int = 1
    plants: bool = False


def one_after_the_other(tries: tuple[tuple[str, str], ...]) -> Line:
    """Yield tries, given as description and prompt, each refining the one before."""
    for number, (description, prompt) in enumerate(tries, start=1):
        yield Try(prompt=prompt, description=description, refines=number - 1 or None)
