"""What kind of terminal one writes to."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Self

WIDEST = 80
"""Columns that screens are laid out for."""


def is_terminal() -> bool:
    """Tell whether somebody watches: standard output is a terminal."""
    return sys.stdout.isatty()


def wants_colour() -> bool:
    """Tell whether colours are welcome (`NO_COLOR` is honoured)."""
    return is_terminal() and not os.environ.get("NO_COLOR")


def speaks_unicode() -> bool:
    """Tell whether the terminal shows lines and dots."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


class RowProgress:
    """One line on standard error that says how far a long table is; nothing where nobody watches."""

    def __init__(self) -> None:
        """Look whether standard error is a terminal."""
        self._watched = sys.stderr.isatty()
        self._shown = 0

    def __call__(self, step: str, n_rows: int) -> None:
        """Say what is done and how many rows it has gone through."""
        if self._watched and n_rows:
            self._write(f"{step}: {n_rows:,} rows"[: width() - 1])

    def __enter__(self) -> Self:
        """Begin without a line."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the line away."""
        if self._shown:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text.ljust(self._shown)}")
        sys.stderr.flush()
        self._shown = len(text)


def width() -> int:
    """Return the columns to use; 80 at most."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
