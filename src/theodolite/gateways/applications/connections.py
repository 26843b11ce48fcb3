"""Collects what an application's processes do on the network, and keeps it beside the workspace's database."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path

from theodolite.domain.application import Application, AriaClass, PythonCallable
from theodolite.domain.identity import version_of
from theodolite.domain.network import NetworkUse

NETWORK_NAME = "network"
"""Folder within a workspace that remembers what versions of applications connected to."""

CUT_OFF, WATCHED = "cut off", "watched"
"""Kinds of event: whether the system gave a process no network, or Python's own calls are observed."""

_LISTS = ("connection", "refused", "program")


class Connections:
    """Destinations of one version of an application, each once; any thread may report."""

    def __init__(self, application: Application | None = None, workspace: Path | None = None) -> None:
        """Go on with what the workspace remembers.

        Args:
            application: Whose connections they are; None for an application without a study.
            workspace: Folder of the workspace; None to remember nothing.
        """
        is_kept = application is not None and workspace is not None
        self._file = network_file(application, workspace) if application is not None and workspace is not None else None
        self._lock = threading.Lock()
        self._names: dict[str, list[str]] = {kind: [] for kind in (*_LISTS, "modes")}
        if is_kept and self._file is not None:
            self._names |= _read(self._file)

    def observe(self, kind: str, name: str) -> None:
        """Remember an event."""
        names, entry = (self._names[kind], name) if kind in _LISTS else (self._names["modes"], kind)
        with self._lock:
            if entry not in names:
                names.append(entry)
                self._keep()

    def use(self, application: str, allowed: tuple[str, ...] | None) -> NetworkUse:
        """Return what was observed so far.

        Args:
            application: Name of the application.
            allowed: Hosts that the study allows; None for any.
        """
        return NetworkUse(
            application=application,
            allowed=allowed,
            connections=tuple(sorted(self._names["connection"])),
            refused=tuple(sorted(self._names["refused"])),
            programs=tuple(sorted(self._names["program"])),
            is_cut_off=self._names["modes"] == [CUT_OFF],
            is_observed=bool(self._names["modes"]),
        )

    def _keep(self) -> None:
        if self._file is None:
            return
        beside = self._file.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):  # a folder that cannot be written to: the run itself says so
            self._file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(self._names), encoding="utf-8")
            beside.replace(self._file)


def network_use(application: Application, workspace: Path) -> NetworkUse | None:
    """Return what the workspace remembers of an application's connections; None where it is no code."""
    connection = application.connection
    if not isinstance(connection, PythonCallable | AriaClass):
        return None
    return Connections(application, workspace).use(application.name, connection.runtime.network)


def network_file(application: Application, workspace: Path) -> Path:
    """Return the file that remembers the connections of one version of an application."""
    return workspace / NETWORK_NAME / f"{version_of(application.deciding_part)[:32]}.json"


def _read(file: Path) -> dict[str, list[str]]:
    """Return what a file remembers; what cannot be read is nothing."""
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
        return {kind: [str(name) for name in result[kind]] for kind in (*_LISTS, "modes")}
    except (OSError, ValueError, TypeError, KeyError):
        return {}
