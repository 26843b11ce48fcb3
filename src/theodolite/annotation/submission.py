"""Submission: save answers one by one, then submit the whole annotation."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from theodolite.annotation.assignment import take
from theodolite.annotation.cases import redactions_of
from theodolite.annotation.judges import let_judges_take
from theodolite.annotation.queues import count_disputed, route_on
from theodolite.annotation.records import Library
from theodolite.assessment.blinding import blind_name, blinded, mask_for, masked
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.redacting import redacted
from theodolite.assessment.sitting import annotation_by, person_of, whole_answers
from theodolite.domain.annotating.work import AnnotatorSitting, ItemState, ReservationState, Submitted
from theodolite.domain.annotation import Annotation, Answer, Outcome, Quote
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.shown_order import shown_order_of
from theodolite.store.annotating.reservations import SUBMITTED, claim_of, expire, note, reservation_of
from theodolite.store.labels import keep_labels
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import DraftQuoteRow, DraftRow, ReservationRow, WorkItemRow
from theodolite.store.reading import grouped


def save_answer(token: str, participant: str, answer: Answer) -> datetime:
    """Save an answer and return when; an earlier one to the same question stays on record.

    A claim whose time is over takes answers all the same: nobody loses what they typed.

    Raises:
        Conflict: If the review of this dialogue has begun.
        NotFound: If the claim is not one's own.
    """
    row = DraftRow(
        question=answer.question,
        turn=answer.turn or 0,
        outcome=answer.outcome.value,
        value=answer.value,
        reasoning=answer.reasoning,
    )
    return _append(token, participant, row, answer.evidence)


def clear_answer(token: str, participant: str, question: OpenQuestion) -> datetime:
    """Take an answer back without giving another one; what was said stays on record."""
    return _append(token, participant, DraftRow(question=question.question, turn=question.turn or 0), ())


def undo(token: str, participant: str) -> OpenQuestion | None:
    """Take back the last thing that was saved and return which question it was; None where nothing is left.

    Taking back is a further row too; undoing again goes one step further back.
    """
    with transaction.atomic():
        claim = _open_claim(token, participant)
        rows = list(DraftRow.objects.filter(reservation=claim).order_by("number"))
        undone = {row.undoes for row in rows if row.undoes is not None}
        steps = [row for row in rows if row.undoes is None and row.number not in undone]
        if not steps:
            return None
        last = steps[-1]
        before = next((row for row in reversed(steps[:-1]) if _place(row) == _place(last)), None)
        _append_row(claim, _restored(last, before), _quotes_of(before))
    return OpenQuestion(question=last.question, turn=last.turn or None)


def _place(row: DraftRow) -> tuple[str, int]:
    return row.question, row.turn


def _restored(last: DraftRow, before: DraftRow | None) -> DraftRow:
    row = DraftRow(question=last.question, turn=last.turn, undoes=last.number)
    if before is not None:
        row.outcome, row.value, row.reasoning = before.outcome, before.value, before.reasoning
    return row


def _quotes_of(row: DraftRow | None) -> tuple[Quote, ...]:
    if row is None:
        return ()
    found = DraftQuoteRow.objects.filter(draft=row).order_by("position")
    return tuple(Quote(turn=quote.turn, text=quote.text) for quote in found)


def _append(token: str, participant: str, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    with transaction.atomic():
        return _append_row(_open_claim(token, participant), row, quotes)


def _open_claim(token: str, participant: str) -> ReservationRow:
    one_at_a_time(f"reservation {token}")
    claim = claim_of(token, participant)
    if claim.item.state == ItemState.FROZEN.value or claim.state == ReservationState.VOIDED.value:
        message = "the review of this dialogue has begun; its answers can no longer be changed"
        raise Conflict(message)
    return claim


def _append_row(claim: ReservationRow, row: DraftRow, quotes: tuple[Quote, ...]) -> datetime:
    last = DraftRow.objects.filter(reservation=claim).aggregate(last=Max("number"))["last"] or 0
    DraftRow.objects.filter(reservation=claim, question=row.question, turn=row.turn, current=True).update(current=False)
    saved = database_now()
    row.reservation, row.number, row.current, row.created = claim, last + 1, True, saved
    row.save()
    DraftQuoteRow.objects.bulk_create(
        DraftQuoteRow(draft=row, position=position, turn=quote.turn, text=quote.text)
        for position, quote in enumerate(quotes)
    )
    return saved


def current_answers(claim: ReservationRow) -> tuple[Answer, ...]:
    """Return the answers that count now, in the order of their first saving."""
    rows = list(DraftRow.objects.filter(reservation=claim, current=True).exclude(outcome="").order_by("number"))
    quotes = grouped(DraftQuoteRow.objects.filter(draft__in=rows).order_by("position"), "draft_id")
    return tuple(
        Answer(
            question=row.question,
            outcome=Outcome(row.outcome),
            value=row.value,
            turn=row.turn or None,
            reasoning=row.reasoning,
            evidence=tuple(Quote(turn=one.turn, text=one.text) for one in quotes.get(row.pk, [])),
        )
        for row in rows
    )


def saved_at(claim: ReservationRow) -> datetime | None:
    """Return when anything was saved last."""
    moment: datetime | None = DraftRow.objects.filter(reservation=claim).aggregate(last=Max("created"))["last"]
    return moment


def sitting(library: Library, token: str, participant: str) -> AnnotatorSitting:
    """Return everything that the page of a reservation shows; nothing in it tells where the dialogue comes from.

    Raises:
        NotFound: If the reservation is not one's own.
    """
    claim = claim_of(token, participant)
    queue, item = claim.item.queue, claim.item
    study, dialogue = library.study(queue.study_content_id), library.dialogue(item.dialogue.unit_id)
    guideline, answers = library.guideline(item.version), current_answers(claim)
    return AnnotatorSitting(
        reservation=reservation_of(claim),
        guideline=guideline,
        dialogue=blinded(
            redacted(dialogue, redactions_of(item.dialogue_id), item.category),
            blind_name(dialogue.key, participant, queue.salt),
            scenario=study.scenario(dialogue.scenario),
            mask=mask_for(study),
        ),
        answers=answers,
        order=shown_order_of(claim.shown),
        saved=saved_at(claim),
        open=open_questions(guideline.instrument, answers, _turns(dialogue)),
    )


def submit(library: Library, token: str, participant: str) -> Submitted:
    """Submit what was answered, unless questions are open; the annotation counts from then on.

    The annotation is written by the same function as labels from a file, in the
    same transaction that ends the reservation. Submitting again adds a revision.

    Raises:
        Conflict: If the claim ended and its place is taken, or the review has begun.
        NotFound: If the claim is not one's own.
    """
    queue = claim_of(token, participant).item.queue
    with transaction.atomic():
        one_at_a_time(f"queue {queue.token}")
        expire(queue)
        claim = _claimed(library, token, participant)
        dialogue, guideline = library.dialogue(claim.item.dialogue.unit_id), library.guideline(claim.item.version)
        answers = current_answers(claim)
        if left := open_questions(guideline.instrument, answers, _turns(dialogue)):
            return Submitted(open=left)
        whole = whole_answers(guideline, _seen(library, claim, dialogue), answers)
        person = person_of(library.study(queue.study_content_id), participant, guideline.name)
        claim.sitting = claim.sitting or _n_sat(claim) + 1
        given = annotation_by(person, guideline, dialogue.key, whole, revision=claim.revision + 1)
        annotation = replace(given, shown=shown_order_of(claim.shown), sitting=claim.sitting)
        keep_labels([annotation])
        if _mark_submitted(claim, annotation):
            count_disputed(library, claim.item)
            route_on(library, claim.item)
        let_judges_take(library, queue)
        return Submitted(revision=claim.revision)


def _n_sat(claim: ReservationRow) -> int:
    """Return how many dialogues the annotator has submitted in this category before; count."""
    mine = ReservationRow.objects.filter(item__queue_id=claim.item.queue_id, item__category=claim.item.category)
    return mine.filter(participant=claim.participant, sitting__gt=0).count()


def _seen(library: Library, claim: ReservationRow, dialogue: Dialogue) -> Dialogue:
    """Return the dialogue in the words that the annotator saw, so that quotes are found where they stood."""
    study = library.study(claim.item.queue.study_content_id)
    return masked(redacted(dialogue, redactions_of(claim.item.dialogue_id), claim.item.category), mask_for(study))


def _claimed(library: Library, token: str, participant: str) -> ReservationRow:
    claim = claim_of(token, participant)
    if claim.item.state in {ItemState.FROZEN.value, ItemState.ASIDE.value} or claim.state == "voided":
        message = "this dialogue is no longer open; your answers are kept, and nothing was submitted"
        raise Conflict(message)
    if not ReservationState(claim.state).is_live:
        take(library, claim.item, participant)
        claim = claim_of(token, participant)
    return claim


def _mark_submitted(claim: ReservationRow, annotation: Annotation) -> bool:
    """Mark a claim as submitted, and its item as complete where this was the last pass; say whether it is."""
    is_first = claim.state != SUBMITTED
    claim.state, claim.until, claim.submitted = SUBMITTED, None, database_now()
    claim.revision += 1
    claim.annotation = AnnotationRow.objects.get(
        dialogue_id=claim.item.dialogue_id,
        annotator_version=annotation.annotator_version,
        instrument_version=annotation.instrument_version,
        revision=annotation.revision,
    )
    claim.save()
    note(claim, by=claim.participant.key)
    item = WorkItemRow.objects.get(pk=claim.item_id)
    item.done += int(is_first)
    if item.done >= item.passes and item.state == ItemState.OPEN.value:
        item.state = ItemState.COMPLETE.value
    item.save()
    claim.item = item
    return item.state == ItemState.COMPLETE.value


def _turns(dialogue: Dialogue) -> list[int]:
    return [turn.number for turn in dialogue.turns]
