"""What stands beside an annotator's answers: how it voted, and what makes them doubtful."""

from __future__ import annotations

from theodolite.domain.annotation import Annotation, Control, Vote
from theodolite.reporting.words import figures


def notes_of(annotation: Annotation) -> list[str]:
    """Return how an annotator voted, and what makes its answers doubtful."""
    notes = [_votes_text(annotation)] if annotation.votes else []
    doubts = {Control.FAILED: "answered wrongly", Control.UNANSWERED: "left out"}
    if annotation.control in doubts and not annotation.scripted:
        notes.append(f"Control question {doubts[annotation.control]}: did it follow what the dialogue says?")
    return notes


def _votes_text(annotation: Annotation) -> str:
    """Return how the readings of a judge fell, question by question, e.g. `5 readings: score 2, 2, 3`."""
    n = len(annotation.votes)
    said = [
        f"{name} {', '.join(_vote_text(vote, name, turn) for vote in annotation.votes)}"
        for name, turn in dict.fromkeys((answer.question, answer.turn) for answer in annotation.answers)
    ]
    return f"{figures.number_of(n, 'reading')}: {'; '.join(said)}"


def _vote_text(vote: Vote, question: str, turn: int | None) -> str:
    answers = (a for a in vote.answers if a.question == question and a.turn in {turn, None})
    return next((answer.value or answer.outcome.value for answer in answers), "nothing")
