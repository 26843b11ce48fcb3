"""Plugins: hooks, the records of their parts, and discovery."""

from typing import TYPE_CHECKING

from theodolite.plugins.discovery import GROUP, Plugins, installed_plugins

if TYPE_CHECKING:
    from theodolite.plugins.hooks import (
        ExportedRun,
        Exporter,
        Importer,
        ModelProvider,
        PluginApplication,
        PluginChart,
        PluginJudge,
    )
else:

    def __getattr__(name: str) -> object:
        """Return a record, loading its module now."""
        if name in __all__:
            from theodolite.plugins import hooks

            return getattr(hooks, name)
        raise AttributeError(name)


__all__ = [
    "GROUP",
    "ExportedRun",
    "Exporter",
    "Importer",
    "ModelProvider",
    "PluginApplication",
    "PluginChart",
    "PluginJudge",
    "Plugins",
    "installed_plugins",
]
