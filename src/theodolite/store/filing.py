"""Filing: records that are found by what they are about, such as the certificates of a judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from django.utils import timezone

from theodolite.domain.certificate import Certificate
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.former_subjects import former_subject
from theodolite.domain.identity import Record, canonical_json
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
    return [record_of(kind, _present(kind, texts[version])) for version in versions]


def _present(kind: type[R], text: str) -> str:
    """Return the text of a record in its present shape; certificates of older programs have flat subjects."""
    return with_typed_subjects(text) if kind is Certificate else text


def with_typed_subjects(text: str) -> str:
    """Return a kept certificate whose estimates have typed subjects (ADR-0061)."""
    certificate = json.loads(text)
    if all("subject" in one for one in certificate["measurements"]):
        return text
    return canonical_json(certificate | {"measurements": [_measurement(one) for one in certificate["measurements"]]})


def _measurement(members: Mapping[str, Any]) -> dict[str, Any]:
    found = former_subject(Measure(members["measure"]), members["application"], members["about"])
    kept = {name: part for name, part in members.items() if name not in {"application", "about"}}
    return {**kept, "subject": found.subject, "weighting": found.weighting, "statistic": found.statistic}
