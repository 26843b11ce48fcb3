"""Shelves of the installed plugins, for every place that reads a study."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from theodolite.config.shelves import Shelves
from theodolite.measurement.trees.methods import Methods, methods_with
from theodolite.plugins.discovery import Plugins, installed_plugins
from theodolite.testing.strategies.catalogue import catalogue_with
from theodolite.testing.strategies.line import Approach


def plugin_shelves() -> Shelves:
    """Return the resources that installed plugins bring, before the shipped ones.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    plugins = _installed()
    catalogue_with(plugins.strategies)  # a name that is taken is said before a study is read
    return Shelves(plugins=plugins.resources, summaries=plugins.summaries, strategies=plugins.strategies)


def strategy_catalogue() -> Mapping[str, Approach]:
    """Return the strategies that sessions may follow: the shipped ones and those of installed plugins."""
    return catalogue_with(_installed().strategies)


def tree_methods() -> Methods:
    """Return the summary methods that trees may name: the built-in ones and those of installed plugins."""
    return methods_with(_installed().summaries)


def has_foreign_summaries() -> bool:
    """Tell whether an installed plugin brings summary methods, whose code has no version that we know."""
    return bool(_installed().summaries)


@cache
def _installed() -> Plugins:
    """Return what the installed plugins bring; looked for once a process, since all packages are looked through."""
    return installed_plugins()
