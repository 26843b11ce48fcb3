"""The interface kit: what a team installs to check its application by itself, before anybody else does."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from theodolite.config.resources import shipped_files

KIT_NAME = "theodolite-interface-kit"
"""Name of the archive and of the folder in it."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


def kit_archive() -> bytes:
    """Return the kit as a ZIP archive; the same bytes each time."""
    held = BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name, text in shipped_files("kit"):
            archive.writestr(ZipInfo(f"{KIT_NAME}/{name}", _EPOCH), text)
    return held.getvalue()
