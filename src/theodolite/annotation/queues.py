"""Queues: open and fill one, read its submitted answers, route its dialogues; and the judges that take work from it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet

from theodolite.annotation.cases import suspect, unseen
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import (
    Reviewed,
    discrepancies,
    is_pass,
    most_by_judges,
    queue_design,
    routed,
    sees_violation,
)
from theodolite.domain.annotating.quality import Demotion, JudgeStatus, Promotion, is_model, judge_key
from theodolite.domain.annotating.work import ItemState, QueueCategory, QueueDesign, ReservationState, Routed
from theodolite.domain.annotation import AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.study import Study
from theodolite.store.annotation_queue import (
    LIVE,
    SUBMITTED,
    add_edition,
    add_items,
    give_back,
    given_to,
    new_token,
    participant_id,
    queue_of,
)
from theodolite.store.contents import content_of, file_record, filed_records
from theodolite.store.ledger import CHUNK
from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow, TurnRow
from theodolite.store.models.annotating import (
    GoldRow,
    QueueRow,
    ReservationEventRow,
    ReservationRow,
    RoutedRow,
    WorkItemRow,
)
from theodolite.store.statements import database_now, grouped, one_at_a_time


def judges_of(study: Study) -> list[Annotator]:
    """Return the annotators of a study that are not people."""
    return [annotator for annotator in study.annotators if annotator.kind is not AnnotatorKind.PERSON]


def suggested_answers(records: RecordCache, item: WorkItemRow) -> tuple[Answer, ...]:
    """Return the stored answers that the judge of a pre-annotation gave to an item; empty without a reading.

    They are the answers of its current version to the questions as the queue asks them, without texts.
    """
    queue = item.queue
    plan = records.design(queue.design_id).process.pre_annotation
    study = records.study(queue.study_content_id) if plan else None
    if (
        plan is None
        or study is None
        or (plan.judge, item.category) not in {(judge.name, judge.guideline) for judge in judges_of(study)}
    ):
        return ()
    readings = AnnotationRow.objects.filter(
        unit__isnull=False,
        dialogue_id=item.dialogue_id,
        guideline=item.category,
        annotator_version=study.annotator_version(plan.judge),
        instrument_version=item.version,
    )
    latest = readings.order_by("-revision", "-id").values_list("id", flat=True).first()
    questions = records.guideline(item.version).instrument.questions
    labelled = [question.name for question in questions if question.scale.kind is not ScaleKind.TEXT]
    rows = AnswerRow.objects.filter(
        annotation_id=latest, replicate=1, outcome=Outcome.ANSWERED.value, question__in=labelled
    )
    return tuple(
        Answer(question=row.question, outcome=Outcome.ANSWERED, value=row.value, turn=row.turn)
        for row in rows.order_by("position")
    )


def held_promotions(records: RecordCache, queue: QueueRow) -> list[Promotion]:
    """Return the current promotions of judges of the queue's study."""
    study = records.study(queue.study_content_id)
    result = (_last_promotion(_decided(records, study.annotator_version(judge.name))) for judge in judges_of(study))
    return [promotion for promotion in result if promotion is not None]


def judge_statuses(records: RecordCache, queue: str) -> list[JudgeStatus]:
    """Return the status of each judge of the queue's study, in the order of the study."""
    return _judge_statuses(records, queue_of(queue))


def _judge_statuses(records: RecordCache, queue: QueueRow) -> list[JudgeStatus]:
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
            JudgeStatus(
                judge=judge.name,
                guideline=judge.guideline,
                version=version,
                validation_report=valid[-1] if valid else None,
                promotion=_last_promotion(past),
                past=tuple(past),
                n_read=_n_read(queue, version, requested),
                n_passes=ReservationRow.objects.filter(
                    item__queue=queue, participant__key=judge_key(judge.name), state__in=LIVE
                ).count(),
            )
        )
    return held


def _decided(records: RecordCache, version: str) -> list[Promotion | Demotion]:
    """Return the decisions about a version of a judge, in order."""
    subject = Promotion.subject(version)
    made = filed_records(records.contents, Promotion, subject)
    ended = filed_records(records.contents, Demotion, subject)
    # The end of a promotion has the number of the promotion, and follows it.
    return sorted([*made, *ended], key=lambda one: (one.number, isinstance(one, Demotion)))


def _last_promotion(past: Sequence[Promotion | Demotion]) -> Promotion | None:
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
    """An open item with a slot for a judge."""

    item: WorkItemRow
    place: int


