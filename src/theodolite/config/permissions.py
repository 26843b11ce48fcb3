"""Permissions: files, code, keys and server settings of a study that the operator of this machine allows.

They stand in the workspace and never in the study. A workspace may lie inside the folder
of a study that somebody else has packed, so each entry names the folder it is for and is
signed with a key of the user's account: an entry that arrives in an archive grants nothing.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from theodolite.config.private_files import made_secret, write_private
from theodolite.config.workspace import workspace_for
from theodolite.domain.errors import StorageUnavailable

FILE = "permissions.json"
"""File of a workspace that holds the permissions."""

ALLOW_PATHS = "THEODOLITE_ALLOW_PATHS"
"""Environment variable with paths that every study may read, separated as in `PATH`."""

ALLOW_CODE = "THEODOLITE_ALLOW_CODE"
"""Environment variable that allows the code of every study where it is `1`."""

ALLOW_KEYS = "THEODOLITE_ALLOW_KEYS"
"""Environment variable that lets every study send the keys that it names where it is `1`."""

_KEY_FILE = "permissions.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What the operator allows one study.

    Attributes:
        paths: Files and folders outside of the study's folder, resolved.
        code: Content hashes of code that may run.
        all_code: Whether all code of the folder may run, whatever it becomes.
        keys: Environment variables with their receivers, e.g. `TEAM_KEY to api.example.org`.
        settings: Content hashes of server settings (`serve.yaml`) that may be used.
        is_own: Whether the operator made the study: its keys and server settings need no permission.
    """

    paths: tuple[Path, ...] = ()
    code: tuple[str, ...] = ()
    all_code: bool = False
    keys: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_own: bool = False

    def allows_path(self, path: Path) -> bool:
        """Tell whether a resolved path is allowed, by itself or by a folder above it."""
        return any(path.is_relative_to(allowed) for allowed in self.paths)

    def allows_code(self, sha256: str) -> bool:
        """Tell whether code of this content may run."""
        return self.all_code or sha256 in self.code

    def allows_key(self, use: str) -> bool:
        """Tell whether a variable may go to a receiver, e.g. `TEAM_KEY to api.example.org`."""
        return self.is_own or use in self.keys

    def allows_settings(self, sha256: str) -> bool:
        """Tell whether server settings of this content may be used."""
        return self.is_own or sha256 in self.settings


def read_permissions(folder: Path, environ: Mapping[str, str] | None = None) -> Permissions:
    """Return the permissions of a study's folder; entries without a valid signature grant nothing.

    Args:
        folder: The study's folder.
        environ: Environment variables; those of the process where left out.
    """
    variables = os.environ if environ is None else environ
    stored = _stored(folder, variables)
    named = [Path(place) for place in variables.get(ALLOW_PATHS, "").split(os.pathsep) if place]
    return replace(stored, paths=(*stored.paths, *(place.resolve() for place in named)))


def remember_permissions(folder: Path, added: Permissions, *, environ: Mapping[str, str] | None = None) -> None:
    """Add permissions of a study's folder to its workspace, which must be there.

    Args:
        folder: The study's folder.
        added: What is allowed beside what was allowed before.
        environ: Environment variables; those of the process where left out.

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
            paths=tuple(Path(str(place)) for place in entry["paths"]),
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
    """Return the entries of a file by the folder they are for; none where it cannot be read."""
    try:
        studies = json.loads(file.read_text(encoding="utf-8"))["studies"]
        return {str(folder): dict(entry) for folder, entry in studies.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _plain(permissions: Permissions) -> dict[str, object]:
    """Return the entry of a file; later kinds of permission are left out where there are none, as in older files."""
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
