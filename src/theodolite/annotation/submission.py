"""Submission: save answers one by one, then submit the whole annotation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, QuerySet

from theodolite.annotation.assignment import allowed_categories, take
from theodolite.annotation.quality import qualified_for
from theodolite.annotation.queues import count_disputed, let_judges_take, route_on, suggested_answers
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import continues_at_once, routed, sees_violation
from theodolite.assessment.blinding import blind_name, blinded, mask_for, masked_dialogue
from theodolite.assessment.form_rules import open_questions
from theodolite.assessment.manual_annotation import annotation_by, person_of, whole_answers
from theodolite.assessment.redaction import redacted
from theodolite.domain.annotating.rewording import DialogueAnswers, PastAnswers
from theodolite.domain.annotating.work import AnnotatorTask, BlindDialogue, ItemState, ReservationState, Submitted
from theodolite.domain.annotation import Annotation, Answer, Quote
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.instrument import OpenQuestion
from theodolite.domain.shown_order import shown_order_of
from theodolite.store.annotation_queue import (
    BY_JUDGE,
    SUBMITTED,
    add_draft,
    add_items,
    current_answers,
    draft_rows,
    expire,
    following_drafts,
    note,
    own_reservation,
    queue_of,
    quotes_of,
    redactions_of,
    reservation_of,
    saved_at,
)
from theodolite.store.ledger import CHUNK
from theodolite.store.models import AnnotationRow, AnswerRow, DialogueRow
from theodolite.store.models.annotating import (
    DraftRow,
    PracticeRow,
    QualificationRow,
    ReservationEventRow,
    ReservationRow,
    RoutedRow,
    WorkItemRow,
)
from theodolite.store.results import keep_labels
from theodolite.store.statements import database_now, one_at_a_time


def save_answer(token: str, participant: str, answer: Answer) -> datetime:
    """Save an answer and return the time; an earlier answer to the same question stays on record.

    An expired reservation still accepts answers, so that no input is lost.

    Raises:
        Conflict: If the review of this dialogue has started.
        NotFound: If the reservation belongs to another annotator.
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
    """Save an answer, or clear it if there is none; return the changed task without reading it again.

    Args:
        task: The task as its annotator sees it.
        participant: Opaque key of the annotator.
        place: Question and turn.
        answer: The answer; None to clear it.

    Raises:
        Conflict: If the review of this dialogue has started.
        NotFound: If the task belongs to another annotator.
    """
    token, scope = task.reservation.token, f"{task.reservation.category}/" if task.is_following else ""
    if answer:
        saved = save_answer(token, participant, replace(answer, question=scope + answer.question))
    else:
        saved = clear_answer(token, participant, replace(place, question=scope + place.question))
    others = tuple(answer for answer in task.answers if (answer.question, answer.turn) != (place.question, place.turn))
    answers = (*others, answer) if answer else others
    turns = [turn.number for turn in task.dialogue.turns]
    still_open = open_questions(task.guideline.instrument, answers, turns)
    return replace(task, answers=answers, saved=saved, open=still_open)


def clear_answer(token: str, participant: str, question: OpenQuestion) -> datetime:
    """Withdraw an answer without replacing it; the old one stays on record."""
    return _append(token, participant, DraftRow(question=question.question, turn=question.turn or 0), ())


