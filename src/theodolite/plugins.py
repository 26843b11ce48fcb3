"""Hooks: what a plugin may bring. Each is an empty function that says what is expected.

A plugin is an installed package with an entry point in the group `theodolite`:

    [project.entry-points.theodolite]
    our-house = "our_house.theodolite_plugin"

The object that it names (a module will do) has functions of these names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from importlib.resources.abc import Traversable
from typing import TypeVar

from theodolite.domain.errors import InputError
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.testing.strategies import Approach


def summaries() -> tuple[SummaryMethod, ...]:
    """Return summary methods that measurement trees may name, beside the built-in ones.

    A method that sums up numbers has `combine`, from values and weights to one
    number or None; one on labels has `describe`, from labels with their counts
    to those worth showing. Give each a name with a version (`our-house/top-two@1`):
    a function that changes needs a new name, for trees of one name are compared.
    """
    return ()


def strategies() -> tuple[Approach, ...]:
    """Return strategies of red teaming that studies may name under `attacks`, beside the shipped ones.

    The line of a strategy is a generator: it yields what to say next (`Try`) or
    what to ask a model (`AskModel`), is sent what came of it (`AttackReply`), and is
    closed once something was released. It does no I/O and draws no chance, since
    a session that was interrupted is replayed. Raise `edition` whenever its words
    or rules change, or results of different rules are taken for equal.
    """
    return ()


def resources() -> Traversable | None:
    """Return a folder of measurement resources, laid out as the shipped one.

    Guidelines, personas and packs in it are found by name, after those of the
    study's own folder and before the shipped ones. This is how an organisation
    shares its guidelines: as a versioned package.
    """
    return None


Brought = TypeVar("Brought")

_WORDS = {"summaries": "summary methods", "strategies": "strategies (`Approach`)"}

GROUP = "theodolite"
"""Entry-point group of our plugins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """The installed plugins, as a value: nothing registers itself by being imported.

    Attributes:
        names: Names of the entry points.
        resources: Folders of measurement resources by plugin, in order of the names.
        summaries: Summary methods for measurement trees.
        strategies: Strategies of red teaming.
        owners: Kind (`summary`, `strategy`) and name of a part to the name of its plugin.
    """

    names: tuple[str, ...] = ()
    resources: tuple[tuple[str, Traversable], ...] = ()
    summaries: tuple[SummaryMethod, ...] = ()
    strategies: tuple[Approach, ...] = ()
    owners: Mapping[tuple[str, str], str] = field(default_factory=dict)


def installed_plugins(found: Iterable[EntryPoint] | None = None) -> Plugins:
    """Return what the installed plugins bring.

    Args:
        found: Entry points to look at; those of the environment where left out.

    Raises:
        InputError: If a plugin cannot be loaded; names it and the cause.
    """
    points = sorted(entry_points(group=GROUP) if found is None else found, key=lambda point: point.name)
    folders = [(point.name, _resources(point)) for point in points]
    summaries = [(point.name, method) for point in points for method in _brought(point, "summaries", SummaryMethod)]
    strategies = [(point.name, approach) for point in points for approach in _brought(point, "strategies", Approach)]
    return Plugins(
        names=tuple(point.name for point in points),
        resources=tuple((name, folder) for name, folder in folders if folder is not None),
        summaries=tuple(method for _, method in summaries),
        strategies=tuple(approach for _, approach in strategies),
        owners={
            **{("summary", method.name): plugin for plugin, method in summaries},
            **{("strategy", approach.name): plugin for plugin, approach in strategies},
        },
    )


def _resources(point: EntryPoint) -> Traversable | None:
    try:
        plugin = point.load()
        folder: Traversable | None = plugin.resources() if hasattr(plugin, "resources") else None
    except Exception as error:  # anything may happen in somebody else's code; this is the boundary
        message = f"plugin `{point.name}` ({point.value}) cannot be loaded: {type(error).__name__}: {error}"
        raise InputError(message) from error
    if folder is not None and not isinstance(folder, Traversable):
        message = f"plugin `{point.name}`: `resources()` must return a folder, got {type(folder).__name__}"
        raise InputError(message)
    return folder


def _brought(point: EntryPoint, hook: str, kind: type[Brought]) -> tuple[Brought, ...]:
    """Return what a plugin brings by one hook; nothing where it does not answer it."""
    try:
        plugin = point.load()
        result = tuple(getattr(plugin, hook)()) if hasattr(plugin, hook) else ()
    except Exception as error:  # anything may happen in somebody else's code; this is the boundary
        message = f"plugin `{point.name}` ({point.value}) cannot be loaded: {type(error).__name__}: {error}"
        raise InputError(message) from error
    strange = [item for item in result if not isinstance(item, kind)]
    if strange:
        message = f"plugin `{point.name}`: `{hook}()` must return {_WORDS[hook]}, got {type(strange[0]).__name__}"
        raise InputError(message)
    return result
