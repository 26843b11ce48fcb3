"""A run in its own process: the command `theodolite run`, started and stopped from elsewhere.

The process writes its output to a log in a folder of its study and locks this file for as long as it lives.
The lock shows whether it runs, even to a program that did not start it: by then, a process id may belong to
another process. On systems without such locks (Windows), only the program that started it knows.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from theodolite.bootstrap.database import make_workspace
from theodolite.bootstrap.files import write_whole
from theodolite.domain.errors import Conflict, NotFound, StorageUnavailable
from theodolite.domain.text import printable

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

LOG_NAME = "run.log"
"""File with the output of the latest run process."""

RECORD_NAME = "run-process.json"
"""File with number and command of the latest run process."""

END_NAME = "run-end.json"
"""File with the exit code of a process that has ended; it survives the program that started the process."""

MOST_OUTPUT = 20_000
"""Maximum size of the output that is read, from its end; bytes."""

_STARTED: dict[Path, subprocess.Popen[bytes]] = {}
"""Processes that this program has started, by folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProcess:
    """The latest run process of a study.

    Attributes:
        pid: Number of the process.
        command: Its command line as a person types it.
        is_alive: Whether it runs.
        exit_code: Exit code; None if it runs or if another program started it.
        output: The end of its output.
    """

    pid: int
    command: str
    is_alive: bool
    exit_code: int | None
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """The end of the latest run process of a study.

    Attributes:
        key: Identifies the process among all of its study.
        at: Time of its last output; UTC.
        exit_code: Exit code; None if no program has seen it.
    """

    key: str
    at: datetime
    exit_code: int | None


def start_process(
    folder: Path,
    arguments: Sequence[str],
    *,
    command: str,
    umask: int = -1,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Start `theodolite` with some arguments; the process outlives this one.

    Args:
        folder: Folder of the process's files; a study has one, e.g. its workspace.
        arguments: Arguments of the command line.
        command: The command as a person types it.
        umask: Permissions that files of the process do not get; -1 for the mask of this process.
        environ: Environment variables of the process; None for those of this process.

    Raises:
        Conflict: If the latest run process of the study still runs.
        StorageUnavailable: If the folder cannot be written to.
    """
    make_workspace(folder)
    if (process := latest_process(folder)) is not None and process.is_alive:
        message = f"a run of this study is in progress (`{process.command}`, process {process.pid})"
        raise Conflict(message)
    try:
        number = os.open(folder / LOG_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        message = f"the log of the run cannot be written: {error}. Make `{folder}` writable"
        raise StorageUnavailable(message) from error
    try:
        _lock(number)
        os.truncate(number, 0)
        _STARTED[folder] = child = _child(number, arguments, umask, environ)
    finally:
        os.close(number)  # the lock belongs to the child now
    write_whole(folder / RECORD_NAME, json.dumps({"pid": child.pid, "command": command}))


def _child(
    log: int, arguments: Sequence[str], umask: int, environ: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this program itself
        [sys.executable, "-m", "theodolite", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,  # Ctrl-C on this program does not reach it
        umask=umask,
        env=_plain_environment(os.environ if environ is None else environ),
    )


def _plain_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which the process writes each line at once and without colours."""
    return {**environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}


def _lock(number: int) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        message = "a run of this study was started a moment ago"
        raise Conflict(message) from error


def latest_process(folder: Path) -> RunProcess | None:
    """Return the latest run process of a study; None if there was none.

    Args:
        folder: Folder of the process's files.
    """
    try:
        record = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
        pid, command = int(record["pid"]), str(record["command"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    child = _STARTED.get(folder)
    own = child if child is not None and child.pid == pid else None
    code = own.poll() if own is not None else None
    is_alive = code is None if own is not None else _is_locked(folder / LOG_NAME)
    output = _end_of(folder / LOG_NAME)
    return RunProcess(pid=pid, command=command, is_alive=is_alive, exit_code=code, output=output)


def process_end(folder: Path) -> ProcessEnd | None:
    """Return the end of the latest run process of a study; None while it lives, or if there was none.

    The exit code is stored, because only the program that started the process can read it.

    Args:
        folder: Folder of the process's files.
    """
    process = latest_process(folder)
    if process is None or process.is_alive:
        return None
    try:
        started_ns = (folder / RECORD_NAME).stat().st_mtime_ns
        at = datetime.fromtimestamp((folder / LOG_NAME).stat().st_mtime, UTC)
    except OSError:  # the files were deleted
        return None
    key, code = f"{process.pid} {started_ns}", process.exit_code
    if code is None:
        code = _stored_code(folder, key)
    elif _stored_code(folder, key) is None:
        write_whole(folder / END_NAME, json.dumps({"key": key, "exit_code": code}))
    return ProcessEnd(key=key, at=at, exit_code=code)


def _stored_code(folder: Path, key: str) -> int | None:
    try:
        stored = json.loads((folder / END_NAME).read_text(encoding="utf-8"))
        return int(stored["exit_code"]) if stored["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_locked(log: Path) -> bool:
    if fcntl is None:
        return False
    try:
        number = os.open(log, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(number)


def _end_of(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - MOST_OUTPUT))
            return printable(file.read().decode("utf-8", "replace"))
    except OSError:
        return ""


def stop_process(folder: Path) -> None:
    """Stop the run process of a study: after the calls in flight, or at once if asked a second time.

    Args:
        folder: Folder of the process's files.

    Raises:
        NotFound: If no process that a page started is running.
    """
    process = latest_process(folder)
    if process is None or not process.is_alive:
        message = "no run that was started here is in progress; stop a run of a terminal there, with Ctrl-C"
        raise NotFound(message)
    with suppress(ProcessLookupError):  # it ended a moment ago
        os.kill(process.pid, signal.SIGTERM)
