"""Promotions: judges beside people in the same queue, shadows until they are certified and promoted."""

from __future__ import annotations

from theodolite.domain.certificate import Certificate
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of
from theodolite.domain.promotion import Promotion
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.filing import file_record, filed_records


def promote(library: Library, queue: str, judge: str, *, by: str, reason: str) -> Promotion:
    """Promote a judge of the queue's study, in its present version, and keep the decision.

    Raises:
        InputError: If the study has no such judge, it has no certificate for this very version
            of judge and guideline, or there is no reason.
    """
    study = library.study(queue_of(queue).study_content_id)
    named = next((one for one in study.annotators if one.name == judge and not one.by_hand), None)
    if named is None or not reason.strip():
        message = (
            f"promoting needs a judge of study `{study.name}` and a reason; got judge={judge!r}, reason={reason!r}"
        )
        raise InputError(message)
    version, guideline = study.annotator_version(judge), study.guideline(named.guideline)
    certificates = filed_records(library.contents, Certificate, version)
    valid = [one for one in certificates if one.guideline_version == version_of(guideline)]
    if not valid:
        message = (
            f"`{judge}` has no certificate for this version of itself and of `{guideline.name}`; "
            "label a sample by hand and certify it first"
        )
        raise InputError(message)
    made = Promotion(
        judge=judge,
        judge_version=version,
        guideline=guideline.name,
        guideline_version=version_of(guideline),
        certificate=version_of(valid[-1]),
        by=by,
        reason=reason.strip(),
    )
    file_record(library.contents, Promotion.subject(version), made)
    return made


def promoted(library: Library, queue: str) -> frozenset[str]:
    """Return the names of the judges that are promoted in their present version."""
    study = library.study(queue_of(queue).study_content_id)
    return frozenset(
        one.name
        for one in study.annotators
        if not one.by_hand
        and filed_records(library.contents, Promotion, Promotion.subject(study.annotator_version(one.name)))
    )
