"""Resources, strategies and summary methods of the installed plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from theodolite.config.load_context import ResourceResolver
from theodolite.measurement.trees.methods import Methods, methods_with
from theodolite.plugins import Plugins, installed_plugins
from theodolite.testing.strategies import Approach, catalogue_with


def resource_resolver() -> ResourceResolver:
    """Return the resolver over the resources of installed plugins and the shipped ones.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    plugins = _installed()
    catalogue_with(plugins.strategies)  # reports a taken name before a study is read
    return ResourceResolver(plugins=plugins.resources, summaries=plugins.summaries, strategies=plugins.strategies)


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
