"""The demos: shipped studies, copied for the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from theodolite.bootstrap.permission import trust_new_study
from theodolite.config.load_context import shipped
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.domain.errors import StorageUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStudy:
    """One of the demo's studies.

    Attributes:
        name: Name of the study and of its folder.
        words: One-line description.
    """

    name: str
    words: str


DEMO_STUDIES = (
    DemoStudy(name="xstest-replay", words="5 recorded applications, 2,250 dialogues, 2 people"),
    DemoStudy(name="spoiler-guard", words="a toy and a SCRIPTED user: shows the loop, no more"),
)


def lay_out_demo(folder: Path) -> None:
    """Copy the shipped studies into a folder with its own workspace.

    Existing files are not changed: a user may have
    changed them.

    Raises:
        StorageUnavailable: If the folder cannot be written to.
    """
    targets = {study.name: folder / study.name for study in DEMO_STUDIES}
    _lay_out(targets, folder, "name another folder with --out")


def lay_out_event(folder: Path) -> None:
    """Copy the studies of the events that `serve --demo` shows into a folder with its own workspace.

    Raises:
        StorageUnavailable: If the folder cannot be written to.
    """
    _lay_out({"event": folder, "kitchen": kitchen_of(folder)}, folder, "go to another folder first")


def kitchen_of(folder: Path) -> Path:
    """Return the folder of the second, small event beside the first one's files."""
    return folder / "kitchen"


def _lay_out(targets: Mapping[str, Path], folder: Path, way_out: str) -> None:
    try:
        (folder / WORKSPACE_NAME).mkdir(parents=True, exist_ok=True)
        for name, target in targets.items():
            source = shipped(f"demo/{name}")
            _copy(source, target)
            if _is_as_shipped(source, target):
                trust_new_study(target)
    except OSError as error:
        message = f"the demo cannot be written to `{folder}`: {error.strerror}; {way_out}"
        raise StorageUnavailable(message) from error


def _copy(source: Traversable, target: Path) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        for entry in source.iterdir():
            if entry.name != "__pycache__":
                _copy(entry, target / entry.name)
    elif not target.exists():
        target.write_bytes(source.read_bytes())


def _is_as_shipped(source: Traversable, target: Path) -> bool:
    """Return whether the files are unchanged; their code is then the package's own and needs no permission."""
    if source.is_dir():
        return all(
            _is_as_shipped(traversable, target / traversable.name)
            for traversable in source.iterdir()
            if traversable.name != "__pycache__"
        )
    return target.read_bytes() == source.read_bytes()
