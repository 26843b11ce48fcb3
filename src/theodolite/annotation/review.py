"""Review: resolve questions that annotators answered differently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from theodolite.annotation.queues import let_judges_take, route_on, salt_of
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import discrepancies, letters_for, reviewed
from theodolite.assessment.blinding import blind_name, blinded, mask_for
from theodolite.assessment.form_rules import open_questions
from theodolite.assessment.redaction import redacted
from theodolite.domain.annotating.discrepancy import (
    CalibrationRoom,
    DisputedItem,
    Position,
    Resolution,
    ReviewSheet,
    RoomShift,
    RoomState,
)
from theodolite.domain.annotating.work import ItemState, Routed
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Answer, Outcome
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import OpenQuestion, ScaleKind
from theodolite.domain.shown_order import has_suggestions
from theodolite.store.annotation_queue import (
    SUBMITTED,
    add_resolution,
    answer_of,
    given_to,
    item_row,
    new_token,
    participant_id,
    posts_in,
    queue_of,
    redactions_of,
    resolutions_of,
    room_row,
    withdraw_resolution,
)
from theodolite.store.models import AnswerRow, DialogueRow
from theodolite.store.models.annotating import (
    ReservationRow,
    ResolutionRow,
    RoomPostRow,
    RoomRow,
    RoomVoteRow,
    WorkItemRow,
)
from theodolite.store.results import drop_adjudication, replace_adjudication
from theodolite.store.statements import database_now, one_at_a_time

PAGE = 50
"""Items per page of the list; count."""


def disputed_items(
    records: RecordCache, queue: str, reader: str, *, category: str = "", page: int = 0
) -> list[DisputedItem]:
    """Return one page of the items with different answers, the most disputed first, as one reader may see them."""
    items = WorkItemRow.objects.filter(queue__token=queue, disputed__gt=0)
    items = items.filter(category=category) if category else items
    items = items.select_related("queue", "dialogue__unit").order_by("-disputed", "id")
    rows = list(items[page * PAGE : (page + 1) * PAGE])
    counted = ResolutionRow.objects.filter(item__in=rows, current=True).values_list("item_id")
    n_resolved = dict(counted.annotate(n=Count("id")))
    differing = _differing(rows)
    return [
        DisputedItem(
            item=row.token or "",
            category=row.category,
            dialogue=blind_name(row.dialogue.unit.key, reader, row.queue.salt),
            about=tuple(
                question.text
                for question in records.guideline(row.version).instrument.questions
                if question.name in differing[row.pk] and question.scale.kind is not ScaleKind.TEXT
            ),
            n_disputed=row.disputed,
            n_resolved=n_resolved.get(row.pk, 0),
            is_frozen=row.state == ItemState.FROZEN.value,
        )
        for row in rows
    ]


def _differing(rows: Sequence[WorkItemRow]) -> Mapping[int, set[str]]:
    """Return the names of the questions that submitted passes answered differently, by item; one query."""
    reservations = ReservationRow.objects.filter(item__in=rows, state=SUBMITTED)
    items = dict(reservations.values_list("annotation_id", "item_id"))
    values: defaultdict[tuple[int, str, int | None], set[tuple[str, str | None]]] = defaultdict(set)
    answers = AnswerRow.objects.filter(annotation_id__in=list(items))
    answer_rows = answers.values_list("annotation_id", "question", "turn", "outcome", "value")
    for annotation, question, turn, outcome, value in answer_rows:
        values[items[annotation], question, turn].add((outcome, value))
    result: defaultdict[int, set[str]] = defaultdict(set)
    for (item, question, _), labels in values.items():
        if len(labels) > 1:
            result[item].add(question)
    return result


def n_disputed_items(queue: str, *, category: str = "") -> int:
    """Return the number of items with different answers; count."""
    named = Q(category=category) if category else Q()
    return WorkItemRow.objects.filter(named, queue__token=queue, disputed__gt=0).count()


def disputed_tokens(queue: str) -> list[str]:
    """Return the tokens of the items with different answers, in order of arrival."""
    items = WorkItemRow.objects.filter(queue__token=queue, disputed__gt=0).order_by("id")
    return [token for token in items.values_list("token", flat=True) if token]


def next_disputed(queue: str, item: str) -> str:
    """Return the token of the next item with a question that has no result yet; empty for none.

    Args:
        queue: Token of the queue.
        item: The item that was reviewed last.
    """
    row = _ready(queue).exclude(token=item).order_by("-disputed", "id").first()
    return row.token or "" if row else ""


def n_unsettled(queue: str, most: int | None = None) -> int:
    """Return the number of items whose review can start or continue; count.

    Args:
        queue: Token of the queue.
        most: Number at which the count ends; None to count all.
    """
    return _ready(queue)[:most].count()


def _ready(queue: str) -> QuerySet[WorkItemRow]:
    items = WorkItemRow.objects.filter(queue__token=queue, disputed__gt=0)
    return _disputed(items.filter(state__in=[ItemState.COMPLETE.value, ItemState.FROZEN.value]))


def review_sheet(records: RecordCache, item: str, reader: str) -> ReviewSheet:
    """Return the positions of a formal review of an item: without names, in an order specific to this item.

    Raises:
        NotFound: If there is no such item.
    """
    row = item_row(item)
    study, dialogue = records.study(row.queue.study_content_id), records.dialogue(row.dialogue.unit_id)
    guideline = records.guideline(row.version)
    return ReviewSheet(
        item=item,
        guideline=guideline,
        dialogue=blinded(
            redacted(dialogue, redactions_of(row.dialogue_id), row.category),
            blind_name(dialogue.key, reader, row.queue.salt),
            scenario=study.scenario(dialogue.scenario),
            mask=mask_for(study),
        ),
        discrepancies=discrepancies(guideline, given_to(row), salt_of(row)),
        resolutions=resolutions_of(row),
        is_frozen=row.state == ItemState.FROZEN.value,
    )


def people_at(item: str) -> Mapping[str, str]:
    """Return the annotators behind the letters of an item's review: letter to opaque key; for the record only."""
    row = item_row(item)
    return {letter: person for person, letter in letters_for(list(given_to(row)), salt_of(row)).items()}


