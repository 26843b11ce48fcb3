"""Locations of a study, the permissions of its operator and reviewer, and the files that it may read."""

from __future__ import annotations

import errno
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import Field

from theodolite.config.tables import unreadable
from theodolite.config.validation import Filled, Spec, validated
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, read_yaml
from theodolite.domain.errors import InputError, StorageUnavailable

FILE = "permissions.json"
"""File of a workspace that stores the permissions."""

ALLOW_PATHS = "THEODOLITE_ALLOW_PATHS"
"""Environment variable with paths that every study may read, separated as in `PATH`."""

ALLOW_CODE = "THEODOLITE_ALLOW_CODE"
"""Environment variable that allows the code of every study if it is `1`."""

ALLOW_KEYS = "THEODOLITE_ALLOW_KEYS"
"""Environment variable that lets every study send the keys that it names if it is `1`."""

WORKSPACE = "THEODOLITE_WORKSPACE"
"""Environment variable with the folder of the workspace, if studies are read-only or each job has its own."""

_KEY_FILE = "permissions.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """The operator's permissions for one study.

    Attributes:
        paths: Files and folders outside the study folder, resolved.
        code: Content hashes of code that may run.
        all_code: Whether all code of the folder may run, in any version.
        keys: Environment variables with their receivers, e.g. `TEAM_KEY to api.example.org`.
        settings: Content hashes of server settings (`serve.yaml`) that may be used.
        is_own: Whether the operator created the study: its keys and server settings need no permission.
    """

    paths: tuple[Path, ...] = ()
    code: tuple[str, ...] = ()
    all_code: bool = False
    keys: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_own: bool = False

    def allows_path(self, path: Path) -> bool:
        """Return whether a resolved path is allowed, directly or through a parent folder."""
        return any(path.is_relative_to(allowed) for allowed in self.paths)

    def allows_code(self, sha256: str) -> bool:
        """Return whether code of this content may run."""
        return self.all_code or sha256 in self.code

    def allows_key(self, use: str) -> bool:
        """Return whether a variable may be sent to a receiver, e.g. `TEAM_KEY to api.example.org`."""
        return self.is_own or use in self.keys

    def allows_settings(self, sha256: str) -> bool:
        """Return whether server settings of this content may be used."""
        return self.is_own or sha256 in self.settings


def read_permissions(folder: Path, environ: Mapping[str, str] | None = None) -> Permissions:
    """Return the permissions of a study's folder; entries without a valid signature grant nothing.

    Args:
        folder: The study's folder.
        environ: Environment variables; default: those of the process.
    """
    variables = os.environ if environ is None else environ
    stored = _stored(folder, variables)
    named = [Path(path) for path in variables.get(ALLOW_PATHS, "").split(os.pathsep) if path]
    return replace(stored, paths=(*stored.paths, *(path.resolve() for path in named)))


def remember_permissions(folder: Path, added: Permissions, *, environ: Mapping[str, str] | None = None) -> None:
    """Add permissions for a study folder to its workspace, which must exist.

    Args:
        folder: The study's folder.
        added: Values permitted in addition to earlier ones.
        environ: Environment variables; default: those of the process.

    Raises:
        StorageUnavailable: If the workspace or the user's key cannot be written.
    """
    variables = os.environ if environ is None else environ
    after = _joined(_stored(folder, variables), added)
    file = workspace_for(folder) / FILE
    try:
        key = _made_key(_key_file(variables))
        home = str(folder.resolve())
        entries = {**_entries(file), home: {**_plain(after), "signature": _signature(key, home, after)}}
        write_private(file, json.dumps({"studies": entries}, indent=1, ensure_ascii=False) + "\n")
    except (OSError, RuntimeError) as error:
        message = (
            f"the permission cannot be remembered: {error}. Allow it for this command alone:"
            f" set {ALLOW_PATHS}=PATH, {ALLOW_CODE}=1 or {ALLOW_KEYS}=1"
        )
        raise StorageUnavailable(message) from error


def _joined(before: Permissions, added: Permissions) -> Permissions:
    return Permissions(
        paths=tuple(dict.fromkeys([*before.paths, *(path.resolve() for path in added.paths)])),
        code=tuple(dict.fromkeys([*before.code, *added.code])),
        all_code=before.all_code or added.all_code,
        keys=tuple(dict.fromkeys([*before.keys, *added.keys])),
        settings=tuple(dict.fromkeys([*before.settings, *added.settings])),
        is_own=before.is_own or added.is_own,
    )


def _stored(folder: Path, environ: Mapping[str, str]) -> Permissions:
    home = str(folder.resolve())
    entry = _entries(workspace_for(folder) / FILE).get(home)
    if entry is None:
        return Permissions()
    try:
        key = _key_file(environ).read_bytes().strip()
        permissions = Permissions(
            paths=tuple(Path(str(path)) for path in entry["paths"]),
            code=tuple(str(sha256) for sha256 in entry["code"]),
            all_code=entry["all_code"] is True,
            keys=tuple(str(use) for use in entry.get("keys", ())),
            settings=tuple(str(sha256) for sha256 in entry.get("settings", ())),
            is_own=entry.get("is_own") is True,
        )
        signed = str(entry["signature"])
    except (OSError, RuntimeError, LookupError, TypeError):
        return Permissions()
    is_ours = bool(key) and hmac.compare_digest(signed.encode(), _signature(key, home, permissions).encode())
    return permissions if is_ours else Permissions()


def _entries(file: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of a file by the folder concerned; empty if it cannot be read."""
    try:
        studies = json.loads(file.read_text(encoding="utf-8"))["studies"]
        return {str(folder): dict(entry) for folder, entry in studies.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _plain(permissions: Permissions) -> dict[str, object]:
    """Return the entry of a file, without empty kinds of permission, as in older files."""
    later = {"keys": list(permissions.keys), "settings": list(permissions.settings), "is_own": permissions.is_own}
    return {
        "paths": [str(path) for path in permissions.paths],
        "code": list(permissions.code),
        "all_code": permissions.all_code,
        **{name: value for name, value in later.items() if value},
    }


def _signature(key: bytes, folder: str, permissions: Permissions) -> str:
    content = json.dumps([folder, _plain(permissions)], sort_keys=True, ensure_ascii=True)
    return hmac.digest(key, content.encode(), "sha256").hex()


def _key_file(environ: Mapping[str, str]) -> Path:
    """Return the file of the user's key.

    Raises:
        RuntimeError: If the user has no home folder.
    """
    state = environ.get("XDG_STATE_HOME", "") or environ.get("LOCALAPPDATA", "")
    home = Path(state) if state else Path.home() / ".local" / "state"
    return home / "theodolite" / _KEY_FILE


def _made_key(file: Path) -> bytes:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return made_secret(file).encode("ascii")


def write_private(file: Path, text: str) -> None:
    """Write a file that no other user may read, replacing an existing one.

    Raises:
        OSError: If it cannot be written.
    """
    partial = _partial(file, text)
    try:
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def made_secret(file: Path, n_bytes: int = 48) -> str:
    """Return the secret in a file; one process alone creates it on first use.

    A file without a secret results from a full disk or a crash, and is created again.

    Args:
        file: The file.
        n_bytes: Random bytes of a new secret; count.

    Raises:
        OSError: If it can be neither read nor written.
    """
    with suppress(FileNotFoundError):
        if secret := file.read_text(encoding="ascii").strip():
            return secret
        file.unlink()
    partial = _partial(file, secrets.token_urlsafe(n_bytes))
    try:
        try:
            os.link(partial, file)  # fails where another process was faster, and its secret stays
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return file.read_text(encoding="ascii").strip()


def _partial(file: Path, text: str) -> Path:
    partial = file.with_name(f".{file.name}.{secrets.token_hex(8)}.partial")
    number = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(text)
    return partial


SYSTEM_FOLDERS = tuple(map(Path, ("/proc", "/dev", "/sys")))
"""Folders without data files: environments of processes, devices, kernel settings."""

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags for opening files: in binary mode, and without waiting for the other end of a pipe."""


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """Reason why a file that a study names is not read; `message` also states the remedy."""

    message: str


@dataclass(slots=True, kw_only=True)
class StudyPaths:
    """Finds the files that one study names.

    Attributes:
        folder: The study's folder, to which paths are relative.
        outside: Files read from outside the folder: name in the study to resolved path.
    """

    folder: Path
    outside: dict[str, Path] = field(default_factory=dict)
    _permissions: Permissions | None = None

    def find(self, *names: str | Path) -> Path | RefusedPath | None:
        """Return the first regular file among some paths, or the reason for its rejection; None if there is none.

        Args:
            names: Paths as written in the study, in order of preference.
        """
        for name in names:
            path = self.folder / name
            real = _resolved(path)
            if real is None or not (self._is_system_file(real) or is_there(path)):
                continue
            return self._refusal(real, str(name)) or path
        return None

    def refusal_of(self, path: Path, *, shown: str) -> RefusedPath | None:
        """Return the reason why a file or folder may not be read; None if it may.

        Args:
            path: An absolute path.
            shown: Its name in messages.
        """
        real = _resolved(path)
        return None if real is None else self._refusal(real, shown)

    def read(self, path: Path) -> bytes:
        """Return the bytes of a file found earlier, unless a link now leads elsewhere.

        The file is opened first and checked afterwards, so that a link swapped in between is not followed.

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
        """Return whether a file is in a system folder that does not contain the study itself, e.g. below /dev/shm."""
        home = self.folder.resolve()
        return any(
            real.is_relative_to(system_folder) and not home.is_relative_to(system_folder)
            for system_folder in SYSTEM_FOLDERS
        )

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
    """Return whether a file exists; a name that is impossible for a file counts as missing."""
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


USUAL = "study.yaml"
"""Default name of a study's file."""

SERVING = "serve.yaml"
"""Name of the web settings file, which lies next to a study but is not a study."""


def study_file(path: Path) -> Path | LocatedDiagnostic:
    """Return the file of a study, or the reason why there is none.

    Args:
        path: A file, or a folder with `study.yaml` or a single other YAML file.
    """
    try:
        if path.is_dir():
            return _file_in(path)
        there = path.exists()
    except OSError as error:
        return LocatedDiagnostic(file=str(path), message=f"cannot be read: {unreadable(error)}")
    return path if there else LocatedDiagnostic(file=str(path), message="there is no such file or folder")


def _file_in(path: Path) -> Path | LocatedDiagnostic:
    for name in (USUAL, "study.yml"):
        if (path / name).is_file():
            return path / name
    others = sorted(folder for folder in path.iterdir() if _may_be_study(folder))
    if len(others) == 1:
        return others[0]
    if not others:
        return LocatedDiagnostic(
            file=str(path), message=f"this folder holds no `{USUAL}`; write one with  theodolite init {path}"
        )
    names = ", ".join(folder.name for folder in others)
    return LocatedDiagnostic(
        file=str(path), message=f"this folder holds several YAML files and no `{USUAL}`; name one of {names}"
    )


def _may_be_study(path: Path) -> bool:
    return path.suffix in {".yaml", ".yml"} and path.name != SERVING and path.is_file()


def read_file(path: Path) -> bytes | LocatedDiagnostic:
    """Return a file's bytes, or the reason why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        return LocatedDiagnostic(file=path.name, message=f"cannot be read: {unreadable(error)}")


WORKSPACE_NAME = ".theodolite"
"""Folder next to a study that stores all data of the program."""


def workspace_for(folder: Path) -> Path:
    """Return the workspace of a study folder: `THEODOLITE_WORKSPACE`, the nearest ancestor's, else its own."""
    if named := os.environ.get(WORKSPACE):
        return Path(named).resolve()
    start = folder.resolve()
    for candidate in (start, *start.parents):
        if (candidate / WORKSPACE_NAME).is_dir():
            return candidate / WORKSPACE_NAME
    return start / WORKSPACE_NAME


PRIVACY_REVIEW = "privacy-review.yaml"
"""Name of the file in the study's folder."""


class PrivacyReviewSpec(Spec):
    """A person's statement that the texts of a run may leave the workspace."""

    run: int = Field(ge=1)
    """Number of the run whose texts were reviewed."""
    reviewer: Filled
    """Name or role of the reviewer."""
    finished: date | None = None
    """Day on which the review ended, e.g. `2026-03-09`; a review without it is not finished."""
    note: str = ""
    """Scope and findings of the review."""


def require_privacy_review(folder: Path, run: int) -> None:
    """Refuse to write texts of people unless the study folder contains a finished review of that run.

    Args:
        folder: The study's folder.
        run: Number of the run.

    Raises:
        InputError: If there is no review, if it is not finished, or if it concerns another run.
        InvalidStudyError: If the file has errors; lists all of them.
    """
    file = folder / PRIVACY_REVIEW
    if not file.is_file():
        message = (
            f"people took part in run {run}, so its texts need a finished privacy review: write `{file}` with "
            f"`run: {run}`, `reviewer: NAME` and `finished: YYYY-MM-DD`, or leave out --include-text"
        )
        raise InputError(message)
    source = read_yaml(file.read_bytes(), file.name)
    review = validated(source, PrivacyReviewSpec, owner="the privacy review")
    if review is None or source.faults:
        raise InvalidStudyError(tuple(source.faults), ending="Nothing was written.")
    if review.run != run:
        message = (
            f"`{file}` reviews run {review.run}; the export is of run {run}. Review its texts, then set `run: {run}`"
        )
        raise InputError(message)
    if review.finished is None:
        message = f"the privacy review of run {run} in `{file}` is not finished: add `finished: YYYY-MM-DD`"
        raise InputError(message)
