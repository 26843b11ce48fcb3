"""Discovery: the parts of installed plugins, with all faults at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple, TypeAlias

from theodolite.config.load_context import no_plugin_part
from theodolite.domain.errors import InputError
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.testing.strategies import Approach

GROUP = "theodolite"
"""Entry-point group of our plugins."""


class _Hook(NamedTuple):
    """One hook.

    Attributes:
        kind: Kind of its parts in lists.
        expected: Name of the classes of its parts, for messages.
        classes: The classes, as `module:name`; a study without plugins loads none of them.
    """

    kind: str
    expected: str
    classes: tuple[str, ...]

    def fits(self, part: object) -> bool:
        """Whether an object is a part of this hook."""
        named = (name.partition(":") for name in self.classes)
        return isinstance(
            part, tuple(getattr(import_module(f"theodolite.{module}"), name) for module, _, name in named)
        )


HOOKS: Mapping[str, _Hook] = {
    "applications": _Hook("application", "`PluginApplication`", ("plugins.hooks:PluginApplication",)),
    "models": _Hook("model provider", "`ModelProvider`", ("plugins.hooks:ModelProvider",)),
    "personas": _Hook("persona", "`PersonaTemplate`", ("domain.persona:PersonaTemplate",)),
    "judges": _Hook("judge", "`PluginJudge`", ("plugins.hooks:PluginJudge",)),
    "measures": _Hook("measure", "`PluginMeasure`", ("measurement.plugin_measures:PluginMeasure",)),
    "summaries": _Hook("summary", "summary methods", ("measurement.trees.methods:SummaryMethod",)),
    "strategies": _Hook("strategy", "strategies (`Approach`)", ("testing.strategies:Approach",)),
    "charts": _Hook("chart", "`PluginChart`", ("plugins.hooks:PluginChart",)),
    "importers": _Hook(
        "importer", "`Importer` or `ResultFormat`", ("plugins.hooks:Importer", "config.tool_formats:ResultFormat")
    ),
    "exporters": _Hook("exporter", "`Exporter`", ("plugins.hooks:Exporter",)),
}
"""Hooks that return parts with a name, by name of the function."""

_NEED_FAMILY = frozenset(
    {"applications", "judges", "models", "personas", "measures", "charts", "importers", "exporters"}
)
"""Hooks whose parts must name their organisation, so that no later part of the package takes the same name."""

_NAME = re.compile(r"[a-z0-9][\w.-]*/[\w.@-]+")

PartsByPlugin: TypeAlias = tuple[tuple[str, Any], ...]
"""Parts of one hook, each after the name of its plugin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """The installed plugins, as a value: nothing registers itself by being imported.

    Attributes:
        names: Names of the entry points.
        packages: Name of each plugin to its package with version.
        resources: Folders of measurement resources by plugin, in order of the names.
        parts: Parts by name of the hook.
    """

    names: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    resources: tuple[tuple[str, Traversable], ...] = ()
    parts: Mapping[str, PartsByPlugin] = field(default_factory=dict)

    def of(self, hook: str) -> tuple[Any, ...]:
        """Return the parts that plugins add by a hook."""
        return tuple(part for _, part in self.parts.get(hook, ()))

    @property
    def summaries(self) -> tuple[SummaryMethod, ...]:
        """Summary methods for measurement trees."""
        return self.of("summaries")

    @property
    def strategies(self) -> tuple[Approach, ...]:
        """Strategies of red teaming."""
        return self.of("strategies")

    @property
    def owners(self) -> Mapping[tuple[str, str], str]:
        """Kind and name of a part to the name of its plugin."""
        return {(HOOKS[hook].kind, part.name): plugin for hook, parts in self.parts.items() for plugin, part in parts}