def let_judges_take(records: RecordCache, queue: QueueRow) -> int:
    """Let promoted judges take their slots; the open transaction must hold the queue's lock.

    A judge takes a pass of an item if it has read the dialogue in a run, in the
    version that was promoted and by the guideline as the queue asks it, where a slot
    is free, and where at least one slot remains for people (`assessment.judges_in_queue`). It
    never takes the slot of an annotator who is working.

    Returns:
        Number of slots taken; count.
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
    """Return the items that a judge may annotate, with the lowest free slot of each."""
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
        ReservationEventRow(reservation=reservation, state=SUBMITTED, by=judge_key(promotion.judge), created=now)
        for reservation in made
    )
    _count(records, [reservation.item for reservation in made])
    return len(made)


def _latest_readings(promotion: Promotion, dialogues: Sequence[int]) -> Mapping[int, int]:
    """Return for each dialogue the judge's latest reading that counts as a pass: dialogue to annotation."""
    rows = _readings(promotion).filter(dialogue_id__in=dialogues)
    latest = dict(rows.order_by("revision", "id").values_list("dialogue_id", "id"))
    outcomes: dict[int, set[Outcome]] = {}
    answers = AnswerRow.objects.filter(annotation_id__in=list(latest.values()))
    for annotation, outcome in answers.values_list("annotation_id", "outcome"):
        outcomes.setdefault(annotation, set()).add(Outcome(outcome))
    return {dialogue: one for dialogue, one in latest.items() if is_pass(outcomes.get(one, ()))}


def _count(records: RecordCache, items: Iterable[WorkItemRow]) -> None:
    """Count the new annotations; items that they complete are compared and sent on like items completed by a person."""
    for item in items:
        item.live, item.done = item.live + 1, item.done + 1
        if item.done >= item.passes:
            item.state = ItemState.COMPLETE.value
        item.save()
        if item.state == ItemState.COMPLETE.value:
            count_disputed(records, item)
            route_on(records, item)


def take_back(queue: QueueRow, judge: str, *, by: str, reason: str) -> int:
    """Void a judge's annotations except those under review: people are asked instead. Returns their number.

    Its annotations stay on record in the background, next to people's.
    """
    reservations = ReservationRow.objects.filter(item__queue=queue, participant__key=judge_key(judge), state=SUBMITTED)
    rows = list(reservations.exclude(item__state=ItemState.FROZEN.value).select_related("item"))
    for row in rows:
        give_back(row, ReservationState.VOIDED, by=by, reason=reason)
    return len(rows)


def promote(records: RecordCache, queue: str, judge: str, *, by: str, reason: str) -> Promotion:
    """Promote the current version of a judge of the queue's study, and store the decision.

    It takes the passes that the study leaves to judges at once, and later ones when
    work is given out.

    Raises:
        InputError: If the study has no such judge, it has no validation report for this very version
            of judge and guideline, or there is no reason.
    """
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        status = _judge_status(records, row, judge, reason)
        guideline = records.study(row.study_content_id).guideline(status.guideline)
        if status.validation_report is None:
            message = (
                f"`{judge}` has no validation report for this version of itself and of `{guideline.name}`; "
                "label a sample by hand and validate the judge first"
            )
            raise InputError(message)
        if status.promotion is not None:
            return status.promotion
        made = Promotion(
            judge=judge,
            judge_version=status.version,
            guideline=guideline.name,
            guideline_version=version_of(guideline),
            validation_report=version_of(status.validation_report),
            by=by,
            reason=reason.strip(),
            number=status.past[-1].number + 1 if status.past else 1,
        )
        file_record(records.contents, Promotion.subject(status.version), made)
        let_judges_take(records, row)
    return made


def demote(records: RecordCache, queue: str, judge: str, *, by: str, reason: str) -> int:
    """End the promotion of a judge; its annotations become void, and people are asked instead.

    Passes of items whose review has started are not changed.

    Returns:
        Passes that are open for people now; count.

    Raises:
        Conflict: If it is not promoted.
        InputError: If the study has no such judge, or there is no reason.
    """
    row = queue_of(queue)
    with transaction.atomic():
        one_at_a_time(f"queue {row.token}")
        status = _judge_status(records, row, judge, reason)
        if status.promotion is None:
            message = f"`{judge}` is not promoted in this version; there is nothing to withdraw"
            raise Conflict(message)
        ended = Demotion(
            judge=judge, judge_version=status.version, by=by, reason=reason.strip(), number=status.promotion.number
        )
        file_record(records.contents, Promotion.subject(status.version), ended)
        return take_back(row, judge, by=by, reason=reason.strip())


