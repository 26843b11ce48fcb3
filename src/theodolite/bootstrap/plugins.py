"""Resources, strategies and summary methods of the installed plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from theodolite.config.load_context import INSTALLED, SHIPPED, ResourceResolver, packs_folder
from theodolite.measurement.trees.methods import Methods, methods_with
from theodolite.plugins import Plugins, installed_plugins
from theodolite.testing.strategies import Approach, catalogue_with

BUILT_IN = "built in"
"""Origin of the parts of the package itself."""


def resource_resolver() -> ResourceResolver:
    """Return the resolver over the resources of plugins, of installed packs, and the shipped ones.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    plugins = _installed()
    catalogue_with(plugins.strategies)  # reports a taken name before a study is read
    installed = packs_folder()
    folders = ((INSTALLED, installed),) if installed.is_dir() else ()
    resources = (*plugins.resources, *folders)
    return ResourceResolver(plugins=resources, summaries=plugins.summaries, strategies=plugins.strategies)


class PluginPart(NamedTuple):
    """One part that a plugin adds, or that is built in.

    Attributes:
        kind: `summary`, `strategy`, `guideline`, `persona` or `pack`.
        name: Its name in a study.
        plugin: Name of the plugin, or `built in`.
    """

    kind: str
    name: str
    plugin: str


def plugin_hooks() -> tuple[PluginPart, ...]:
    """Return all parts that plugins may add, those of the package among them, by kind and name."""
    owners = _installed().owners
    parts = [
        PluginPart(kind=kind, name=name, plugin=owners.get((kind, name), BUILT_IN))
        for kind, names in (("summary", tree_methods()), ("strategy", strategy_catalogue()))
        for name in names
    ]
    resolver = resource_resolver()
    for kind, names, path in (
        ("guideline", resolver.names("guidelines", ".yaml"), "guidelines/{}.yaml"),
        ("persona", resolver.names("personas", ".md"), "personas/{}.md"),
        ("pack", resolver.packs(), "packs/{}/pack.yaml"),
    ):
        for name in names:
            resource = resolver.resource(path.format(name))
            origin = BUILT_IN if resource is None or resource.origin == SHIPPED else resource.origin
            parts.append(PluginPart(kind=kind, name=name, plugin=origin))
    return tuple(parts)


def strategy_catalogue() -> Mapping[str, Approach]:
    """Return the strategies of the package and of installed plugins."""
    return catalogue_with(_installed().strategies)


def tree_methods() -> Methods:
    """Return the summary methods of the package and of installed plugins."""
    return methods_with(_installed().summaries)


def has_foreign_summaries() -> bool:
    """Tell whether an installed plugin has summary methods; their code has no known version."""
    return bool(_installed().summaries)


@cache
def _installed() -> Plugins:
    """Return the installed plugins; cached, because the search reads the metadata of all packages."""
    return installed_plugins()
