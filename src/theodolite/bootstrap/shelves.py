"""Shelves of the installed plugins, for every place that reads a study."""

from __future__ import annotations

from theodolite.config.shelves import Shelves
from theodolite.measurement.trees.methods import Methods, methods_with
from theodolite.plugins.discovery import installed_plugins


def plugin_shelves() -> Shelves:
    """Return the resources that installed plugins bring, before the shipped ones.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    plugins = installed_plugins()
    return Shelves(plugins=plugins.resources, summaries=plugins.summaries)


def tree_methods() -> Methods:
    """Return the summary methods that trees may name: the built-in ones and those of installed plugins."""
    return methods_with(installed_plugins().summaries)
