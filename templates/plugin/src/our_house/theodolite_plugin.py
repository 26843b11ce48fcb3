"""The hooks of the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theodolite.plugins import Importer, PluginApplication, PluginJudge

if TYPE_CHECKING:
    from theodolite.config.tool_results import ToolResults
    from theodolite.domain.persona import PersonaTemplate
    from theodolite.measurement.plugin_measures import PluginMeasure


def applications() -> tuple[PluginApplication, ...]:
    """Return the application."""
    hours = PluginApplication(
        name="our-house/opening-hours",
        target="our_house.parts:opening_hours",
        title="answers questions about opening hours",
    )
    return (hours,)


def personas() -> tuple[PersonaTemplate, ...]:
    """Return the template of simulated users."""
    from our_house.talk import CALLER
    from theodolite.domain.persona import PersonaTemplate

    return (PersonaTemplate(name="our-house/caller", text=CALLER, edition="1.0"),)


def judges() -> tuple[PluginJudge, ...]:
    """Return the judge."""
    return (PluginJudge(name="our-house/polite", target="our_house.parts:is_polite", version="1.0"),)


def measures() -> tuple[PluginMeasure, ...]:
    """Return the measure."""
    from our_house.talk import largest_share
    from theodolite.measurement.plugin_measures import PluginMeasure

    share = PluginMeasure(
        name="our-house/largest-share@1",
        compute=largest_share,
        title="share of the most frequent label",
        unit="fraction of dialogues",
    )
    return (share,)


def importers() -> tuple[Importer, ...]:
    """Return the importer."""

    def fits(name: str, stored: bytes) -> bool:
        from our_house.talk import is_talk

        return is_talk(name, stored)

    def read(name: str, stored: bytes) -> ToolResults:
        from our_house.talk import read_talk

        return read_talk(name, stored)

    return (Importer(name="our-house/talk", fits=fits, read=read, title="imports talk files"),)
