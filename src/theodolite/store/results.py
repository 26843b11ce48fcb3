"""Results: what units brought, stored by the batch.

Every function here runs inside the writer's transaction and takes all writes of
one kind at once, so that a batch costs a few statements however large it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.utils import timezone

from theodolite.domain.annotation import Adjudication, Answer
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.domain.run import UnitState
from theodolite.store.contents import Content, Contents, content_of, context_content
from theodolite.store.journal import keep_replies, texts_of
from theodolite.store.ledger import CHUNK, id_of_run, one_at_a_time
from theodolite.store.models import (
    AdjudicationRow,
    AdjudicatorRow,
    AnnotationRow,
    AnswerRow,
    DialogueGroupRow,
    DialogueRow,
    FailureRow,
    ParticipantRow,
    QuoteRow,
    ScriptedEndpointRow,
    TurnRow,
)
from theodolite.store.repair import n_repaired, repaired_text
from theodolite.store.statements import end_units, insert, make_ready, numbers
from theodolite.store.strategies import keep_strategies
from theodolite.store.unit_numbers import UnitNumbers
from theodolite.store.writes import KeepAdjudications, KeepAnnotation, KeepDialogue, KeepFailure, KeepReply, Write

_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?")


class Results:
    """Stores batches of writes; called on a thread that is bound to the workspace's database."""

    def __init__(self, contents: Contents) -> None:
        """Remember where personas and source material are kept."""
        self._contents = contents
        self._units = UnitNumbers()

    def apply(self, batch: Sequence[Write]) -> None:
        """Store a batch within the transaction that is open."""
        now = timezone.now()
        keys = {write.unit for write in batch if isinstance(write, KeepReply)}
        keys |= {w.unit.key for w in batch if isinstance(w, KeepDialogue | KeepAnnotation | KeepFailure)}
        ids = self._units.of(keys)
        if replies := [write for write in batch if isinstance(write, KeepReply)]:
            keep_replies([(ids[write.unit], write.entry) for write in replies], created=now)
        if dialogues := [write for write in batch if isinstance(write, KeepDialogue)]:
            self._keep_dialogues(dialogues, ids, now)
        if annotations := [write for write in batch if isinstance(write, KeepAnnotation)]:
            _keep_annotations(annotations, ids, now)
        if failures := [write for write in batch if isinstance(write, KeepFailure)]:
            _keep_failures(failures, ids, now)
        for write in batch:
            if isinstance(write, KeepAdjudications):
                _keep_adjudications(write)

    def _keep_dialogues(self, writes: Sequence[KeepDialogue], ids: dict[str, int], now: datetime) -> None:
        for write in writes:
            _check_key(write)
        personas = [content_of(w.dialogue.persona) if w.dialogue.persona else None for w in writes]
        contexts = [context_content(w.dialogue.context) if w.dialogue.context else None for w in writes]
        self._contents.keep(content for content in [*personas, *contexts] if content is not None)
        rows = [
            _dialogue_row(ids[write.unit.key], write.dialogue, persona, context, now)
            for write, persona, context in zip(writes, personas, contexts, strict=True)
        ]
        insert(rows)
        placed = numbers(DialogueRow, [row.unit_id for row in rows])
        for row in rows:
            row.id = placed[row.unit_id,]
        insert(_turn_rows(writes, rows))
        insert(
            DialogueGroupRow(dialogue_id=row.id, name=name, value=value)
            for write, row in zip(writes, rows, strict=True)
            for name, value in write.dialogue.groups.items()
        )
        insert(
            ScriptedEndpointRow(dialogue_id=row.id, position=position, name=name)
            for write, row in zip(writes, rows, strict=True)
            for position, name in enumerate(write.dialogue.scripted)
        )
        keep_strategies([(row.id, write.dialogue) for write, row in zip(writes, rows, strict=True)])
        _mark([ids[write.unit.key] for write in writes], UnitState.DONE)
        make_ready(write.unit.key for write in writes)


def _check_key(write: KeepDialogue) -> None:
    if write.dialogue.key != write.unit.key:
        message = (
            f"the key of dialogue `{write.dialogue.label}` must be that of its unit, {write.unit.key}; "
            f"got {write.dialogue.key}"
        )
        raise StoreError(message)


def _dialogue_row(
    unit_id: int, dialogue: Dialogue, persona: Content | None, context: Content | None, now: datetime
) -> DialogueRow:
    return DialogueRow(
        unit_id=unit_id,
        label=dialogue.label,
        application=dialogue.application,
        application_version=dialogue.application_version,
        scenario=dialogue.scenario,
        scenario_version=dialogue.scenario_version,
        level=dialogue.level.value,
        held_by=dialogue.held_by.value,
        pair_key=dialogue.pair_key,
        cluster=dialogue.cluster,
        ending=dialogue.ending.value,
        repeat=dialogue.repeat,
        persona_id=persona.version if persona else None,
        context_id=context.version if context else None,
        created=now,
    )


def _turn_rows(writes: Sequence[KeepDialogue], rows: Sequence[DialogueRow]) -> list[TurnRow]:
    journalled = [row.unit_id for write, row in zip(writes, rows, strict=True) if write.journalled]
    texts = texts_of(journalled) if journalled else {}
    return [
        _turn_row(row, turn, texts if write.journalled else {})
        for write, row in zip(writes, rows, strict=True)
        for turn in write.dialogue.turns
    ]