def open_review(item: str) -> None:
    """Start the review of an item, which freezes its answers.

    Raises:
        Conflict: If passes are still outstanding.
        NotFound: If there is no such item.
    """
    with transaction.atomic():
        row = _locked(item)
        if row.state not in {ItemState.COMPLETE.value, ItemState.FROZEN.value}:
            message = f"a review can start when all passes are submitted; this item is {row.state}"
            raise Conflict(message)
        WorkItemRow.objects.filter(pk=row.pk).update(state=ItemState.FROZEN.value)


def resolve(records: RecordCache, item: str, found: Resolution) -> Routed | None:
    """Record a review's result for one question; the last one of a first category sends the dialogue on.

    Recording it again adds a further row. Consensus about the dialogue as a whole
    also becomes a final label, as does its absence.

    Raises:
        Conflict: If the review has not started.
        InputError: If all answers to that question agree, or the value is not on its scale.
        NotFound: If there is no such item.
    """
    with transaction.atomic():
        row = _locked(item)
        if row.state != ItemState.FROZEN.value:
            message = "start the review first, so that the answers cannot change"
            raise Conflict(message)
        guideline, answers = records.guideline(row.version), given_to(row)
        _check(
            guideline,
            {(discrepancy.question, discrepancy.turn) for discrepancy in discrepancies(guideline, answers, "")},
            found,
        )
        add_resolution(row, found)
        if found.turn is None:
            replace_adjudication(row.dialogue.unit.run_id, _adjudication(row, found))
        groups = records.dialogue(row.dialogue.unit_id).groups
        said = reviewed(guideline, answers, resolutions_of(row), groups)
        routed = route_on(records, row, said) if said.is_final else None
        let_judges_take(records, row.queue)
        return routed


