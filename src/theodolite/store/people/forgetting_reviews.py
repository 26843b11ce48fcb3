"""Forgetting in combined reviews: what somebody wrote who read a withdrawn session."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.findings.risks import CombinedReview
from theodolite.store.contents import Contents, record_of
from theodolite.store.models import ContentRow, FiledRow
from theodolite.store.models.people import SessionRow


def forget_reviews(contents: Contents, study: str, sessions: Sequence[int]) -> None:
    """Take out the combined reviews of some sessions, with their reasons; the one thing that leaves a file.

    Args:
        contents: Where the reviews lie.
        study: Name of the study.
        sessions: Numbers of the sessions' rows.
    """
    keys = set(SessionRow.objects.filter(id__in=sessions).values_list("key", flat=True))
    filed = FiledRow.objects.filter(subject=CombinedReview.subject(study), content__tag=CombinedReview.__name__)
    texts = contents.texts(filed.values_list("content_id", flat=True))
    gone = [version for version, text in texts.items() if record_of(CombinedReview, text).session in keys]
    filed.filter(content__in=gone).delete()
    leaned_on = ContentRow.objects.filter(base__in=gone).values("base")
    ContentRow.objects.filter(version__in=gone).exclude(version__in=leaned_on).delete()
