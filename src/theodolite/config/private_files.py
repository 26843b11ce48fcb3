"""Small files for the operator's account alone: keys and permissions, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Write a file that nobody else may read, in place of one that is there.

    Raises:
        OSError: If it cannot be written.
    """
    partial = _partial(file, text)
    try:
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def made_secret(file: Path, n_bytes: int = 48) -> str:
    """Return the secret that a file holds; made at the first time, by one process alone.

    A file without a secret is what a full disk or a crash has left, and is made again.

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
