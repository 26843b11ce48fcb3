"""Results of units, stored in batches; and annotations and final labels, read back.

Every writing function runs inside the transaction of the writer and takes all writes of
one kind at once, so that a batch costs a few statements however large it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.db import transaction
from django.db.models import Aggregate, Count, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from theodolite.domain.annotation import (
    Adjudication,
    AdjudicationOrigin,
    Annotation,
    Answer,
    Control,
    Outcome,
    Quote,
    Vote,
)
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.run import Failure, FailureKind, FailureSource, Lease, Spending, UnitState
from theodolite.domain.shown_order import shown_order_of
from theodolite.store.contents import Contents
from theodolite.store.dialogues import keep_dialogues, keep_replies
from theodolite.store.executor import KeepAdjudications, KeepAnnotation, KeepDialogue, KeepFailure, KeepReply, Write
from theodolite.store.fields import n_repaired, repaired_text
from theodolite.store.ledger import CHUNK, ReplyTexts, RowNumbers, id_of_run, ids_of_units, lease_about
from theodolite.store.models import (
    AdjudicationRow,
    AdjudicatorRow,
    AnnotationRow,
    AnswerRow,
    DialogueRow,
    FailureRow,
    ParticipantRow,
    QuoteRow,
    UnitRow,
    VoteRow,
)
from theodolite.store.statements import (
    Row,
    end_units,
    fetched,
    grouped,
    insert,
    make_ready,
    numbers,
    one_at_a_time,
    rows_of,
)

if TYPE_CHECKING:
    from theodolite.store.models.events import ResponseAnswerRow


_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")


class Results:
    """Stores batches of writes; called on a thread that is bound to the workspace's database."""

    def __init__(self, contents: Contents, units: RowNumbers) -> None:
        """Set the stores of personas and source material, and the map of row numbers."""
        self._contents = contents
        self._units = units
        self._dialogues = RowNumbers()
        self._texts = ReplyTexts()

    def apply(self, batch: Sequence[Write]) -> None:
        """Store a batch within the transaction that is open."""
        now = timezone.now()
        keys = {write.unit for write in batch if isinstance(write, KeepReply)}
        ended = {w.unit.key for w in batch if isinstance(w, KeepDialogue | KeepAnnotation | KeepFailure)}
        ids = self._ids_of_units(keys | ended)
        if replies := [(ids[write.unit], write.entry) for write in batch if isinstance(write, KeepReply)]:
            keep_replies(replies, created=now)
            self._texts.enter(replies)
        texts = self._texts.take(ids[key] for key in ended)
        if dialogues := [write for write in batch if isinstance(write, KeepDialogue)]:
            self._dialogues.enter(keep_dialogues(dialogues, ids, texts, contents=self._contents, created=now))
            _mark([ids[write.unit.key] for write in dialogues], UnitState.DONE)
            self._pass_on(dialogues)
        if annotations := [write for write in batch if isinstance(write, KeepAnnotation)]:
            _keep_annotations(annotations, ids, self._ids_of_dialogues(annotations), now)
        if failures := [write for write in batch if isinstance(write, KeepFailure)]:
            _keep_failures(failures, ids, now)
        for write in batch:
            if isinstance(write, KeepAdjudications):
                _keep_adjudications(write)

    def _pass_on(self, dialogues: Sequence[KeepDialogue]) -> None:
        """Lease the annotations of dialogues to the worker that continues with them, and open the rest to others."""
        make_ready(write.unit.key for write in dialogues if write.lease is None)
        requested: dict[Lease, dict[str, KeepDialogue]] = {}
        for write in dialogues:
            if write.lease is not None:
                requested.setdefault(write.lease, {})[write.unit.key] = write
        for lease, writes in requested.items():
            for write in writes.values():
                write.leased.clear()  # a batch that was refused may have been here before
            for number, unit in lease_about(writes, lease):
                self._units.enter({unit.key: number})
                writes[unit.subject].leased.append(unit)

    def _ids_of_units(self, keys: set[str]) -> dict[str, int]:
        known = self._units.of(keys)
        if len(known) == len(keys):
            return known
        result = ids_of_units(keys - known.keys())
        self._units.enter(result)
        return known | result

    def _ids_of_dialogues(self, writes: Sequence[KeepAnnotation]) -> dict[str, int]:
        keys = {write.annotation.dialogue for write in writes}
        known = self._dialogues.of(keys)
        return known if len(known) == len(keys) else known | ids_of_dialogues(keys - known.keys())


