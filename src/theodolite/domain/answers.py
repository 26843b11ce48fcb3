"""The answers of a run in columns, with the outcome of every planned session: the source of every number.

Answers are partitioned by annotator, guideline and question. A partition is sparse and sorted by position, so its size
is that of the answers, and its columns are buffers that array libraries read without a copy. No text of a dialogue is
stored. `theodolite.domain.answer_rules` states how to read answers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from itertools import groupby, pairwise
from typing import Final, NamedTuple, TypeAlias, overload

from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import Ending
from theodolite.domain.findings.number import Outcomes
from theodolite.domain.plan import Sessions, Setting
from theodolite.domain.run import FailureKind, FailureSource
from theodolite.domain.shown_order import has_suggestions

OUTCOMES: Final = tuple(Outcome)
"""Outcomes by their code in a column."""

OUTCOME_CODES: Final[Mapping[Outcome, int]] = {outcome: code for code, outcome in enumerate(OUTCOMES)}
"""Codes of outcomes."""

WORST_FIRST: Final = (Outcome.FAILED, Outcome.MISSING, Outcome.REFUSED, Outcome.NOT_APPLICABLE, Outcome.UNPARSEABLE)
"""Outcome of a dialogue if the outcomes of its annotators differ.

A missing label takes precedence over an unparseable one.
"""

NO_VALUE: Final = -1
"""Code of an answer without a label."""

WHOLE_DIALOGUE: Final = 0
"""Turn number of an answer about the dialogue as a whole."""

AnswerKey: TypeAlias = tuple[str, str, str]
"""Annotator, guideline and question: the key by which answers are partitioned."""


Positions: TypeAlias = Sequence[int]
"""Positions in the plan, ascending."""

LabelKey: TypeAlias = tuple[str, int, str, str]
"""Annotator, identity of the guideline, question and rule: the key of cached labels."""


class AnswerRecord(NamedTuple):
    """A row of a partition.

    Attributes:
        outcome: Outcome of the answer.
        value: The label; None unless the outcome is `ANSWERED`.
        turn: Number of the turn; None for the dialogue as a whole.
        replicate: Number of the repetition by the same annotator, from 1.
    """

    outcome: Outcome
    value: str | None = None
    turn: int | None = None
    replicate: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumns:
    """An annotator's answers to one question, one per row, sorted by position; columns of equal length.

    Attributes:
        texts: All labels of the table; `value` holds indices into it.
        position: Position of the session in the plan; int32.
        turn: Number of the turn, 0 for the dialogue as a whole; int16.
        replicate: Number of the repetition, from 1; int16.
        outcome: Code of the outcome in `OUTCOMES`; uint8.
        value: Code of the label, -1 for none; int32.
    """

    texts: Sequence[str]
    position: array[int] = field(default_factory=lambda: array("i"))
    turn: array[int] = field(default_factory=lambda: array("h"))
    replicate: array[int] = field(default_factory=lambda: array("h"))
    outcome: bytearray = field(default_factory=bytearray)
    value: array[int] = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        """Return the number of answers; count."""
        return len(self.position)

    def rows(self, position: int) -> range:
        """Return the rows of one session."""
        return range(bisect_left(self.position, position), bisect_right(self.position, position))

    def record(self, row: int) -> AnswerRecord:
        """Return one row as a record."""
        value, turn = self.value[row], self.turn[row]
        return AnswerRecord(
            outcome=OUTCOMES[self.outcome[row]],
            value=None if value == NO_VALUE else self.texts[value],
            turn=None if turn == WHOLE_DIALOGUE else turn,
            replicate=self.replicate[row],
        )

    def at(self, position: int) -> tuple[AnswerRecord, ...]:
        """Return the answers about one session; empty if there are none."""
        return tuple(map(self.record, self.rows(position)))

    def by_position(self) -> Iterator[tuple[int, tuple[AnswerRecord, ...]]]:
        """Yield each session that has answers, with its answers, in order of the plan."""
        for position, rows in groupby(range(len(self)), key=self.position.__getitem__):
            yield position, tuple(map(self.record, rows))


class DialogueLabel(NamedTuple):
    """One annotator's label of one dialogue.

    Attributes:
        outcome: Outcome of the answer.
        value: The label; None unless the outcome is `ANSWERED`.
    """

    outcome: Outcome
    value: str | None = None


class DialogueLabels(Sequence[DialogueLabel]):
    """An annotator's labels of some dialogues, in two parallel columns.

    Attributes:
        outcomes: Code of each outcome; uint8.
        values: Code of each label, -1 for none; int32.
        texts: The labels by their code.
    """

    __slots__ = ("_records", "outcomes", "texts", "values")

    def __init__(self, outcomes: bytes | bytearray, values: array[int], texts: Sequence[str]) -> None:
        """Store the columns."""
        self.outcomes, self.values, self.texts = outcomes, values, texts
        self._records: dict[tuple[int, int], DialogueLabel] | None = None

    def __len__(self) -> int:
        """Return the number of dialogues; count."""
        return len(self.outcomes)

    def __iter__(self) -> Iterator[DialogueLabel]:
        """Yield the labels; equal ones are one object."""
        return map(self._known.__getitem__, zip(self.outcomes, self.values, strict=True))

    @overload
    def __getitem__(self, at: int) -> DialogueLabel: ...
    @overload
    def __getitem__(self, at: slice) -> DialogueLabels: ...
    def __getitem__(self, at: int | slice) -> DialogueLabel | DialogueLabels:
        """Return one label, or some."""
        if isinstance(at, slice):
            return DialogueLabels(self.outcomes[at], self.values[at], self.texts)
        return self._known[self.outcomes[at], self.values[at]]

    def at(self, positions: Positions) -> DialogueLabels:
        """Return the labels at some indices."""
        if isinstance(positions, range) and positions == range(len(self)):
            return self
        chosen = bytes(map(self.outcomes.__getitem__, positions))
        return DialogueLabels(chosen, array("i", map(self.values.__getitem__, positions)), self.texts)

    @property
    def _known(self) -> dict[tuple[int, int], DialogueLabel]:
        if self._records is None:
            self._records = {
                (outcome, value): DialogueLabel(OUTCOMES[outcome], None if value == NO_VALUE else self.texts[value])
                for outcome, value in set(zip(self.outcomes, self.values, strict=True))
            }
        return self._records

    def count(self, value: object) -> int:
        """Return the number of dialogues with a label; count."""
        return sum(label == value for label in self)

    def outcome_counts(self) -> Outcomes:
        """Return the dialogues by outcome; counts."""
        return _outcomes({outcome: self.outcomes.count(code) for outcome, code in OUTCOME_CODES.items()})


def outcomes_of(outcomes: Iterable[Outcome]) -> Outcomes:
    """Return the units by outcome; counts."""
    counts = dict.fromkeys(Outcome, 0)
    for outcome in outcomes:
        counts[outcome] += 1
    return _outcomes(counts)


def _outcomes(counts: Mapping[Outcome, int]) -> Outcomes:
    return Outcomes(
        planned=sum(counts.values()),
        used=counts[Outcome.ANSWERED],
        missing=counts[Outcome.MISSING],
        failed=counts[Outcome.FAILED],
        refused=counts[Outcome.REFUSED],
        unparseable=counts[Outcome.UNPARSEABLE],
        not_applicable=counts[Outcome.NOT_APPLICABLE],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategySummary:
    """The result of one strategy in one dialogue, without the texts of its attempts.

    Attributes:
        name: Name of the strategy.
        attempts: Attempts made; count.
        refinements: Attempts that build on an earlier one; count.
        succeeded: Whether the red teamer saw a release.
    """

    name: str
    attempts: int
    refinements: int
    succeeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueSummary:
    """A completed dialogue without its texts.

    Attributes:
        ending: Why it ended.
        turns: Turns; count.
        filtered: Replies that the application's own filter withheld; count.
        withheld: Reason why its texts are not shown; empty if they are.
        strategies: Results of a red teamer's strategies.
    """

    ending: Ending
    turns: int
    filtered: int = 0
    withheld: str = ""
    strategies: tuple[StrategySummary, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFailure:
    """A unit of work that failed, without its message.

    Attributes:
        party: The responsible party.
        kind: Kind of error.
        annotator: The annotator that failed; empty for the session itself.
    """

    party: FailureSource
    kind: FailureKind
    annotator: str = ""


class AnnotationMark(IntFlag):
    """Facts of an annotation besides its answers."""

    QUOTING = 1
    """It contains quotes."""
    UNGROUNDED = 2
    """It contains a quote that the stated turn lacks."""
    PASSED = 4
    """The control question was answered correctly."""
    FAILED = 8
    """The control question was answered wrongly."""
    UNANSWERED = 16
    """The control question was left out."""
    PRESENT = 32
    """There is an annotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """Every answer of a run, and the outcome of every planned session. Positions are those of the plan.

    Attributes:
        sessions: The planned sessions.
        settings: Settings that each session shares with its repeats.
        dialogues: Each completed dialogue; None if there is none.
        answers: Partitions of answers. Final labels belong to the annotator `reference`.
        votes: Partitions of single readings, for judges that read more than once.
        failures: Position to the units that failed there; positions without a failure are left out.
        marks: Annotator to the `AnnotationMark`s of its annotation of each session; 0 if there is none.
        support: How well the labels of each session are supported: 2 for a verified
            quote, and 1 more for a reason in words.
        characters: Characters of all texts of and about each session; count.
        unreadable_replies: Partition to the first reply that fits no label.
        stubbed_endpoints: Names of endpoints where a script answered for a model, in order of appearance.
        stubbed_annotators: Names of annotators where a script answered for a model.
        model_names: Annotator to the names that its endpoint reported.
        shown_orders: Annotator and position to the displayed order of the annotation, as text, and the
            annotation's number among the annotator's own. Only annotators whose annotations are counted.
        pools: Guideline to the people who share its dialogues, each labelling some; see `PEOPLE`.
        assigned: Annotator to the positions of the dialogues assigned to it, ascending; an omitted
            annotator is assigned all.
        revisions: Sum of the revision numbers of all annotations, which grows with every change; count.
        label_cache: Labels computed by `theodolite.domain.answer_rules`, shared by all readers.
    """

    sessions: Sessions
    settings: Sequence[Setting]
    dialogues: Sequence[DialogueSummary | None]
    answers: Mapping[AnswerKey, AnswerColumns] = field(default_factory=dict)
    votes: Mapping[AnswerKey, AnswerColumns] = field(default_factory=dict)
    failures: Mapping[int, tuple[UnitFailure, ...]] = field(default_factory=dict)
    marks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    support: Sequence[int] = ()
    characters: Sequence[int] = ()
    unreadable_replies: Mapping[AnswerKey, str] = field(default_factory=dict)
    stubbed_endpoints: tuple[str, ...] = ()
    stubbed_annotators: tuple[str, ...] = ()
    model_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shown_orders: Mapping[str, Mapping[int, tuple[str, int]]] = field(default_factory=dict)
    pools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    assigned: Mapping[str, Sequence[int]] = field(default_factory=dict)
    revisions: int = 0
    label_cache: dict[LabelKey, tuple[DialogueLabels, object]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __len__(self) -> int:
        """Return the number of planned sessions; count."""
        return len(self.settings)

    @property
    def n_completed(self) -> int:
        """Completed dialogues; count."""
        return sum(dialogue is not None for dialogue in self.dialogues)

    @property
    def is_labelled(self) -> bool:
        """Whether at least one question has an answer; otherwise there is no rate, not even 0."""
        answered = OUTCOME_CODES[Outcome.ANSWERED]
        return any(answered in columns.outcome for columns in self.answers.values())

    def is_labelled_at(self, positions: Iterable[int]) -> bool:
        """Return whether at least one question of some sessions has an answer."""
        answered, selected = OUTCOME_CODES[Outcome.ANSWERED], frozenset(positions)
        return any(
            outcome == answered and position in selected
            for columns in self.answers.values()
            for position, outcome in zip(columns.position, columns.outcome, strict=True)
        )

    def columns(self, annotator: str, guideline: str, question: str) -> AnswerColumns:
        """Return a partition; empty if the annotator answered nothing."""
        return self.answers.get((annotator, guideline, question)) or AnswerColumns(texts=())

    def has_annotation(self, position: int, annotator: str) -> bool:
        """Return whether an annotator annotated a session."""
        marks = self.marks.get(annotator)
        return marks is not None and bool(marks[position])

    def positions(self, application: str) -> Iterator[int]:
        """Yield the positions of an application's sessions."""
        return (position for position, setting in enumerate(self.settings) if setting.application == application)


def without_suggestions(table: AnswerTable, reference: str) -> AnswerTable:
    """Return a table without the labels of people who saw a judge's suggestions; the same table if nobody did.

    Final labels of these dialogues are left out too, because they rest on labels with suggestions.

    Args:
        table: All answers.
        reference: Annotator of the final labels.
    """
    assisted = {
        annotator: frozenset(position for position, (text, _) in orders.items() if has_suggestions(text))
        for annotator, orders in table.shown_orders.items()
    }
    if not any(assisted.values()):
        return table
    finals: dict[str, set[int]] = {}
    for annotator, guideline, _ in table.answers:
        finals.setdefault(guideline, set()).update(assisted.get(annotator, ()))

    def blind(key: AnswerKey, columns: AnswerColumns) -> AnswerColumns:
        dropped = finals[key[1]] if key[0] == reference else assisted.get(key[0])
        if not dropped:
            return columns
        return _chosen(columns, (row for row, position in enumerate(columns.position) if position not in dropped))

    def unmarked(annotator: str, marks: Sequence[int]) -> Sequence[int]:
        dropped = assisted.get(annotator, frozenset())
        return [0 if position in dropped else mark for position, mark in enumerate(marks)] if dropped else marks

    return replace(
        table,
        answers={key: blind(key, columns) for key, columns in table.answers.items()},
        marks={annotator: unmarked(annotator, marks) for annotator, marks in table.marks.items()},
    )


def merge_rows(columns: AnswerColumns) -> AnswerColumns:
    """Return a partition in order of positions; of several blocks about one session the latest is kept.

    Args:
        columns: Rows in order of addition, the rows of one annotation in a block.
    """
    position = columns.position
    if all(first <= second for first, second in pairwise(position)):
        return columns
    blocks: dict[int, list[int]] = {
        index: list(rows) for index, rows in groupby(range(len(position)), key=position.__getitem__)
    }
    return _chosen(columns, (row for index in sorted(blocks) for row in blocks[index]))


def _chosen(columns: AnswerColumns, rows: Iterable[int]) -> AnswerColumns:
    order = list(rows)
    return AnswerColumns(
        texts=columns.texts,
        position=array("i", map(columns.position.__getitem__, order)),
        turn=array("h", map(columns.turn.__getitem__, order)),
        replicate=array("h", map(columns.replicate.__getitem__, order)),
        outcome=bytearray(map(columns.outcome.__getitem__, order)),
        value=array("i", map(columns.value.__getitem__, order)),
    )
