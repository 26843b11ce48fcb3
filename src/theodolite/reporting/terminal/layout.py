"""Lines of a summary: a label on the left, and text that stays in its column."""

from __future__ import annotations

import textwrap

GUARDRAIL_MARGIN = 14
"""Columns that labels take on the guardrail's screen."""

MARGIN = 15
"""Width of the labels on all other screens; columns."""


def labelled(label: str, text: str, *, margin: int, width: int) -> list[str]:
    """Return text wrapped next to its label.

    Example:
        >>> labelled("Cost", "2 calls", margin=8, width=40)
        ['Cost    2 calls']
    """
    first = label.ljust(margin) if len(label) <= margin else f"{label} "
    return textwrap.wrap(
        text,
        width=max(width, margin + 20),
        initial_indent=first,
        subsequent_indent=" " * margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
