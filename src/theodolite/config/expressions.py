"""Regular expressions: what is wrong with one that a study writes."""

from __future__ import annotations

import re


def expression_problem(pattern: str) -> str:
    """Return what is wrong with a regular expression; empty where nothing is."""
    try:
        re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        at = f" at character {error.pos + 1}" if error.pos is not None else ""
        return f"`{pattern}` is no regular expression: {error.msg}{at}"
    return ""