def _judge_status(records: RecordCache, row: QueueRow, judge: str, reason: str) -> JudgeStatus:
    result = next((status for status in _judge_statuses(records, row) if status.judge == judge), None)
    if result is None or not reason.strip():
        message = f"deciding takes a judge of study `{row.study}` and a reason; got judge={judge!r}, reason={reason!r}"
        raise InputError(message)
    return result


def open_queue(records: RecordCache, name: str, study: Study, design: QueueDesign, *, by: str = "") -> str:
    """Open a queue, or update the one of that name to this study and design; return its token.

    Args:
        records: Store of study, guidelines and design.
        name: Name of the queue on this server.
        study: Source of the dialogues; its guidelines are the categories.
        design: Design of the annotation: guidelines and annotators.
        by: The person who decided it; an account's name or an opaque key.
    """
    categories = [study.guideline(category.name) for category in design.categories]
    stored = [content_of(study), content_of(design), *map(content_of, categories)]
    with transaction.atomic():
        one_at_a_time(f"queue {name}")
        records.contents.keep(stored)
        row = QueueRow.objects.filter(name=name).first()
        if row is None:
            row = QueueRow(token=new_token(), name=name, salt=secrets.token_hex(16), created=database_now())
        row.study, row.study_content_id, changed = study.name, version_of(study), row.design_id != version_of(design)
        row.design_id = version_of(design)
        row.save()
        if changed:
            add_edition(row, by)
            _spread_passes(row, design)
            _renew(row, design)
    return str(row.token)


def _spread_passes(row: QueueRow, design: QueueDesign) -> None:
    """Give open items the required number of passes, at least those taken; complete and gold items are unchanged."""
    overlap = design.process.passes
    items = WorkItemRow.objects.filter(queue=row, state=ItemState.OPEN.value)
    items = items.exclude(id__in=GoldRow.objects.filter(item__queue=row).values("item_id"))
    for item in items.exclude(passes=overlap):
        item.passes = max(overlap, item.live)
        if item.done >= item.passes:
            item.state = ItemState.COMPLETE.value
        item.save()


def _renew(row: QueueRow, design: QueueDesign) -> None:
    """Move dialogues without reservations to the current version; all others keep theirs."""
    taken = ReservationRow.objects.filter(item=OuterRef("pk"))
    for category in design.categories:
        items = WorkItemRow.objects.filter(queue=row, category=category.name).exclude(version=category.version)
        items.filter(~Exists(taken)).update(version=category.version)


def designed(categories: Sequence[Guideline]) -> tuple[QueueCategory, ...]:
    """Return guidelines as the categories of a queue."""
    return tuple(QueueCategory(name=category.name, version=version_of(category)) for category in categories)


def queue_named(name: str) -> str:
    """Return the token of the queue of that name; empty if there is none."""
    return QueueRow.objects.filter(name=name).values_list("token", flat=True).first() or ""


def design_of(records: RecordCache, queue: str) -> QueueDesign:
    """Return the questions of a queue and its annotators.

    Raises:
        NotFound: If there is no row with that token.
    """
    return records.design(queue_of(queue).design_id)


def study_of(records: RecordCache, queue: str) -> Study:
    """Return the study of a queue, in the version that the queue was opened with last.

    Raises:
        NotFound: If there is no row with that token.
    """
    return records.study(queue_of(queue).study_content_id)


def study_name(queue: str) -> str:
    """Return the name of the study whose dialogues a queue contains."""
    return str(queue_of(queue).study)


def has_item(queue: str, item: str) -> bool:
    """Return whether a work item belongs to a queue."""
    return WorkItemRow.objects.filter(token=item, queue__token=queue).exists()


def fill_queue(records: RecordCache, name: str, study: Study, *, by: str) -> int:
    """Put every stored dialogue of a study into the queue of that name; dialogues with withheld texts stay out.

    Detectors scan new dialogues before annotators see them; their findings become cases.

    Args:
        records: Store of study, guidelines and design.
        name: Name of the queue on this server.
        study: The study as it was published last.
        by: Account or opaque key of the person who enters it.

    Returns:
        New items; count.

    Raises:
        Conflict: If the queue holds dialogues of another study.
        InputError: If the study has no schema.
    """
    known = QueueRow.objects.filter(name=name).first()
    if known is not None and known.study != study.name:
        message = f"the queue holds dialogues of `{known.study}`, and the study is called `{study.name}`"
        raise Conflict(message)
    queue = open_queue(records, name, study, queue_design(study), by=by)
    rows = DialogueRow.objects.filter(unit__run__study=study.name)
    silent = TurnRow.objects.exclude(withheld="").values("dialogue_id")
    keys = unseen(queue, list(rows.exclude(id__in=silent).values_list("unit__key", flat=True)))
    suspect(records, queue, keys)
    return add_dialogues(records, queue, keys)