def _mark(unit_ids: Sequence[int], state: UnitState) -> None:
    """Set the state of units that are not done; a late worker never undoes results."""
    marked = end_units(unit_ids, state)
    if marked != len(set(unit_ids)):
        message = f"{len(set(unit_ids)) - marked} of {len(unit_ids)} units were done by somebody else before"
        raise Conflict(message)


def _keep_annotations(
    writes: Sequence[KeepAnnotation], ids: dict[str, int], dialogues: dict[str, int], now: datetime
) -> None:
    insert(
        AnnotationRow,
        [annotation_row(ids[w.unit.key], dialogues[w.annotation.dialogue], w.annotation, now) for w in writes],
    )
    placed = numbers(AnnotationRow, [ids[write.unit.key] for write in writes], "revision")
    keep_answers((placed[ids[write.unit.key], write.annotation.revision], write.annotation.answers) for write in writes)
    insert(
        VoteRow,
        [
            row
            for write in writes
            for row in vote_rows(placed[ids[write.unit.key], write.annotation.revision], write.annotation.votes)
        ],
    )
    first = [ids[write.unit.key] for write in writes if write.annotation.revision == 1]
    _mark(first, UnitState.DONE)


def annotation_row(unit_id: int | None, dialogue_id: int, annotation: Annotation, now: datetime) -> Row:
    """Return the row to insert for an annotation; labels by hand belong to no unit."""
    return {
        "unit_id": unit_id,
        "dialogue_id": dialogue_id,
        "annotator": annotation.annotator,
        "annotator_version": annotation.annotator_version,
        "guideline": annotation.guideline,
        "instrument_version": annotation.instrument_version,
        "revision": annotation.revision,
        "scripted": annotation.scripted,
        "control": annotation.control.value,
        "answered_as": annotation.answered_as,
        "shown": annotation.shown.text,
        "sitting": annotation.sitting,
        "created": now,
    }


def keep_answers(given: Iterable[tuple[int, Sequence[Answer]]]) -> None:
    """Store the answers of annotations, given by the numbers of their rows, and the quotes behind them."""
    placed = [(number, position, answer) for number, answers in given for position, answer in enumerate(answers)]
    insert(AnswerRow, [_answer_row(number, position, answer) for number, position, answer in placed])
    quoting = {(number, position): answer for number, position, answer in placed if answer.evidence}
    if not quoting:
        return
    rows = AnswerRow.objects.filter(annotation_id__in={number for number, _ in quoting})
    insert(
        QuoteRow,
        [
            {"answer_id": row_id, "position": index, "turn": quote.turn, "text": quote.text, "verified": quote.verified}
            for number, position, row_id in rows.order_by("id").values_list("annotation_id", "position", "id")
            if (number, position) in quoting
            for index, quote in enumerate(quoting[number, position].evidence)
        ],
    )


def _answer_row(annotation_id: int, position: int, answer: Answer) -> Row:
    return {
        "annotation_id": annotation_id,
        "position": position,
        "question": answer.question,
        "outcome": answer.outcome.value,
        "value": answer.value,
        "number": number_in(answer.value),
        "turn": answer.turn,
        "replicate": answer.replicate,
        "reasoning": answer.reasoning,
        "raw": answer.raw,
        "repaired": n_repaired(answer.value or "", answer.reasoning, answer.raw),
    }


def number_in(value: str | None) -> float | None:
    """Return a value as a number; None if it is not one."""
    return float(value) if value is not None and _NUMBER.fullmatch(value) else None


def _keep_failures(writes: Sequence[KeepFailure], ids: dict[str, int], now: datetime) -> None:
    """Store failures of units that no other worker has leased since; the other worker may still have a result."""
    rows = UnitRow.objects.select_for_update().filter(id__in=[ids[write.unit.key] for write in writes])
    tries = dict(rows.values_list("id", "tries"))
    if n_lost := sum(tries[ids[write.unit.key]] != write.unit.tries for write in writes):
        message = f"{n_lost} of {len(writes)} units that failed have been begun by somebody else since"
        raise Conflict(message)
    keep_failures(writes, ids, now)
    _mark([ids[write.unit.key] for write in writes], UnitState.FAILED)


