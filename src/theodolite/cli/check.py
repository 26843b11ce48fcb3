"""`theodolite check`, `probe` and `schemas`: studies and applications before a run."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from theodolite.bootstrap.connections import chosen_applications, examine_application
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.cli.terminal import (
    RowProgress,
    as_line,
    diagnostics_json,
    json_option,
    path_option,
    permission_options,
    permit_paths,
    permit_run,
    study_argument,
    wants_colour,
)
from theodolite.config.assembly import expanded
from theodolite.config.calls import CallEstimate, EndpointCalls, Range, check_lines, closing_line, estimate_calls
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.required_access import named_code, named_keys
from theodolite.config.schemas import write_schemas
from theodolite.config.yaml_source import Diagnostics, InvalidStudyError, LocatedDiagnostic, render_diagnostics
from theodolite.domain.application import Application
from theodolite.domain.errors import Severity
from theodolite.reporting.results.document import network_entry
from theodolite.usecases.conformance import Examination, exit_code_of


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
    """Validate a study and estimate its calls, tokens and cost.

    The command reports all errors together. It sends nothing and costs nothing.
    It looks up the functions and classes that the study names without running
    their code. Exit code 2 means errors; notes and open items do not change it.

    \b
    Examples
      theodolite check support
      theodolite check support --expanded
    """  # noqa: D301 - click's mark for "keep these lines"
    permit_paths(study)
    try:
        with RowProgress() as details:
            loaded = load_study(
                study, environ=os.environ, resolver=resource_resolver(), looks_at_code=True, on_rows=details
            )
    except InvalidStudyError as faults:
        if as_json:
            click.echo(diagnostics_json(faults.placed, exit_code=2))
        else:
            click.echo(render_diagnostics(faults.placed, limit=None if show_all else 20, color=wants_colour()))
        return 2
    if as_json:
        estimate = estimate_entry(estimate_calls(loaded))
        click.echo(diagnostics_json(loaded.notes, exit_code=0, estimate=estimate, **access_entry(loaded)))
    elif show_expanded:
        click.echo(expanded(loaded.study), nl=False)
    else:
        click.echo(_fine(study, loaded, limit=None if show_all else 20))
    return 0


def access_entry(loaded: LoadedStudy) -> dict[str, object]:
    """Return the keys a run sends, the code it executes, and the files it reads outside the study folder."""
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


def estimate_entry(estimate: CallEstimate) -> dict[str, Any]:
    """Return the estimate of a run: tokens as counts, costs in US dollars (null if no price is known)."""
    return {
        "dialogues": estimate.dialogues,
        "recorded": estimate.recorded,
        "calls": estimate.calls,
        "tokens_in": _tokens(estimate.tokens_in),
        "tokens_out": _tokens(estimate.tokens_out),
        "cost_usd": _cost(estimate.cost_usd),
        "unpriced": list(estimate.unpriced),
        "endpoints": [_endpoint(endpoint) for endpoint in estimate.endpoints],
        "assumption": estimate.assumption,
    }


def _endpoint(endpoint: EndpointCalls) -> dict[str, Any]:
    return {
        "name": endpoint.name,
        "kind": "model" if endpoint.is_model else "application",
        "calls": endpoint.calls,
        "tokens_in": _tokens(endpoint.tokens_in),
        "tokens_out": _tokens(endpoint.tokens_out),
        "cost_usd": _cost(endpoint.cost_usd) if endpoint.cost_usd is not None else None,
    }


def _tokens(guess: Range) -> dict[str, int]:
    return {"low": round(guess.low), "high": round(guess.high)}


def _cost(guess: Range) -> dict[str, float]:
    return {"low": round(guess.low, 6), "high": round(guess.high, 6)}


@click.command()
@study_argument
@click.argument("name", default="")
@permission_options
@json_option
def probe(study: str, name: str, *, as_json: bool) -> int:
    """Call an application a few times and report errors in its behaviour.

    Makes about nine calls per application: a greeting, a word to remember, two
    concurrent sessions, unusual and long prompts. It detects replies that are not
    text or HTML, errors, timeouts, text of one session in another, and violations
    of ARIA's dialogue interface. Without NAME it calls all live applications.
    Exit code 2 means errors, 3 that an application cannot be reached.

    \b
    Examples
      theodolite probe support
      theodolite probe event blue --json
    """  # noqa: D301 - click's mark for "keep these lines"
    permit_paths(study)
    loaded = load_study(study, environ=os.environ)
    chosen = chosen_applications(loaded, name)
    permit_run(loaded)
    with redirect_stdout(sys.stderr):  # output of application code must not mix with the result
        result = asyncio.run(_examined(loaded, chosen))
    code = exit_code_of(result)
    placed = _placed(loaded, result)
    if as_json:
        click.echo(diagnostics_json(placed, exit_code=code, applications=[*map(_entry, result)]))
    else:
        click.echo(_screen(study, result, placed, code))
    return code


async def _examined(loaded: LoadedStudy, applications: Sequence[Application]) -> list[Examination]:
    return [await examine_application(loaded, application, environ=os.environ) for application in applications]


def _placed(loaded: LoadedStudy, result: Sequence[Examination]) -> tuple[LocatedDiagnostic, ...]:
    file = Path(loaded.file).name
    diagnostics = Diagnostics(first=file)
    for examination in result:
        line = loaded.line_of("applications", examination.name) or 0
        for remark in examination.remarks:
            message = f"`{examination.name}`: {remark.message.removeprefix(f'application `{examination.name}`: ')}"
            diagnostics.add(LocatedDiagnostic(file=file, line=line, message=message, severity=remark.severity))
    return diagnostics.in_order()


def _screen(study: str, result: Sequence[Examination], placed: Sequence[LocatedDiagnostic], code: int) -> str:
    width = max(len(examination.name) for examination in result) + 3
    lines = []
    for examination in result:
        lines.append(f"{examination.name:<{width}}{_summary(examination)}")
        if examination.network is not None:
            lines.append(f"{'':<{width}}Network  {examination.network.text}")
    calls = sum(examination.calls for examination in result)
    if placed:
        lines.append(render_diagnostics(placed, limit=None, color=wants_colour(), ending=f"{calls} calls were made."))
    hints = dict.fromkeys(examination.hint for examination in result if examination.hint)
    lines += [f"Try  {hint}" for hint in hints]
    if not code:
        lines.append(f"0 errors.   Next: theodolite run {study} --limit 3")
    return "\n".join(lines)


def _summary(examination: Examination) -> str:
    if examination.unexamined:
        return f"not examined: {examination.unexamined}"
    n = sum(remark.severity is Severity.ERROR for remark in examination.remarks)
    version = f", version {examination.version}" if examination.version else ""
    outcome = f"{n} error{'' if n == 1 else 's'}" if n else "fine"
    calls = f"{examination.calls} call{'' if examination.calls == 1 else 's'}"
    slowest = f", slowest {examination.slowest_s:.1f} s" if examination.slowest_s else ""
    return f"{calls}{slowest}{version}: {outcome}"


def _entry(examination: Examination) -> dict[str, object]:
    return {
        "name": examination.name,
        "examined": not examination.unexamined,
        "unexamined": examination.unexamined or None,
        "calls": examination.calls,
        "slowest_s": round(examination.slowest_s, 3),
        "version": examination.version or None,
        "network": None if examination.network is None else network_entry(examination.network),
        "remarks": [{"severity": r.severity.value, "message": r.message} for r in examination.remarks],
    }


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@json_option
def schemas(folder: str, *, as_json: bool) -> int:
    """Write the JSON Schemas of study files and output files to a folder.

    An editor with a YAML language server completes and checks a study that
    starts with a line like

    \b
      # yaml-language-server: $schema=schemas/study.schema.json

    The schemas of results.json, compare.json, monitor.json and series.json describe
    these files for programs; json-output.schema.json describes the output of `--json`.

    \b
    Example
      theodolite schemas schemas
    """  # noqa: D301 - click's mark for "keep these lines"
    files = [str(path) for path in write_schemas(Path(folder))]
    click.echo(as_line({"exit_code": 0, "files": files}) if as_json else "\n".join(files))
    return 0
