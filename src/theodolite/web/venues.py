"""The venues of this server: each is opened once and stays as it was then until it is forgotten."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from django.conf import settings
from django.http import Http404

from theodolite.bootstrap.database import database_settings
from theodolite.bootstrap.venues import OpenedVenue, open_venue
from theodolite.store.django_store import DjangoStore
from theodolite.usecases.people.venue import Venue
from theodolite.web.models import HostedStudy
from theodolite.web.published import last_edition, study_of

_stores: dict[Path, DjangoStore] = {}
_opened: dict[tuple[Path, str], OpenedVenue] = {}
_lock = Lock()


def venue_of(hosted: HostedStudy) -> Venue:
    """Return the event of a hosted study, put together: as it was published last, else as its files are.

    Raises:
        Http404: If the study has no files yet, so that there is nothing to take part in.
    """
    return opened_venue(hosted).venue


def opened_venue(hosted: HostedStudy) -> OpenedVenue:
    """Return the same with the way to its applications.

    Raises:
        Http404: If the study has no files yet.
        StudyError: If its files hold faults.
    """
    if not hosted.folder:
        raise Http404
    store, key = server_store(), (_workspace(), hosted.token)
    with _lock:
        if key not in _opened:
            edition = last_edition(hosted)
            study = study_of(edition) if edition else None
            _opened[key] = open_venue(hosted.folder, store, workspace=_workspace(), study=study)
        return _opened[key]


def forget_venue(hosted: HostedStudy) -> None:
    """Read a study's files again when they are next needed, e.g. since another edition was published."""
    with _lock:
        _opened.pop((_workspace(), hosted.token), None)


def server_store() -> DjangoStore:
    """Return the store of this server's workspace."""
    with _lock:
        if _workspace() not in _stores:
            _stores[_workspace()] = DjangoStore(_workspace(), database_settings(_workspace(), settings.DATABASE_URL))
        return _stores[_workspace()]


def _workspace() -> Path:
    return Path(str(settings.WORKSPACE))
