"""Votes: the readings of a judge that reads each dialogue several times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from theodolite.domain.annotation import Answer, Control, Outcome, Quote, Vote
from theodolite.store.models import AnswerRow, VoteRow
from theodolite.store.statements import Row

if TYPE_CHECKING:  # a run without people does not load their tables
    from theodolite.store.models.people import ResponseAnswerRow


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
