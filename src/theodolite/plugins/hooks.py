"""Hooks and the records of parts. Each hook is an empty function that documents its result.

A plugin is an installed package with an entry point in the group `theodolite`:

    [project.entry-points.theodolite]
    our-house = "our_house.theodolite_plugin"

The object that it names (a module will do) has functions of these names. Names of parts begin with the name of
their organisation, e.g. `our-house/echo`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.domain.application import ModelEndpoint
from theodolite.domain.persona import PersonaTemplate
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.ports.application import Model
from theodolite.testing.strategies import Approach

if TYPE_CHECKING:  # few plugins add these parts, and their types load much
    from theodolite.config.tool_formats import ResultFormat
    from theodolite.config.tool_results import ToolResults
    from theodolite.measurement.plugin_measures import PluginMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginApplication:
    """An application under test; studies name it under `call` (kind `python`) or `class` (kind `aria`).

    Attributes:
        name: Name in studies, e.g. `our-house/echo`.
        target: The function or class of the package, as `module:name`. It runs in its own process.
        title: Short description.
    """

    name: str
    target: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginJudge:
    """A function that labels dialogues; studies name it under `python` of a judge.

    Attributes:
        name: Name in studies, e.g. `our-house/polite`.
        target: The function of the package, as `module:name`. It runs in its own process.
        version: Version of its labels; raise it when labels change.
        title: Short description.
    """

    name: str
    target: str
    version: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProvider:
    """A way to reach language models; studies name it under `plugin` of a model.

    Attributes:
        name: Name in studies, e.g. `our-house/gateway`.
        open: Returns a client for a model of a study; the second argument is the value of its key, if it is set.
        title: Short description.
    """

    name: str
    open: Callable[[ModelEndpoint, str | None], Model]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRun:
    """The run that an exporter writes or a chart draws.

    Attributes:
        study: Name of the study.
        run: Number of the run.
        columns: Columns of the rows with the types of their values.
        rows: One row for each dialogue, turn and label, as in `theodolite export`; can be read once.
    """

    study: str
    run: int
    columns: Mapping[str, type]
    rows: Iterable[Mapping[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginChart:
    """A chart; `theodolite export --format figures` writes it beside the shipped ones.

    Attributes:
        name: Name, e.g. `our-house/timeline`; `our-house-timeline.svg` is its file.
        draw: Returns the chart as SVG text.
        title: Short description.
    """

    name: str
    draw: Callable[[ExportedRun], str]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """A reader of results of another tool, for `theodolite import results`.

    Attributes:
        name: Name, e.g. `our-house/log`.
        fits: Whether a file has this format, from its name and its bytes.
        read: Returns dialogues and scores, or diagnostics with line numbers in `faults`.
        title: Short description.
    """

    name: str
    fits: Callable[[str, bytes], bool]
    read: Callable[[str, bytes], ToolResults]
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """A format of `theodolite export`.

    Attributes:
        name: Value of `--format`, e.g. `our-house/tsv`.
        write: Writes a run to a path and returns the number of rows.
        file: Name of the output file beside the study.
        title: Short description.
    """

    name: str
    write: Callable[[ExportedRun, Path], int]
    file: str
    title: str = ""


def applications() -> tuple[PluginApplication, ...]:
    """Return applications under test: functions from prompt to reply, or classes with ARIA's dialogue interface."""
    return ()


def models() -> tuple[ModelProvider, ...]:
    """Return ways to reach language models, beside the shipped providers."""
    return ()


def personas() -> tuple[PersonaTemplate, ...]:
    """Return persona templates: Jinja texts with slots that the rows of a study fill, beside `goal` and `name`.

    Give each an `edition`, and raise it when the text changes. A folder of templates needs no code; see `resources`.
    """
    return ()


def judges() -> tuple[PluginJudge, ...]:
    """Return functions that label dialogues, with the arguments and results of other judges in Python."""
    return ()


def measures() -> tuple[PluginMeasure, ...]:
    """Return measures over labelled dialogues; studies name them under `measures`.

    The interval comes from a bootstrap of clusters, so that a measure only computes one number. Give each a name
    with a version (`our-house/mean-score@1`), since results of one name are compared.
    """
    return ()


def summaries() -> tuple[SummaryMethod, ...]:
    """Return summary methods that measurement trees may name, beside the built-in ones.

    A method that sums up numbers has `combine`, from values and weights to one
    number or None; one on labels has `describe`, from labels with their counts
    to those worth showing. Give each a name with a version (`our-house/top-two@1`):
    a function that changes needs a new name, for trees of one name are compared.
    """
    return ()


def strategies() -> tuple[Approach, ...]:
    """Return strategies of red teaming that studies may name under `attacks`, beside the shipped ones.

    The line of a strategy is a generator: it yields what to say next (`Try`) or
    what to ask a model (`AskModel`), is sent what came of it (`AttackReply`), and is
    closed once something was released. It does no I/O and draws no chance, since
    a session that was interrupted is replayed. Raise `edition` whenever its words
    or rules change, or results of different rules are taken for equal.
    """
    return ()


def charts() -> tuple[PluginChart, ...]:
    """Return charts of runs as SVG."""
    return ()


def importers() -> tuple[Importer | ResultFormat, ...]:
    """Return readers of results of other tools; they are tried before the shipped ones.

    A format of JSON or JSON Lines is a `ResultFormat`, as the shipped ones are; any other file needs an `Importer`.
    """
    return ()


def exporters() -> tuple[Exporter, ...]:
    """Return formats of `theodolite export`."""
    return ()


def resources() -> Traversable | None:
    """Return a folder of measurement resources, laid out as the shipped one.

    Guidelines, personas and packs in it are found by name, after those of the
    study's own folder and before the shipped ones. This is how an organisation
    shares its guidelines and personas: as a versioned package.
    """
    return None
