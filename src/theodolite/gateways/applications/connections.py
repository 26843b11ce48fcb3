"""What an application's processes do on the network, as their audit hook reports it."""

from __future__ import annotations

import threading

CUT_OFF = "cut off"
"""Kind of event: the system gave the process no network at all."""

WATCHED = "watched"
"""Kind of event: the process has a network, and Python's own calls are watched."""


class Connections:
    """Collects destinations of one application, each once; any thread may report."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._names: dict[str, dict[str, None]] = {"connection": {}, "refused": {}, "program": {}}
        self._modes: set[str] = set()

    def observe(self, kind: str, name: str) -> None:
        """Remember an event."""
        with self._lock:
            if kind in self._names:
                self._names[kind][name] = None
            else:
                self._modes.add(kind)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Destinations that Python code has opened connections to, as `host:port`."""
        return tuple(self._names["connection"])

    @property
    def refused(self) -> tuple[str, ...]:
        """Destinations that the study's `network` did not allow."""
        return tuple(self._names["refused"])

    @property
    def programs(self) -> tuple[str, ...]:
        """Other programs that the code has started; what these connect to is not seen."""
        return tuple(self._names["program"])

    @property
    def is_cut_off(self) -> bool:
        """Whether the system gave no process of the application a network."""
        return self._modes == {CUT_OFF}
