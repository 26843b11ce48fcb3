"""Faults: what is wrong with something a user wrote."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a fault matters."""

    FAULT = "fault"
    """Nothing runs until it is mended."""
    NOTE = "note"
    """Worth knowing; the run goes on."""
    OPEN = "open"
    """Still to be done before people take part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One thing that is wrong with a study, and where.

    Attributes:
        path: Keys and positions from the study's root to the place; the
            configuration layer turns it into file, line and column.
        message: What came and what was expected, as one sentence for people.
        fix: What to do about it, where the message does not say so already.
        severity: Whether it stops the study.
        at_key: The place is the key itself rather than its value.
        words: Words inside the value that are meant; empty for the whole value.
    """

    path: tuple[str | int, ...]
    message: str
    fix: str = ""
    severity: Severity = Severity.FAULT
    at_key: bool = False
    words: str = ""


def closest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str:
    """Return the most similar known word, or an empty string if none is similar.

    Args:
        word: The word that came.
        known: The words that are allowed.
        likeness: Least similarity; from 0, nothing in common, to 1, equal.
    """
    return next(iter(difflib.get_close_matches(word, tuple(known), n=1, cutoff=likeness)), "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `. Did you mean `x`?` for the most similar known word, to end a message; an empty string if none is."""
    near = closest(word, known)
    return f". Did you mean `{near}`?" if near else ""