def undo_resolution(records: RecordCache, item: str, question: str, turn: int | None, *, by: str) -> None:
    """Reopen a dispute that a person has settled; the result stays on record but no longer counts.

    Categories that the result opened stay open, as after any later revision.

    Args:
        records: Store of the guidelines.
        item: Token of the item.
        question: Name of the disputed question.
        turn: Its turn; None for the whole dialogue.
        by: The person who recorded the result.

    Raises:
        Conflict: If the review is closed, or another person recorded the current result.
        NotFound: If there is no such item.
    """
    with transaction.atomic():
        row = _locked(item)
        current = next(
            (
                resolution
                for resolution in resolutions_of(row)
                if (resolution.question, resolution.turn) == (question, turn)
            ),
            None,
        )
        if row.state != ItemState.FROZEN.value or current is None or current.participants[:1] != (by,):
            message = "the last decision cannot be undone: it has changed since; open the dispute to settle it again"
            raise Conflict(message)
        guideline, answers = records.guideline(row.version), given_to(row)
        groups = records.dialogue(row.dialogue.unit_id).groups
        was_final = reviewed(guideline, answers, resolutions_of(row), groups).is_final
        withdraw_resolution(row, question, turn)
        if turn is None:
            drop_adjudication(
                row.dialogue.unit.run_id, row.dialogue.unit.key, guideline=row.category, question=question
            )
        if was_final:
            route_on(records, row, reviewed(guideline, answers, resolutions_of(row), groups))


def reopen(item: str) -> None:
    """Unfreeze an item, e.g. after a quality check: its annotators may change their answers again.

    Answers recorded by the review stay on record; they are checked again when the review restarts.
    """
    with transaction.atomic():
        row = _locked(item)
        state = ItemState.COMPLETE if row.done >= row.passes else ItemState.OPEN
        if row.state == ItemState.FROZEN.value:
            WorkItemRow.objects.filter(pk=row.pk).update(state=state.value)


def dissent(queue: str) -> Mapping[str, int]:
    """Return the number of discrepancies without consensus, by cause; counts."""
    rows = ResolutionRow.objects.filter(item__queue__token=queue, current=True).exclude(cause="")
    return dict(rows.values_list("cause").annotate(n=Count("id")))


def _locked(token: str) -> WorkItemRow:
    one_at_a_time(f"queue {item_row(token).queue.token}")
    return item_row(token)


def _check(guideline: Guideline, disputed: set[tuple[str, int | None]], found: Resolution) -> None:
    if (found.question, found.turn) not in disputed:
        message = f"`{found.question}` (turn {found.turn or 'none'}) has no disagreement to resolve"
        raise InputError(message)
    scale = guideline.instrument.question(found.question).scale
    if found.value is not None and not scale.admits(found.value):
        message = f"the consensus on `{found.question}` must be one of {list(scale.categories)}; got {found.value!r}"
        raise InputError(message)


def _adjudication(row: WorkItemRow, found: Resolution) -> Adjudication:
    return Adjudication(
        dialogue=row.dialogue.unit.key,
        guideline=row.category,
        question=found.question,
        outcome=found.outcome or Outcome.MISSING,
        value=found.value,
        origin=AdjudicationOrigin.CONSENSUS if found.is_consensus else AdjudicationOrigin.NO_CONSENSUS,
        participants=found.participants,
        rationale=found.rationale,
        decided=database_now(),
        raw=found.cause.value if found.cause else "",
    )


def waiting_items(study: str) -> QuerySet[WorkItemRow]:
    """Return the items of a study that wait for a pass, or for a review of answers that differ."""
    items = _with_resolutions(WorkItemRow.objects.filter(queue__study=study))
    waits = Q(state__in=[ItemState.OPEN.value, ItemState.ASIDE.value])
    return items.filter(waits | Q(disputed__gt=F("n_resolved")))


def _disputed(items: QuerySet[WorkItemRow]) -> QuerySet[WorkItemRow]:
    """Return the items with a disagreement that no review has decided."""
    return _with_resolutions(items).filter(disputed__gt=0).filter(disputed__gt=F("n_resolved"))


def _with_resolutions(items: QuerySet[WorkItemRow]) -> QuerySet[WorkItemRow]:
    """Return items with `n_resolved`, the number of their questions that a review has decided; count."""
    current = ResolutionRow.objects.filter(item=OuterRef("pk"), current=True).order_by().values("item_id")
    return items.annotate(n_resolved=Coalesce(Subquery(current.annotate(n=Count("id")).values("n")), 0))


BLIND, AFTERWARDS = 1, 2
"""Numbers of the two ballots."""


