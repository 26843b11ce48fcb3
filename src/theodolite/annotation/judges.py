"""Judges in the queue: their status, promotion, and the annotations they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from theodolite.annotation.queues import count_disputed, route_on
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import is_pass, most_by_judges
from theodolite.domain.annotating.promotion import Demotion, JudgeStanding, Promotion, is_model, judge_key
from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import Annotator
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.identity import version_of
from theodolite.domain.study import Study
from theodolite.domain.validation_report import ValidationReport
from theodolite.store.annotation_queue import LIVE, SUBMITTED, give_back, new_token, participant_id, queue_of
from theodolite.store.contents import file_record, filed_records
from theodolite.store.ledger import CHUNK, database_now, one_at_a_time
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import QueueRow, ReservationEventRow, ReservationRow, WorkItemRow
from theodolite.store.statements import grouped


def judges_of(study: Study) -> list[Annotator]:
    """Return the annotators of a study that are no people."""
    return [annotator for annotator in study.annotators if annotator.kind is not AnnotatorKind.PERSON]


def held_promotions(records: RecordCache, queue: QueueRow) -> list[Promotion]:
    """Return the promotions that hold, of the judges of the queue's study in their present version."""
    study = records.study(queue.study_content_id)
    result = (_held(_decided(records, study.annotator_version(judge.name))) for judge in judges_of(study))
    return [one for one in result if one is not None]


def standings(records: RecordCache, queue: str) -> list[JudgeStanding]:
    """Return the status of each judge of the queue's study, in the order of the study."""
    return _standings(records, queue_of(queue))


def _standings(records: RecordCache, queue: QueueRow) -> list[JudgeStanding]:
    study, held = records.study(queue.study_content_id), []
    for judge in judges_of(study):
        version = study.annotator_version(judge.name)
        past, requested = _decided(records, version), version_of(study.guideline(judge.guideline))
        validation_reports = filed_records(records.contents, ValidationReport, version)
        valid = [
            validation_report
            for validation_report in validation_reports
            if validation_report.guideline_version == requested
        ]
        held.append(
            JudgeStanding(
                judge=judge.name,
                guideline=judge.guideline,
                version=version,
                validation_report=valid[-1] if valid else None,
                promotion=_held(past),
                past=tuple(past),
                n_read=_n_read(queue, version, requested),
                n_passes=ReservationRow.objects.filter(
                    item__queue=queue, participant__key=judge_key(judge.name), state__in=LIVE
                ).count(),
            )
        )
    return held


def _decided(records: RecordCache, version: str) -> list[Promotion | Demotion]:
    """Return what was decided about a version of a judge, in order."""
    subject = Promotion.subject(version)
    made = filed_records(records.contents, Promotion, subject)
    ended = filed_records(records.contents, Demotion, subject)
    # The end of a promotion has its number, and stands after it.
    return sorted([*made, *ended], key=lambda one: (one.number, isinstance(one, Demotion)))


def _held(past: Sequence[Promotion | Demotion]) -> Promotion | None:
    last = past[-1] if past else None
    return last if isinstance(last, Promotion) else None


def _n_read(queue: QueueRow, judge_version: str, guideline_version: str) -> int:
    items = WorkItemRow.objects.filter(queue=queue, version=guideline_version)
    rows = AnnotationRow.objects.filter(
        unit__isnull=False,
        annotator_version=judge_version,
        instrument_version=guideline_version,
        dialogue_id__in=items.values("dialogue_id"),
    )
    return rows.values("dialogue_id").distinct().count()


class _Free(NamedTuple):
    """An open item with a place for a judge."""

    item: WorkItemRow
    place: int


def let_judges_take(records: RecordCache, queue: QueueRow) -> int:
    """Let promoted judges take the passes that are theirs; the open transaction must hold the queue's lock.

    A judge takes a pass of an item where it has read the dialogue in a run, in the
    version that was promoted and by the guideline as the queue asks it, where a place
    is free, and where people keep one at least (`assessment.judges_in_queue`). It
    never takes a place from somebody who is at work.

    Returns:
        Passes that were taken; count.
    """
    process = records.design(queue.design_id).process
    if not process.judge_passes:
        return 0
    return sum(_take_all(records, queue, process, promotion) for promotion in held_promotions(records, queue))


def _take_all(records: RecordCache, queue: QueueRow, process: AnnotationProcess, promotion: Promotion) -> int:
    had = ReservationRow.objects.filter(item=OuterRef("pk"), participant__key=judge_key(promotion.judge))
    items = WorkItemRow.objects.filter(
        Exists(_readings(promotion).filter(dialogue_id=OuterRef("dialogue_id"))),
        ~Exists(had),
        queue=queue,
        category=promotion.guideline,
        version=promotion.guideline_version,
        state=ItemState.OPEN.value,
        live__lt=F("passes"),
        passes__gt=1,
    )
    numbers, n_taken = list(items.order_by("draw").values_list("id", flat=True)), 0
    for start in range(0, len(numbers), CHUNK):
        chunk = list(WorkItemRow.objects.filter(id__in=numbers[start : start + CHUNK]).select_related("queue"))
        n_taken += _take(records, _free(chunk, process), promotion)
    return n_taken


def _readings(promotion: Promotion) -> QuerySet[AnnotationRow]:
    return AnnotationRow.objects.filter(
        unit__isnull=False,
        guideline=promotion.guideline,
        annotator_version=promotion.judge_version,
        instrument_version=promotion.guideline_version,
    )


