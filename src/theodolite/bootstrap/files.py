"""Files that people are given: whole, or not there."""

from __future__ import annotations

from pathlib import Path

from theodolite.domain.errors import StorageUnavailable


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all: half a file must not look like one.

    Raises:
        StorageUnavailable: If it cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(path)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another place with --out"
        raise StorageUnavailable(message) from error
