"""Releases of hosted studies: each is published under a content hash."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.db import transaction

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.workspace import WORKSPACE_NAME
from theodolite.domain.errors import Conflict, NotFound, TheodoliteError
from theodolite.domain.identity import digest, version_of
from theodolite.domain.study import Study
from theodolite.reporting.comparing.study_changes import StudyChange, changes_between
from theodolite.web.audit import audit
from theodolite.web.events import forget_event, last_edition, store_record, study_of
from theodolite.web.models import Account, Edition, HostedStudy


def study_in_files(hosted: HostedStudy) -> LoadedStudy:
    """Return a study as its files are now.

    Raises:
        NotFound: If it has no files.
        InvalidStudyError: If they hold faults; all of them at once.
    """
    if not hosted.folder:
        message = f"study `{hosted.name}` has no files on this server"
        raise NotFound(message)
    return load_study(hosted.folder, resolver=resource_resolver())


def publish(hosted: HostedStudy, by: Account, version: str) -> Edition:
    """Publish what a study's files hold now; who begins from now on meets it.

    Args:
        hosted: The study.
        by: Who publishes.
        version: Content hash of what the person has looked at.

    Raises:
        Conflict: If the files have changed since, or hold what was published last.
        InvalidStudyError: If they hold faults.
    """
    study = study_in_files(hosted).study
    if version_of(study) != version:
        message = "the study's files have changed since you looked; look at the changes once more, then publish"
        raise Conflict(message)
    with transaction.atomic():
        HostedStudy.objects.select_for_update().get(pk=hosted.pk)  # two who publish at once come one after the other
        last = last_edition(hosted)
        if last is not None and last.version == version:
            message = f"nothing has changed since edition {last.number}"
            raise Conflict(message)
        store_record(study)
        edition = Edition.objects.create(
            hosted=hosted, number=last.number + 1 if last else 1, version=version, made_by=by
        )
        HostedStudy.objects.filter(pk=hosted.pk, state=HostedStudy.State.DRAFT).update(
            state=HostedStudy.State.PUBLISHED
        )
        audit(by, "published edition", f"edition {edition.number}", hosted=hosted, version=version)
    forget_event(hosted)
    return edition


def changes_since(edition: Edition, later: Study) -> tuple[StudyChange, ...]:
    """Return what a study changes against an edition; nothing where the edition is kept in another database."""
    try:
        return changes_between(study_of(edition), later)
    except NotFound:
        return ()


def told_changes(edition: Edition) -> str:
    """Return how the files differ from an edition in a few words; empty where they hold the same.

    Files are read anew only when one of them has another size or date than before.
    """
    folder = Path(edition.hosted.folder)
    files = sorted(path for path in folder.rglob("*") if WORKSPACE_NAME not in path.parts and path.is_file())
    stamp = digest(*(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files))
    return _told_changes(edition.pk, stamp)


@lru_cache(maxsize=64)
def _told_changes(edition: int, _stamp: str) -> str:
    known = Edition.objects.select_related("hosted").get(pk=edition)
    try:
        study = study_in_files(known.hosted).study
    except TheodoliteError:
        return "its files hold faults"
    if version_of(study) == known.version:
        return ""
    n = len(changes_since(known, study))
    return f"{n} change{'' if n == 1 else 's'} since" if n else "changed since"
