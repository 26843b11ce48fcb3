"""What authors of plugins see: type-checked, never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_type

from theodolite.config.tool_results import ToolDialogue, ToolResults
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.live import RecordedTurn
from theodolite.domain.persona import Attack, PersonaTemplate
from theodolite.measurement.plugin_measures import LabelledDialogue, PluginMeasure, measure_labels
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.plugins import (
    ExportedRun,
    Exporter,
    Importer,
    ModelProvider,
    PluginApplication,
    PluginChart,
    PluginJudge,
    Plugins,
    installed_plugins,
)
from theodolite.ports.application import Model, OnChunk
from theodolite.testing.strategies import Approach, AttackFlow, Try


def share_of_defects(rows: Sequence[LabelledDialogue]) -> float | None:
    """Return a measure."""
    known = [row.defect for row in rows if row.defect is not None]
    return sum(known) / len(known) if known else None


class Client:
    """A client for a model."""

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return a reply."""
        if on_chunk is not None:
            on_chunk(request.messages[-1].text)
        return Reply(text=request.messages[-1].text)

    async def close(self) -> None:
        """Hold nothing open."""


def open_client(endpoint: ModelEndpoint, key: str | None) -> Model:
    """Return a client."""
    assert_type(key, str | None)
    assert_type(endpoint.model, str)
    return Client()


def read_log(name: str, stored: bytes) -> ToolResults:
    """Return the content of a log."""
    turn = RecordedTurn(prompt=name, response=stored.decode())
    return ToolResults(tool="log", dialogues=(ToolDialogue(key="1", application="bot", turns=(turn,)),))


def write_rows(run: ExportedRun, path: Path) -> int:
    """Write rows."""
    for row in run.rows:
        assert_type(row, Mapping[str, object])
    return len(str(path))


def beg(attack: Attack) -> AttackFlow:
    """Ask, and ask again."""
    reply = yield Try(prompt=attack.aim.ask, description="asks")
    yield Try(prompt=f"Please! {reply.text}", description="begs", refines=1)


def applications() -> tuple[PluginApplication, ...]:
    """Return applications."""
    return (PluginApplication(name="our-house/echo", target="our_house:echo"),)


def judges() -> tuple[PluginJudge, ...]:
    """Return judges."""
    return (PluginJudge(name="our-house/tone", target="our_house:tone", version="1"),)


def personas() -> tuple[PersonaTemplate, ...]:
    """Return persona templates."""
    return (PersonaTemplate(name="our-house/caller", text="You are {{ name }}. You want: {{ goal }}", edition="1"),)


def models() -> tuple[ModelProvider, ...]:
    """Return model providers."""
    return (ModelProvider(name="our-house/gateway", open=open_client),)


def measures() -> tuple[PluginMeasure, ...]:
    """Return measures."""
    return (PluginMeasure(name="our-house/share@1", compute=share_of_defects),)


def summaries() -> tuple[SummaryMethod, ...]:
    """Return summary methods."""
    return (SummaryMethod(name="our-house/least@1", combine=lambda values, _: min(values)),)


def strategies() -> tuple[Approach, ...]:
    """Return strategies."""
    return (Approach(name="our-house/beg", title="begs", line=beg, tries=2),)


def charts() -> tuple[PluginChart, ...]:
    """Return charts."""
    return (PluginChart(name="our-house/count", draw=lambda run: f"<svg>{run.study}</svg>"),)


def importers() -> tuple[Importer, ...]:
    """Return importers."""
    return (Importer(name="our-house/log", fits=lambda name, _: name.endswith(".log"), read=read_log),)


def exporters() -> tuple[Exporter, ...]:
    """Return exporters."""
    return (Exporter(name="our-house/rows", write=write_rows, file="rows.txt"),)


assert_type(measure_labels(measures()[0], [], seed=1), Estimate | Undefined)
assert_type(installed_plugins(()), Plugins)
assert_type(installed_plugins(()).strategies, tuple[Approach, ...])
