"""Shipped resources: files of the package itself, read by name."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable


def shipped(path: str) -> Traversable:
    """Return a shipped file or folder by its path under `theodolite/resources`."""
    place: Traversable = resources.files("theodolite.resources")
    for part in path.split("/") if path else ():
        place = place / part
    return place


def shipped_bytes(path: str) -> bytes | None:
    """Return a shipped file's bytes, or None if there is none of that path."""
    place = shipped(path)
    return place.read_bytes() if place.is_file() else None


def shipped_text(path: str) -> str:
    """Return a shipped text.

    Raises:
        FileNotFoundError: If the package does not hold it.
    """
    return shipped(path).read_text(encoding="utf-8")


def shipped_names(folder: str, suffix: str) -> tuple[str, ...]:
    """Return the names in a shipped folder that end so, without the ending, sorted."""
    place = shipped(folder)
    if not place.is_dir():
        return ()
    return tuple(sorted(entry.name.removesuffix(suffix) for entry in place.iterdir() if entry.name.endswith(suffix)))
