"""Submission: save answers one by one, then submit the whole annotation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db import transaction

from theodolite.annotation.assignment import take
from theodolite.annotation.judges import let_judges_take
from theodolite.annotation.queues import count_disputed, route_on
from theodolite.annotation.records import RecordCache
from theodolite.assessment.blinding import blind_name, blinded, mask_for, masked
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.manual_annotation import annotation_by, person_of, whole_answers
from theodolite.assessment.redacting import redacted
from theodolite.domain.annotating.work import AnnotatorTask, ItemState, ReservationState, Submitted
from theodolite.domain.annotation import Annotation, Answer, Quote
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.shown_order import shown_order_of
from theodolite.store.annotating.queues import (
    SUBMITTED,
    add_draft,
    current_answers,
    draft_rows,
    expire,
    note,
    own_reservation,
    quotes_of,
    reservation_of,
    saved_at,
)
from theodolite.store.annotating.reviews import redactions_of
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import DraftRow, ReservationRow, WorkItemRow
from theodolite.store.results import keep_labels


def save_answer(token: str, participant: str, answer: Answer) -> datetime:
    """Save an answer and return when; an earlier one to the same question stays on record.

    A reservation whose time is over takes answers all the same: nobody loses what they typed.

    Raises:
        Conflict: If the review of this dialogue has begun.
        NotFound: If the reservation is not one's own.
    """
    row = DraftRow(
        question=answer.question,
        turn=answer.turn or 0,
        outcome=answer.outcome.value,
        value=answer.value,
        reasoning=answer.reasoning,
    )
    return _append(token, participant, row, answer.evidence)


def save(task: AnnotatorTask, participant: str, place: OpenQuestion, answer: Answer | None) -> AnnotatorTask:
    """Save an answer, or clear it where there is none; return the task as it is then, without reading it again.

    Args:
        task: The task as its annotator sees it.
        participant: Opaque key of the annotator.
        place: Question and turn.
        answer: The answer; None to clear it.

    Raises:
        Conflict: If the review of this dialogue has begun.
        NotFound: If the task is somebody else's.
    """
    token = task.reservation.token
    saved = save_answer(token, participant, answer) if answer else clear_answer(token, participant, place)
    others = tuple(one for one in task.answers if (one.question, one.turn) != (place.question, place.turn))
    answers = (*others, answer) if answer else others
    turns = [turn.number for turn in task.dialogue.turns]
    still_open = open_questions(task.guideline.instrument, answers, turns)
    return replace(task, answers=answers, saved=saved, open=still_open)


def clear_answer(token: str, participant: str, question: OpenQuestion) -> datetime:
    """Take an answer back without giving another one; what was said stays on record."""
    return _append(token, participant, DraftRow(question=question.question, turn=question.turn or 0), ())


def undo(token: str, participant: str) -> OpenQuestion | None:
    """Take back the last thing that was saved and return which question it was; None where nothing is left.

    Taking back is a further row too; undoing again goes one step further back.
    """
    with transaction.atomic():
        reservation = _open_reservation(token, participant)
        rows = draft_rows(reservation)
        undone = {row.undoes for row in rows if row.undoes is not None}
        steps = [row for row in rows if row.undoes is None and row.number not in undone]
        if not steps:
            return None
        last = steps[-1]
        before = next((row for row in reversed(steps[:-1]) if _place(row) == _place(last)), None)
        add_draft(reservation, _restored(last, before), quotes_of(before))
    return OpenQuestion(question=last.question, turn=last.turn or None)


def _place(row: DraftRow) -> tuple[str, int]:
    return row.question, row.turn


def _restored(last: DraftRow, before: DraftRow | None) -> DraftRow:
    row = DraftRow(question=last.question, turn=last.turn, undoes=last.number)
    if before is not None:
        row.outcome, row.value, row.reasoning = before.outcome, before.value, before.reasoning
    return row


def _append(token: str, participant: str, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    with transaction.atomic():
        return add_draft(_open_reservation(token, participant), row, quotes)


def _open_reservation(token: str, participant: str) -> ReservationRow:
    one_at_a_time(f"reservation {token}")
    reservation = own_reservation(token, participant)
    if reservation.item.state == ItemState.FROZEN.value or reservation.state == ReservationState.VOIDED.value:
        message = "the review of this dialogue has started; its answers can no longer change"
        raise Conflict(message)
    return reservation


def task(records: RecordCache, token: str, participant: str) -> AnnotatorTask:
    """Return everything that the page of a reservation shows; nothing in it tells where the dialogue comes from.

    Raises:
        NotFound: If the reservation is not one's own.
    """
    reservation = own_reservation(token, participant)
    queue, item = reservation.item.queue, reservation.item
    study, dialogue = records.study(queue.study_content_id), records.dialogue(item.dialogue.unit_id)
    guideline, answers = records.guideline(item.version), current_answers(reservation)
    return AnnotatorTask(
        reservation=reservation_of(reservation),
        guideline=guideline,
        dialogue=blinded(
            redacted(dialogue, redactions_of(item.dialogue_id), item.category),
            blind_name(dialogue.key, participant, queue.salt),
            scenario=study.scenario(dialogue.scenario),
            mask=mask_for(study),
        ),
        answers=answers,
        order=shown_order_of(reservation.shown),
        saved=saved_at(reservation),
        open=open_questions(guideline.instrument, answers, _turns(dialogue)),
    )


def submit(records: RecordCache, token: str, participant: str) -> Submitted:
    """Submit what was answered, unless questions are open; the annotation counts from then on.

    The annotation is written by the same function as labels from a file, in the
    same transaction that ends the reservation. Submitting again adds a revision.

    Raises:
        Conflict: If the reservation ended and its place is taken, or the review has begun.
        NotFound: If the reservation is not one's own.
    """
    queue = own_reservation(token, participant).item.queue
    with transaction.atomic():
        one_at_a_time(f"queue {queue.token}")
        expire(queue)
        reservation = _reserved(records, token, participant)
        dialogue, guideline = (
            records.dialogue(reservation.item.dialogue.unit_id),
            records.guideline(reservation.item.version),
        )
        answers = current_answers(reservation)
        if left := open_questions(guideline.instrument, answers, _turns(dialogue)):
            return Submitted(open=left)
        whole = whole_answers(guideline, _seen(records, reservation, dialogue), answers)
        person = person_of(records.study(queue.study_content_id), participant, guideline.name)
        reservation.sitting = reservation.sitting or _n_sat(reservation) + 1
        given = annotation_by(person, guideline, dialogue.key, whole, revision=reservation.revision + 1)
        annotation = replace(given, shown=shown_order_of(reservation.shown), sitting=reservation.sitting)
        keep_labels([annotation])
        if _mark_submitted(reservation, annotation):
            count_disputed(records, reservation.item)
            route_on(records, reservation.item)
        let_judges_take(records, queue)
        return Submitted(revision=reservation.revision)


def _n_sat(reservation: ReservationRow) -> int:
    """Return how many dialogues the annotator has submitted in this category before; count."""
    mine = ReservationRow.objects.filter(
        item__queue_id=reservation.item.queue_id, item__category=reservation.item.category
    )
    return mine.filter(participant=reservation.participant, sitting__gt=0).count()


def _seen(records: RecordCache, reservation: ReservationRow, dialogue: Dialogue) -> Dialogue:
    """Return the dialogue in the words that the annotator saw, so that quotes are found where they stood."""
    study = records.study(reservation.item.queue.study_content_id)
    return masked(
        redacted(dialogue, redactions_of(reservation.item.dialogue_id), reservation.item.category), mask_for(study)
    )


def _reserved(records: RecordCache, token: str, participant: str) -> ReservationRow:
    reservation = own_reservation(token, participant)
    if reservation.item.state in {ItemState.FROZEN.value, ItemState.ASIDE.value} or reservation.state == "voided":
        message = "this dialogue is no longer open; your answers are kept, and nothing was submitted"
        raise Conflict(message)
    if not ReservationState(reservation.state).is_live:
        take(records, reservation.item, participant)
        reservation = own_reservation(token, participant)
    return reservation


def _mark_submitted(reservation: ReservationRow, annotation: Annotation) -> bool:
    """Mark a reservation as submitted, and its item as complete where this was the last pass; say whether it is."""
    is_first = reservation.state != SUBMITTED
    reservation.state, reservation.until, reservation.submitted = SUBMITTED, None, database_now()
    reservation.revision += 1
    reservation.annotation = AnnotationRow.objects.get(
        dialogue_id=reservation.item.dialogue_id,
        annotator_version=annotation.annotator_version,
        instrument_version=annotation.instrument_version,
        revision=annotation.revision,
    )
    reservation.save()
    note(reservation, by=reservation.participant.key)
    item = WorkItemRow.objects.get(pk=reservation.item_id)
    item.done += int(is_first)
    if item.done >= item.passes and item.state == ItemState.OPEN.value:
        item.state = ItemState.COMPLETE.value
    item.save()
    reservation.item = item
    return item.state == ItemState.COMPLETE.value


def _turns(dialogue: Dialogue) -> list[int]:
    return [turn.number for turn in dialogue.turns]
