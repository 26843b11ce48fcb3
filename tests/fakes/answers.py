"""Answers of many annotators to one question, written down row by row."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


class GivenAnswer(NamedTuple):
    """One row for `answer_arrays`."""

    annotator: str
    unit: Hashable
    dialogue: Hashable
    value: str | None
    at: float = 0.0
    shown: str = ""
    sitting: int = 0
    turn: int = 0
