"""The scratch folder of a rehearsal: a copy of the study with a workspace of its own, and a real server over it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from theodolite.bootstrap.database import DATABASE_VARIABLE, make_workspace
from theodolite.config.events import missing_texts
from theodolite.config.loading import LoadedStudy
from theodolite.config.permissions import ALLOW_CODE, ALLOW_KEYS, WORKSPACE_NAME, Permissions, remember_permissions
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.errors import InputError, RunStopped, StorageUnavailable

MARK = "rehearsal.json"
"""File by which a folder is known to hold an earlier rehearsal, and may be used for the next one."""

_LEFT_OUT = {WORKSPACE_NAME, ".git", "__pycache__", "serve.yaml"}
"""What is not copied: what was measured before, and how the real server is run."""

_STAND_IN = "A rehearsal: no person reads this, and what people are to read is still to be written.\n"

_OURS = "THEODOLITE_"
_STOPPING_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """Where a rehearsal leaves what it brings.

    Attributes:
        folder: All of it.
        study: The copy's own folder.
        file: The copy's study file.
    """

    folder: Path
    study: Path
    file: Path

    @property
    def pages(self) -> Path:
        """Folder of pages and pictures."""
        return self.folder / "pages"

    @property
    def log(self) -> Path:
        """What the server complained about."""
        return self.folder / "server.log"


def lay_out_scratch(loaded: LoadedStudy, folder: Path) -> Scratch:
    """Copy a study into a folder, and give it an empty workspace of its own.

    Args:
        loaded: The study.
        folder: Where to; missing, empty, or that of an earlier rehearsal, which is replaced.

    Raises:
        InputError: If the folder holds anything else.
        StorageUnavailable: If it cannot be written to.
    """
    scratch = Scratch(folder=folder, study=folder / "study", file=folder / "study" / loaded.file)
    try:
        _clear(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).touch()
        within = folder.resolve()

        def left_out(parent: str, names: list[str]) -> set[str]:
            return {name for name in names if name in _LEFT_OUT or (Path(parent) / name).resolve() == within}

        shutil.copytree(loaded.folder, scratch.study, ignore=left_out)
        scratch.pages.mkdir()
        _stand_in(scratch, [lack.key for lack in missing_texts(loaded.study)])
    except (OSError, shutil.Error) as error:
        message = f"the study could not be copied to `{folder}`: {error}. Name another folder with --out."
        raise StorageUnavailable(message) from error
    make_workspace(scratch.study / WORKSPACE_NAME)
    if loaded.outside:
        remember_permissions(scratch.study, Permissions(paths=tuple(loaded.outside.values())))
    return scratch


def _stand_in(scratch: Scratch, keys: Sequence[str]) -> None:
    """Write stand-ins for the texts that people would read, so that an event can be rehearsed before they are there."""
    named = read_yaml(scratch.file.read_bytes(), scratch.file.name).content
    for key in keys:
        file = str(named.get(key) or "") if isinstance(named, dict) else ""
        if not file:
            file = f"rehearsal-{key}.md"
            with scratch.file.open("a", encoding="utf-8") as study:
                study.write(f"\n{key}: {file}\n")
        (scratch.study / file).write_text(_STAND_IN, encoding="utf-8")


def _clear(scratch: Scratch) -> None:
    if not scratch.folder.exists() or not any(scratch.folder.iterdir()):
        return
    if not (scratch.folder / MARK).exists():
        message = f"`{scratch.folder}` holds something else than a rehearsal; name an empty folder with --out"
        raise InputError(message)
    for each in (scratch.study, scratch.pages):
        shutil.rmtree(each, ignore_errors=True)


def rehearsal_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a rehearsal's server: keys of applications stay, database, mail and address go."""
    kept = {name: value for name, value in environ.items() if name != DATABASE_VARIABLE and not name.startswith(_OURS)}
    return {**kept, "PYTHONUNBUFFERED": "1", ALLOW_CODE: "1", ALLOW_KEYS: "1"}  # both were allowed for the original


class ScratchServer(AbstractContextManager["ScratchServer"]):
    """`theodolite serve` over the copy, on a free port of this machine, as long as the block runs.

    Attributes:
        start: The link by which the first organiser comes in.
        base: Address of the server.
    """

    def __init__(self, scratch: Scratch, environ: Mapping[str, str] = os.environ) -> None:
        """Take note of what is to be served."""
        self.start = self.base = ""
        self._scratch, self._environ = scratch, rehearsal_environ(environ)

    def __enter__(self) -> Self:
        """Start it, and wait until it listens.

        Raises:
            RunStopped: If it does not.
        """
        self._log: IO[bytes] = self._scratch.log.open("wb")
        words = [sys.executable, "-m", "theodolite", "serve", str(self._scratch.file), "--listen", "127.0.0.1:0"]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            words, env=self._environ, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        said = self._process.stdout.readline() if self._process.stdout else ""
        if "/start/" not in said:
            self._stop()
            why = self._scratch.log.read_text(encoding="utf-8", errors="replace").strip()
            message = f"the server of the rehearsal did not start: {why or said.strip() or 'it said nothing'}"
            raise RunStopped(message)
        self.start = said.split()[-1]
        self.base = self.start.partition("/start/")[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self._stop()

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=_STOPPING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
