"""A real PostgreSQL server for tests: its own data, its own port, its own user where tests run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

USER = "theodolite"
PATIENCE_S = 300
"""How long the server may take to start; seconds. Machines may be busy, and one that died is noticed at once."""

ATTEMPTS = 3
"""Ports to try before a test gives up; count."""

MISSING = "PostgreSQL's server programs are needed by these tests and were not found; type: apt-get install postgresql"


def _programs() -> Path:
    """Return the folder of the newest installed server."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    found = shutil.which("postgres")
    candidates = [path.parent for path in folders] + ([Path(found).parent] if found else [])
    if not candidates:
        pytest.fail(MISSING, pytrace=False)
    return candidates[-1]


def _as_server() -> dict[str, Any]:
    """Return what makes a process run as somebody else than root, which the server refuses."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class PostgresServer:
    """One running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._n_databases = 0

    def url(self, name: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def create(self) -> str:
        """Make an empty database and return its URL."""
        self._n_databases += 1
        name = f"test_{self._n_databases}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Start a server and stop it at the end."""
    programs, identity = _programs(), _as_server()
    with tempfile.TemporaryDirectory(prefix="theodolite-pg-", ignore_cleanup_errors=True) as folder:
        if identity:
            os.chown(folder, identity["user"], identity["group"])
        data = f"{folder}/data"
        initdb = [programs / "initdb", "-D", data, "-U", USER, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]
        subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **identity)
        settings = ["fsync=off", "max_connections=60", "shared_buffers=32MB", f"unix_socket_directories={folder}"]
        command = [programs / "postgres", "-D", data, "-h", "127.0.0.1"]
        command += [word for setting in settings for word in ("-c", setting)]
        with Path(folder, "log").open("wb") as log:
            process, port = _started(command, stdout=log, stderr=log, cwd=folder, **identity)
            try:
                yield PostgresServer(port)
            finally:
                process.send_signal(signal.SIGQUIT)  # at once: nobody wants the data
                process.wait()


def _started(command: list[Any], **options: Any) -> tuple[subprocess.Popen[bytes], int]:
    """Start a server on a free port; on another one where a program took the first before the server did."""
    log = Path(options["cwd"], "log")
    for _ in range(ATTEMPTS):
        port = _free_port()
        process = subprocess.Popen([*command, "-p", str(port)], **options)
        if _answers(port, process, log):
            return process, port
    pytest.fail(f"PostgreSQL did not start:\n{log.read_text()}")


def _answers(port: int, process: subprocess.Popen[bytes], log: Path) -> bool:
    """Wait until the server answers; false where its port was taken."""
    for _ in range(PATIENCE_S * 10):
        if process.poll() is not None:
            assert "could not bind" in log.read_text(), log.read_text()
            return False
        try:
            psycopg.connect(f"postgresql://{USER}@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return True
    pytest.fail(f"PostgreSQL did not answer within {PATIENCE_S} s:\n{log.read_text()}")
