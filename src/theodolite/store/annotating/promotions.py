"""Promotions: judges beside people in the same queue, shadows until they are certified and promoted."""

from __future__ import annotations

from django.db import transaction

from theodolite.domain.annotating.promotion import Demotion, JudgeStanding, Promotion
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import version_of
from theodolite.store.annotating.judge_passes import let_judges_take, take_back
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.queues import queue_of
from theodolite.store.annotating.standing import held_promotions, standings
from theodolite.store.filing import file_record
from theodolite.store.ledger import one_at_a_time
from theodolite.store.models.annotating import QueueRow


def promote(library: Library, queue: str, judge: str, *, by: str, reason: str) -> Promotion:
    """Promote a judge of the queue's study, in its present version, and keep the decision.

    It takes at once the passes that the study leaves to judges, and later ones when
    work is given out.

    Raises:
        InputError: If the study has no such judge, it has no certificate for this very version
            of judge and guideline, or there is no reason.
    """
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        stands = _standing(library, row, judge, reason)
        guideline = library.study(row.study_content_id).guideline(stands.guideline)
        if stands.certificate is None:
            message = (
                f"`{judge}` has no certificate for this version of itself and of `{guideline.name}`; "
                "label a sample by hand and certify it first"
            )
            raise InputError(message)
        if stands.promotion is not None:
            return stands.promotion
        made = Promotion(
            judge=judge,
            judge_version=stands.version,
            guideline=guideline.name,
            guideline_version=version_of(guideline),
            certificate=version_of(stands.certificate),
            by=by,
            reason=reason.strip(),
            number=stands.past[-1].number + 1 if stands.past else 1,
        )
        file_record(library.contents, Promotion.subject(stands.version), made)
        let_judges_take(library, row)
    return made


def demote(library: Library, queue: str, judge: str, *, by: str, reason: str) -> int:
    """Make a promoted judge a shadow again; its passes are void, and people are asked in its place.

    Passes of items whose review has begun stay as they are.

    Returns:
        Passes that are open for people now; count.

    Raises:
        Conflict: If it is not promoted.
        InputError: If the study has no such judge, or there is no reason.
    """
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        stands = _standing(library, row, judge, reason)
        if stands.promotion is None:
            message = f"`{judge}` is not promoted in this version; there is nothing to withdraw"
            raise Conflict(message)
        ended = Demotion(
            judge=judge, judge_version=stands.version, by=by, reason=reason.strip(), number=stands.promotion.number
        )
        file_record(library.contents, Promotion.subject(stands.version), ended)
        return take_back(row, judge, by=by, reason=reason.strip())


def promoted(library: Library, queue: str) -> frozenset[str]:
    """Return the names of the judges that are promoted in their present version."""
    return frozenset(one.judge for one in held_promotions(library, queue_of(queue)))


def _standing(library: Library, row: QueueRow, judge: str, reason: str) -> JudgeStanding:
    found = next((one for one in standings(library, row) if one.judge == judge), None)
    if found is None or not reason.strip():
        message = f"deciding takes a judge of study `{row.study}` and a reason; got judge={judge!r}, reason={reason!r}"
        raise InputError(message)
    return found