def _keep_adjudications(write: KeepAdjudications) -> None:
    run_id = id_of_run(write.run)
    one_at_a_time(f"adjudications {write.run.key}")
    for start in range(0, len(write.adjudications), CHUNK):
        chunk = write.adjudications[start : start + CHUNK]
        dialogues = ids_of_dialogues(adjudication.dialogue for adjudication in chunk)
        present = set(
            AdjudicationRow.objects.filter(run_id=run_id, dialogue_id__in=list(dialogues.values())).values_list(
                "dialogue_id", "guideline", "question"
            )
        )
        new: dict[tuple[int, str, str], Adjudication] = {}
        for adjudication in chunk:
            position = (dialogues[adjudication.dialogue], adjudication.guideline, adjudication.question)
            if position not in present:
                new.setdefault(position, adjudication)
        _insert_adjudications(run_id, new)


def replace_adjudication(run_id: int, adjudication: Adjudication) -> None:
    """Store a final label, agreed or without consensus, in place of an earlier one of the same question.

    Every review behind it is stored elsewhere; the current value is here.
    """
    dialogue_id = drop_adjudication(
        run_id, adjudication.dialogue, guideline=adjudication.guideline, question=adjudication.question
    )
    position = (dialogue_id, adjudication.guideline, adjudication.question)
    _insert_adjudications(run_id, {position: adjudication})


def drop_adjudication(run_id: int, dialogue: str, *, guideline: str, question: str) -> int:
    """Delete the final label of a question, if there is one; return the dialogue's primary key."""
    (dialogue_id,) = ids_of_dialogues([dialogue]).values()
    before = AdjudicationRow.objects.filter(
        run_id=run_id, dialogue_id=dialogue_id, guideline=guideline, question=question
    )
    AdjudicatorRow.objects.filter(adjudication__in=before).delete()
    before.delete()
    return dialogue_id


def _insert_adjudications(run_id: int, new: dict[tuple[int, str, str], Adjudication]) -> None:
    rows = AdjudicationRow.objects.bulk_create(
        AdjudicationRow(
            run_id=run_id,
            dialogue_id=dialogue_id,
            guideline=adjudication.guideline,
            question=adjudication.question,
            outcome=adjudication.outcome.value,
            origin=adjudication.origin.value,
            value=adjudication.value,
            number=number_in(adjudication.value),
            rationale=adjudication.rationale,
            decided=adjudication.decided,
            raw=adjudication.raw,
            repaired=n_repaired(adjudication.value or "", adjudication.rationale, adjudication.raw),
        )
        for (dialogue_id, _, _), adjudication in new.items()
    )
    people = ids_of_participants({person for a in new.values() for person in a.participants})
    AdjudicatorRow.objects.bulk_create(
        AdjudicatorRow(adjudication_id=row.id, participant_id=people[repaired_text(person)], position=position)
        for row, adjudication in zip(rows, new.values(), strict=True)
        for position, person in enumerate(adjudication.participants)
    )


def ids_of_participants(keys: set[str]) -> dict[str, int]:
    """Return the row numbers of some people by key; new people are added."""
    if not keys:
        return {}
    requested = {repaired_text(key) for key in keys}
    ParticipantRow.objects.bulk_create(
        [ParticipantRow(key=key) for key in sorted(requested)],
        update_conflicts=True,
        unique_fields=["key"],
        update_fields=["key"],
    )
    return dict(ParticipantRow.objects.filter(key__in=requested).values_list("key", "id"))


def ids_of_dialogues(keys: Iterable[str]) -> dict[str, int]:
    """Return the row numbers of some dialogues by key.

    Raises:
        NotFound: If one of them is not stored.
    """
    requested = set(keys)
    rows = dict(DialogueRow.objects.filter(unit__key__in=list(requested)).values_list("unit__key", "id"))
    if missing := requested - rows.keys():
        message = f"no dialogue is stored under the key {min(missing)}; it must be kept before it is labelled"
        raise NotFound(message)
    return rows


_COSTS = ("attempts", "tokens_in", "tokens_out", "cost_microusd", "unpriced_calls")


