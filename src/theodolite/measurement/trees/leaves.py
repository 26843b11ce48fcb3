"""Leaves in columns: a million answers are a few arrays, not a million records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import AnswersNode

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

OUTCOMES = tuple(Outcome)
"""Outcomes by their code in a table."""

ANSWERED = OUTCOMES.index(Outcome.ANSWERED)
"""Code of answers that carry a value."""

NO_TURN = -1
"""Turn of an answer about the whole dialogue."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What all leaves of one dialogue share.

    Attributes:
        label: Label of the dialogue.
        cluster: What resembling dialogues share.
        level: Level of testing.
        held_by: Who held the tester's side.
        groups: Pairs of group name and value.
    """

    label: str
    cluster: str
    level: str
    held_by: str
    groups: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class LeafTable:
    """Single answers, one a row.

    Attributes:
        sessions: The dialogues.
        questions: The questions, as `instrument.question`.
        answerers: Name and kind of those who answer.
        texts: All answers that occur, each once.
        session: Place in `sessions`, shape (leaves,).
        question: Place in `questions`, likewise.
        answerer: Place in `answerers`, likewise.
        turn: Number of the turn; `NO_TURN` for the dialogue as a whole.
        text: Place in `texts`; -1 without a value.
        outcome: Place in `OUTCOMES`.
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

    def __post_init__(self) -> None:
        """Refuse columns of different length."""
        lengths = {len(column) for column in (self.session, self.question, self.answerer, self.turn, self.text)}
        if lengths != {len(self.outcome)}:
            message = (
                f"all columns of a table of leaves must be equally long; got {sorted(lengths | {len(self.outcome)})}"
            )
            raise InputError(message)

    def __len__(self) -> int:
        return len(self.outcome)

    @cached_property
    def _by_question(self) -> tuple[Ints, Ints]:
        """Rows in order of the questions, and where each question begins among them."""
        order = np.argsort(self.question, kind="stable")
        ends = np.searchsorted(self.question[order], np.arange(len(self.questions) + 1))
        return order, ends

    def rows_of(self, node: AnswersNode) -> Ints:
        """Return the rows that an answers node selects, whatever became of them."""
        if node.question not in self.questions:
            return np.empty(0, dtype=np.int64)
        order, ends = self._by_question
        at = self.questions.index(node.question)
        rows = order[ends[at] : ends[at + 1]]
        if node.levels or node.held_by or node.among:
            rows = rows[self._meant(node)[self.session[rows]]]
        if node.by:
            meant = [name in node.by or kind in node.by for name, kind in self.answerers]
            rows = rows[np.array(meant, dtype=bool)[self.answerer[rows]]]
        return rows

    def _meant(self, node: AnswersNode) -> Flags:
        """Return which dialogues are of a node's levels, holders and groups, shape (sessions,)."""
        levels, held_by, among = node.levels, node.held_by, frozenset(node.among.items())
        key = (levels, held_by, among)
        if key not in self._stations:
            self._stations[key] = np.array(
                [
                    (not levels or one.level in levels)
                    and (not held_by or one.held_by in held_by)
                    and among.issubset(one.groups)
                    for one in self.sessions
                ],
                dtype=bool,
            )
        return self._stations[key]

    @cached_property
    def _stations(self) -> dict[tuple[object, ...], Flags]:
        return {}

    @cached_property
    def cluster_keys(self) -> tuple[tuple[str, str, str], ...]:
        """What identifies the clusters: level of testing, who held it, and the cluster itself; each once."""
        keys = ((one.level, one.held_by, one.cluster or one.label) for one in self.sessions)
        return tuple(dict.fromkeys(keys))

    @cached_property
    def clusters(self) -> Ints:
        """Place of each dialogue's cluster in `cluster_keys`, shape (sessions,)."""
        places = {key: place for place, key in enumerate(self.cluster_keys)}
        found = [places[one.level, one.held_by, one.cluster or one.label] for one in self.sessions]
        return np.array(found, dtype=np.int64)

    def only(self, kept: Flags) -> LeafTable:
        """Return the table without the leaves of some dialogues.

        Args:
            kept: Whether a dialogue stays, shape (sessions,).
        """
        numbers = np.cumsum(kept) - 1
        rows = np.flatnonzero(kept[self.session])
        return LeafTable(
            sessions=tuple(one for one, stays in zip(self.sessions, kept, strict=True) if stays),
            questions=self.questions,
            answerers=self.answerers,
            texts=self.texts,
            session=numbers[self.session[rows]],
            question=self.question[rows],
            answerer=self.answerer[rows],
            turn=self.turn[rows],
            text=self.text[rows],
            outcome=self.outcome[rows],
        )


def table_of(leaves: Iterable[Leaf]) -> LeafTable:
    """Return leaves in columns.

    Raises:
        InputError: If two leaves of one dialogue say different things of the dialogue itself.
    """
    sessions: dict[str, SessionFacts] = {}
    places: dict[str, dict[object, int]] = {name: {} for name in ("session", "question", "answerer", "text")}
    rows: list[tuple[int, int, int, int, int, int]] = []
    for leaf in leaves:
        facts = _facts(leaf)
        if sessions.setdefault(leaf.session, facts) != facts:
            message = (
                f"all leaves of dialogue `{leaf.session}` must agree on its cluster, level, `held_by` and groups;"
                f" got {sessions[leaf.session]} and {facts}"
            )
            raise InputError(message)
        rows.append(_row(leaf, places))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    return LeafTable(
        sessions=tuple(sessions.values()),
        questions=_names(places["question"]),
        answerers=_pairs(places["answerer"]),
        texts=_names(places["text"]),
        session=columns[0],
        question=columns[1],
        answerer=columns[2],
        turn=columns[3],
        text=columns[4],
        outcome=columns[5],
    )


def _facts(leaf: Leaf) -> SessionFacts:
    return SessionFacts(leaf.session, leaf.cluster, leaf.level, leaf.held_by, tuple(sorted(leaf.groups.items())))


def _row(leaf: Leaf, places: Mapping[str, dict[object, int]]) -> tuple[int, int, int, int, int, int]:
    return (
        _place(places["session"], leaf.session),
        _place(places["question"], leaf.question),
        _place(places["answerer"], (leaf.by, leaf.kind)),
        NO_TURN if leaf.turn is None else leaf.turn,
        -1 if leaf.value is None else _place(places["text"], leaf.value),
        OUTCOMES.index(leaf.outcome),
    )


def _place(seen: dict[object, int], key: object) -> int:
    return seen.setdefault(key, len(seen))


def _names(seen: Mapping[object, int]) -> tuple[str, ...]:
    return tuple(str(key) for key in seen)


def _pairs(seen: Mapping[object, int]) -> tuple[tuple[str, str], ...]:
    return tuple((str(key[0]), str(key[1])) for key in seen if isinstance(key, tuple))
