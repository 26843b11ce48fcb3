"""`theodolite check`, `probe`, `schemas` and `doctor`: studies, applications and this machine before a run."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shlex
import sqlite3
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from theodolite.bootstrap.connections import chosen_applications, examine_application
from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store_to_read
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
from theodolite.config.permissions import workspace_for
from theodolite.config.required_access import named_code, named_keys
from theodolite.config.schemas import write_schemas
from theodolite.config.yaml_source import Diagnostics, InvalidStudyError, LocatedDiagnostic, render_diagnostics
from theodolite.domain.application import Application, ModelKind
from theodolite.domain.errors import InputError, Severity, TheodoliteError
from theodolite.domain.study import Study
from theodolite.domain.text import printable_line
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


OLDEST_SQLITE = (3, 31, 0)
"""Oldest SQLite that Django 5.2 supports; version."""

_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_CLOUD_VARIABLES = frozenset(
    {"AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS"}
)
"""Variables from which the libraries of clouds take credentials."""

_CLOUD_EXTRAS = {ModelKind.BEDROCK: ("aws", "botocore"), ModelKind.VERTEX: ("google", "google.auth")}
"""Kind of a model to the extra that reads its credentials, and to the package in it."""

_EXTRA = re.compile(r"([\w.-]+).*;\s*extra\s*==\s*['\"]([\w-]+)['\"]")
_WIDTH = 80
_MARGIN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A line of the list.

    Attributes:
        topic: Its subject.
        state: `ok`, `missing` (optional) or `error`.
        text: The state in words, with a remedy if there is one.
    """

    topic: str
    state: str
    text: str


@click.command()
@click.argument("study", required=False, default="", type=click.Path())
@json_option
def doctor(study: str, *, as_json: bool) -> int:
    """Print the state of this machine: versions, extras, workspace, keys, proxies, database.

    With STUDY, also checks the keys that it needs and its database. Nothing is sent, no
    call is made, and values of keys are not printed. Exit code 3 means that
    workspace, SQLite or database cannot be used.

    \b
    Examples
      theodolite doctor
      theodolite doctor support
    """  # noqa: D301 - click's mark for "keep these lines"
    checks = list(checks_of(study, os.environ))
    code = 3 if any(check.state == "error" for check in checks) else 0
    if as_json:
        click.echo(as_line({"exit_code": code, "checks": [asdict(check) for check in checks]}))
        return code
    for check in checks:
        mark = "" if check.state == "ok" else f"{check.state}: "
        line = f"{check.topic:<{_MARGIN}}{printable_line(mark + check.text)}"
        click.echo(textwrap.fill(line, _WIDTH, subsequent_indent=" " * _MARGIN, break_on_hyphens=False))
    return code