def undo(token: str, participant: str) -> OpenQuestion | None:
    """Undo the last saved change and return its question; None if nothing is left.

    A withdrawal is another row; a second undo goes back one more step.
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


def last_changed(tokens: Sequence[str], token: str) -> str:
    """Return the reservation in which an answer was changed last, without changes that were undone; else `token`."""
    if len(tokens) < 2:
        return token
    rows = list(DraftRow.objects.filter(reservation__token__in=tokens).order_by("id").select_related("reservation"))
    undone = {(row.reservation_id, row.undoes) for row in rows if row.undoes is not None}
    steps = [row for row in rows if row.undoes is None and (row.reservation_id, row.number) not in undone]
    return str(steps[-1].reservation.token) if steps else token


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
    """Return the content of a reservation's page, which does not reveal the source of the dialogue.

    Raises:
        NotFound: If the reservation belongs to another annotator.
    """
    reservation = own_reservation(token, participant)
    item = reservation.item
    guideline, answers = records.guideline(item.version), current_answers(reservation)
    order = shown_order_of(reservation.shown)
    return AnnotatorTask(
        reservation=reservation_of(reservation),
        guideline=guideline,
        dialogue=_blind_dialogue(records, reservation, item.category),
        answers=answers,
        order=order,
        suggestions=suggested_answers(records, item) if order.suggestions else (),
        saved=saved_at(reservation),
        open=open_questions(guideline.instrument, answers, _turns(records.dialogue(item.dialogue.unit_id))),
    )


def _blind_dialogue(records: RecordCache, reservation: ReservationRow, category: str) -> BlindDialogue:
    queue, item = reservation.item.queue, reservation.item
    study, dialogue = records.study(queue.study_content_id), records.dialogue(item.dialogue.unit_id)
    return blinded(
        redacted(dialogue, redactions_of(item.dialogue_id), category),
        blind_name(dialogue.key, reservation.participant.key, queue.salt),
        scenario=study.scenario(dialogue.scenario),
        mask=mask_for(study),
    )


def following_tasks(records: RecordCache, first: AnnotatorTask, participant: str) -> tuple[AnnotatorTask, ...]:
    """Return the tasks to which an annotator's unsubmitted answers to the first category lead.

    Their answers are drafts of the first category's reservation: a changed route hides them and loses none, and
    nobody else sees an item before the first category is submitted. Empty while questions are open, if the route
    depends on others, or if the dialogue already has an item in a following category.

    Args:
        records: Store of the queue's design.
        first: The task as its annotator sees it.
        participant: Opaque key of the annotator.
    """
    if first.open or first.reservation.state not in {ReservationState.RESERVED, ReservationState.EXPIRED}:
        return ()
    row = own_reservation(first.reservation.token, participant)
    tasks = [_following_task(records, row, first, name) for name in _following(records, row, first.answers)]
    return tuple(task for task in tasks if task.dialogue == first.dialogue)


def _following(records: RecordCache, row: ReservationRow, answers: Sequence[Answer]) -> list[str]:
    """Return the categories that follow from the answers and that the annotator may take."""
    design, item, queue = records.design(row.item.queue.design_id), row.item, row.item.queue
    is_last_pass = item.passes == 1 and not item.done
    if item.category != design.first or item.again or not is_last_pass or not continues_at_once(design.process):
        return []
    groups = records.dialogue(item.dialogue.unit_id).groups
    violation = routed(
        [sees_violation(records.guideline(item.version), answers, groups)], design.process.route
    ).violation
    if violation is None:
        return []
    names = design.after(violation=violation)
    if WorkItemRow.objects.filter(queue=queue, dialogue=item.dialogue_id, category__in=names).exists():
        return []
    participant = row.participant.key
    allowed = allowed_categories(queue, participant, design.process, qualified_for(records, queue, participant))
    return [category.name for category in design.categories if category.name in allowed & {*names}]


def _following_task(records: RecordCache, row: ReservationRow, first: AnnotatorTask, name: str) -> AnnotatorTask:
    (version,) = (
        category.version for category in records.design(row.item.queue.design_id).categories if category.name == name
    )
    guideline, answers = records.guideline(version), current_answers(row, name)
    return AnnotatorTask(
        reservation=replace(first.reservation, category=name, version=version),
        guideline=guideline,
        dialogue=_blind_dialogue(records, row, name),
        answers=answers,
        saved=first.saved,
        open=open_questions(guideline.instrument, answers, [turn.number for turn in first.dialogue.turns]),
        is_following=True,
    )


def submit(records: RecordCache, token: str, participant: str) -> Submitted:
    """Submit the answers, unless questions are open; the annotation counts from then on.

    The annotation is written by the same function as labels from a file, in the
    same transaction that ends the reservation. Submitting again adds a revision.

    Raises:
        Conflict: If the reservation expired and its slot is taken, or the review has started.
        NotFound: If the reservation belongs to another annotator.
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
        submitted = annotation_by(person, guideline, dialogue.key, whole, revision=reservation.revision + 1)
        annotation = replace(submitted, shown=shown_order_of(reservation.shown), sitting=reservation.sitting)
        keep_labels([annotation])
        if _mark_submitted(reservation, annotation):
            count_disputed(records, reservation.item)
            route_on(records, reservation.item)
            _take_following(records, reservation)
        let_judges_take(records, queue)
        return Submitted(revision=reservation.revision)


