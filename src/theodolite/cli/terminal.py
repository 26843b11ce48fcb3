"""What kind of terminal one writes to."""

from __future__ import annotations

import os
import shutil
import sys

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


def width() -> int:
    """Return the columns to use; 80 at most."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
