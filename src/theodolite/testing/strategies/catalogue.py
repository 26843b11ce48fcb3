"""The catalogue: every strategy by the name that study files use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from theodolite.domain.errors import InputError, PlanError, did_you_mean
from theodolite.domain.persona import StrategyInfo
from theodolite.testing.strategies import model_driven, scripted
from theodolite.testing.strategies.approach import Approach


def catalogue_of(approaches: Iterable[Approach]) -> Mapping[str, Approach]:
    """Return strategies by name."""
    return MappingProxyType({approach.name: approach for approach in approaches})


APPROACHES = catalogue_of(
    (
        scripted.REPHRASE,
        scripted.ROLE_PLAY,
        scripted.MANY_SHOT,
        scripted.ESCALATION,
        scripted.ENCODING,
        scripted.PERSUASION,
        scripted.INJECTION,
        model_driven.PARAPHRASE,
        model_driven.TRANSLATION,
        model_driven.ADAPTIVE,
    )
)
"""Name to strategy, in the order in which pages list them."""


def catalogue_with(brought: Iterable[Approach]) -> Mapping[str, Approach]:
    """Return the shipped strategies and those that plugins bring.

    Raises:
        InputError: If a plugin brings a name that is taken.
    """
    known = dict(APPROACHES)
    for approach in brought:
        if approach.name in known:
            message = f"two strategies are called `{approach.name}`; a plugin's own need names of their own"
            raise InputError(message)
        known[approach.name] = approach
    return MappingProxyType(known)


def approach_of(name: str, approaches: Mapping[str, Approach] = APPROACHES) -> Approach:
    """Return the strategy of a name.

    Raises:
        PlanError: If there is none of that name.
    """
    if name not in approaches:
        tail = did_you_mean(name, approaches) or f"; known: {', '.join(approaches)}"
        message = f"there is no strategy `{name}`{tail}"
        raise PlanError(message)
    return approaches[name]


def strategy_info(name: str, brought: Iterable[StrategyInfo] = ()) -> StrategyInfo:
    """Return what a plan has to know of a strategy, be it shipped or one that a scenario's plugin brought.

    Raises:
        PlanError: If there is none of that name.
    """
    strategy = next((strategy for strategy in brought if strategy.name == name), None)
    return strategy or info_of_approach(approach_of(name))


def info_of_approach(approach: Approach) -> StrategyInfo:
    """Return the card of a strategy."""
    return StrategyInfo(
        name=approach.name,
        tries=approach.tries,
        needs_model=approach.needs_model,
        edition=approach.edition,
        title=approach.title,
    )