def replace_answers(
    records: RecordCache, token: str, participant: str, answers: Sequence[Answer], *, is_final: bool
) -> Submitted:
    """Replace the content of a task by some answers, and submit it if they are final.

    Equal answers change nothing, so a request may be repeated: it adds neither drafts nor a revision.
    A refused submission keeps the answers.

    Args:
        records: Store of the queue's design.
        token: The reservation.
        participant: Opaque key of the annotator.
        answers: All answers; saved ones to other questions are withdrawn.
        is_final: Whether the task is submitted.

    Raises:
        Conflict: If the reservation expired and its slot is taken, or the review has started.
        NotFound: If the reservation belongs to another annotator.
    """
    queue, refused = own_reservation(token, participant).item.queue, None
    with transaction.atomic():
        one_at_a_time(f"queue {queue.token}")
        reservation = _open_reservation(token, participant)
        before = {(answer.question, answer.turn): answer for answer in current_answers(reservation)}
        after = {(answer.question, answer.turn): answer for answer in answers}
        withdrawn = [OpenQuestion(question=question, turn=turn) for question, turn in before.keys() - after.keys()]
        changed = [answer for place, answer in after.items() if not _is_same(before.get(place), answer)]
        for place in sorted(withdrawn, key=lambda place: (place.question, place.turn or 0)):
            clear_answer(token, participant, place)
        for answer in changed:
            save_answer(token, participant, answer)
        is_repeated = reservation.state == SUBMITTED and not withdrawn and not changed
        if is_final and not is_repeated:
            try:
                return submit(records, token, participant)
            except Conflict as error:
                refused = error
    if refused is not None:
        raise refused
    return Submitted(revision=int(reservation.revision))


def _is_same(before: Answer | None, after: Answer) -> bool:
    """Return whether an answer equals the saved one; the verification of quotes is ignored."""
    if before is None:
        return False
    quotes = [[quote.text for quote in answer.evidence] for answer in (before, after)]
    return replace(before, evidence=()) == replace(after, evidence=()) and quotes[0] == quotes[1]


def submit_sequence(records: RecordCache, token: str, others: Sequence[str], participant: str) -> bool:
    """Submit all annotations of one dialogue, or none of them if any has open questions; return whether it did.

    Others that expired and have lost their slot are left out; categories that follow from unsubmitted answers are
    included.

    Args:
        records: Store of the queue's design.
        token: A reservation.
        others: Reservations of other categories on the same page.
        participant: Opaque key of the annotator.

    Raises:
        Conflict: If the first one expired and its slot is taken, or a review has started.
        NotFound: If a reservation belongs to another annotator.
    """
    queue = own_reservation(token, participant).item.queue
    with transaction.atomic():
        one_at_a_time(f"queue {queue.token}")
        expire(queue)
        rows = [own_reservation(other, participant) for other in others if other != token]
        required = [row for row in rows if ReservationState(row.state).is_live or row.item.live < row.item.passes]
        tokens = [token, *(str(row.token) for row in required)]
        tasks = [task(records, each, participant) for each in tokens]
        following = [other for each in tasks for other in following_tasks(records, each, participant)]
        if any(each.open for each in (*tasks, *following)):
            return False
        for each in tokens:
            submit(records, each, participant)
        names = [other.reservation.category for other in following]
        for each in _reserved_siblings(token, participant, names):
            submit(records, each, participant)
    return True


def _reserved_siblings(token: str, participant: str, categories: Sequence[str]) -> list[str]:
    """Return the tokens of the annotator's reservations of the same dialogue in some categories."""
    if not categories:
        return []
    item = own_reservation(token, participant).item
    rows = ReservationRow.objects.filter(item__queue=item.queue_id, item__dialogue=item.dialogue_id, item__again=0)
    rows = rows.filter(
        participant__key=participant, item__category__in=categories, state=ReservationState.RESERVED.value
    )
    return [str(token) for token in rows.order_by("id").values_list("token", flat=True)]


def _take_following(records: RecordCache, first: ReservationRow) -> None:
    """Reserve the opened categories in which the annotator has drafts, and move copies of the drafts there.

    The work on them began with the first category, so their times of work start then.
    """
    drafts = following_drafts(first)
    if not drafts:
        return
    queue, who = first.item.queue, first.participant.key
    process = records.design(queue.design_id).process
    allowed = allowed_categories(queue, who, process, qualified_for(records, queue, who))
    items = WorkItemRow.objects.filter(queue=queue, dialogue=first.item.dialogue_id, again=0, live=0)
    names = allowed & {draft.question.partition("/")[0] for draft in drafts}
    began = ReservationEventRow.objects.filter(reservation=first, state=ReservationState.RESERVED.value)
    start = began.aggregate(last=Max("created"))["last"] or first.created
    for item in items.filter(category__in=names, state=ItemState.OPEN.value).select_related("queue", "dialogue__unit"):
        taken = take(records, item, who)
        ReservationEventRow.objects.filter(reservation=taken).update(created=start)
        for draft in drafts:
            category, _, question = draft.question.partition("/")
            if category == item.category:
                row = DraftRow(question=question, turn=draft.turn, outcome=draft.outcome, value=draft.value)
                row.reasoning = draft.reasoning
                add_draft(taken, row, quotes_of(draft))


