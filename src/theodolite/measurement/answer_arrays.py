"""Answers of many annotators as arrays, so that pages with 200,000 answers are computed quickly."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import NO_VALUE, OUTCOME_CODES, WHOLE_DIALOGUE, AnswerColumns
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.undefined_reasons import NO_SHARED_UNIT
from theodolite.measurement.alpha import AlphaScale, krippendorff_alpha
from theodolite.measurement.proportion import defect_rate

Floats = NDArray[np.float64]

Whole = NDArray[np.int64]

_QUARTER_HOUR_S = 900
"""Days are looked up in steps of a quarter of an hour, which no time zone splits; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerArrays:
    """The answers of all annotators to one question, one number per answer in each column; all shapes are (answers,).

    Attributes:
        names: Annotators; `annotator` holds indices into it.
        annotator: The annotator.
        unit: The dialogue or turn, as an arbitrary number.
        dialogue: Number of the dialogue that the unit belongs to.
        turn: Number of the turn; 0 for the dialogue as a whole.
        labels: Labels that occur; `value` contains indices into it.
        value: The label; -1 without a label.
        at: Time of the answer; seconds since 1970.
        orders: Displayed orders of annotations, as text; `shown` contains indices into it.
        shown: Displayed order of the annotation.
        annotation_no: Number of the annotation among the annotator's own, from 1; 0 if unknown.
    """

    names: tuple[str, ...]
    annotator: Whole
    unit: Whole
    dialogue: Whole
    turn: Whole
    labels: tuple[str, ...]
    value: Whole
    at: Floats
    orders: tuple[str, ...]
    shown: Whole
    annotation_no: Whole

    def __len__(self) -> int:
        """Return the number of answers; count."""
        return len(self.value)

    def of(self, chosen: Whole | NDArray[np.bool_]) -> AnswerArrays:
        """Return some of the answers."""
        return AnswerArrays(
            names=self.names,
            annotator=self.annotator[chosen],
            unit=self.unit[chosen],
            dialogue=self.dialogue[chosen],
            turn=self.turn[chosen],
            labels=self.labels,
            value=self.value[chosen],
            at=self.at[chosen],
            orders=self.orders,
            shown=self.shown[chosen],
            annotation_no=self.annotation_no[chosen],
        )


class _Row(NamedTuple):
    """The fields of one answer, in the order in which `answer_arrays` takes them."""

    annotator: str
    unit: Hashable
    dialogue: Hashable
    value: str | None
    at: float = 0.0
    shown: str = ""
    annotation_no: int = 0
    turn: int = 0


def answer_arrays(rows: Iterable[tuple[Any, ...]]) -> AnswerArrays:
    """Return answers as arrays.

    Args:
        rows: One tuple per answer: annotator, unit, dialogue and label (None for none), and, if
            known, time in seconds since 1970, displayed order as text, number of the annotation, turn.

    Example:
        >>> arrays = answer_arrays([("ann", 1, 1, "yes"), ("ben", 1, 1, None)])
        >>> arrays.names, arrays.value.tolist()
        (('ann', 'ben'), [0, -1])
    """
    answers = [_Row(*row) for row in rows]
    annotator, names = _coded(answer.annotator for answer in answers)
    value, labels = _coded(answer.value for answer in answers)
    shown, orders = _coded(answer.shown for answer in answers)
    return AnswerArrays(
        names=names,
        annotator=annotator,
        unit=_coded(answer.unit for answer in answers)[0],
        dialogue=_coded(answer.dialogue for answer in answers)[0],
        turn=np.array([answer.turn for answer in answers], dtype=np.int64),
        labels=labels,
        value=value,
        at=np.array([answer.at for answer in answers], dtype=np.float64),
        orders=orders,
        shown=shown,
        annotation_no=np.array([answer.annotation_no for answer in answers], dtype=np.int64),
    )


