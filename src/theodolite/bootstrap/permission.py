"""Permission of the operator: required before code of a study runs or its keys are sent; stored in the workspace."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.database import make_workspace
from theodolite.config.loading import LoadedStudy
from theodolite.config.permissions import (
    ALLOW_CODE,
    ALLOW_KEYS,
    Permissions,
    read_permissions,
    remember_permissions,
    study_file,
    workspace_for,
)
from theodolite.config.required_access import KeyUse, NamedCode, code_hash_of, named_code, named_keys
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.study import Study

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

    from theodolite.store.django_store import DjangoStore


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRequest:
    """Code of a study that is not allowed on this machine.

    Attributes:
        study: Name of the study.
        folder: Its folder.
        code: The functions and classes that it names.
        sha256: Hash of the code.
    """

    study: str
    folder: Path
    code: tuple[NamedCode, ...]
    sha256: str

    def remember(self, *, always: bool = False) -> None:
        """Allow the code in its current version, or all code of the folder in any version.

        Raises:
            StorageUnavailable: If the workspace cannot be written to.
        """
        make_workspace(workspace_for(self.folder))
        allowed = Permissions(all_code=True) if always else Permissions(code=(self.sha256,))
        remember_permissions(self.folder, allowed)


def code_request(loaded: LoadedStudy) -> CodeRequest | None:
    """Return the question to the operator; None if the study runs no code, or all of it is allowed."""
    code = named_code(loaded.study)
    if not code or os.environ.get(ALLOW_CODE) == "1":
        return None
    permissions = read_permissions(loaded.folder)
    if permissions.all_code:
        return None
    sha256 = code_hash_of(loaded.study, loaded.folder)
    if permissions.allows_code(sha256):
        return None
    return CodeRequest(study=loaded.study.name, folder=loaded.folder, code=code, sha256=sha256)


def require_code_permission(loaded: LoadedStudy) -> None:
    """Reject code that the operator has not allowed.

    Raises:
        InputError: If the study runs such code; states how to allow it.
    """
    if (request := code_request(loaded)) is not None:
        raise InputError(refusal_text(request))


def refusal_text(request: CodeRequest) -> str:
    """Return why code does not run, and how the operator allows it."""
    names = ", ".join(f"`{code.shown}`" for code in request.code)
    return (
        f"study `{request.study}` runs code with your rights ({names}), and it has not been allowed on this machine."
        f" Read the code; then allow it with --allow-code (from Python: allow_code=True; in CI: {ALLOW_CODE}=1)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """Keys of the environment that a study sends to hosts that are not allowed on this machine.

    Attributes:
        study: Name of the study.
        folder: Its folder.
        uses: The variables with the hosts that get their values.
    """

    study: str
    folder: Path
    uses: tuple[KeyUse, ...]

    def remember(self) -> None:
        """Allow these variables for these hosts.

        Raises:
            StorageUnavailable: If the workspace cannot be written to.
        """
        make_workspace(workspace_for(self.folder))
        remember_permissions(self.folder, Permissions(keys=tuple(use.shown for use in self.uses)))


def key_request(loaded: LoadedStudy, environ: Mapping[str, str]) -> KeyRequest | None:
    """Return the keys to ask the operator about; None if there are none, or all are allowed.

    Credentials of application teams need no permission: an organiser has accepted them with their address.

    Args:
        loaded: The study.
        environ: Environment variables; unset ones are not sent.
    """
    needed = [use for use in named_keys(loaded.study) if use.needs_permission and _is_set(use, environ)]
    if not needed or os.environ.get(ALLOW_KEYS) == "1":
        return None
    permissions = read_permissions(loaded.folder)
    uses = tuple(use for use in needed if not permissions.allows_key(use.shown))
    return KeyRequest(study=loaded.study.name, folder=loaded.folder, uses=uses) if uses else None


def _is_set(use: KeyUse, environ: Mapping[str, str]) -> bool:
    return use.is_set(environ) and not use.variable.startswith((TEAM_VARIABLES, STORED_VARIABLES))


def require_key_permission(loaded: LoadedStudy, environ: Mapping[str, str]) -> None:
    """Refuse to send keys to hosts that the operator has not allowed.

    Args:
        loaded: The study.
        environ: Environment variables.

    Raises:
        InputError: If the study names such keys; states how to allow them.
    """
    if (request := key_request(loaded, environ)) is not None:
        raise InputError(key_refusal_text(request))


def key_refusal_text(request: KeyRequest) -> str:
    """Return why keys are not sent, and how the operator allows it."""
    uses = ", ".join(f"`{use.variable}` to `{use.receiver}` ({', '.join(use.users)})" for use in request.uses)
    return (
        f"study `{request.study}` sends keys of your environment ({uses}), and this has not been allowed on this"
        " machine. If the hosts may have these keys, allow it with --allow-keys (from Python: allow_keys=True; in CI:"
        f" {ALLOW_KEYS}=1)"
    )


def require_output_inside(folder: Path, *files: Path) -> None:
    """Reject writing through links in a study's folder that lead to other files of the machine.

    Args:
        folder: The study's folder.
        files: Files to write; those in other folders are the operator's choice.

    Raises:
        InputError: If a link leads out of the study folder, to a location that was not allowed.
    """
    home = folder.resolve()
    for file in files:
        real = file.resolve()
        if not file.is_symlink() or file.parent.resolve() != home or real.is_relative_to(home):
            continue
        if not read_permissions(folder).allows_path(real):
            message = (
                f"`{file}` is a link that leads out of the study's folder, to `{real}`. Remove it, name another place"
                f" with --out, or allow it:  theodolite check {folder} --allow-path {real.parent}"
            )
            raise InputError(message)


def allow_paths(path: str, allowed: Iterable[str]) -> None:
    """Let a study read files and folders outside its own folder, now and later.

    Args:
        path: A folder with a study file, or the file.
        allowed: Files and folders.

    Raises:
        InputError: If one of them does not exist.
        StorageUnavailable: If the workspace cannot be written to.
    """
    paths = [Path(folder) for folder in allowed]
    missing = [folder for folder in paths if not folder.exists()]
    if missing:
        message = f"--allow-path names `{missing[0]}`, and there is no such file or folder"
        raise InputError(message)
    file = study_file(Path(path))
    if paths and isinstance(file, Path):
        make_workspace(workspace_for(file.parent))
        remember_permissions(file.parent, Permissions(paths=tuple(paths)))


def trust_new_study(folder: Path, *, reads: Iterable[Path] = ()) -> bool:
    """Allow code, keys and server settings of a study that the user has just made, and files that it was made with.

    Returns:
        Whether the permission was stored; if not, the first run asks.
    """
    try:
        make_workspace(workspace_for(folder))
        remember_permissions(folder, Permissions(paths=tuple(reads), all_code=True, is_own=True))
    except StorageUnavailable:
        return False
    return True


VARIABLE = "THEODOLITE_OPERATOR_KEY"
"""Environment variable with the operator's key: any text of at least twenty characters."""

