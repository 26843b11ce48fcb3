"""Arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def study_argument(command: Command) -> Command:
    """Add the study: a folder with a `study.yaml`, or a file."""
    return click.argument("study", type=click.Path())(command)


def json_option(command: Command) -> Command:
    """Add `--json`: one JSON object on standard output, everything else on standard error."""
    words = "Print one JSON object instead of text."
    return click.option("--json", "as_json", is_flag=True, help=words)(command)


def cache_option(command: Command) -> Command:
    """Add `--cache`: equal requests to models are answered from the workspace's cache."""
    words = "Answer equal requests to models from the cache; never the application's."
    return click.option("--cache", is_flag=True, help=words)(command)


def out_option(command: Command) -> Command:
    """Add `--out`: where report.html and results.json go."""
    words = "Folder for report.html and results.json; the study's own folder if left out."
    return click.option("--out", type=click.Path(file_okay=False), help=words)(command)
