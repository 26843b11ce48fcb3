"""By what annotators were sought, chosen and given work, as entries of the results file."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.criteria import StatedCriteria
from theodolite.domain.identity import Json


def criteria_entries(stated: Sequence[StatedCriteria]) -> list[Json]:
    """Return every statement as the results file has it, the first first; who made it stays in the store."""
    return [
        {
            "subject": one.about.value,
            "revision": one.revision,
            "at": one.at.isoformat(),
            "text": one.text,
            "why": one.why,
        }
        for one in stated
    ]