TEAM_VARIABLES = "SUBMISSION_"
"""Prefix of the names of teams' credentials in study files."""

SHORTEST = 20

_PURPOSE = b"theodolite credentials of teams, version 1"


def key_variable(token: str) -> str:
    """Return the name of a submission's credentials in a study file."""
    return f"{TEAM_VARIABLES}{token.replace('-', '_').upper()}"


def sealed(credentials: str, operator_key: str) -> bytes:
    """Return credentials encrypted with the operator's key.

    Raises:
        InputError: If there is no key, or one that is too short.
    """
    return _fernet(operator_key).encrypt(credentials.encode())


def unsealed(encrypted: bytes | memoryview, operator_key: str) -> str:
    """Return decrypted credentials, only for the call that needs them.

    Raises:
        InputError: If they were encrypted with another key, or there is none.
    """
    from cryptography.fernet import InvalidToken

    try:
        return _fernet(operator_key).decrypt(bytes(encrypted)).decode()
    except InvalidToken as error:
        message = (
            f"credentials of a team were sealed under another `{VARIABLE}`; set the old one, or ask the team again"
        )
        raise InputError(message) from error


def with_team_keys(environ: Mapping[str, str], store: DjangoStore, study: str) -> Mapping[str, str]:
    """Return an environment with the credentials that teams have left in the workspace's vault for a study.

    Variables of the environment have priority. Without the operator's key nothing is decrypted.

    Raises:
        InputError: If credentials were sealed under another key.
    """
    operator_key = environ.get(VARIABLE, "")
    if not operator_key:
        return environ
    stored = store.sealed_credentials(study)
    return {**{key_variable(token): unsealed(item, operator_key) for token, item in stored.items()}, **environ}


STORED_VARIABLES = "STUDY_KEY_"
"""Prefix of the names of organisers' keys in study files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedKey:
    """An encrypted API key that an organiser stored.

    Attributes:
        variable: Its name in study files.
        receiver: The only host that gets it, with the port if the address names one.
        sealed: The encrypted value.
    """

    variable: str
    receiver: str
    sealed: bytes


def stored_keys_for(study: Study, stored: Iterable[SealedKey], operator_key: str) -> Mapping[str, str]:
    """Return organisers' keys for the calls of a study, by variable.

    A key is left out if the study sends it to any other host than the one for which it was stored.

    Raises:
        InputError: If a key was encrypted under another key of the operator.
    """
    receivers: dict[str, set[str]] = {}
    for use in named_keys(study):
        receivers.setdefault(use.variable, set()).add(use.receiver)
    fitting = (key for key in stored if receivers.get(key.variable) == {key.receiver})
    return {key.variable: unsealed(key.sealed, operator_key) for key in fitting}


def with_stored_keys(environ: Mapping[str, str], store: DjangoStore, study: Study) -> Mapping[str, str]:
    """Return an environment with the keys that organisers have stored for a study.

    Without the operator's key nothing is decrypted.

    Raises:
        InputError: If a key was encrypted under another key of the operator.
    """
    operator_key = environ.get(VARIABLE, "")
    if not operator_key:
        return environ
    stored = [SealedKey(variable=name, receiver=host, sealed=key) for name, host, key in store.stored_keys(study.name)]
    return {**environ, **stored_keys_for(study, stored, operator_key)}


def _fernet(key: str) -> Fernet:
    from cryptography.fernet import Fernet  # imported only by code that stores or needs credentials

    if len(key) < SHORTEST:
        message = (
            f"credentials cannot be kept: the operator has not set `{VARIABLE}` to {SHORTEST} letters or more"
            " before starting the server"
        )
        raise InputError(message)
    # The operator's key must be long and is not a personal password, so one round of a keyed hash is enough.
    derived = hashlib.blake2b(_PURPOSE, key=hashlib.sha256(key.encode()).digest(), digest_size=32).digest()
    return Fernet(base64.urlsafe_b64encode(derived))
