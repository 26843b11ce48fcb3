"""Answer tables: answers as they are stored, one number in each column, to which what is new is added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.measurement.sheets import NO_VALUE, AnswerArrays

Whole = NDArray[np.int64]


class AnswerGroup(NamedTuple):
    """All sittings that gave the same answer to the same question, as databases list them fastest.

    Attributes:
        question: The question.
        turn: Number of the turn; 0 for the dialogue as a whole.
        value: The label; None where it is none.
        replicate: Number of the repetition by the same annotator, from 1.
        sittings: Numbers of the sittings with commas between them.
    """

    question: str
    turn: int
    value: str | None
    replicate: int
    sittings: str


class SittingFacts(NamedTuple):
    """Who sat, at which dialogue, and when (seconds since 1970); which order it showed, and which sitting it was."""

    annotator: str
    dialogue: int
    at: float
    shown: str = ""
    sitting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """Answers to all questions of a category, whoever gave them; all shapes are (answers,).

    Reading 200,000 answers out of a database takes longer than anything that is
    worked out of them, so that a table is kept and only grows.

    Attributes:
        sitting: Number of the sitting.
        asked: The question; counts places in `questions`.
        turn: Number of the turn; 0 for the dialogue as a whole.
        value: The label; counts places in `labels`, -1 where it is none.
        replicate: Number of the repetition by the same annotator, from 1.
        questions: Names of questions.
        labels: Labels that were given.
    """

    sitting: Whole
    asked: Whole
    turn: Whole
    value: Whole
    replicate: Whole
    questions: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @classmethod
    def empty(cls) -> StoredAnswers:
        """Return a table without answers."""
        none = np.zeros(0, dtype=np.int64)
        return cls(sitting=none, asked=none, turn=none, value=none, replicate=none)

    def __len__(self) -> int:
        """Return how many answers there are."""
        return len(self.sitting)

    def grown(self, groups: Sequence[AnswerGroup]) -> StoredAnswers:
        """Return the table with further answers."""
        if not groups:
            return self
        asked, questions = _coded([one.question for one in groups], self.questions)
        value, labels = _coded([one.value for one in groups], self.labels)
        sittings = [np.fromstring(one.sittings, dtype=np.int64, sep=",") for one in groups]
        sizes = [len(numbers) for numbers in sittings]
        turn, replicate = ([one.turn for one in groups], [one.replicate for one in groups])
        return StoredAnswers(
            sitting=np.concatenate([self.sitting, *sittings]),
            asked=np.concatenate([self.asked, np.repeat(asked, sizes)]),
            turn=np.concatenate([self.turn, np.repeat(turn, sizes)]),
            value=np.concatenate([self.value, np.repeat(value, sizes)]),
            replicate=np.concatenate([self.replicate, np.repeat(replicate, sizes)]),
            questions=questions,
            labels=labels,
        )

    @property
    def replicates(self) -> int:
        """How often anybody answered the same question about the same thing at most; count."""
        return int(self.replicate.max(initial=0))

    def columns(self, sittings: Mapping[int, SittingFacts], *, replicates: int = 1) -> dict[str, AnswerArrays]:
        """Return the answers of some sittings, by question.

        Args:
            sittings: Number of each sitting that counts to who sat where and when.
            replicates: Repetitions up to which answers count.
        """
        if not sittings or not len(self):
            return {}
        numbers = np.fromiter(sittings, np.int64, len(sittings))
        order = np.argsort(numbers)
        place = np.minimum(np.searchsorted(numbers, self.sitting, sorter=order), len(numbers) - 1)
        who = order[place]
        kept = np.flatnonzero((numbers[who] == self.sitting) & (self.replicate <= replicates))
        return self._columns(list(sittings.values()), who[kept], kept)

    def _columns(self, facts: Sequence[SittingFacts], who: Whole, kept: Whole) -> dict[str, AnswerArrays]:
        """Return the answers at some places, whose sittings stand at other places of a list, by question."""
        annotators, dialogues, moments, texts, numbers = zip(*facts, strict=True)
        annotator, names = _coded(annotators, ())
        shown, orders = _coded(texts, ())
        dialogue = np.array(dialogues, dtype=np.int64)[who]
        turn = self.turn[kept]
        columns = AnswerArrays(
            names=names,
            annotator=annotator[who],
            unit=dialogue * (int(turn.max(initial=0)) + 1) + turn,
            dialogue=dialogue,
            turn=turn,
            labels=self.labels,
            value=self.value[kept],
            at=np.array(moments, dtype=np.float64)[who],
            orders=orders,
            shown=shown[who],
            sitting=np.array(numbers, dtype=np.int64)[who],
        )
        asked = self.asked[kept]
        by_question = {name: np.flatnonzero(asked == code) for code, name in enumerate(self.questions)}
        return {name: columns.of(places) for name, places in by_question.items() if len(places)}


def _coded(values: Sequence[str | None], known: Sequence[str]) -> tuple[Whole, tuple[str, ...]]:
    """Return numbers for values, those that are known first, and the values; None is -1 and no value."""
    names = tuple(dict.fromkeys([*known, *(value for value in dict.fromkeys(values) if value is not None)]))
    codes: dict[str | None, int] = {name: code for code, name in enumerate(names)}
    codes[None] = NO_VALUE
    return np.fromiter(map(codes.__getitem__, values), np.int64, len(values)), names
