"""The answers of a queue's category as they are stored, to which new ones are added."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import NO_VALUE, OUTCOME_CODES, WHOLE_DIALOGUE, AnswerColumns
from theodolite.measurement.answer_arrays import AnswerArrays, _coded

Whole = NDArray[np.int64]


class AnswerGroup(NamedTuple):
    """All annotations that gave the same answer to the same question, as databases list them fastest.

    Attributes:
        question: The question.
        turn: Number of the turn; 0 for the dialogue as a whole.
        value: The label; None without a label.
        replicate: Number of the repetition by the same annotator, from 1.
        annotations: Numbers of the annotations, separated by commas.
    """

    question: str
    turn: int
    value: str | None
    replicate: int
    annotations: str


class AnnotationFacts(NamedTuple):
    """Facts of one annotation: annotator, dialogue, time (seconds since 1970), order shown, number among its own."""

    annotator: str
    dialogue: int
    at: float
    shown: str = ""
    sitting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAnswers:
    """Answers to all questions of a category by all annotators.

    Reading 200,000 answers out of a database takes longer than any figure that is
    computed from them, so the columns stay in memory and only grow. They are those
    of an answer table, except that `position` is the number of the annotation:
    who gave it, and whether it counts, may change while answers never do.

    Attributes:
        questions: Question to the columns of its answers.
        texts: Labels by their code.
    """

    questions: Mapping[str, AnswerColumns] = field(default_factory=dict)
    texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of answers; count."""
        return sum(map(len, self.questions.values()))

    def grown(self, groups: Sequence[AnswerGroup]) -> QueueAnswers:
        """Return the answers with further ones."""
        if not groups:
            return self
        codes = {text: code for code, text in enumerate(self.texts)}
        for group in groups:
            if group.value is not None:
                codes.setdefault(group.value, len(codes))
        texts = tuple(codes)
        questions = {name: _copied(columns, texts) for name, columns in self.questions.items()}
        for group in groups:
            columns = questions.setdefault(group.question, AnswerColumns(texts=texts))
            _extend(columns, group, NO_VALUE if group.value is None else codes[group.value])
        return QueueAnswers(questions=questions, texts=texts)

    @property
    def replicates(self) -> int:
        """How often an annotator answered the same question about the same unit at most; count."""
        return max((max(columns.replicate, default=0) for columns in self.questions.values()), default=0)

    def arrays(self, annotations: Mapping[int, AnnotationFacts], *, replicates: int = 1) -> dict[str, AnswerArrays]:
        """Return the answers of some annotations, by question.

        Args:
            annotations: Number of each annotation that counts to its facts.
            replicates: Repetitions up to which answers count.
        """
        if not annotations:
            return {}
        numbers = np.fromiter(annotations, np.int64, len(annotations))
        order = np.argsort(numbers)
        found = {}
        facts = _FactArrays.of(list(annotations.values()))
        for question, columns in self.questions.items():
            position = np.frombuffer(columns.position, dtype=np.int32)
            place = np.minimum(np.searchsorted(numbers, position, sorter=order), len(numbers) - 1)
            owner = order[place]
            is_counted = np.frombuffer(columns.replicate, dtype=np.int16) <= replicates
            kept = np.flatnonzero((numbers[owner] == position) & is_counted)
            if len(kept):
                found[question] = facts.arrays(columns, owner[kept], kept)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _FactArrays:
    """Facts of annotations, one number an annotation in each column."""

    names: tuple[str, ...]
    annotator: Whole
    dialogue: Whole
    at: NDArray[np.float64]
    orders: tuple[str, ...]
    shown: Whole
    sitting: Whole

    @classmethod
    def of(cls, facts: Sequence[AnnotationFacts]) -> _FactArrays:
        """Return facts as columns."""
        annotators, dialogues, moments, texts, numbers = zip(*facts, strict=True)
        annotator, names = _coded(annotators)
        shown, orders = _coded(texts)
        return cls(
            names=names,
            annotator=annotator,
            dialogue=np.array(dialogues, dtype=np.int64),
            at=np.array(moments, dtype=np.float64),
            orders=orders,
            shown=shown,
            sitting=np.array(numbers, dtype=np.int64),
        )

    def arrays(self, columns: AnswerColumns, owner: Whole, rows: Whole) -> AnswerArrays:
        """Return some rows of a question's answers.

        Args:
            columns: The answers.
            owner: Index of each row's annotation, shape (rows,).
            rows: The rows, likewise.
        """
        turn = np.frombuffer(columns.turn, dtype=np.int16)[rows].astype(np.int64)
        dialogue = self.dialogue[owner]
        return AnswerArrays(
            names=self.names,
            annotator=self.annotator[owner],
            unit=dialogue * (int(turn.max(initial=WHOLE_DIALOGUE)) + 1) + turn,
            dialogue=dialogue,
            turn=turn,
            labels=tuple(columns.texts),
            value=np.frombuffer(columns.value, dtype=np.int32)[rows].astype(np.int64),
            at=self.at[owner],
            orders=self.orders,
            shown=self.shown[owner],
            sitting=self.sitting[owner],
        )


def _copied(columns: AnswerColumns, texts: Sequence[str]) -> AnswerColumns:
    return replace(
        columns,
        texts=texts,
        position=columns.position[:],
        turn=columns.turn[:],
        replicate=columns.replicate[:],
        outcome=columns.outcome[:],
        value=columns.value[:],
        provenance=columns.provenance[:],
    )


def _extend(columns: AnswerColumns, group: AnswerGroup, code: int) -> None:
    numbers = np.fromstring(group.annotations, dtype=np.int32, sep=",")
    n = len(numbers)
    outcome = Outcome.MISSING if group.value is None else Outcome.ANSWERED
    columns.position.frombytes(numbers.tobytes())
    columns.turn.extend(array("h", [group.turn]) * n)
    columns.replicate.extend(array("h", [group.replicate]) * n)
    columns.outcome.extend(bytes([OUTCOME_CODES[outcome]]) * n)
    columns.value.extend(array("i", [code]) * n)
    columns.provenance.extend(array("h", [0]) * n)
