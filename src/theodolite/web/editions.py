"""Editions of hosted studies: what people meet is published under a content hash, by somebody, at some time."""

from __future__ import annotations

from django.db import transaction

from theodolite.bootstrap.shelves import plugin_shelves
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.identity import version_of
from theodolite.store.contents import content_of
from theodolite.web.audit import audit
from theodolite.web.models import Account, Edition, HostedStudy
from theodolite.web.published import contents
from theodolite.web.venues import forget_venue


def study_in_files(hosted: HostedStudy) -> LoadedStudy:
    """Return a study as its files are now.

    Raises:
        NotFound: If it has no files.
        StudyFaults: If they hold faults; all of them at once.
    """
    if not hosted.folder:
        message = f"study `{hosted.name}` has no files on this server"
        raise NotFound(message)
    return load_study(hosted.folder, shelves=plugin_shelves())


def publish(hosted: HostedStudy, by: Account, version: str) -> Edition:
    """Publish what a study's files hold now; who begins from now on meets it.

    Args:
        hosted: The study.
        by: Who publishes.
        version: Content hash of what the person has looked at.

    Raises:
        Conflict: If the files have changed since, or hold what was published last.
        StudyFaults: If they hold faults.
    """
    study = study_in_files(hosted).study
    if version_of(study) != version:
        message = "the study's files have changed since you looked; look at the changes once more, then publish"
        raise Conflict(message)
    with transaction.atomic():
        last = Edition.objects.select_for_update().filter(hosted=hosted).order_by("-number").first()
        if last is not None and last.version == version:
            message = f"nothing has changed since edition {last.number}"
            raise Conflict(message)
        contents().keep([content_of(study)])
        edition = Edition.objects.create(
            hosted=hosted, number=last.number + 1 if last else 1, version=version, made_by=by
        )
        HostedStudy.objects.filter(pk=hosted.pk, state=HostedStudy.State.DRAFT).update(
            state=HostedStudy.State.PUBLISHED
        )
        audit(by, "published edition", f"edition {edition.number}", hosted=hosted, version=version)
    forget_venue(hosted)
    return edition
