"""A real server of a folder, started by the command, with its output."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

ATTEMPTS = 3
"""Ports to try: another program may take a free one before the server does."""


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server(AbstractContextManager["Server"]):
    """Runs `theodolite serve` on a free port of this machine; on another one where a program was faster.

    Attributes:
        said: The line that it said once it listened.
        port: Where it listens.
    """

    def __init__(self, folder: Path, *words: str, environ: Mapping[str, str] | None = None) -> None:
        self.said, self.port = "", 0
        self._words = [sys.executable, "-m", "theodolite", "serve", *words, "--listen"]
        self._folder = folder
        self._environ = {**os.environ, "PYTHONUNBUFFERED": "1", **(environ or {})}

    def __enter__(self) -> Self:
        for _ in range(ATTEMPTS):
            self._start(free_port())
            if self.said:
                break
            self.stop()
        return self

    def _start(self, port: int) -> None:
        words = [*self._words, f"127.0.0.1:{port}"]
        self._process = subprocess.Popen(words, cwd=self._folder, env=self._environ, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port, self.said = port, self._process.stdout.readline().strip()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> int:
        """End it as Ctrl-C does, and return its exit code."""
        self._process.terminate()
        code = self._process.wait(timeout=120)
        if self._process.stdout is not None:
            self._process.stdout.close()
        return code

    def next_line(self) -> str:
        """Wait for the next line of its output, and return it."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        """Return the answer to a plain request; header names are written with underscores."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        line.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        answer.body = answer.read().decode()  # type: ignore[attr-defined]
        line.close()
        return answer
