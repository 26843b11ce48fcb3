"""Sittings: what an annotator's page shows, and submitting it."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from theodolite.assessment.blinding import blind_name, blinded, mask_for, masked
from theodolite.assessment.completeness import open_questions
from theodolite.assessment.redacting import redacted
from theodolite.assessment.sitting import annotation_by, person_of, whole_answers
from theodolite.domain.annotating.work import AnnotatorSitting, ItemState, ReservationState, Submitted
from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict
from theodolite.domain.shown_order import shown_order_of
from theodolite.store.annotating.cases import redactions_of
from theodolite.store.annotating.claims import SUBMITTED, claim_of, expire, note, reservation_of, take
from theodolite.store.annotating.drafts import current_answers, saved_at
from theodolite.store.annotating.given import count_disputed
from theodolite.store.annotating.judge_passes import let_judges_take
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.routes import route_on
from theodolite.store.labels import keep_labels
from theodolite.store.ledger import database_now, one_at_a_time
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import ReservationRow, WorkItemRow


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
        if _enter(claim, annotation):
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


def _enter(claim: ReservationRow, annotation: Annotation) -> bool:
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
