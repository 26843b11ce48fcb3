"""The catalogue: every strategy by the name that study files use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from theodolite.domain.errors import PlanError
from theodolite.domain.fault import did_you_mean
from theodolite.testing.strategies import (
    adaptive,
    encoding,
    escalation,
    injection,
    many_shot,
    persuasion,
    rephrase,
    role_play,
)
from theodolite.testing.strategies.line import Approach


def catalogue_of(approaches: Iterable[Approach]) -> Mapping[str, Approach]:
    """Return strategies by name."""
    return MappingProxyType({approach.name: approach for approach in approaches})


APPROACHES = catalogue_of(
    part.APPROACH for part in (rephrase, role_play, many_shot, escalation, encoding, persuasion, injection, adaptive)
)
"""Name to strategy, in the order in which pages list them."""


def approach_of(name: str) -> Approach:
    """Return the strategy of a name.

    Raises:
        PlanError: If there is none of that name.
    """
    if name not in APPROACHES:
        tail = did_you_mean(name, APPROACHES) or f"; known: {', '.join(APPROACHES)}"
        message = f"there is no strategy `{name}`{tail}"
        raise PlanError(message)
    return APPROACHES[name]
