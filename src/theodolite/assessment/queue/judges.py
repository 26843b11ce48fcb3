"""Judges in the queue: how many passes promoted judges may give, so that a person always reads the dialogue."""

from __future__ import annotations

from collections.abc import Iterable

from theodolite.domain.annotation import Outcome
from theodolite.domain.people.event import AnnotationProcess

READABLE = frozenset({Outcome.ANSWERED, Outcome.MISSING, Outcome.NOT_APPLICABLE})
"""Outcomes with which a judge's reading is a pass; one that refused or cannot be read is none, and a person comes."""


def most_by_judges(process: AnnotationProcess, passes: int) -> int:
    """Return how many passes of an item promoted judges may give; count.

    As many as the study says, and never the last one: whatever the study says, one
    pass of every item is a person's.

    Args:
        process: The study's rules.
        passes: Passes wanted of the item; count.

    Example:
        >>> most_by_judges(AnnotationProcess(passes=3, judge_passes=2), 3)
        2
        >>> most_by_judges(AnnotationProcess(passes=3, judge_passes=2), 2)
        1
    """
    return max(0, min(process.judge_passes, passes - 1))


def is_pass(outcomes: Iterable[Outcome]) -> bool:
    """Tell whether a judge's answers can stand as a pass: there are some, and each of them says something."""
    found = set(outcomes)
    return bool(found) and found <= READABLE
