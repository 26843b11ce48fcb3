"""Filing: records that are found by what they are about, such as the certificates of a judge."""

from __future__ import annotations

from typing import TypeVar

from django.utils import timezone

from theodolite.domain.identity import Record
from theodolite.store.contents import Contents, content_of, record_of
from theodolite.store.models import FiledRow

R = TypeVar("R", bound=Record)


def file_record(contents: Contents, subject: str, record: Record) -> str:
    """Keep a record under its subject unless it lies there, and return its version."""
    content = content_of(record)
    contents.keep([content])
    row = FiledRow(subject=subject, content_id=content.version, created=timezone.now())
    FiledRow.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["subject", "content"], update_fields=["subject"]
    )
    return content.version


def filed_records(contents: Contents, kind: type[R], subject: str) -> list[R]:
    """Return the records of one kind that lie under a subject, the oldest first."""
    rows = FiledRow.objects.filter(subject=subject, content__tag=kind.__name__).order_by("id")
    versions = list(rows.values_list("content_id", flat=True))
    texts = contents.texts(versions)
    in_present_shape = getattr(kind, "in_present_shape", str)  # of records that older programs wrote in another shape
    return [record_of(kind, in_present_shape(texts[version])) for version in versions]
