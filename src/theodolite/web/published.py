"""What was published: the editions of hosted studies, read back from the store."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from theodolite.domain.study import Study
from theodolite.store.contents import Contents, record_of
from theodolite.web.models import Edition, HostedStudy


def last_edition(hosted: HostedStudy) -> Edition | None:
    """Return the edition that was published last, if one was."""
    return hosted.editions.order_by("-number").first()


def study_of(edition: Edition) -> Study:
    """Return a study as it was published.

    Raises:
        NotFound: If its contents are not here.
    """
    return study_kept(edition.version)


def study_kept(version: str) -> Study:
    """Return a study by its content hash.

    Raises:
        NotFound: If its contents are not here.
    """
    return record_of(Study, contents().texts([version])[version])


def contents() -> Contents:
    """Return the contents of this server's workspace, for the calling thread."""
    return Contents(Path(str(settings.WORKSPACE)) / "blobs")
