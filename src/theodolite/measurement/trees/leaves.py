"""Leaves of a tree in columns, and the table builder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answers import OUTCOMES
from theodolite.domain.errors import InputError
from theodolite.domain.tree import AnswersNode, Leaf

Ints = NDArray[np.int64]

Flags = NDArray[np.bool_]

ANSWERED = OUTCOMES.index(Outcome.ANSWERED)
"""Code of answers with a value."""

NO_TURN = -1
"""Turn of an answer about the whole dialogue."""

NO_TEXT = -1
"""Code of an answer without a value."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Common properties of all leaves of one dialogue.

    Attributes:
        label: Label of the dialogue.
        cluster: Common property of similar dialogues.
        level: Level of testing.
        held_by: Tester type.
        groups: Pairs of group name and value.
    """

    label: str
    cluster: str
    level: str
    held_by: str
    groups: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBlock:
    """Answers of one annotator to one question in columns; all shapes are (answers,), integers.

    Attributes:
        session: Code of the dialogue in the table.
        turn: Number of the turn; `NO_TURN` for the dialogue as a whole.
        text: Code of the label; -1 without a value.
        outcome: Index in `OUTCOMES`.
        replicate: Number of the repetition, from 1.
    """

    session: Ints
    turn: Ints
    text: Ints
    outcome: Ints
    replicate: Ints


@dataclass(frozen=True, kw_only=True)
class LeafTable:
    """Single answers, one per row.

    Attributes:
        sessions: The dialogues.
        questions: The questions, as `instrument.question`.
        answerers: Names and kinds of the annotators and testers.
        texts: All answers that occur, each once.
        session: Index in `sessions`, shape (leaves,).
        question: Position in `questions`.
        answerer: Position in `answerers`.
        turn: Number of the turn; `NO_TURN` for the dialogue as a whole.
        text: Index in `texts`; -1 without a value.
        outcome: Index in `OUTCOMES`.
        replicate: Number of the repetition by the same annotator, from 1.
    """

    sessions: tuple[SessionFacts, ...]
    questions: tuple[str, ...]
    answerers: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    session: Ints
    question: Ints
    answerer: Ints
    turn: Ints
    text: Ints
    outcome: Ints
    replicate: Ints

    def __post_init__(self) -> None:
        """Reject columns of different length."""
        columns = (self.session, self.question, self.answerer, self.turn, self.text, self.replicate)
        lengths = {len(column) for column in columns}
        if lengths != {len(self.outcome)}:
            message = (
                f"all columns of a table of leaves must be equally long; got {sorted(lengths | {len(self.outcome)})}"
            )
            raise InputError(message)

    def __len__(self) -> int:
        return len(self.outcome)

    @cached_property
    def _by_question(self) -> tuple[Ints, Ints]:
        """Rows in order of the questions, and the first row of each question."""
        order = np.argsort(self.question, kind="stable")
        ends = np.searchsorted(self.question[order], np.arange(len(self.questions) + 1))
        return order, ends

    def rows_of(self, node: AnswersNode) -> Ints:
        """Return the rows that an answers node selects, with any outcome.

        A final label replaces the labels of people, also for a node of all annotators' answers (ADR-0067).
        """
        if node.question not in self.questions:
            return np.empty(0, dtype=np.int64)
        order, ends = self._by_question
        at = self.questions.index(node.question)
        rows = order[ends[at] : ends[at + 1]]
        if node.levels or node.held_by or node.among:
            rows = rows[self._meant(node)[self.session[rows]]]
        by = {*node.by, REFERENCE} if AnnotatorKind.PERSON in node.by else node.by
        if by:
            meant = [name in by or kind in by for name, kind in self.answerers]
            rows = rows[np.array(meant, dtype=bool)[self.answerer[rows]]]
        return self._without_replaced(rows) if not by or REFERENCE in by else rows

    def _without_replaced(self, rows: Ints) -> Ints:
        """Return rows without the labels that a final label of the same dialogue replaces."""
        is_final = np.array([kind == REFERENCE for _, kind in self.answerers], dtype=bool)[self.answerer[rows]]
        is_decided = np.zeros(len(self.sessions), dtype=bool)
        is_decided[self.session[rows[is_final]]] = True
        return rows[is_final | ~is_decided[self.session[rows]]]

    def _meant(self, node: AnswersNode) -> Flags:
        """Return whether each dialogue has a node's levels, tester types and groups, shape (sessions,)."""
        levels, held_by, among = node.levels, node.held_by, frozenset(node.among.items())
        key = (levels, held_by, among)
        if key not in self._conditions:
            self._conditions[key] = np.array(
                [
                    (not levels or session.level in levels)
                    and (not held_by or session.held_by in held_by)
                    and among.issubset(session.groups)
                    for session in self.sessions
                ],
                dtype=bool,
            )
        return self._conditions[key]

    @cached_property
    def _conditions(self) -> dict[tuple[object, ...], Flags]:
        return {}

    @cached_property
    def cluster_keys(self) -> tuple[tuple[str, str, str], ...]:
        """The keys of the clusters: level of testing, tester type and cluster; each once."""
        keys = ((session.level, session.held_by, session.cluster or session.label) for session in self.sessions)
        return tuple(dict.fromkeys(keys))

    @cached_property
    def clusters(self) -> Ints:
        """Index of each dialogue's cluster in `cluster_keys`, shape (sessions,)."""
        index_of = {key: index for index, key in enumerate(self.cluster_keys)}
        result = [
            index_of[session.level, session.held_by, session.cluster or session.label] for session in self.sessions
        ]
        return np.array(result, dtype=np.int64)

    def only(self, kept: Flags) -> LeafTable:
        """Return the table without the leaves of some dialogues.

        Args:
            kept: Whether each dialogue is kept, shape (sessions,).
        """
        numbers = np.cumsum(kept) - 1
        rows = np.flatnonzero(kept[self.session])
        return LeafTable(
            sessions=tuple(session for session, stays in zip(self.sessions, kept, strict=True) if stays),
            questions=self.questions,
            answerers=self.answerers,
            texts=self.texts,
            session=numbers[self.session[rows]],
            question=self.question[rows],
            answerer=self.answerer[rows],
            turn=self.turn[rows],
            text=self.text[rows],
            outcome=self.outcome[rows],
            replicate=self.replicate[rows],
        )

    def leaf(self, row: int) -> Leaf:
        """Return one row as a record."""
        session, turn, text = self.sessions[self.session[row]], int(self.turn[row]), int(self.text[row])
        by, kind = self.answerers[self.answerer[row]]
        return Leaf(
            question=self.questions[self.question[row]],
            session=session.label,
            value=None if text < 0 else self.texts[text],
            outcome=OUTCOMES[self.outcome[row]],
            by=by,
            kind=kind,
            turn=None if turn == NO_TURN else turn,
            replicate=int(self.replicate[row]),
            cluster=session.cluster,
            level=session.level,
            held_by=session.held_by,
            groups=dict(session.groups),
        )


