"""Parts of the installed plugins, in addition to those of the package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from theodolite.config.load_context import INSTALLED, ResourceResolver, packs_folder
from theodolite.measurement.trees.methods import Methods, methods_with
from theodolite.plugins import Plugins, installed_plugins
from theodolite.testing.strategies import Approach, catalogue_with

if TYPE_CHECKING:
    from theodolite.config.tool_formats import ResultFormat
    from theodolite.measurement.plugin_measures import PluginMeasure
    from theodolite.plugins import Exporter, Importer, ModelProvider, PluginChart


def resource_resolver() -> ResourceResolver:
    """Return the resolver over the resources of plugins, of installed packs, and the shipped ones.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    plugins = _installed()
    catalogue_with(plugins.strategies)  # reports a taken name before a study is read
    installed = packs_folder()
    folders = ((INSTALLED, installed),) if installed.is_dir() else ()
    return ResourceResolver(
        plugins=(*plugins.resources, *folders),
        summaries=plugins.summaries,
        strategies=plugins.strategies,
        measures=tuple(plugin_measures()),
        applications={part.name: part.target for part in plugins.of("applications")},
        judges={part.name: (part.target, part.version) for part in plugins.of("judges")},
        model_providers=tuple(model_providers()),
        personas=plugins.parts.get("personas", ()),
    )


def plugins_here() -> Plugins:
    """Return the installed plugins.

    Raises:
        InputError: If a plugin cannot be loaded.
    """
    return _installed()


def strategy_catalogue() -> Mapping[str, Approach]:
    """Return the strategies of the package and of installed plugins."""
    return catalogue_with(_installed().strategies)


def tree_methods() -> Methods:
    """Return the summary methods of the package and of installed plugins."""
    return methods_with(_installed().summaries)


def plugin_measures() -> Mapping[str, PluginMeasure]:
    """Return the measures of installed plugins by name."""
    return {part.name: part for part in _installed().of("measures")}


def plugin_importers() -> tuple[Importer | ResultFormat, ...]:
    """Return the importers of installed plugins."""
    return _installed().of("importers")


def plugin_exporters() -> tuple[Exporter, ...]:
    """Return the export formats of installed plugins."""
    return _installed().of("exporters")


def plugin_charts() -> tuple[PluginChart, ...]:
    """Return the charts of installed plugins."""
    return _installed().of("charts")


def model_providers() -> Mapping[str, ModelProvider]:
    """Return the model providers of installed plugins by name."""
    return {part.name: part for part in _installed().of("models")}


def has_foreign_measurement() -> bool:
    """Return whether installed plugins have summary methods or measures; their code has no known version."""
    plugins = _installed()
    return bool(plugins.summaries or plugins.of("measures"))


@cache
def _installed() -> Plugins:
    """Return the installed plugins; cached, because the search reads the metadata of all packages."""
    return installed_plugins()