def _turn_row(row: DialogueRow, turn: Turn, texts: dict[tuple[int, int], str]) -> TurnRow:
    prompt = _unless_journalled(turn.prompt, texts.get((row.unit_id, _place(turn.prompt_at))))
    response = _unless_journalled(turn.response, texts.get((row.unit_id, _place(turn.response_at))))
    return TurnRow(
        dialogue_id=row.id,
        number=turn.number,
        prompt=prompt,
        response=response,
        prompt_at=turn.prompt_at,
        response_at=turn.response_at,
        withheld=turn.withheld,
        latency_s=turn.latency_s,
        repaired=n_repaired(prompt or "", response or "", turn.withheld),
    )


def _place(position: int | None) -> int:
    return -1 if position is None else position


def _unless_journalled(text: str, journalled: str | None) -> str | None:
    # A flow may have trimmed the reply; then the turn's own text is the one to keep.
    return None if journalled is not None and repaired_text(text) == journalled else text


def _mark(unit_ids: Sequence[int], state: UnitState) -> None:
    """Set the state of units that are not done; results are never undone by a late worker."""
    marked = end_units(unit_ids, state)
    if marked != len(set(unit_ids)):
        message = f"{len(set(unit_ids)) - marked} of {len(unit_ids)} units were done by somebody else before"
        raise Conflict(message)


def _keep_annotations(writes: Sequence[KeepAnnotation], ids: dict[str, int], now: datetime) -> None:
    dialogues = ids_of_dialogues(write.annotation.dialogue for write in writes)
    rows = [
        AnnotationRow(
            unit_id=ids[write.unit.key],
            dialogue_id=dialogues[write.annotation.dialogue],
            annotator=write.annotation.annotator,
            annotator_version=write.annotation.annotator_version,
            guideline=write.annotation.guideline,
            instrument_version=write.annotation.instrument_version,
            revision=write.annotation.revision,
            scripted=write.annotation.scripted,
            created=now,
        )
        for write in writes
    ]
    insert(rows)
    placed = numbers(AnnotationRow, [ids[write.unit.key] for write in writes], "revision")
    keep_answers((placed[ids[write.unit.key], write.annotation.revision], write.annotation.answers) for write in writes)
    first = [ids[write.unit.key] for write in writes if write.annotation.revision == 1]
    _mark(first, UnitState.DONE)


def keep_answers(given: Iterable[tuple[int, Sequence[Answer]]]) -> None:
    """Store the answers of annotations, given by the numbers of their rows, and the quotes behind them."""
    placed = [(number, position, answer) for number, answers in given for position, answer in enumerate(answers)]
    insert(_answer_row(number, position, answer) for number, position, answer in placed)
    quoting = {(number, position): answer for number, position, answer in placed if answer.evidence}
    if not quoting:
        return
    rows = AnswerRow.objects.filter(annotation_id__in={number for number, _ in quoting})
    insert(
        QuoteRow(answer_id=row_id, position=place, turn=quote.turn, text=quote.text, verified=quote.verified)
        for number, position, row_id in rows.order_by("id").values_list("annotation_id", "position", "id")
        if (number, position) in quoting
        for place, quote in enumerate(quoting[number, position].evidence)
    )


def _answer_row(annotation_id: int, position: int, answer: Answer) -> AnswerRow:
    return AnswerRow(
        annotation_id=annotation_id,
        position=position,
        question=answer.question,
        outcome=answer.outcome.value,
        value=answer.value,
        number=_number(answer.value),
        turn=answer.turn,
        replicate=answer.replicate,
        reasoning=answer.reasoning,
        raw=answer.raw,
        repaired=n_repaired(answer.value or "", answer.reasoning, answer.raw),
    )


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and _NUMBER.fullmatch(value) else None


def _keep_failures(writes: Sequence[KeepFailure], ids: dict[str, int], now: datetime) -> None:
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
        )
        for write in writes
    )
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
            place = (dialogues[adjudication.dialogue], adjudication.guideline, adjudication.question)
            if place not in present:
                new.setdefault(place, adjudication)
        _insert_adjudications(run_id, new)


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
            number=_number(adjudication.value),
            rationale=adjudication.rationale,
            decided=adjudication.decided,
            raw=adjudication.raw,
            repaired=n_repaired(adjudication.value or "", adjudication.rationale, adjudication.raw),
        )
        for (dialogue_id, _, _), adjudication in new.items()
    )
    people = _ids_of_participants({person for a in new.values() for person in a.participants})
    AdjudicatorRow.objects.bulk_create(
        AdjudicatorRow(adjudication_id=row.id, participant_id=people[repaired_text(person)], position=position)
        for row, adjudication in zip(rows, new.values(), strict=True)
        for position, person in enumerate(adjudication.participants)
    )


def _ids_of_participants(keys: set[str]) -> dict[str, int]:
    if not keys:
        return {}
    wanted = {repaired_text(key) for key in keys}
    ParticipantRow.objects.bulk_create(
        [ParticipantRow(key=key) for key in sorted(wanted)],
        update_conflicts=True,
        unique_fields=["key"],
        update_fields=["key"],
    )
    return dict(ParticipantRow.objects.filter(key__in=wanted).values_list("key", "id"))


def ids_of_dialogues(keys: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the rows of some dialogues by key.

    Raises:
        NotFound: If one of them was never kept.
    """
    wanted = set(keys)
    found = dict(DialogueRow.objects.filter(unit__key__in=list(wanted)).values_list("unit__key", "id"))
    if missing := wanted - found.keys():
        message = f"no dialogue is stored under the key {min(missing)}; it must be kept before it is labelled"
        raise NotFound(message)
    return found
