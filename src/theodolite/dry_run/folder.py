"""The folder of a dry run: a copy of the study with a server, saved pages and their screenshots."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import IO, Self
from urllib.parse import urljoin

from theodolite.bootstrap.database import DATABASE_VARIABLE, make_workspace
from theodolite.bootstrap.page_checks import Lookout, PageAnswer
from theodolite.config.events import missing_texts
from theodolite.config.loading import LoadedStudy
from theodolite.config.permissions import ALLOW_CODE, ALLOW_KEYS, WORKSPACE_NAME, Permissions, remember_permissions
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.errors import InputError, RunStopped, StorageUnavailable

BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
"""Programs to search for a browser."""


SIZE = "1200,1500"
"""Width and height of a screenshot; pixels."""


_TIMEOUT_S = 60

_ENTRY_PATHS = {"start", "join", "code", "from"}

_TOKEN_PARENTS = {"d", "room", "item", "case", "check"}
"""Parts of a path that precede a token."""


_OK = 200

_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')

_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)

_ICON = re.compile(r'<link rel="icon"[^>]*>')


class PageArchive:
    """Saves the longest page of each kind that bots open.

    Attributes:
        n_pages: Opened pages; count.
    """

    def __init__(self, scanners: Mapping[str, Lookout] | None = None) -> None:
        """Create an empty archive.

        Args:
            scanners: By prefix, the scanner of pages for words that break blinding.
        """
        self.n_pages = 0
        self._scanners = scanners or {}
        self._saved: dict[str, PageAnswer] = {}
        self._lock = Lock()

    def sink_for(self, who: str) -> Callable[[PageAnswer], None]:
        """Return the function that saves the pages of a visitor; `who` is the prefix of their file names."""

        def save(page: PageAnswer) -> None:
            with self._lock:
                self._save(who, page)

        return save

    def _save(self, who: str, page: PageAnswer) -> None:
        self.n_pages += 1
        if who in self._scanners:
            self._scanners[who].look(page)
        if page.status != _OK or "text/html" not in page.headers:
            return
        name = f"{who}-{kind_of(page.path)}"
        if name not in self._saved or len(page.text) > len(self._saved[name].text):
            self._saved[name] = page

    def write_pages(self, folder: Path, read: Callable[[str], str]) -> tuple[Path, ...]:
        """Write the pages as files without scripts and with their style sheets, and return the files.

        Args:
            folder: Target folder.
            read: Returns the content at an address of the server; called once for each style sheet.
        """
        styles: dict[str, str] = {}
        files = []
        for name, page in sorted(self._saved.items()):
            for address in _STYLE.findall(page.text):
                where = urljoin(page.url, address)
                styles[address] = styles.get(address) or read(where)
            text = _STYLE.sub(lambda match: f"<style>{styles[match[1]]}</style>", page.text)
            files.append(folder / f"{name}.html")
            files[-1].write_text(_ICON.sub("", _SCRIPT.sub("", text)), encoding="utf-8")
        return tuple(files)


def kind_of(path: str) -> str:
    """Return the kind of page at a path, without numbers, tokens and codes; e.g. `test-chat`."""
    parts = [part for part in path.split("/") if part]
    if not parts or parts[0] in _ENTRY_PATHS:
        return parts[0] if parts else "home"
    below = parts[2:] if parts[0] == "s" else parts
    named = [part for index, part in enumerate(below) if not (index and below[index - 1] in _TOKEN_PARENTS)]
    words = [part for part in named if not part.isdecimal()]
    return "-".join([*words, "chat"] if words == ["test"] and len(below) > 1 else words)


def browser() -> str:
    """Return the path of an installed browser; empty if none is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), "")