def _free(items: Sequence[WorkItemRow], process: AnnotationProcess) -> list[_Free]:
    """Return the items of which a judge may take a pass, with the lowest free place of each."""
    reservations = ReservationRow.objects.filter(item__in=items, state__in=LIVE).select_related("participant")
    taken, free = grouped(reservations, "item_id"), []
    for item in items:
        others = taken.get(item.pk, [])
        n_judges = sum(is_model(other.participant.key) for other in others)
        if n_judges < most_by_judges(process, item.passes):
            positions = {other.place for other in others}
            position = next(number for number in range(1, item.passes + 1) if number not in positions)
            free.append(_Free(item, position))
    return free


def _take(records: RecordCache, free: Sequence[_Free], promotion: Promotion) -> int:
    readings = _latest_readings(promotion, [one.item.dialogue_id for one in free])
    who, now = participant_id(judge_key(promotion.judge)), database_now()
    rows = [
        ReservationRow(
            token=new_token(),
            item=item,
            participant_id=who,
            state=SUBMITTED,
            place=position,
            of=item.passes,
            revision=1,
            annotation_id=readings[item.dialogue_id],
            created=now,
            submitted=now,
        )
        for item, position in free
        if item.dialogue_id in readings
    ]
    made = ReservationRow.objects.bulk_create(rows)
    ReservationEventRow.objects.bulk_create(
        ReservationEventRow(reservation=one, state=SUBMITTED, by=judge_key(promotion.judge), created=now)
        for one in made
    )
    _count(records, [one.item for one in made])
    return len(made)


def _latest_readings(promotion: Promotion, dialogues: Sequence[int]) -> Mapping[int, int]:
    """Return for each dialogue the judge's latest reading that can stand as a pass: dialogue to annotation."""
    rows = _readings(promotion).filter(dialogue_id__in=dialogues)
    latest = dict(rows.order_by("revision", "id").values_list("dialogue_id", "id"))
    outcomes: dict[int, set[Outcome]] = {}
    answers = AnswerRow.objects.filter(annotation_id__in=list(latest.values()))
    for annotation, outcome in answers.values_list("annotation_id", "outcome"):
        outcomes.setdefault(annotation, set()).add(Outcome(outcome))
    return {dialogue: one for dialogue, one in latest.items() if is_pass(outcomes.get(one, ()))}


def _count(records: RecordCache, items: Iterable[WorkItemRow]) -> None:
    """Count the new passes; what is complete by them is compared and sent on as if a person had been the last."""
    for item in items:
        item.live, item.done = item.live + 1, item.done + 1
        if item.done >= item.passes:
            item.state = ItemState.COMPLETE.value
        item.save()
        if item.state == ItemState.COMPLETE.value:
            count_disputed(records, item)
            route_on(records, item)


def take_back(queue: QueueRow, judge: str, *, by: str, reason: str) -> int:
    """Make a judge's passes void, but those under review: people are asked in its place. Returns their count.

    What it said stays on record, beside people as a shadow.
    """
    reservations = ReservationRow.objects.filter(item__queue=queue, participant__key=judge_key(judge), state=SUBMITTED)
    rows = list(reservations.exclude(item__state=ItemState.FROZEN.value).select_related("item"))
    for row in rows:
        give_back(row, ReservationState.VOIDED, by=by, reason=reason)
    return len(rows)


def promote(records: RecordCache, queue: str, judge: str, *, by: str, reason: str) -> Promotion:
    """Promote a judge of the queue's study, in its present version, and keep the decision.

    It takes at once the passes that the study leaves to judges, and later ones when
    work is given out.

    Raises:
        InputError: If the study has no such judge, it has no validation report for this very version
            of judge and guideline, or there is no reason.
    """
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        stands = _standing(records, row, judge, reason)
        guideline = records.study(row.study_content_id).guideline(stands.guideline)
        if stands.validation_report is None:
            message = (
                f"`{judge}` has no validation report for this version of itself and of `{guideline.name}`; "
                "label a sample by hand and validate the judge first"
            )
            raise InputError(message)
        if stands.promotion is not None:
            return stands.promotion
        made = Promotion(
            judge=judge,
            judge_version=stands.version,
            guideline=guideline.name,
            guideline_version=version_of(guideline),
            validation_report=version_of(stands.validation_report),
            by=by,
            reason=reason.strip(),
            number=stands.past[-1].number + 1 if stands.past else 1,
        )
        file_record(records.contents, Promotion.subject(stands.version), made)
        let_judges_take(records, row)
    return made


def demote(records: RecordCache, queue: str, judge: str, *, by: str, reason: str) -> int:
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
        stands = _standing(records, row, judge, reason)
        if stands.promotion is None:
            message = f"`{judge}` is not promoted in this version; there is nothing to withdraw"
            raise Conflict(message)
        ended = Demotion(
            judge=judge, judge_version=stands.version, by=by, reason=reason.strip(), number=stands.promotion.number
        )
        file_record(records.contents, Promotion.subject(stands.version), ended)
        return take_back(row, judge, by=by, reason=reason.strip())


def promoted(records: RecordCache, queue: str) -> frozenset[str]:
    """Return the names of the judges that are promoted in their present version."""
    return frozenset(held_promotion.judge for held_promotion in held_promotions(records, queue_of(queue)))


def _standing(records: RecordCache, row: QueueRow, judge: str, reason: str) -> JudgeStanding:
    result = next((standing for standing in _standings(records, row) if standing.judge == judge), None)
    if result is None or not reason.strip():
        message = f"deciding takes a judge of study `{row.study}` and a reason; got judge={judge!r}, reason={reason!r}"
        raise InputError(message)
    return result