def keep_failures(writes: Sequence[KeepFailure], ids: Mapping[str, int], now: datetime) -> None:
    """Store failures.

    Args:
        writes: Values to store.
        ids: Numbers of the units' rows by key.
        now: The present moment.
    """
    FailureRow.objects.bulk_create(
        FailureRow(
            unit_id=ids[write.unit.key],
            label=write.failure.label,
            application=write.failure.application,
            party=write.failure.party.value,
            kind=write.failure.kind.value,
            message=write.failure.message,
            turn=write.failure.turn,
            annotator=write.failure.annotator,
            endpoint=write.failure.endpoint,
            tries=write.failure.tries,
            repaired=n_repaired(write.failure.message),
            created=now,
            **{name: getattr(write.failure.spent, name) for name in _COSTS},
        )
        for write in writes
    )


def failures_of(unit_ids: Sequence[int]) -> list[Failure]:
    """Return the valid failures of some units, in the order of the units."""
    rows = FailureRow.objects.filter(unit_id__in=unit_ids, struck=False).select_related("unit")
    matches = {row.unit_id: _failure(row) for row in rows}
    return [matches[unit_id] for unit_id in unit_ids if unit_id in matches]


def spent_on_failures(units: Q) -> Spending:
    """Return the cost of calls that ended some units, including units that were retried since."""
    sums = {name: Sum(name, default=0) for name in _COSTS}
    made = Count("id", filter=Q(attempts__gt=0))  # first, because a sum takes the name of its column
    return Spending(**FailureRow.objects.filter(units).aggregate(calls=made, **sums))


def failure_spending_parts(run_id: int) -> Iterator[tuple[tuple[str, str, str], Spending]]:
    """Yield these costs by application, kind of unit and annotator."""
    sums: dict[str, Aggregate] = {f"{SUM}{name}": Sum(name, default=0) for name in _COSTS}
    sums[f"{SUM}calls"] = Count("id", filter=Q(attempts__gt=0))
    of = ("unit__application", "unit__kind", "unit__annotator")
    for row in FailureRow.objects.filter(unit__run_id=run_id).values(*of).annotate(**sums):
        yield (row[of[0]], row[of[1]], row[of[2]]), spending_of_row(row)


SUM: Final = "sum_"
"""Prefix of the names of sums, since a sum by group may not be named like a column."""


def spending_of_row(row: Mapping[str, Any]) -> Spending:
    """Return the cost from the sums of a group of rows."""
    return Spending(**{name.removeprefix(SUM): int(total) for name, total in row.items() if name.startswith(SUM)})


def _failure(row: FailureRow) -> Failure:
    return Failure(
        unit=row.unit.key,
        label=row.label,
        application=row.application,
        party=FailureSource(row.party),
        kind=FailureKind(row.kind),
        message=row.message,
        turn=row.turn,
        annotator=row.annotator,
        endpoint=row.endpoint,
        tries=row.tries,
        spent=Spending(calls=int(row.attempts > 0), **{name: getattr(row, name) for name in _COSTS}),
    )


def keep_labels(annotations: Sequence[Annotation]) -> None:
    """Store annotations made by hand; each is a new revision that replaces none.

    Raises:
        Conflict: If a revision of one of them exists already.
        NotFound: If a dialogue is not stored.
    """
    now = timezone.now()
    dialogues = ids_of_dialogues(annotation.dialogue for annotation in annotations)
    taken = _revisions(dialogues.values())
    for annotation in annotations:
        position = (dialogues[annotation.dialogue], annotation.annotator_version, annotation.instrument_version)
        if annotation.revision in taken[position]:
            message = (
                f"revision {annotation.revision} of the labels by `{annotation.annotator}` is there already;"
                " read the labels again and store the next one"
            )
            raise Conflict(message)
    with transaction.atomic():
        last = AnnotationRow.objects.aggregate(last=Max("id"))["last"] or 0
        insert(
            AnnotationRow,
            (annotation_row(None, dialogues[annotation.dialogue], annotation, now) for annotation in annotations),
        )
        ids = _ids_since(last)
        keep_answers((ids[_place(annotation, dialogues)], annotation.answers) for annotation in annotations)


def are_there_labels() -> bool:
    """Return whether this workspace has labels by hand; most have none."""
    return AnnotationRow.objects.filter(unit__isnull=True).exists()


def open_assignments(study: str) -> list[tuple[str, str, str]]:
    """Return the dialogues that annotators of a study's queues have reserved and not submitted.

    Returns:
        Key of the participant, name of the guideline and key of the dialogue, for each reservation.
    """
    from theodolite.domain.annotating.work import ReservationState
    from theodolite.store.models.annotating import ReservationRow

    rows = ReservationRow.objects.filter(state=ReservationState.RESERVED.value, item__queue__study=study)
    keys = rows.order_by("id").values_list("participant__key", "item__category", "item__dialogue__unit__key")
    return list(keys)