def open_room(records: RecordCache, queue: str, dialogue: str, category: str, *, by: str) -> str:
    """Open a calibration session on one dialogue and return its token; people who vote never get that dialogue as work.

    Raises:
        InputError: If the queue has no such category, or annotators saw suggestions of a judge in the dialogue.
        NotFound: If the dialogue does not exist.
    """
    row = queue_of(queue)
    named = records.design(row.design_id).category(category)
    dialogue_row = DialogueRow.objects.filter(unit__key=dialogue).first()
    if named is None:
        message = f"the queue has no category {category!r}"
        raise InputError(message)
    if dialogue_row is None:
        message = f"no dialogue is stored under the key {dialogue}"
        raise NotFound(message)
    annotated = ReservationRow.objects.filter(item__queue=row, item__dialogue=dialogue_row, item__category=category)
    if any(map(has_suggestions, annotated.values_list("shown", flat=True))):
        message = "annotators saw suggestions of a judge in this dialogue; choose one without suggestions to calibrate"
        raise InputError(message)
    made = RoomRow.objects.create(
        token=new_token(),
        queue=row,
        dialogue=dialogue_row,
        category=category,
        version=named.version,
        by=by,
        created=database_now(),
    )
    return str(made.token)


def open_room_on(records: RecordCache, item: str, *, by: str) -> str:
    """Open a calibration session on the dialogue of a work item and return its token; see `open_room`."""
    row = item_row(item)
    return open_room(records, row.queue.token, row.dialogue.unit.key, row.category, by=by)


def vote(records: RecordCache, token: str, participant: str, answers: Sequence[Answer]) -> tuple[OpenQuestion, ...]:
    """Store or change a person's votes; if questions are open, return them and store nothing.

    Votes before the reveal are blind; later ones follow the discussion,
    and only people who voted blindly may cast them.

    Raises:
        Conflict: If the session is closed, or the person did not vote before the reveal.
    """
    with transaction.atomic():
        one_at_a_time(f"room {token}")
        row = room_row(token)
        if row.state == RoomState.CLOSED.value:
            message = "this session is closed; its votes can no longer change"
            raise Conflict(message)
        dialogue, guideline = records.dialogue(row.dialogue.unit_id), records.guideline(row.version)
        if left := open_questions(guideline.instrument, answers, [turn.number for turn in dialogue.turns]):
            return left
        ballot = BLIND if row.state == RoomState.VOTING.value else AFTERWARDS
        _cast(row, participant, ballot, answers)
    return ()


def _cast(row: RoomRow, participant: str, ballot: int, answers: Sequence[Answer]) -> None:
    votes = RoomVoteRow.objects.filter(room=row, participant__key=participant)
    if ballot == AFTERWARDS and not votes.filter(ballot=BLIND).exists():
        message = "the votes are revealed; only participants who voted before can change their votes"
        raise Conflict(message)
    votes.filter(ballot=ballot).delete()
    who, now = participant_id(participant), database_now()
    RoomVoteRow.objects.bulk_create(
        RoomVoteRow(
            room=row,
            participant_id=who,
            ballot=ballot,
            question=answer.question,
            turn=answer.turn or 0,
            outcome=answer.outcome.value,
            value=answer.value,
            reasoning=answer.reasoning,
            created=now,
        )
        for answer in answers
    )


def reveal(token: str) -> None:
    """Show all votes to all members of the session, and open the discussion.

    Raises:
        Conflict: If there are no votes.
    """
    with transaction.atomic():
        one_at_a_time(f"room {token}")
        row = room_row(token)
        if not RoomVoteRow.objects.filter(room=row).exists():
            message = "there are no votes to reveal yet"
            raise Conflict(message)
        if row.state == RoomState.VOTING.value:
            RoomRow.objects.filter(pk=row.pk).update(state=RoomState.REVEALED.value)


def say(token: str, participant: str, text: str) -> None:
    """Contribute to the discussion.

    Raises:
        Conflict: If the votes are not revealed yet, or the session is closed.
        InputError: If there is no text.
    """
    row = room_row(token)
    if row.state != RoomState.REVEALED.value:
        message = f"posts are possible only between revealing and closing; this session is {row.state}"
        raise Conflict(message)
    if not text.strip():
        message = "a post cannot be empty"
        raise InputError(message)
    RoomPostRow.objects.create(
        room=row, participant_id=participant_id(participant), text=text.strip(), created=database_now()
    )