def installed_plugins(found: Iterable[EntryPoint] | None = None) -> Plugins:
    """Return the parts of the installed plugins.

    Args:
        found: Entry points to look at; those of the environment where left out.

    Raises:
        InputError: If plugins cannot be loaded or two parts have one name; lists all faults with plugin, package
            and remedy.
    """
    points = sorted(entry_points(group=GROUP) if found is None else found, key=lambda point: point.name)
    problems: list[str] = []
    folders: list[tuple[str, Traversable]] = []
    parts: dict[str, list[tuple[str, Any]]] = {}
    for point in points:
        try:
            folder = _resources(point)
            folders += [(point.name, folder)] if folder is not None else []
            for hook in HOOKS:
                parts.setdefault(hook, []).extend((point.name, part) for part in _parts(point, hook))
        except InputError as error:
            problems.append(str(error))
    problems += _repeated(parts)
    if problems:
        raise InputError("\n".join(problems))
    return Plugins(
        names=tuple(point.name for point in points),
        packages={point.name: _package(point) for point in points},
        resources=tuple(folders),
        parts={hook: tuple(listed) for hook, listed in parts.items() if listed},
    )


def _repeated(parts: Mapping[str, Iterable[tuple[str, Any]]]) -> Iterator[str]:
    """Yield a message for each name that two plugins give to parts of one kind."""
    for hook, listed in parts.items():
        owners: dict[str, str] = {}
        for plugin, part in listed:
            if part.name in owners:
                yield (
                    f"plugins `{owners[part.name]}` and `{plugin}` both have the {HOOKS[hook].kind} `{part.name}`."
                    " Uninstall one of them, or rename the part"
                )
            owners[part.name] = plugin


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else ""


def _who(point: EntryPoint) -> str:
    """Return a plugin with its package and its module, for messages."""
    package = f"package {_package(point)}, " if point.dist is not None else ""
    return f"plugin `{point.name}` ({package}{point.value})"


def _remedy(point: EntryPoint) -> str:
    return (
        f"Update or remove the package:  pip uninstall {point.dist.name}"
        if point.dist is not None
        else ("Update or remove its package")
    )


def _called(point: EntryPoint, hook: str) -> Any:
    """Return the result of a hook; None if the plugin does not have it."""
    try:
        plugin = point.load()
        returned = getattr(plugin, hook)() if hasattr(plugin, hook) else None
        return tuple(returned) if isinstance(returned, Iterator) else returned  # a generator runs here, or not at all
    except Exception as error:  # foreign code may raise anything; this is the boundary
        message = f"{_who(point)} cannot be loaded: {type(error).__name__}: {error}. {_remedy(point)}"
        raise InputError(message) from error


def _resources(point: EntryPoint) -> Traversable | None:
    folder: Traversable | None = _called(point, "resources")
    if folder is not None and not isinstance(folder, Traversable):
        message = f"{_who(point)}: `resources()` must return a folder, got {type(folder).__name__}. {_remedy(point)}"
        raise InputError(message)
    return folder


def _parts(point: EntryPoint, hook: str) -> tuple[Any, ...]:
    """Return the parts that a plugin adds by one hook, each of the expected class and with its own name."""
    returned = _called(point, hook)
    if returned is None:
        return ()
    expected = HOOKS[hook]
    if isinstance(returned, str | bytes) or not isinstance(returned, Iterable):
        got = f"{returned!r:.60}"
        message = f"{_who(point)}: `{hook}()` must return {expected.expected} in a tuple, got {got}. {_remedy(point)}"
        raise InputError(message)
    result = tuple(returned)
    strange = [part for part in result if not expected.fits(part)]
    if strange:
        got = type(strange[0]).__name__
        message = f"{_who(point)}: `{hook}()` must return {expected.expected}, got {got}. {_remedy(point)}"
        raise InputError(message)
    for part in result if hook in _NEED_FAMILY else ():
        if not _NAME.fullmatch(part.name):
            part_name = f"{point.name}/{part.name}"
            example = f"expected e.g. `{part_name}`. {_remedy(point)}"
            message = f"{_who(point)}: `{part.name}` is not a valid name of a part; {example}"
            raise InputError(message)
    return result


def part_named(parts: Iterable[Any], name: str, noun: str) -> Any:
    """Return the part of a name.

    Raises:
        InputError: If there is none; suggests a similar name.
    """
    known = {part.name: part for part in parts}
    if name not in known:
        message = no_plugin_part(noun, name, known)
        raise InputError(message)
    return known[name]
