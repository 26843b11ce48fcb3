"""By what annotators were sought, chosen and given work, as results and report tell it."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.criteria import StatedCriteria
from theodolite.domain.identity import Json


def criteria_entries(stated: Sequence[StatedCriteria]) -> list[Json]:
    """Return every statement as the results file has it, the first first; who made it stays in the store."""
    return [
        {
            "about": one.about.value,
            "revision": one.revision,
            "at": one.at.isoformat(),
            "text": one.text,
            "why": one.why,
        }
        for one in stated
    ]


def criteria_facts(stated: Sequence[StatedCriteria]) -> tuple[tuple[str, str], ...]:
    """Return the statements that hold as pairs of name and text, each with its revision and day."""
    holding = {one.about: one for one in sorted(stated, key=lambda one: one.revision)}
    return tuple(
        (f"{about.value.capitalize()}, statement {one.revision} of {one.at:%Y-%m-%d}", one.text)
        for about, one in sorted(holding.items())
    )
