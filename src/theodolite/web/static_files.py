"""Files that pages ask for: style, scripts. A dozen small ones, read once and kept."""

from __future__ import annotations

import mimetypes
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from theodolite.web.access import open_to_all

_FOR_EVER = "public, max-age=31536000, immutable"


@open_to_all
def static_file(_request: HttpRequest, version: str, path: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Answer with a file; its address changes with its content, so browsers may keep it."""
    found = _files().get(path)
    if found is None:
        raise Http404
    kind, body = found
    return HttpResponse(body, content_type=kind, headers={"Cache-Control": _FOR_EVER})


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """Return kind and bytes of every file by its path; ours before those of others."""
    folders: tuple[Path, ...] = settings.STATIC_FOLDERS
    return {
        file.relative_to(folder).as_posix(): (_kind(file), file.read_bytes())
        for folder in reversed(folders)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _kind(file: Path) -> str:
    if file.suffix in {".js", ".mjs"}:
        return "text/javascript; charset=utf-8"
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
