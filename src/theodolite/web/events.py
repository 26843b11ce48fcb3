"""Open events of this server, the releases of its studies, ethics approvals, and credentials of teams.

A session names the release for which it was created. New sessions use the latest release;
sessions in progress keep their study, run and connections to the applications.
Credentials are stored in the database, encrypted with the operator's key.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import Http404
from django.utils import timezone

from theodolite.bootstrap.database import bind_thread, database_settings, keep_record, store_on
from theodolite.bootstrap.events import open_event
from theodolite.bootstrap.permission import (
    SHORTEST,
    VARIABLE,
    SealedKey,
    code_request,
    sealed,
    stored_keys_for,
    unsealed,
)
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.events import MissingText, missing_texts
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import WORKSPACE_NAME
from theodolite.config.starters import StarterKind
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import Conflict, InputError, NotFound, StorageUnavailable, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.identity import Record, digest, version_of
from theodolite.domain.study import Study
from theodolite.domain.wording import LocalisedStudy, localised
from theodolite.events.context import EventContext, EventStore, OpenEvent
from theodolite.reporting.comparing.study_changes import StudyChange, changes_between
from theodolite.testing.assigning import people_levels
from theodolite.web.access import audit, clash_of
from theodolite.web.models import Account, Edition, EthicsApproval, HostedStudy, Membership, Submission

_LOG = logging.getLogger(__name__)


_stores: dict[Path, EventStore] = {}


_opened: dict[tuple[Path, str, str], OpenEvent] = {}


_newest: dict[tuple[Path, str], str] = {}


_lock = RLock()


def event_of(hosted: HostedStudy, study_version: str = "") -> EventContext:
    """Return the event of a hosted study.

    Args:
        hosted: The study.
        study_version: Content hash of the release for which a session was created; empty for the
            latest release, or for the files of a study without a release.

    Raises:
        Http404: If the study has no files.
    """
    return open_event_of(hosted, study_version).event


def open_event_of(hosted: HostedStudy, study_version: str = "") -> OpenEvent:
    """Return the event with connections to its applications.

    If the release is no longer stored, the latest release replaces it.

    Raises:
        Http404: If the study has no files.
        StudyError: If its files have errors.
    """
    if not hosted.folder:
        raise Http404
    server_store()
    with _lock:
        newest = _newest.get((_workspace(), hosted.token)) or _open_newest(hosted)
        version = study_version or newest
        if (_workspace(), hosted.token, version) not in _opened:
            version = _open_earlier(hosted, version) or newest
        return _opened[_workspace(), hosted.token, version]


def _open_newest(hosted: HostedStudy) -> str:
    release = last_edition(hosted)
    version = _open(hosted, study_of(release) if release else None)
    _newest[_workspace(), hosted.token] = version
    return version


def _open_earlier(hosted: HostedStudy, version: str) -> str:
    try:
        study = _stores[_workspace()].study(version)
    except NotFound:
        return ""
    return _open(hosted, study)


def _open(hosted: HostedStudy, study: Study | None) -> str:
    """Open a release unless it is already open, and return its content hash."""
    workspace = _workspace()
    opened = open_event(
        hosted.folder, _stores[workspace], workspace=workspace, study=study, environ=environment_of(hosted, study)
    )
    version = version_of(opened.event.study)
    if study is None:
        _stores[workspace].keep(opened.event.study)
    _opened.setdefault((workspace, hosted.token, version), opened)
    return version


def environment_of(hosted: HostedStudy, study: Study | None = None) -> Mapping[str, str]:
    """Return the variables from which keys are read: those of the process, of teams and of organisers.

    Args:
        hosted: The study.
        study: Its content, which decides the hosts that get organisers' keys; None for the files.
    """
    try:
        return {**os.environ, **vault_of(hosted), **_stored_keys(hosted, study)}
    except InputError as error:  # the operator's key is missing or has changed; applications with keys will not answer
        _LOG.error("%s", error)
        return os.environ


def _stored_keys(hosted: HostedStudy, study: Study | None) -> Mapping[str, str]:
    stored = [
        SealedKey(variable=key.variable, receiver=key.receiver, sealed=bytes(key.sealed))
        for key in hosted.stored_keys.all()
    ]
    if not stored:
        return {}
    return stored_keys_for(study or study_in_files(hosted).study, stored, _operator_key())


def reopen_event(hosted: HostedStudy) -> None:
    """Reopen the event for later calls, because its keys have changed; calls in progress keep their keys."""
    forget_event(hosted)
    with _lock:
        for opened in [key for key in _opened if key[:2] == (_workspace(), hosted.token)]:
            del _opened[opened]


def forget_event(hosted: HostedStudy) -> None:
    """Look up the latest release again on the next use; sessions in progress keep theirs."""
    with _lock:
        _newest.pop((_workspace(), hosted.token), None)


def server_store() -> EventStore:
    """Return the store of this server's workspace."""
    with _lock:
        if _workspace() not in _stores:
            _stores[_workspace()] = store_on(_workspace(), server_database())
        return _stores[_workspace()]


