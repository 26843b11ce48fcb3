"""Permission of the operator: asked for before code of a study runs, and remembered in the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from theodolite.bootstrap.database import make_workspace
from theodolite.config.loading import LoadedStudy
from theodolite.config.locate import study_file
from theodolite.config.permissions import ALLOW_CODE, read_permissions, remember_permissions
from theodolite.config.study_code import NamedCode, code_hash_of, named_code
from theodolite.config.workspace import workspace_for
from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRequest:
    """Code of a study that nobody has allowed on this machine.

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
        """Allow the code as it is now, or all code of the folder whatever it becomes.

        Raises:
            StorageUnavailable: If the workspace cannot be written to.
        """
        make_workspace(workspace_for(self.folder))
        remember_permissions(self.folder, code="" if always else self.sha256, all_code=always)


def code_request(loaded: LoadedStudy) -> CodeRequest | None:
    """Return what the operator is to be asked about; None where the study runs no code, or all of it is allowed."""
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
    """Refuse to run code that the operator has not allowed.

    Raises:
        InputError: If the study runs such code; says how to allow it.
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


def require_output_inside(folder: Path, *files: Path) -> None:
    """Refuse to write through links that a study brings in its folder, and that lead to other files of the machine.

    Args:
        folder: The study's folder.
        files: Files to be written; those in other folders are the operator's choice.

    Raises:
        InputError: If a link leads out of the study's folder, to a place that was not allowed.
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
    """Let a study read files and folders outside of its own, now and later.

    Args:
        path: A folder with a study file, or the file.
        allowed: Files and folders.

    Raises:
        InputError: If one of them is not there.
        StorageUnavailable: If the workspace cannot be written to.
    """
    places = [Path(place) for place in allowed]
    missing = [place for place in places if not place.exists()]
    if missing:
        message = f"--allow-path names `{missing[0]}`, and there is no such file or folder"
        raise InputError(message)
    file = study_file(Path(path))
    if places and isinstance(file, Path):
        make_workspace(workspace_for(file.parent))
        remember_permissions(file.parent, paths=places)


def trust_new_study(folder: Path, *, reads: Iterable[Path] = ()) -> bool:
    """Allow all code of a study that the user has just made, and files outside that it was made with.

    Returns:
        Whether it could be remembered; where not, the first run asks.
    """
    from theodolite.domain.errors import StorageUnavailable

    try:
        make_workspace(workspace_for(folder))
        remember_permissions(folder, paths=reads, all_code=True)
    except StorageUnavailable:
        return False
    return True