class LeafTableBuilder:
    """Builds a table of leaves from records, or from columns of answers at once."""

    def __init__(self) -> None:
        """Start without leaves."""
        self._sessions: dict[str, SessionFacts] = {}
        self._codes: dict[str, dict[object, int]] = {name: {} for name in ("session", "question", "answerer", "text")}
        self._rows: list[tuple[int, ...]] = []
        self._blocks: list[Ints] = []

    def session(self, facts: SessionFacts) -> int:
        """Return the code of a dialogue.

        Raises:
            InputError: If leaves of one dialogue state different properties of the dialogue.
        """
        if self._sessions.setdefault(facts.label, facts) != facts:
            message = (
                f"all leaves of dialogue `{facts.label}` must agree on its cluster, level, `held_by` and groups;"
                f" got {self._sessions[facts.label]} and {facts}"
            )
            raise InputError(message)
        return self._code("session", facts.label)

    def add_leaf(self, leaf: Leaf) -> None:
        """Add one leaf."""
        facts = SessionFacts(leaf.session, leaf.cluster, leaf.level, leaf.held_by, tuple(sorted(leaf.groups.items())))
        self._rows.append(
            (
                self.session(facts),
                self._code("question", leaf.question),
                self._code("answerer", (leaf.by, leaf.kind)),
                NO_TURN if leaf.turn is None else leaf.turn,
                NO_TEXT if leaf.value is None else self._code("text", leaf.value),
                OUTCOMES.index(leaf.outcome),
                leaf.replicate,
            )
        )

    def add_answers(self, question: str, answerer: tuple[str, str], answers: AnswerBlock, texts: Sequence[str]) -> None:
        """Add one annotator's answers to one question.

        Args:
            question: The question, as `instrument.question`.
            answerer: Name and kind of the annotator.
            answers: Columns of the answers.
            texts: Labels by their code in the column `text`.
        """
        if not len(answers.session):
            return
        self._flush()
        known, first = np.unique(answers.text, return_index=True)
        recoded = np.full(len(texts) + 1, NO_TEXT, dtype=np.int64)  # the last entry is that of code -1
        for code in known[np.argsort(first)].tolist():
            if code >= 0:
                recoded[code] = self._code("text", texts[code])
        n = len(answers.session)
        self._blocks.append(
            np.stack(
                [
                    answers.session,
                    np.full(n, self._code("question", question)),
                    np.full(n, self._code("answerer", answerer)),
                    answers.turn,
                    recoded[answers.text],
                    answers.outcome,
                    answers.replicate,
                ]
            ).astype(np.int64)
        )

    def table(self) -> LeafTable:
        """Return the table of all added leaves."""
        self._flush()
        columns = np.concatenate([np.empty((7, 0), dtype=np.int64), *self._blocks], axis=1)
        return LeafTable(
            sessions=tuple(self._sessions.values()),
            questions=tuple(str(key) for key in self._codes["question"]),
            answerers=tuple((str(key[0]), str(key[1])) for key in self._codes["answerer"] if isinstance(key, tuple)),
            texts=tuple(str(key) for key in self._codes["text"]),
            session=columns[0],
            question=columns[1],
            answerer=columns[2],
            turn=columns[3],
            text=columns[4],
            outcome=columns[5],
            replicate=columns[6],
        )

    def _flush(self) -> None:
        """Convert the rows of single leaves to a block of columns."""
        if self._rows:
            self._blocks.append(np.array(self._rows, dtype=np.int64).T)
            self._rows = []

    def _code(self, column: str, key: object) -> int:
        codes = self._codes[column]
        return codes.setdefault(key, len(codes))


def table_of(leaves: Iterable[Leaf]) -> LeafTable:
    """Return leaves in columns.

    Raises:
        InputError: If two leaves of one dialogue differ in properties of the dialogue itself.
    """
    builder = LeafTableBuilder()
    for leaf in leaves:
        builder.add_leaf(leaf)
    return builder.table()


MOST_LISTED: Final = 50
"""Maximum number of listed answers of a leaf and an application; the tree file contains all of them. Count."""


def listed_answers(node: AnswersNode, table: LeafTable, raised: Collection[str]) -> tuple[Leaf, ...]:
    """Return the first answers of a leaf: dialogues that raise its parent come first, unanswered ones last.

    Args:
        node: The leaf.
        table: All leaves of the tree.
        raised: Labels of the dialogues that raise the nodes above the leaf.
    """
    rows = table.rows_of(node)
    if not len(rows):
        return ()
    lifts = np.array([session.label in raised for session in table.sessions], dtype=bool)
    answered = table.outcome[rows] == ANSWERED
    rank = np.where(~answered, 2, np.where(lifts[table.session[rows]], 0, 1))
    first = rows[np.argsort(rank, kind="stable")][:MOST_LISTED]
    return tuple(table.leaf(int(row)) for row in first)