def take_screenshots(pages: tuple[Path, ...], program: str) -> int:
    """Save a screenshot next to each page, and return their number; count.

    Args:
        pages: Files of the pages.
        program: A browser of the Chromium family.
    """
    n_drawn = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", f"--window-size={SIZE}"]
        options += ["--disable-background-networking", "--disable-sync", f"--user-data-dir={profile}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # it refuses an administrator otherwise; the pages are our own
        for page in pages:
            target = page.with_suffix(".png")
            command = [program, *options, f"--screenshot={target.resolve()}", page.resolve().as_uri()]
            try:
                subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
            except (OSError, subprocess.TimeoutExpired):
                continue
            n_drawn += target.exists()
    return n_drawn


MARK = "dry-run.json"
"""File that marks the folder of an earlier dry run, which the next one may replace."""


_LEFT_OUT = {WORKSPACE_NAME, ".git", "__pycache__", "serve.yaml"}
"""Names that are not copied: earlier results, and the settings of the real server."""


_STAND_IN = "A placeholder for a dry run: nobody reads this text, and the real one is not written yet.\n"


_OURS = "THEODOLITE_"

_STOPPING_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """Paths of a dry run.

    Attributes:
        folder: The whole dry run.
        study: The copy of the study.
        file: The study file of the copy.
    """

    folder: Path
    study: Path
    file: Path

    @property
    def pages(self) -> Path:
        """Folder of saved pages and screenshots."""
        return self.folder / "pages"

    @property
    def log(self) -> Path:
        """Error output of the server."""
        return self.folder / "server.log"


def copy_study(loaded: LoadedStudy, folder: Path) -> Scratch:
    """Copy a study into a folder with an empty workspace.

    Args:
        loaded: The study.
        folder: Target folder: missing, empty, or of an earlier dry run, which is replaced.

    Raises:
        InputError: If the folder contains other files.
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
    """Write placeholders for missing texts for participants."""
    named = read_yaml(scratch.file.read_bytes(), scratch.file.name).content
    for key in keys:
        file = str(named.get(key) or "") if isinstance(named, dict) else ""
        if not file:
            file = f"dry-run-{key}.md"
            with scratch.file.open("a", encoding="utf-8") as study:
                study.write(f"\n{key}: {file}\n")
        (scratch.study / file).write_text(_STAND_IN, encoding="utf-8")


def _clear(scratch: Scratch) -> None:
    if not scratch.folder.exists() or not any(scratch.folder.iterdir()):
        return
    if not (scratch.folder / MARK).exists():
        message = f"`{scratch.folder}` contains files that are not a dry run; name an empty folder with --out"
        raise InputError(message)
    for path in (scratch.study, scratch.pages):
        shutil.rmtree(path, ignore_errors=True)


def server_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the server: keys of applications stay; database, mail and address are removed."""
    inherited = {
        name: value for name, value in environ.items() if name != DATABASE_VARIABLE and not name.startswith(_OURS)
    }
    return {**inherited, "PYTHONUNBUFFERED": "1", ALLOW_CODE: "1", ALLOW_KEYS: "1"}  # permitted for the original


class ScratchServer(AbstractContextManager["ScratchServer"]):
    """`theodolite serve` for the copy, on a free port of this machine, while the context is open.

    Attributes:
        start: The link for the first organiser.
        base: Address of the server.
    """

    def __init__(self, scratch: Scratch, environ: Mapping[str, str] = os.environ) -> None:
        """Store paths and environment."""
        self.start = self.base = ""
        self._scratch, self._environ = scratch, server_environ(environ)

    def __enter__(self) -> Self:
        """Start the server, and wait until it listens.

        Raises:
            RunStopped: If it does not start.
        """
        self._log: IO[bytes] = self._scratch.log.open("wb")
        command = [sys.executable, "-m", "theodolite", "serve", str(self._scratch.file), "--listen", "127.0.0.1:0"]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command, env=self._environ, stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        output = self._process.stdout.readline() if self._process.stdout else ""
        if "/start/" not in output:
            self._stop()
            why = self._scratch.log.read_text(encoding="utf-8", errors="replace").strip()
            message = f"the server of the dry run did not start: {why or output.strip() or 'no output'}"
            raise RunStopped(message)
        self.start = output.split()[-1]
        self.base = self.start.partition("/start/")[0]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server."""
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