def _n_sat(reservation: ReservationRow) -> int:
    """Return how many dialogues the annotator has submitted in this category before; count."""
    mine = ReservationRow.objects.filter(
        item__queue_id=reservation.item.queue_id, item__category=reservation.item.category
    )
    return mine.filter(participant=reservation.participant, sitting__gt=0).count()


def _seen(records: RecordCache, reservation: ReservationRow, dialogue: Dialogue) -> Dialogue:
    """Return the dialogue in the words that the annotator saw, so that quotes are found at their positions."""
    study = records.study(reservation.item.queue.study_content_id)
    return masked_dialogue(
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
    """Mark a reservation as submitted, and its item as complete after the last pass; return whether it is."""
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


def first_use(versions: Collection[str]) -> datetime | None:
    """Return the time of the first reservation by one of these versions; UTC, None if there is none.

    Args:
        versions: Content hashes of guidelines.
    """
    rows = ReservationRow.objects.filter(item__version__in=versions)
    first: datetime | None = rows.aggregate(first=Min("created"))["first"]
    return first


def n_qualified(version: str) -> int:
    """Return how many people are qualified for a category in one version; count."""
    rows = QualificationRow.objects.filter(version=version, passed=True)
    return rows.values("participant").distinct().count()


def carry_over(category: str, before: str, after: str, *, by: str, reason: str) -> int:
    """Transfer all qualifications from a version to the next one, without a test.

    Each annotator gets a separate row with decider and reason. Examples
    practised in a series still count.

    Args:
        category: Name of the category.
        before: Content hash of the version that they are qualified for.
        after: Content hash of the next version.
        by: The person who decides; an account's name or an opaque key.
        reason: Why annotators need not pass the test again.

    Returns:
        People; count.

    Raises:
        InputError: If no reason is given.
    """
    if not reason.strip():
        message = "a reason is required to keep qualifications; got none"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"qualification {after}")
        _carry_practice(before, after)
        passed = QualificationRow.objects.filter(passed=True)
        had = passed.filter(version=after).values("participant_id")
        people = passed.filter(version=before).exclude(participant_id__in=had)
        who = sorted(set(people.values_list("participant_id", flat=True)))
        attempts = dict(
            QualificationRow.objects.filter(participant_id__in=who, version=after)
            .values_list("participant_id")
            .annotate(last=Max("attempt"))
        )
        QualificationRow.objects.bulk_create(
            QualificationRow(
                participant_id=each,
                category=category,
                version=after,
                attempt=attempts.get(each, 0) + 1,
                right=0,
                asked=0,
                passed=True,
                by=by,
                reason=reason.strip(),
                created=database_now(),
            )
            for each in who
        )
    return len(who)


def _carry_practice(before: str, after: str) -> None:
    now, earlier = database_now(), PracticeRow.objects.filter(version=before)
    PracticeRow.objects.bulk_create(
        [
            PracticeRow(queue_id=queue, participant_id=who, version=after, example=example, created=now)
            for queue, who, example in earlier.values_list("queue_id", "participant_id", "example")
        ],
        ignore_conflicts=True,
    )


def past_answers(study: str, category: str) -> list[PastAnswers]:
    """Return the number of people's answers in a category by version and question, the latest used version first.

    Args:
        study: Name of the study.
        category: Name of the category.
    """
    rows = AnswerRow.objects.filter(annotation__in=_submitted(study, category))
    counted = rows.values("annotation__instrument_version", "question").annotate(
        n=Count("id"), dialogues=Count("annotation__dialogue", distinct=True), last=Max("annotation__id")
    )
    latest: dict[str, int] = {}
    for row in counted:
        version = row["annotation__instrument_version"]
        latest[version] = max(latest.get(version, 0), row["last"])
    result = [
        PastAnswers(
            version=row["annotation__instrument_version"],
            question=row["question"],
            n_answers=row["n"],
            n_dialogues=row["dialogues"],
        )
        for row in counted
    ]
    return sorted(result, key=lambda answers: (-latest[answers.version], answers.question))


