"""Shelves of the installed plugins, for every place that reads a study."""

from __future__ import annotations

from theodolite.config.shelves import Shelves
from theodolite.plugins.discovery import installed_plugins


def plugin_shelves() -> Shelves:
    """Return the resources that installed plugins bring, before the shipped ones.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    return Shelves(installed_plugins().resources)
