"""`theodolite probe`: conformance tests of an application."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import click

from theodolite.bootstrap.conformance import chosen_applications, examine_application
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_output import faults_json
from theodolite.cli.permission import permission_options, permit_paths, permit_run
from theodolite.cli.terminal import wants_colour
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.yaml_source import Diagnostics, LocatedDiagnostic, render_diagnostics
from theodolite.domain.application import Application
from theodolite.domain.errors import Severity
from theodolite.reporting.results.document import network_entry
from theodolite.usecases.conformance import Examination, exit_code_of


@click.command()
@study_argument
@click.argument("name", default="")
@permission_options
@json_option
def probe(study: str, name: str, *, as_json: bool) -> int:
    """Call an application a few times and report faults of its behaviour.

    About nine calls per application: a greeting, a word to remember, two
    concurrent sessions, unusual and long prompts. It detects replies that are not
    text or HTML, errors, timeouts, text of one session in another, and violations
    of ARIA's dialogue interface. Without NAME it calls all live applications.
    Exit code 2 means faults, 3 an application that cannot be reached.

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
        found = asyncio.run(_examined(loaded, chosen))
    code = exit_code_of(found)
    placed = _placed(loaded, found)
    if as_json:
        click.echo(faults_json(placed, exit_code=code, applications=[*map(_entry, found)]))
    else:
        click.echo(_screen(study, found, placed, code))
    return code


async def _examined(loaded: LoadedStudy, applications: Sequence[Application]) -> list[Examination]:
    return [await examine_application(loaded, application, environ=os.environ) for application in applications]


def _placed(loaded: LoadedStudy, found: Sequence[Examination]) -> tuple[LocatedDiagnostic, ...]:
    file = Path(loaded.file).name
    diagnostics = Diagnostics(first=file)
    for examination in found:
        line = loaded.line_of("applications", examination.name) or 0
        for remark in examination.remarks:
            message = f"`{examination.name}`: {remark.message.removeprefix(f'application `{examination.name}`: ')}"
            diagnostics.add(LocatedDiagnostic(file=file, line=line, message=message, severity=remark.severity))
    return diagnostics.in_order()


def _screen(study: str, found: Sequence[Examination], placed: Sequence[LocatedDiagnostic], code: int) -> str:
    width = max(len(examination.name) for examination in found) + 3
    lines = []
    for examination in found:
        lines.append(f"{examination.name:<{width}}{_summary(examination)}")
        if examination.network is not None:
            lines.append(f"{'':<{width}}Network  {examination.network.text}")
    calls = sum(examination.calls for examination in found)
    if placed:
        lines.append(render_diagnostics(placed, limit=None, color=wants_colour(), ending=f"{calls} calls were made."))
    hints = dict.fromkeys(examination.hint for examination in found if examination.hint)
    lines += [f"Try  {hint}" for hint in hints]
    if not code:
        lines.append(f"0 errors.   Next: theodolite run {study} --limit 3")
    return "\n".join(lines)


def _summary(examination: Examination) -> str:
    if examination.unexamined:
        return f"not examined: {examination.unexamined}"
    n = sum(remark.severity is Severity.FAULT for remark in examination.remarks)
    version = f", version {examination.version}" if examination.version else ""
    outcome = f"{n} fault{'' if n == 1 else 's'}" if n else "fine"
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