def server_database() -> dict[str, Any]:
    """Return the connection settings of this server's database."""
    return database_settings(_workspace(), settings.DATABASE_URL)


def _workspace() -> Path:
    return Path(str(settings.WORKSPACE))


def bind_request_thread() -> None:
    """Bind the calling thread to this server's database, so that its store uses the same connection.

    `theodolite view` has no database of its own: each study has one.
    """
    if settings.WORKSPACE is not None:
        bind_thread(server_database())


def last_edition(hosted: HostedStudy) -> Edition | None:
    """Return the latest release of a study; None if it was never published."""
    return hosted.editions.order_by("-number").first()


def study_of(release: Edition) -> Study:
    """Return the study of a release.

    Raises:
        NotFound: If its content is not in this workspace.
    """
    return server_store().study(release.version)


def store_record(record: Record) -> str:
    """Store a record by its content hash on the calling thread's connection, and return the hash."""
    return keep_record(_workspace(), record)


_MOST = 32


_read: dict[tuple[int, str], tuple[Study, LocalisedStudy]] = {}
"""Keyed by the study's id(), since comparing studies is slow; the study is kept here, so its id stays unique."""


def read_study(study: Study, language: str) -> LocalisedStudy:
    """Return a study in a language; the same object for as long as the study is open."""
    at = (id(study), language)
    if at not in _read:
        if len(_read) >= _MOST:
            _read.clear()
        _read[at] = (study, localised(study, language))
    return _read[at][1]


def study_in_files(hosted: HostedStudy) -> LoadedStudy:
    """Return a study from its current files.

    Raises:
        NotFound: If it has no files.
        InvalidStudyError: If the files have errors; lists all of them.
    """
    if not hosted.folder:
        message = f"study `{hosted.name}` has no files on this server"
        raise NotFound(message)
    return load_study(hosted.folder, resolver=resource_resolver())


def publish(hosted: HostedStudy, by: Account, version: str) -> Edition:
    """Publish a study's current files; new sessions use them.

    Args:
        hosted: The study.
        by: The publishing account.
        version: Content hash of the version that the person has read.

    Raises:
        Conflict: If the files have changed since, or equal the latest published version.
        InvalidStudyError: If the files have errors.
    """
    study = study_in_files(hosted).study
    if version_of(study) != version:
        message = "the study's files have changed since you opened the page; review the changes, then publish"
        raise Conflict(message)
    with transaction.atomic():
        HostedStudy.objects.select_for_update().get(pk=hosted.pk)  # concurrent publications are serialised
        last = last_edition(hosted)
        if last is not None and last.version == version:
            message = f"nothing has changed since version {last.number}"
            raise Conflict(message)
        store_record(study)
        release = Edition.objects.create(
            hosted=hosted, number=last.number + 1 if last else 1, version=version, made_by=by
        )
        HostedStudy.objects.filter(pk=hosted.pk, state=HostedStudy.State.DRAFT).update(
            state=HostedStudy.State.PUBLISHED
        )
        audit(by, "published version", f"edition {release.number}", hosted=hosted, version=version)
    forget_event(hosted)
    return release


def changes_since(release: Edition, later: Study) -> tuple[StudyChange, ...]:
    """Return a study's changes since a release; empty if the release is in another database."""
    try:
        return changes_between(study_of(release), later)
    except NotFound:
        return ()


def told_changes(release: Edition) -> str:
    """Return a short description of how the files differ from a release; empty if they are equal.

    Files are read again only if the size or date of one has changed.
    """
    folder = Path(release.hosted.folder)
    files = sorted(path for path in folder.rglob("*") if WORKSPACE_NAME not in path.parts and path.is_file())
    stamp = digest(*(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files))
    return _told_changes(release.pk, stamp)


@lru_cache(maxsize=64)
def _told_changes(edition: int, _stamp: str) -> str:
    known = Edition.objects.select_related("hosted").get(pk=edition)
    try:
        study = study_in_files(known.hosted).study
    except TheodoliteError:
        return "its files contain errors"
    if version_of(study) == known.version:
        return ""
    n = len(changes_since(known, study))
    return f"{n} change{'' if n == 1 else 's'} since" if n else "changed since"


