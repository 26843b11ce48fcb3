"""Annotations and final labels read back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from django.db.models import Q

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
from theodolite.domain.shown_order import shown_order_of
from theodolite.store.models import (
    AdjudicationRow,
    AdjudicatorRow,
    AnnotationRow,
    AnswerRow,
    DialogueRow,
    QuoteRow,
    UnitRow,
    VoteRow,
)
from theodolite.store.statements import Row, grouped, rows_of

if TYPE_CHECKING:
    from theodolite.store.models.events import ResponseAnswerRow


def annotations_of(unit_ids: Sequence[int]) -> list[Annotation]:
    """Return the latest revisions of what some units brought, in the order of the units."""
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
    """Return the key of the unit and of the dialogue of some annotations; what a person labels has no unit."""
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

    Those of a file belong to the run that brought them; what people agreed on, or
    could not, belongs to the dialogue, whichever run holds it.
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
    """Return the votes that the rows of one annotation hold, in order of position."""
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
    """Return the answer that a row holds: of a single reading, of the annotation itself, or of a tester."""
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
