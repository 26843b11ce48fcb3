"""Files that people are given: whole, or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import get_ident

from theodolite.domain.errors import StorageUnavailable


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Write a file whole or not at all: half a file must not look like one.

    Args:
        path: Where to.
        text: The text, or its pieces.

    Raises:
        StorageUnavailable: If it cannot be written.
    """
    # Two processes of one run end at the same moment; each writes a file of its own, and the later one stays.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="") as file:
            file.writelines([text] if isinstance(text, str) else text)
        partial.replace(path)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another place with --out"
        raise StorageUnavailable(message) from error
    finally:
        with suppress(OSError):  # where nothing could be written there is nothing to clear away
            partial.unlink()