def host_study(path: str, by: Account | None = None) -> HostedStudy:
    """Host the study of a folder on this server, unless it is hosted already.

    Args:
        path: A folder with a study file, or the file.
        by: The person, who becomes its organiser; None for the operator, whose studies every host organises.

    Raises:
        StudyError: If the study has errors; lists all of them.
    """
    loaded = load_study(path, resolver=resource_resolver())
    return _host_folder(loaded.folder, loaded.study.name, loaded.study.title, by)


def host_new_study(folder: Path, kind: StarterKind, by: Account) -> HostedStudy:
    """Host the study that a person has just created from a template; its files may still have errors.

    The code of an example comes with Theodolite and may run as it is. Other code and keys need the operator.

    Args:
        folder: The new folder.
        kind: The template.
        by: The person, who becomes its organiser.
    """
    try:
        loaded = load_study(folder, resolver=resource_resolver())
    except InvalidStudyError:
        return _host_folder(folder, folder.name, "", by, template=kind.value)
    if kind is StarterKind.EXAMPLE and (request := code_request(loaded)) is not None:
        with suppress(StorageUnavailable):  # the server's start lists the study, with the option that allows it
            request.remember()
    return _host_folder(folder, loaded.study.name, loaded.study.title, by, template=kind.value)


def _host_folder(folder: str | Path, name: str, title: str, by: Account | None, **facts: str) -> HostedStudy:
    """Host a folder, and make a person its organiser; all hosts if none is named."""
    with transaction.atomic():
        hosted, is_new = HostedStudy.objects.get_or_create(
            folder=str(Path(folder).resolve()), defaults={"name": name, "title": title or name, "made_by": by}
        )
        if is_new:
            audit(by, "added study to server", f"study {hosted.token}", hosted=hosted, **facts)
        for host in [by] if by else Account.objects.filter(is_host=True):
            Membership.objects.get_or_create(account=host, hosted=hosted, role=Role.ORGANISER.value)
    return hosted


def host_all(account: Account) -> None:
    """Make a person organiser of the studies on this server that have no organiser.

    Skips studies that the person annotates: an annotator must not see an organiser's pages.
    """
    for hosted in HostedStudy.objects.filter(made_by=None).exclude(memberships__role=Role.ORGANISER.value):
        if not clash_of(account, hosted, Role.ORGANISER):
            Membership.objects.get_or_create(account=account, hosted=hosted, role=Role.ORGANISER.value)


TESTERS = (Role.RED_TEAMER, Role.FIELD_TESTER)
"""Roles of research participants; inviting them needs an approval."""


NO_APPROVAL = "Record the ethics approval first; testers cannot be invited without one."


def approval_of(hosted: HostedStudy) -> EthicsApproval | None:
    """Return the latest approval that is valid today; None if testers must not be invited."""
    today = timezone.now().date()
    return next((approval for approval in hosted.approvals.all() if approval.holds(today)), None)


def may_invite(hosted: HostedStudy, role: Role) -> bool:
    """Return whether people may be invited in a role."""
    return role not in TESTERS or approval_of(hosted) is not None


def lacks_before_opening(hosted: HostedStudy, study: Study) -> tuple[MissingText, ...]:
    """Return everything that is missing before testers may start; empty for a study without testers.

    Args:
        hosted: The study on this server.
        study: The study for its testers.
    """
    if not people_levels(study):
        return ()
    approval = () if approval_of(hosted) else (MissingText(what="no valid ethics approval"),)
    return (*approval, *missing_texts(study))


__all__ = ["SHORTEST", "VARIABLE", "can_seal", "opened", "seal", "vault_of"]


def can_seal() -> bool:
    """Return whether the operator has set a sufficiently long key."""
    return len(_operator_key()) >= SHORTEST


def seal(credentials: str) -> bytes:
    """Return credentials encrypted with the operator's key.

    Raises:
        InputError: If the operator has set no key, or a key that is too short.
    """
    return sealed(credentials, _operator_key())


def opened(encrypted: bytes | memoryview) -> str:
    """Return decrypted credentials, only for the call that needs them.

    Raises:
        InputError: If they were encrypted with another key.
    """
    return unsealed(encrypted, _operator_key())


def vault_of(hosted: HostedStudy) -> Mapping[str, str]:
    """Return the credentials of all accepted applications of an event, by the names in the study file.

    Raises:
        InputError: If they were encrypted with a key other than the operator's.
    """
    submissions = Submission.objects.filter(hosted=hosted, state=Submission.State.ACCEPTED).exclude(sealed=b"")
    return {submission.key_variable: opened(submission.sealed) for submission in submissions}


def _operator_key() -> str:
    return str(settings.OPERATOR_KEY)