def by_hand() -> QuerySet[AnnotationRow]:
    """Return the labels by hand, for reading those of some dialogues by the index of dialogues.

    With `unit IS NULL` SQLite takes the index of units: each chunk of dialogues then reads all labels of the workspace.
    """
    return AnnotationRow.objects.annotate(of_unit=Coalesce("unit_id", 0)).filter(of_unit=0)


def labels_of(unit_ids: Sequence[int]) -> list[Annotation]:
    """Return labels by hand of the dialogues of some units, in the order of the units.

    There is one annotation for each dialogue, annotator and version of the instrument: the latest revision.
    """
    rows = by_hand().filter(dialogue__unit_id__in=unit_ids)
    latest = {
        (row.dialogue_id, row.annotator, row.instrument_version): row
        for row in rows.select_related("dialogue__unit").order_by("id")
    }
    index = {unit_id: number for number, unit_id in enumerate(unit_ids)}
    return annotations_in(sorted(latest.values(), key=lambda row: (index[row.dialogue.unit_id], row.id)))


_Place: TypeAlias = tuple[int, bytes, bytes, int]
"""Key of an annotation: dialogue, hashes of annotator and instrument, revision."""


def _place(annotation: Annotation, dialogues: Mapping[str, int]) -> _Place:
    versions = bytes.fromhex(annotation.annotator_version), bytes.fromhex(annotation.instrument_version)
    return (dialogues[annotation.dialogue], *versions, annotation.revision)


def _ids_since(last: int) -> dict[_Place, int]:
    """Return the numbers of the annotations by hand that were entered after one."""
    rows = AnnotationRow.objects.filter(id__gt=last, unit__isnull=True)
    columns = rows.values_list("id", "dialogue_id", "annotator_version", "instrument_version", "revision")
    return {
        (dialogue, bytes(annotator), bytes(instrument), revision): number
        for number, dialogue, annotator, instrument, revision in fetched(columns)
    }


def _revisions(dialogue_ids: Iterable[int]) -> dict[tuple[int, str, str], set[int]]:
    result: dict[tuple[int, str, str], set[int]] = defaultdict(set)
    rows = AnnotationRow.objects.filter(dialogue_id__in=list(dialogue_ids), unit__isnull=True)
    for dialogue, annotator, instrument, revision in rows.values_list(
        "dialogue_id", "annotator_version", "instrument_version", "revision"
    ):
        result[dialogue, annotator, instrument].add(revision)
    return result


def annotations_of(unit_ids: Sequence[int]) -> list[Annotation]:
    """Return the latest revisions of some units' records, in the order of the units."""
    revisions = rows_of(AnnotationRow, "unit_id", unit_ids, "unit_id", "revision")
    latest = {row.unit_id: row for row in revisions}
    return annotations_in([latest[unit_id] for unit_id in unit_ids if unit_id in latest])


def annotations_in(rows: Sequence[AnnotationRow]) -> list[Annotation]:
    """Return the annotations of some rows with their answers and quotes, in the order of the rows."""
    ids = [row.id for row in rows]
    keys = _keys(rows)
    answer_rows = rows_of(AnswerRow, "annotation_id", ids, "annotation_id", "position")
    quote_rows = rows_of(QuoteRow, "answer_id", (row.id for row in answer_rows), "answer_id", "position")
    quotes = grouped(quote_rows, "answer_id")
    answers = grouped(answer_rows, "annotation_id")
    votes = grouped(rows_of(VoteRow, "annotation_id", ids, "annotation_id", "position"), "annotation_id")
    return [
        _annotation(
            row,
            keys[row.id],
            [_answer(answer, quotes.get(answer.id, [])) for answer in answers[row.id]],
            votes.get(row.id, []),
        )
        for row in rows
    ]


def _keys(rows: Sequence[AnnotationRow]) -> dict[int, tuple[str, str]]:
    """Return the key of the unit and of the dialogue of some annotations; labels by people have no unit."""
    about = rows_of(DialogueRow, "id", (row.dialogue_id for row in rows), columns=("id", "unit_id"))
    held_by = {row.id: row.unit_id for row in about}
    own = [row.unit_id for row in rows if row.unit_id is not None]
    units = rows_of(UnitRow, "id", [*held_by.values(), *own], columns=("id", "key"))
    key_of = {row.id: row.key for row in units}
    return {
        row.id: (key_of[row.unit_id] if row.unit_id is not None else "", key_of[held_by[row.dialogue_id]])
        for row in rows
    }


