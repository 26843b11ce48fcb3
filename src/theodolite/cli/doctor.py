"""`theodolite doctor`: checks this machine, and the requirements of a study."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store_to_read
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.cli.terminal import as_line, json_option
from theodolite.config.loading import load_study
from theodolite.config.permissions import workspace_for
from theodolite.config.required_access import named_keys
from theodolite.domain.application import ModelKind
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.study import Study
from theodolite.domain.text import printable_line

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
        found = sorted(name for name, value in environ.items() if value and _is_key(name))
        return Check(topic="Keys", state="ok", text=f"set: {', '.join(found)}" if found else "none is set")
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
    found = {name: environ.get(name) or environ.get(name.lower(), "") for name in _PROXIES}
    shown = [f"{name} {_host(value)}" for name, value in found.items() if value]
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
