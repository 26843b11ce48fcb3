"""What the report is made of: template, styles, scripts and words, read from the package."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources.abc import Traversable

from theodolite.config.shipped import shipped, shipped_text

_FOLDER = "report"
_ENDINGS = (".html", ".css", ".js", ".yaml", ".json")


def report_assets() -> dict[str, str]:
    """Return the texts of the report's parts by their path below `resources/report`."""
    return dict(_texts(shipped(_FOLDER), ""))


def report_words() -> str:
    """Return the text of the reading aids."""
    return shipped_text(f"{_FOLDER}/words.yaml")


def _texts(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        if entry.is_dir():
            yield from _texts(entry, f"{below}{entry.name}/")
        elif entry.name.endswith(_ENDINGS):
            yield f"{below}{entry.name}", entry.read_text(encoding="utf-8")
