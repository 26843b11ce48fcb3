"""Attacks: what simulated red teamers try in a scenario, and what they want to hear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.config.attack_notes import note_attacks
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.scenarios import ScenarioSpec, ScriptSpec
from theodolite.config.specs.study import LevelSpec, StudySpec
from theodolite.domain.fault import did_you_mean
from theodolite.domain.strategy import Aim, StrategyInfo
from theodolite.testing.strategies.approach import Approach
from theodolite.testing.strategies.catalogue import APPROACHES, catalogue_with, info_of_approach


@dataclass(frozen=True, slots=True, kw_only=True)
class RedTeaming:
    """What `levels.red_teaming` says for all scenarios.

    Attributes:
        attacks: Names of strategies that are known.
        attacker: Name of the model that plays those that need one.
        models: Names of the study's models.
    """

    attacks: tuple[str, ...] = ()
    attacker: str = ""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacks:
    """What simulated red teamers try in one scenario."""

    names: tuple[str, ...] = ()
    aims: tuple[Aim, ...] = ()
    attacker: str = ""
    brought: tuple[StrategyInfo, ...] = ()


def red_teaming_of(entry: Entry[StudySpec], context: LoadContext, models: tuple[str, ...]) -> RedTeaming:
    """Return what a study says of simulated red teaming as a whole; faults are added to the diagnostics."""
    for name, other in entry.spec.levels.items():
        if name != "red_teaming" and (other.attacks or other.attacker):
            message = f"`attacks` and `attacker` belong to level `red_teaming`, not to `{name}`"
            context.diagnostics.add(entry.fault("levels", name, message=message))
    level = entry.spec.levels.get("red_teaming", LevelSpec())
    names = _known(entry, context, level.attacks, ("levels", "red_teaming", "attacks"))
    _check_model(entry, context, level.attacker, models, ("levels", "red_teaming", "attacker"))
    return RedTeaming(attacks=names, attacker=level.attacker, models=models)


def attacks_of(entry: Entry[ScenarioSpec], context: LoadContext, red_teaming: RedTeaming) -> Attacks:
    """Return what simulated red teamers try in a scenario; faults are added to the diagnostics."""
    spec = entry.spec
    own = _known(entry, context, spec.attacks, ("attacks",))
    _check_model(entry, context, spec.attacker, red_teaming.models, ("attacker",))
    names, attacker = own or red_teaming.attacks, spec.attacker or red_teaming.attacker
    aims = tuple(Aim(key=key, ask=ask) for key, ask in _aims(spec).items())
    if own and not aims:
        message = (
            f"scenario `{entry.name}` has `attacks` but nothing that they want to hear: "
            "add `aims`, e.g. `aims: {ending: How does it end?}`"
        )
        context.diagnostics.add(entry.fault("attacks", message=message, at_key=True))
    strategies = [info_of_approach(_offered(context)[name]) for name in names]
    needy = [strategy.name for strategy in strategies if strategy.needs_model]
    if needy and aims and not attacker:
        message = f"strategy `{needy[0]}` in scenario `{entry.name}` is played by a model: name it as `attacker`"
        context.diagnostics.add(entry.fault(*(("attacks",) if own else ()), message=message, at_key=True))
    if not (names and aims):
        return Attacks()
    note_attacks(entry, context, strategies)
    brought = tuple(strategy for strategy in strategies if strategy.name not in APPROACHES)
    return Attacks(names=names, aims=aims, attacker=attacker if needy else "", brought=brought)


def _offered(context: LoadContext) -> Mapping[str, Approach]:
    return catalogue_with(context.resolver.strategies)


def _aims(spec: ScenarioSpec) -> Mapping[str, str]:
    if spec.aims:
        return spec.aims
    scripts = {key: form for key, form in spec.scripts.items() if isinstance(form, ScriptSpec)}
    return {key: form.prompts[0] for key, form in scripts.items() if form.purpose == "guardrail" and form.prompts}


def _known(
    entry: Entry[StudySpec] | Entry[ScenarioSpec], context: LoadContext, names: list[str], path: tuple[str, ...]
) -> tuple[str, ...]:
    offered = _offered(context)
    for place, name in enumerate(names):
        if name not in offered:
            tail = did_you_mean(name, offered) or f"; known here: {', '.join(offered)}"
            context.diagnostics.add(entry.fault(*path, place, message=f"there is no strategy `{name}`{tail}"))
        elif name in names[:place]:
            context.diagnostics.add(entry.fault(*path, place, message=f"strategy `{name}` is named twice"))
    return tuple(name for name in dict.fromkeys(names) if name in offered)


def _check_model(
    entry: Entry[StudySpec] | Entry[ScenarioSpec],
    context: LoadContext,
    name: str,
    models: tuple[str, ...],
    path: tuple[str, ...],
) -> None:
    if name and name not in models:
        tail = did_you_mean(name, models) or "; name it under `models`"
        context.diagnostics.add(
            entry.fault(*path, message=f"`attacker` names a model `{name}` that the study does not have{tail}")
        )
