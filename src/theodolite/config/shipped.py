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


def shipped_files(path: str) -> list[tuple[str, str]]:
    """Return the text files of a shipped folder by name, in order of their names."""
    files = (file for file in shipped(path).iterdir() if file.is_file())
    return sorted((file.name, file.read_text(encoding="utf-8")) for file in files)
