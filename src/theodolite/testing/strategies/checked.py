"""Checked lines: a strategy that anybody may have written, and what is wrong with it in words."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import cached_property

from theodolite.domain.errors import PlanError, TheodoliteError
from theodolite.domain.flow import AskModel
from theodolite.testing.strategies.line import Heard, Line, Try


class CheckedLine:
    """A line of attack that anybody may have written: whatever is wrong with it is said with its name.

    Args:
        strategy: Name of the strategy.
        begin: Begins the line.
    """

    def __init__(self, strategy: str, begin: Callable[[], Line]) -> None:
        self._strategy, self._begin = strategy, begin

    def begin(self) -> Try | AskModel | None:
        """Return the first move; None where there is none.

        Raises:
            PlanError: If the strategy breaks, or yields what is no move.
        """
        return self._move(lambda: next(self._line))

    def send(self, heard: Heard) -> Try | AskModel | None:
        """Return what follows after what was heard; None where nothing does.

        Raises:
            PlanError: If the strategy breaks, or yields what is no move.
        """
        return self._move(lambda: self._line.send(heard))

    @cached_property
    def _line(self) -> Line:
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
