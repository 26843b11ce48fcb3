"""Uploads: a file that somebody sent waits in the workspace until its sender has said what it means."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from theodolite.domain.errors import InputError
from theodolite.web.models import HostedStudy

KEPT_S = 86_400
"""How long a file waits at most; seconds."""

_FOLDER = "uploads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that waits.

    Attributes:
        name: Its name, as its sender calls it.
        path: Where it lies.
    """

    name: str
    path: Path


def keep_upload(request: HttpRequest, hosted: HostedStudy, *, suffixes: tuple[str, ...], most_bytes: int) -> None:
    """Keep the file of a form in place of the sender's earlier one of the same study.

    Raises:
        InputError: If there is none, or it has another ending or is too large.
    """
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or not str(file.name).lower().endswith(suffixes):
        message = f"choose a file that ends in {', '.join(suffixes)}; got {getattr(file, 'name', 'none')!r}"
        raise InputError(message)
    if (file.size or 0) > most_bytes:
        message = f"such a file has at most {most_bytes // 1_000_000} MB; `{file.name}` has more. Cut it in parts"
        raise InputError(message)
    drop_upload(request, hosted)
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    _sweep(folder)
    token = secrets.token_urlsafe(16)
    with (folder / token).open("wb") as kept:
        for part in file.chunks():
            kept.write(part)
    request.session[_key(hosted)] = {"token": token, "name": Path(str(file.name)).name[:200]}


def upload_of(request: HttpRequest, hosted: HostedStudy) -> Upload | None:
    """Return the file of this sender that waits for this study; None where there is none any more."""
    known = request.session.get(_key(hosted))
    if not known:
        return None
    path = _folder() / Path(known["token"]).name
    return Upload(name=known["name"], path=path) if path.exists() else None


def drop_upload(request: HttpRequest, hosted: HostedStudy) -> None:
    """Delete the file of this sender that waits for this study, if there is one."""
    found = upload_of(request, hosted)
    if found:
        found.path.unlink(missing_ok=True)
    request.session.pop(_key(hosted), None)


def _key(hosted: HostedStudy) -> str:
    return f"upload {hosted.token}"


def _folder() -> Path:
    return Path(str(settings.WORKSPACE)) / _FOLDER


def _sweep(folder: Path) -> None:
    """Delete what nobody has come back to."""
    for path in folder.iterdir():
        if path.stat().st_mtime < time.time() - KEPT_S:
            path.unlink(missing_ok=True)
