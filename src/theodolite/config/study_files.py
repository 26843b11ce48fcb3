"""Location of a study and of its workspace."""

from __future__ import annotations

from pathlib import Path

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.tables import unreadable

USUAL = "study.yaml"
"""What a study's file is called where it is not said."""

SERVING = "serve.yaml"
"""What the settings of the web side are called; they stand beside a study and are none."""


def study_file(path: Path) -> Path | LocatedDiagnostic:
    """Return the file of a study, or why there is none.

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
    others = sorted(place for place in path.iterdir() if _may_be_study(place))
    if len(others) == 1:
        return others[0]
    if not others:
        return LocatedDiagnostic(
            file=str(path), message=f"this folder holds no `{USUAL}`; write one with  theodolite init {path}"
        )
    names = ", ".join(place.name for place in others)
    return LocatedDiagnostic(
        file=str(path), message=f"this folder holds several YAML files and no `{USUAL}`; name one of {names}"
    )


def _may_be_study(place: Path) -> bool:
    return place.suffix in {".yaml", ".yml"} and place.name != SERVING and place.is_file()


def read_file(path: Path) -> bytes | LocatedDiagnostic:
    """Return a file's bytes, or why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        return LocatedDiagnostic(file=path.name, message=f"cannot be read: {unreadable(error)}")


WORKSPACE_NAME = ".theodolite"
"""Folder beside a study that holds everything the program remembers."""


def workspace_for(folder: Path) -> Path:
    """Return the workspace of a study's folder: the nearest ancestor's, else one beside the study."""
    start = folder.resolve()
    for candidate in (start, *start.parents):
        if (candidate / WORKSPACE_NAME).is_dir():
            return candidate / WORKSPACE_NAME
    return start / WORKSPACE_NAME
