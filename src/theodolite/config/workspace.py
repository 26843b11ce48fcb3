"""The workspace of a study: where it lies, and the name of its folder."""

from __future__ import annotations

from pathlib import Path

WORKSPACE_NAME = ".theodolite"
"""Folder beside a study that holds everything the program remembers."""


def workspace_for(folder: Path) -> Path:
    """Return the workspace of a study's folder: the nearest ancestor's, else one beside the study."""
    start = folder.resolve()
    for candidate in (start, *start.parents):
        if (candidate / WORKSPACE_NAME).is_dir():
            return candidate / WORKSPACE_NAME
    return start / WORKSPACE_NAME