def _coded(values: Iterable[Hashable]) -> tuple[Whole, tuple[str, ...]]:
    """Return numbers for values in order of first occurrence, and the values; None is -1 and no value."""
    known: dict[Hashable, int] = {}
    codes = np.array(
        [NO_VALUE if value is None else known.setdefault(value, len(known)) for value in values], dtype=np.int64
    )
    return codes, tuple(map(str, known))


def by_person(columns: AnswerArrays) -> dict[str, Whole]:
    """Return the positions of each annotator's answers, sorted by name."""
    rows_of = {columns.names[code]: np.flatnonzero(columns.annotator == code) for code in np.unique(columns.annotator)}
    return dict(sorted(rows_of.items()))


def prevalence(question: Question, columns: AnswerArrays) -> tuple[tuple[str, int], ...]:
    """Return the frequency of each label, in the order of the scale; counts."""
    counts = np.bincount(columns.value[columns.value != NO_VALUE], minlength=len(columns.labels))
    counted = dict(zip(columns.labels, counts.tolist(), strict=True))
    points = question.scale.categories or tuple(sorted(label for label, n in counted.items() if n))
    return tuple((point, counted.get(point, 0)) for point in points)


def agreement_with(columns: AnswerArrays, annotator: str) -> Floats:
    """Return 1 for each answer equal to an annotator's answer to the same unit, else 0; NaN if either is missing."""
    units, unit = np.unique(columns.unit, return_inverse=True)
    own = np.full(len(units), NO_VALUE, dtype=np.int64)
    if annotator in columns.names:
        mine = np.flatnonzero(columns.annotator == columns.names.index(annotator))
        own[unit[mine]] = columns.value[mine]
    is_known = (columns.value != NO_VALUE) & (own[unit] != NO_VALUE)
    return np.where(is_known, (columns.value == own[unit]).astype(np.float64), np.nan)