def checks_of(study: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """Yield all checks.

    Args:
        study: Folder or file of a study; empty for the present folder without a study.
        environ: Environment variables.

    Raises:
        InputError: If the study does not exist.
        StudyError: If it has errors.
    """
    if study and not Path(study).exists():
        message = f"expected the folder or file of a study; `{study}` does not exist"
        raise InputError(message)
    loaded = load_study(Path(study), resolver=resource_resolver()) if study else None
    workspace = workspace_for(loaded.folder if loaded else Path.cwd())
    yield Check(topic="Python", state="ok", text=platform.python_version())
    yield Check(topic="Theodolite", state="ok", text=version("theodolite"))
    yield from _extras()
    yield from _storage(workspace)
    yield _keys(loaded.study if loaded else None, environ)
    if loaded:
        yield from _clouds(loaded.study)
    yield _proxies(environ)
    if loaded:
        yield _database(workspace, environ)


def _extras() -> Iterator[Check]:
    pairs = [match.groups() for line in requires("theodolite") or () if (match := _EXTRA.match(line))]
    for package, extra in sorted(pairs, key=lambda pair: pair[1]):
        try:
            text, state = f"{package} {version(package)}", "ok"
        except PackageNotFoundError:
            text, state = f"pip install 'theodolite[{extra}]'", "missing"
        yield Check(topic=f"[{extra}]", state=state, text=text)


def _storage(workspace: Path) -> Iterator[Check]:
    """Yield whether the workspace is writable, and whether SQLite's write-ahead log works on its disk."""
    folder = next(place for place in (workspace, *workspace.absolute().parents) if place.is_dir())
    sqlite = sqlite3.sqlite_version
    is_old = sqlite3.sqlite_version_info < OLDEST_SQLITE
    oldest = ".".join(map(str, OLDEST_SQLITE))
    try:
        mode = _journal_mode(folder)
    except (OSError, sqlite3.Error) as error:
        yield Check(topic="Workspace", state="error", text=f"`{workspace}` cannot be written: {error}")
        mode = ""
    else:
        yield Check(topic="Workspace", state="ok", text=f"`{workspace}` can be written")
    if is_old:
        yield Check(topic="SQLite", state="error", text=f"{sqlite}; {oldest} or newer is needed")
    elif mode not in {"", "wal"}:
        advice = "move the study to a local disk, or set DATABASE_URL to a PostgreSQL database"
        yield Check(topic="SQLite", state="error", text=f"{sqlite} without write-ahead log on this disk; {advice}")
    else:
        yield Check(topic="SQLite", state="ok", text=f"{sqlite}, write-ahead log {'works' if mode else 'not tested'}")


def _journal_mode(folder: Path) -> str:
    with (
        tempfile.TemporaryDirectory(dir=folder, prefix=".theodolite-doctor-") as made,
        closing(sqlite3.connect(Path(made) / "probe.db")) as connection,
    ):
        connection.execute("CREATE TABLE probe (number INTEGER)")
        return str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])


def _keys(study: Study | None, environ: Mapping[str, str]) -> Check:
    """Return names of keys: those of the study, else all set variables that end in `_API_KEY`."""
    if study is None:
        result = sorted(name for name, value in environ.items() if value and _is_key(name))
        return Check(topic="Keys", state="ok", text=f"set: {', '.join(result)}" if result else "none is set")
    uses = named_keys(study)
    needed = sorted({use.variable for use in uses})
    if unset := sorted({use.variable for use in uses if not use.is_set(environ)}):
        return Check(
            topic="Keys", state="missing", text=f"the study needs {', '.join(unset)}; set in the shell before a run"
        )
    return Check(topic="Keys", state="ok", text=f"set: {', '.join(needed)}" if needed else "the study needs none")


def _is_key(name: str) -> bool:
    return name.endswith("_API_KEY") or name in _CLOUD_VARIABLES


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def _clouds(study: Study) -> Iterator[Check]:
    """Yield whether the extras of a study's credentials are installed, each once."""
    for kind in dict.fromkeys(model.kind for model in study.models if model.uses_cloud_credentials):
        extra, package = _CLOUD_EXTRAS[kind]
        text = f"models of `kind: {kind.value}` use the credentials of this machine"
        if _is_installed(package):
            yield Check(topic="Cloud", state="ok", text=text)
        else:
            yield Check(topic="Cloud", state="missing", text=f"{text}; pip install 'theodolite[{extra}]'")


def _proxies(environ: Mapping[str, str]) -> Check:
    """Return the proxies without user names and passwords."""
    result = {name: environ.get(name) or environ.get(name.lower(), "") for name in _PROXIES}
    shown = [f"{name} {_host(value)}" for name, value in result.items() if value]
    return Check(topic="Proxies", state="ok", text=", ".join(shown) or "none")


def _host(address: str) -> str:
    place = urlsplit(address if "://" in address else f"http://{address}").netloc
    return place.rpartition("@")[2] or "(not an address)"


def _database(workspace: Path, environ: Mapping[str, str]) -> Check:
    kind = "PostgreSQL" if environ.get(DATABASE_VARIABLE) else "SQLite file"
    try:
        store = open_store_to_read(workspace, environ.get(DATABASE_VARIABLE))
    except InputError:
        raise
    except TheodoliteError as error:
        return Check(topic="Database", state="error", text=str(error))
    if store is None:
        return Check(topic="Database", state="ok", text=f"{kind}, without tables: nothing was run yet")
    store.disconnect()
    return Check(topic="Database", state="ok", text=f"{kind}, reachable and up to date")