def close_room(token: str) -> None:
    """Close a calibration session; votes and discussion are kept."""
    RoomRow.objects.filter(pk=room_row(token).pk).update(state=RoomState.CLOSED.value)


def rooms(queue: str, *, is_open: bool = False) -> list[tuple[str, str, RoomState]]:
    """Return token, category and state of the calibration sessions of a queue, the latest first."""
    rows = RoomRow.objects.filter(queue__token=queue).order_by("-id")
    rows = rows.exclude(state=RoomState.CLOSED.value) if is_open else rows
    return [(row.token, row.category, RoomState(row.state)) for row in rows]


def room(records: RecordCache, token: str, participant: str) -> CalibrationRoom:
    """Return a calibration session as one member sees it: others' votes and the discussion only after the reveal.

    Raises:
        NotFound: If there is no row with that token.
    """
    row = room_row(token)
    study, dialogue = records.study(row.queue.study_content_id), records.dialogue(row.dialogue.unit_id)
    votes = list(RoomVoteRow.objects.filter(room=row).select_related("participant").order_by("id"))
    state = RoomState(row.state)
    shown = [] if state is RoomState.VOTING else votes
    own = [room_vote for room_vote in votes if room_vote.participant.key == participant]
    return CalibrationRoom(
        token=token,
        state=state,
        version=row.version,
        guideline=records.guideline(row.version),
        dialogue=blinded(
            redacted(dialogue, redactions_of(row.dialogue_id), row.category),
            blind_name(dialogue.key, participant, row.queue.salt),
            scenario=study.scenario(dialogue.scenario),
            mask=mask_for(study),
        ),
        own=tuple(answer_of(room_vote) for room_vote in _latest(own)),
        before=_positions(row, [room_vote for room_vote in shown if room_vote.ballot == BLIND]),
        after=_positions(row, _latest(shown)),
        posts=() if state is RoomState.VOTING else posts_in(row, participant),
        n_voted=len({room_vote.participant_id for room_vote in votes}),
        opened=row.created,
    )


def shifts(queue: str) -> list[RoomShift]:
    """Return all answers before and after the discussions in a queue's calibration sessions."""
    rows = RoomVoteRow.objects.filter(room__queue__token=queue).exclude(room__state=RoomState.VOTING.value)
    votes = rows.select_related("room", "participant").order_by("room_id", "id")
    first: dict[tuple[int, str, int, str], RoomVoteRow] = {}
    last: dict[tuple[int, str, int, str], RoomVoteRow] = {}
    for room_vote in votes:
        position = (room_vote.room_id, room_vote.question, room_vote.turn, room_vote.participant.key)
        (first if room_vote.ballot == BLIND else last)[position] = room_vote
    return [
        RoomShift(
            room=one.room.token,
            version=one.room.version,
            question=one.question,
            turn=one.turn or None,
            participant=one.participant.key,
            before=one.value,
            after=last.get(position, one).value,
        )
        for position, one in first.items()
    ]


def _latest(votes: Sequence[RoomVoteRow]) -> list[RoomVoteRow]:
    """Return each person's latest votes: those after the discussion, if there are any."""
    again = {room_vote.participant_id for room_vote in votes if room_vote.ballot == AFTERWARDS}
    return [room_vote for room_vote in votes if room_vote.ballot == AFTERWARDS or room_vote.participant_id not in again]


def _positions(row: RoomRow, votes: Sequence[RoomVoteRow]) -> tuple[Position, ...]:
    everybody = RoomVoteRow.objects.filter(room=row).values_list("participant__key", flat=True).distinct()
    letters = letters_for(list(everybody), f"{row.queue.salt} room {row.pk}")
    result = [Position(letter=letters[room_vote.participant.key], answer=answer_of(room_vote)) for room_vote in votes]
    return tuple(
        sorted(result, key=lambda position: (position.answer.question, position.answer.turn or 0, position.letter))
    )
