"""By what annotators were sought, chosen and given work, as pairs of name and text."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.criteria import StatedCriteria


def criteria_facts(stated: Sequence[StatedCriteria]) -> tuple[tuple[str, str], ...]:
    """Return the statements that hold as pairs of name and text, each with its revision and day."""
    holding = {one.about: one for one in sorted(stated, key=lambda one: one.revision)}
    return tuple(
        (f"{about.value.capitalize()}, statement {one.revision} of {one.at:%Y-%m-%d}", one.text)
        for about, one in sorted(holding.items())
    )
