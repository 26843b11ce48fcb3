"""The venues of this server: an edition is opened once, and whoever began with it ends with it.

A session names the edition that it was made for. New sessions meet what was published
last; those that go on keep their study, their run and their lines to the applications.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import Http404

from theodolite.bootstrap.database import database_settings
from theodolite.bootstrap.venues import OpenedVenue, open_venue
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.store.contents import content_of
from theodolite.store.django_store import DjangoStore
from theodolite.usecases.people.venue import Venue
from theodolite.web.models import HostedStudy
from theodolite.web.published import contents, last_edition, study_kept, study_of
from theodolite.web.vault import vault_of

_LOG = logging.getLogger(__name__)

_stores: dict[Path, DjangoStore] = {}
_opened: dict[tuple[Path, str, str], OpenedVenue] = {}
_newest: dict[tuple[Path, str], str] = {}
_lock = Lock()


def venue_of(hosted: HostedStudy, edition: str = "") -> Venue:
    """Return the event of a hosted study, put together.

    Args:
        hosted: The study.
        edition: Content hash of the study that a session was made for; empty for what
            was published last, else what the files hold.

    Raises:
        Http404: If the study has no files yet, so that there is nothing to take part in.
    """
    return opened_venue(hosted, edition).venue


def opened_venue(hosted: HostedStudy, edition: str = "") -> OpenedVenue:
    """Return the same with the way to its applications.

    An edition that is kept nowhere any more is taken for the latest one.

    Raises:
        Http404: If the study has no files yet.
        StudyError: If its files hold faults.
    """
    if not hosted.folder:
        raise Http404
    server_store()
    with _lock:
        newest = _newest.get((_workspace(), hosted.token)) or _open_newest(hosted)
        version = edition or newest
        if (_workspace(), hosted.token, version) not in _opened:
            version = _open_earlier(hosted, version) or newest
        return _opened[_workspace(), hosted.token, version]


def _open_newest(hosted: HostedStudy) -> str:
    edition = last_edition(hosted)
    version = _open(hosted, study_of(edition) if edition else None)
    _newest[_workspace(), hosted.token] = version
    return version


def _open_earlier(hosted: HostedStudy, version: str) -> str:
    try:
        study = study_kept(version)
    except NotFound:
        return ""
    return _open(hosted, study)


def _open(hosted: HostedStudy, study: Study | None) -> str:
    """Put an edition together, unless it is there, and return its content hash."""
    workspace = _workspace()
    opened = open_venue(
        hosted.folder, _stores[workspace], workspace=workspace, study=study, environ=_environment(hosted)
    )
    version = version_of(opened.venue.study)
    if study is None:
        contents().keep([content_of(opened.venue.study)])
    _opened.setdefault((workspace, hosted.token, version), opened)
    return version


def _environment(hosted: HostedStudy) -> Mapping[str, str]:
    """Return the variables that keys are taken from: the process's own, and what teams have left in the vault."""
    try:
        return {**os.environ, **vault_of(hosted)}
    except InputError as error:  # the operator's key is missing or another one; applications with keys will not answer
        _LOG.error("%s", error)
        return os.environ


def forget_venue(hosted: HostedStudy) -> None:
    """Look for the latest edition again when it is next needed; sessions that go on keep theirs."""
    with _lock:
        _newest.pop((_workspace(), hosted.token), None)


def server_store() -> DjangoStore:
    """Return the store of this server's workspace."""
    with _lock:
        if _workspace() not in _stores:
            _stores[_workspace()] = DjangoStore(_workspace(), server_database())
        return _stores[_workspace()]


def server_database() -> dict[str, Any]:
    """Return how this server's database is reached."""
    return database_settings(_workspace(), settings.DATABASE_URL)


def _workspace() -> Path:
    return Path(str(settings.WORKSPACE))
