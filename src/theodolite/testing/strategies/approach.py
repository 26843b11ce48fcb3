"""The interface of a strategy: attempts it yields, replies it receives, and how it is described."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from theodolite.domain.errors import PlanError, TheodoliteError
from theodolite.domain.flow import AskModel
from theodolite.domain.persona import Attack, AttemptOutcome


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
class AttackReply:
    """What came back: from the application with its outcome, from a model without one."""

    text: str
    outcome: AttemptOutcome = AttemptOutcome.UNCLEAR


AttackFlow: TypeAlias = Generator[Try | AskModel, AttackReply, None]
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
    line: Callable[[Attack], AttackFlow]
    tries: int
    needs_model: bool = False
    edition: int = 1
    plants: bool = False


def in_sequence(tries: tuple[tuple[str, str], ...]) -> AttackFlow:
    """Yield tries, given as description and prompt, each refining the one before."""
    for number, (description, prompt) in enumerate(tries, start=1):
        yield Try(prompt=prompt, description=description, refines=number - 1 or None)


class CheckedAttack:
    """A line of attack that anybody may have written: whatever is wrong with it is said with its name.

    Args:
        strategy: Name of the strategy.
        begin: Begins the line.
    """

    def __init__(self, strategy: str, begin: Callable[[], AttackFlow]) -> None:
        self._strategy, self._begin = strategy, begin

    def begin(self) -> Try | AskModel | None:
        """Return the first move; None where there is none.

        Raises:
            PlanError: If the strategy breaks, or yields what is no move.
        """
        return self._move(lambda: next(self._line))

    def send(self, reply: AttackReply) -> Try | AskModel | None:
        """Return what follows after what was heard; None where nothing does.

        Raises:
            PlanError: If the strategy breaks, or yields what is no move.
        """
        return self._move(lambda: self._line.send(reply))

    @cached_property
    def _line(self) -> AttackFlow:
        return self._begin()

    def _move(self, step: Callable[[], object]) -> Try | AskModel | None:
        try:
            move = step()
        except StopIteration:
            return None
        except TheodoliteError:
            raise
        except Exception as error:
            message = f"strategy `{self._strategy}` broke: {type(error).__name__}: {error}{_line_of(error)}; mend it"
            raise PlanError(message) from error
        if isinstance(move, Try | AskModel):
            return move
        message = f"strategy `{self._strategy}` yields {type(move).__name__}; expected `Try` or `AskModel`"
        raise PlanError(message)


def _line_of(error: Exception) -> str:
    """Return where an error was raised, e.g. ` (our_house.py, line 4)`."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    return f" ({frame.filename.rpartition('/')[2]}, line {frame.lineno})"