def adjudications_of(run_id: int, unit_ids: Sequence[int]) -> list[Adjudication]:
    """Return the final labels of the dialogues of some units, in the order of the units.

    Labels of a file belong to the run that imported them; a label that people agreed on, or
    could not agree on, belongs to the dialogue, in whichever run it is.
    """
    whose = Q(run_id=run_id) | ~Q(origin=AdjudicationOrigin.RECORDED.value)
    matches = AdjudicationRow.objects.filter(whose, dialogue__unit_id__in=unit_ids)
    rows = list(matches.select_related("dialogue__unit").order_by("id"))
    people = AdjudicatorRow.objects.filter(adjudication_id__in=[row.id for row in rows]).select_related("participant")
    by_label = grouped(people.order_by("adjudication_id", "position"), "adjudication_id")
    index = {unit_id: number for number, unit_id in enumerate(unit_ids)}
    rows.sort(key=lambda row: index[row.dialogue.unit_id])
    return [_adjudication(row, by_label.get(row.id, [])) for row in rows]


def _annotation(
    row: AnnotationRow, keys: tuple[str, str], answers: Sequence[Answer], votes: Sequence[VoteRow]
) -> Annotation:
    unit, dialogue = keys
    return Annotation(
        unit=unit,
        dialogue=dialogue,
        annotator=row.annotator,
        annotator_version=row.annotator_version,
        guideline=row.guideline,
        instrument_version=row.instrument_version,
        answers=tuple(answers),
        revision=row.revision,
        scripted=row.scripted,
        votes=votes_of(votes),
        control=Control(row.control),
        answered_as=row.answered_as,
        shown=shown_order_of(row.shown),
        sitting=row.sitting,
    )


def _answer(row: AnswerRow, quotes: Sequence[QuoteRow]) -> Answer:
    evidence = tuple(Quote(turn=quote.turn, text=quote.text, verified=quote.verified) for quote in quotes)
    return answer_of(row, evidence)


def _adjudication(row: AdjudicationRow, people: Sequence[AdjudicatorRow]) -> Adjudication:
    return Adjudication(
        dialogue=row.dialogue.unit.key,
        guideline=row.guideline,
        question=row.question,
        outcome=Outcome(row.outcome),
        origin=AdjudicationOrigin(row.origin),
        value=row.value,
        participants=tuple(person.participant.key for person in people),
        rationale=row.rationale,
        decided=row.decided,
        raw=row.raw,
    )


def vote_rows(annotation_id: int, votes: Sequence[Vote]) -> Iterator[Row]:
    """Yield the rows of one annotation's votes, one for each answer."""
    answers = [(vote, answer) for vote in votes for answer in vote.answers]
    for position, (vote, answer) in enumerate(answers):
        yield {
            "annotation_id": annotation_id,
            "position": position,
            "replicate": vote.replicate,
            "arrangement": vote.arrangement,
            "control": vote.control.value,
            "question": answer.question,
            "outcome": answer.outcome.value,
            "value": answer.value,
            "turn": answer.turn,
            "reasoning": answer.reasoning,
            "raw": answer.raw,
        }


def votes_of(rows: Sequence[VoteRow]) -> tuple[Vote, ...]:
    """Return the votes in the rows of one annotation, in order of position."""
    by_reading = groupby(rows, key=lambda row: (row.replicate, row.arrangement, row.control))
    return tuple(
        Vote(
            replicate=replicate,
            arrangement=arrangement,
            control=Control(control),
            answers=tuple(answer_of(row) for row in own),
        )
        for (replicate, arrangement, control), own in by_reading
    )


def answer_of(row: VoteRow | AnswerRow | ResponseAnswerRow, evidence: tuple[Quote, ...] = ()) -> Answer:
    """Return the answer of a row: of a single reading, of the annotation itself, or of a tester."""
    return Answer(
        question=row.question,
        outcome=Outcome(row.outcome),
        value=row.value,
        turn=row.turn,
        replicate=row.replicate,
        reasoning=row.reasoning,
        evidence=evidence,
        raw=row.raw,
    )