def last_active_queues(most: int) -> list[str]:
    """Return the tokens of the queues with the latest submissions, up to a number."""
    submitted = ReservationRow.objects.filter(submitted__isnull=False).values_list("item__queue__token")
    latest = submitted.annotate(last=Max("submitted")).order_by("-last")[:most]
    return [token for token, _ in latest]


def add_dialogues(records: RecordCache, queue: str, dialogues: Sequence[str], *, categories: Sequence[str] = ()) -> int:
    """Put dialogues into a queue; earlier entries are unchanged.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        dialogues: Keys of dialogues that are stored.
        categories: Names of the categories to ask at once; empty for the first one, or all where none is first.

    Returns:
        Number of new items; count.
    """
    row = queue_of(queue)
    design = records.design(row.design_id)
    names = list(categories) or ([design.first] if design.first else [category.name for category in design.categories])
    before = WorkItemRow.objects.filter(queue=row).count()
    for start in range(0, len(dialogues), CHUNK):
        rows = list(DialogueRow.objects.filter(unit__key__in=dialogues[start : start + CHUNK]).select_related("unit"))
        _refuse_missing(set(dialogues[start : start + CHUNK]) - {row.unit.key for row in rows})
        with transaction.atomic():
            add_items(row, design, rows, names)
    return WorkItemRow.objects.filter(queue=row).count() - before


def _refuse_missing(keys: set[str]) -> None:
    if keys:
        message = f"no dialogue is stored under the key {min(keys)}; it must be kept before people annotate it"
        raise NotFound(message)


def n_waiting(queue: str) -> int:
    """Return the number of items of a queue that lack a pass; count.

    Args:
        queue: Token of the queue.
    """
    return WorkItemRow.objects.filter(queue__token=queue, state=ItemState.OPEN.value).count()


def n_submitted(queue: str) -> int:
    """Return the number of submitted annotations of a queue; count.

    Args:
        queue: Token of the queue.
    """
    return ReservationRow.objects.filter(item__queue__token=queue, state=ReservationState.SUBMITTED.value).count()


def salt_of(item: WorkItemRow) -> str:
    """Return the key for the order of positions at an item."""
    return f"{item.queue.salt} {item.pk}"


def count_disputed(records: RecordCache, item: WorkItemRow) -> int:
    """Store the number of questions that the passes of an item answered differently, and return it; count."""
    result = discrepancies(records.guideline(item.version), given_to(item), salt_of(item))
    item.disputed = len(result)
    WorkItemRow.objects.filter(pk=item.pk).update(disputed=item.disputed)
    return item.disputed


def route_on(records: RecordCache, item: WorkItemRow, reviewed: Reviewed = Reviewed.NOT_YET) -> Routed | None:
    """Open the categories that follow a complete first one, and record why; None if nothing follows.

    An open category stays open, even if a later revision of an answer would not open it.
    A dialogue that is annotated again keeps its route.
    """
    design = records.design(item.queue.design_id)
    if item.category != design.first or item.again:
        return None
    decided = routed(_votes(records, item), design.process.route, reviewed)
    _record_route(item, decided)
    if decided.violation is not None:
        _open_following(item, design, violation=decided.violation)
    return decided


def _votes(records: RecordCache, item: WorkItemRow) -> list[bool]:
    """Return whether each submitted pass found a violation."""
    guideline, groups = records.guideline(item.version), records.dialogue(item.dialogue.unit_id).groups
    return [sees_violation(guideline, answers, groups) for answers in given_to(item).values()]


def _record_route(item: WorkItemRow, decided: Routed) -> None:
    rows = RoutedRow.objects.filter(queue=item.queue, dialogue=item.dialogue)
    RoutedRow.objects.create(
        queue=item.queue,
        dialogue=item.dialogue,
        number=(rows.aggregate(last=Max("number"))["last"] or 0) + 1,
        violation=decided.violation,
        disputed=decided.disputed,
        reason=decided.reason,
        created=database_now(),
    )


def _open_following(item: WorkItemRow, design: QueueDesign, *, violation: bool) -> None:
    dialogue = DialogueRow.objects.select_related("unit").get(pk=item.dialogue_id)
    add_items(item.queue, design, [dialogue], design.after(violation=violation))