def dialogue_answers(study: str, category: str, version: str, question: str) -> list[DialogueAnswers]:
    """Return people's answers to one question of one version, dialogue by dialogue.

    Args:
        study: Name of the study.
        category: Name of the category.
        version: Content hash of the guideline.
        question: Name of the question.
    """
    submitted = _submitted(study, category).filter(instrument_version=version)
    rows = AnswerRow.objects.filter(annotation__in=submitted, question=question).order_by("id")
    dialogue_info: dict[str, tuple[str, str]] = {}
    values: dict[str, list[tuple[str, int | None, str | None]]] = defaultdict(list)
    for key, scenario, cluster, annotator, turn, value in rows.values_list(
        "annotation__dialogue__unit__key",
        "annotation__dialogue__scenario",
        "annotation__dialogue__cluster",
        "annotation__annotator",
        "turn",
        "value",
    ):
        dialogue_info[key] = scenario, cluster
        values[key].append((annotator, turn, value))
    return [
        DialogueAnswers(
            dialogue=key, scenario=dialogue_info[key][0], cluster=dialogue_info[key][1], said=tuple(answers)
        )
        for key, answers in values.items()
    ]


def _submitted(study: str, category: str) -> QuerySet[AnnotationRow]:
    """Return people's annotations in a category, the latest revision of each, without voided ones."""
    later = AnnotationRow.objects.filter(
        dialogue=OuterRef("dialogue"),
        annotator=OuterRef("annotator"),
        guideline=OuterRef("guideline"),
        instrument_version=OuterRef("instrument_version"),
        revision__gt=OuterRef("revision"),
    )
    reservations = ReservationRow.objects.filter(annotation__isnull=False)
    voided, judged = reservations.exclude(state=SUBMITTED), reservations.filter(BY_JUDGE)
    rows = AnnotationRow.objects.filter(guideline=category, unit__isnull=True, dialogue__unit__run__study=study)
    return rows.filter(~Exists(later)).exclude(id__in=[*_numbers(voided), *_numbers(judged)])


def _numbers(reservations: QuerySet[ReservationRow]) -> list[int]:
    return [number for number in reservations.values_list("annotation_id", flat=True) if number]


def routed_counts(queue: str) -> tuple[int, int]:
    """Return how many dialogues continued with a violation, and how many without one; counts."""
    rows = RoutedRow.objects.filter(queue__token=queue).order_by("number")
    last: dict[int, bool | None] = dict(rows.values_list("dialogue_id", "violation"))
    return sum(1 for row in last.values() if row), sum(1 for row in last.values() if row is False)


def annotate_again(records: RecordCache, queue: str, category: str, dialogues: Sequence[str], *, version: str) -> int:
    """Put dialogues into a queue again, for annotation by its present version, and return their number; count.

    Earlier answers and routes stay as they are. Dialogues that
    the queue already asks about in that version are not added twice.

    Args:
        records: Store of the queue's design.
        queue: Token of the queue.
        category: Name of the category.
        dialogues: Keys of dialogues that are stored.
        version: Content hash of the version that the queue must use now.

    Raises:
        Conflict: If the queue uses another version.
    """
    with transaction.atomic():
        one_at_a_time(f"queue {queue}")
        row = queue_of(queue)
        design = records.design(row.design_id)
        requested = design.category(category)
        if requested is None or requested.version != version:
            message = f"the queue does not contain `{category}` in this version; publish it, and fill the queue again"
            raise Conflict(message)
        new = [key for key in dialogues if key not in asked_by(queue, category, version)]
        number = (WorkItemRow.objects.filter(queue=row, category=category).aggregate(n=Max("again"))["n"] or 0) + 1
        for start in range(0, len(new), CHUNK):
            rows = list(DialogueRow.objects.filter(unit__key__in=new[start : start + CHUNK]).select_related("unit"))
            add_items(row, design, rows, [category], again=number)
    return len(new)


def asked_by(queue: str, category: str, version: str) -> frozenset[str]:
    """Return the keys of the dialogues that a queue asks, or has asked, about in a version."""
    items = WorkItemRow.objects.filter(queue__token=queue, category=category, version=version)
    return frozenset(items.values_list("dialogue__unit__key", flat=True))