class UnitLabels:
    """The labels of one question, unit by unit."""

    def __init__(self, question: Question, columns: AnswerArrays, *, clustered: bool = False) -> None:
        """Number units and labels.

        Args:
            question: The question.
            columns: All answers; those outside its scale are omitted.
            clustered: Whether units of one dialogue resemble each other, apart from questions about turns.
        """
        scale = question.scale
        numbers = {point: code for code, point in enumerate(scale.categories)}
        self.scale: AlphaScale = "interval" if scale.is_numeric else "ordinal" if scale.ordered else "nominal"
        self._clustered = clustered or question.level is QuestionLevel.TURN
        codes = np.array([*(numbers.get(label, NO_VALUE) for label in columns.labels), NO_VALUE], dtype=np.int64)
        code = codes[columns.value]
        on_scale = np.flatnonzero(code != NO_VALUE)
        self._code = code[on_scale]
        _, first, self._unit = np.unique(columns.unit[on_scale], return_index=True, return_inverse=True)
        self._dialogue = columns.dialogue[on_scale][first]
        n_units = len(first)
        self._n = np.bincount(self._unit, minlength=n_units)
        self._begun = np.full(n_units, np.inf)
        np.minimum.at(self._begun, self._unit, columns.at[on_scale])
        self._at = columns.at[on_scale]
        self._same = _ends(np.maximum, -1, self._unit, self._code, n_units) == _ends(
            np.minimum, len(numbers), self._unit, self._code, n_units
        )

    def shared_in_time(self) -> Whole:
        """Return the numbers of the units with at least two labels, in order of their first one."""
        shared = np.flatnonzero(self._n >= 2)
        return shared[np.argsort(self._begun[shared], kind="stable")]

    def begun(self, unit: int) -> datetime:
        """Return the time of the first label of a unit."""
        return datetime.fromtimestamp(float(self._begun[unit]), tz=UTC)

    def shared_by_day(self, zone: tzinfo) -> dict[date, Whole]:
        """Return the units with at least two labels by the day of their latest label, in order of the days."""
        ended = np.zeros(len(self._n))
        np.maximum.at(ended, self._unit, self._at)
        shared = np.flatnonzero(self._n >= 2)
        quarters, number = np.unique(ended[shared] // _QUARTER_HOUR_S, return_inverse=True)
        days = [datetime.fromtimestamp(quarter * _QUARTER_HOUR_S, tz=zone).date() for quarter in quarters.tolist()]
        in_order = sorted(set(days))
        code = np.array([in_order.index(day) for day in days], dtype=np.int64)[number] if days else number
        return {day: shared[code == index] for index, day in enumerate(in_order)}

    def alike(self, units: Whole) -> Estimate | Undefined:
        """Return the share of units with unanimous labels."""
        if not len(units):
            return Undefined(reason=NO_SHARED_UNIT)
        same = self._same[units]
        if not self._clustered:
            return defect_rate(int(same.sum()), len(same))
        _, owners = np.unique(self._dialogue[units], return_inverse=True)
        hits, sizes = np.bincount(owners, weights=same), np.bincount(owners)
        counts = [(int(hit), int(n)) for hit, n in zip(hits, sizes, strict=True)]
        return defect_rate(int(same.sum()), len(same), clusters=counts)

    def alpha(self, units: Whole) -> Estimate | Undefined:
        """Return chance-corrected agreement of the units with at least two labels.

        Alpha does not depend on the annotator of a label, so labels are stacked:
        the number of rows is the largest number of labels of a unit, not the number of annotators.
        """
        if not len(units):
            return Undefined(reason=NO_SHARED_UNIT)
        column = np.full(len(self._n), -1)
        column[units] = np.arange(len(units))
        order = np.argsort(self._unit, kind="stable")
        owner = self._unit[order]
        row = np.arange(len(order)) - np.concatenate([[0], np.cumsum(self._n)])[owner]
        is_chosen = column[owner] >= 0
        table: Floats = np.full((int(self._n[units].max()), len(units)), np.nan)
        table[row[is_chosen], column[owner[is_chosen]]] = self._code[order][is_chosen]
        clusters = self._dialogue[units].tolist() if self._clustered else None
        return krippendorff_alpha(table, scale=self.scale, clusters=clusters)


def _ends(end: np.ufunc, start: int, owners: Whole, codes: Whole, n: int) -> Whole:
    """Return the lowest or highest index of each unit."""
    ends = np.full(n, start, dtype=np.int64)
    end.at(ends, owners, codes)
    return ends


class AnswerGroup(NamedTuple):
    """All annotations with the same answer to the same question, in the form that databases return fastest.

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
    """Facts of one annotation: annotator, dialogue, time (seconds since 1970), displayed order, number."""

    annotator: str
    dialogue: int
    at: float
    shown: str = ""
    annotation_no: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAnswers:
    """Answers to all questions of a category by all annotators.

    Reading 200,000 answers from a database takes longer than computing any figure
    from them, so the columns stay in memory and only grow. They are those
    of an answer table, except that `position` is the number of the annotation:
    its annotator, and whether it counts, may change while answers never do.

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
        """Maximum number of times an annotator answered the same question about the same unit; count."""
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
        arrays = {}
        facts = _FactArrays.of(list(annotations.values()))
        for question, columns in self.questions.items():
            position = np.frombuffer(columns.position, dtype=np.int32)
            index = np.minimum(np.searchsorted(numbers, position, sorter=order), len(numbers) - 1)
            owner = order[index]
            is_counted = np.frombuffer(columns.replicate, dtype=np.int16) <= replicates
            counted = np.flatnonzero((numbers[owner] == position) & is_counted)
            if len(counted):
                arrays[question] = facts.arrays(columns, owner[counted], counted)
        return arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class _FactArrays:
    """Facts of annotations, one number per annotation in each column."""

    names: tuple[str, ...]
    annotator: Whole
    dialogue: Whole
    at: NDArray[np.float64]
    orders: tuple[str, ...]
    shown: Whole
    annotation_no: Whole

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
            annotation_no=np.array(numbers, dtype=np.int64),
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
            annotation_no=self.annotation_no[owner],
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
