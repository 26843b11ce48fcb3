"""Paths of a study: each file that a study names is resolved here before it is read.

Whoever writes a study chooses its paths, and the text of a file may be sent to a host that the
same study names. A path therefore stays inside the study's folder, links resolved, unless the
operator of this machine allows it; files of `/proc`, `/dev` and `/sys` are never read.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

from theodolite.config.permissions import Permissions, read_permissions

SYSTEM_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys")))
"""Folders whose files are no data: environments of processes, devices, settings of the kernel."""


_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How files are opened: without waiting for the other end of a pipe, and as bytes where systems tell them apart."""


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """Why a file that a study names is not read; `message` also says what to do."""

    message: str


@dataclass(slots=True, kw_only=True)
class StudyPaths:
    """Finds the files that one study names.

    Attributes:
        folder: The study's folder, which relative paths begin in.
        outside: Files that are read from outside of the folder: name in the study to resolved path.
    """

    folder: Path
    outside: dict[str, Path] = field(default_factory=dict)
    _permissions: Permissions | None = None

    def find(self, *names: str | Path) -> Path | RefusedPath | None:
        """Return the first of some paths that is a regular file; why it is refused; None where there is none.

        Args:
            names: Paths as the study writes them, in order of preference.
        """
        for name in names:
            path = self.folder / name
            real = _resolved(path)
            if real is None or not (self._is_system_file(real) or is_there(path)):
                continue
            return self._refusal(real, str(name)) or path
        return None

    def refusal_of(self, path: Path, *, shown: str) -> RefusedPath | None:
        """Return why a file or folder may not be read; None where it may.

        Args:
            path: An absolute path.
            shown: What a message calls it.
        """
        real = _resolved(path)
        return None if real is None else self._refusal(real, shown)

    def read(self, path: Path) -> bytes:
        """Return the bytes of a file that was found, unless a link has led it elsewhere since.

        The file is opened first and looked at then, so nobody who swaps a link in between is read.

        Raises:
            OSError: If it cannot be read, or is no longer a file that the study may read.
        """
        with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAIT), "rb") as file:
            real = _resolved(path)
            is_same = real is not None and os.path.samestat(os.fstat(file.fileno()), real.stat())
            if real is None or not is_same or self._refusal(real, "") is not None:
                raise OSError(errno.ELOOP, "a link leads elsewhere than when it was checked")
            return file.read()

    def _is_system_file(self, real: Path) -> bool:
        """Tell whether a file lies in a system folder that the study itself does not lie in, as below /dev/shm."""
        home = self.folder.resolve()
        return any(real.is_relative_to(place) and not home.is_relative_to(place) for place in SYSTEM_FOLDERS)

    def _refusal(self, real: Path, shown: str) -> RefusedPath | None:
        if self._is_system_file(real):
            folders = ", ".join(map(str, SYSTEM_FOLDERS))
            return RefusedPath(f"`{shown}` is a file of the operating system; files of {folders} are never read")
        home = self.folder.resolve()
        is_inside = real.is_relative_to(home)
        if is_inside and not any(part.startswith(".") for part in real.relative_to(home).parts):
            return None
        if self._permissions is None:
            self._permissions = read_permissions(self.folder)
        if self._permissions.allows_path(real):
            if shown:
                self.outside[shown] = real
            return None
        if is_inside:
            return RefusedPath(f"`{shown}` is a hidden file, which may hold secrets; {_remedy(real)}")
        return RefusedPath(f"`{shown}` leads out of the study's folder, to `{real}`; {_remedy(real)}")


def is_there(path: Path) -> bool:
    """Tell whether there is a file; a name that no file can have is no file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _resolved(path: Path) -> Path | None:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def _remedy(real: Path) -> str:
    return f"copy it into the folder, or allow it with  --allow-path {real}"
