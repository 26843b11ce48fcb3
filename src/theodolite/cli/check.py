"""`theodolite check`: everything that is wrong with a study, before anything is sent."""

from __future__ import annotations

import os
import shlex

import click

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_output import estimate_entry, faults_json
from theodolite.cli.permission import path_option, permit_paths
from theodolite.cli.terminal import RowProgress, wants_colour
from theodolite.config.assembly import expanded
from theodolite.config.calls import check_lines, closing_line, estimate_calls
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.required_access import named_code, named_keys
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics


@click.command()
@study_argument
@click.option("--all", "show_all", is_flag=True, help="Show all errors instead of the first 20.")
@click.option(
    "--expanded",
    "show_expanded",
    is_flag=True,
    help="Print the study with short forms expanded and defaults filled in.",
)
@path_option
@json_option
def check(study: str, *, show_all: bool, show_expanded: bool, as_json: bool) -> int:
    """Find every fault of a study at once; count its calls, and guess their tokens and cost.

    Nothing is sent and nothing is paid; functions and classes of the study's own
    are looked for, and nothing of them is run. Faults end with exit code 2; notes
    and open items do not.

    \b
    Examples
      theodolite check support
      theodolite check support --expanded
    """  # noqa: D301 - click's mark for "keep these lines"
    permit_paths(study)
    try:
        with RowProgress() as told:
            loaded = load_study(
                study, environ=os.environ, resolver=resource_resolver(), looks_at_code=True, on_rows=told
            )
    except InvalidStudyError as faults:
        if as_json:
            click.echo(faults_json(faults.placed, exit_code=2))
        else:
            click.echo(render_diagnostics(faults.placed, limit=None if show_all else 20, color=wants_colour()))
        return 2
    if as_json:
        estimate = estimate_entry(estimate_calls(loaded))
        click.echo(faults_json(loaded.notes, exit_code=0, estimate=estimate, **_access(loaded)))
    elif show_expanded:
        click.echo(expanded(loaded.study), nl=False)
    else:
        click.echo(_fine(study, loaded, limit=None if show_all else 20))
    return 0


def _access(loaded: LoadedStudy) -> dict[str, object]:
    """Return which keys a run sends, the code that it executes, and the files read from outside the study's folder."""
    return {
        "keys": [
            {"variable": use.variable, "receiver": use.receiver, "users": list(use.users)}
            for use in named_keys(loaded.study)
        ],
        "code": [code.shown for code in named_code(loaded.study)],
        "outside": {name: str(real) for name, real in loaded.outside.items()},
    }


def _fine(path: str, loaded: LoadedStudy, *, limit: int | None) -> str:
    estimate = estimate_calls(loaded)
    notes = [render_diagnostics(loaded.notes, limit=limit, color=wants_colour())] if loaded.notes else []
    closing = closing_line(loaded.notes, shlex.quote(path), calls=estimate.calls)
    return "\n".join([*notes, *check_lines(loaded, estimate), closing])
