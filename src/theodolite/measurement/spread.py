"""Spread: what each annotator said beside the others, and how the labels of each dialogue are spread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.answers import NO_VALUE
from theodolite.domain.findings.agreeing import RaterAgreement, UnitSpread
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.instrument import Question
from theodolite.measurement.answer_arrays import (
    NO_UNIT_OF_TWO,
    AnswerArrays,
    by_person,
    prevalence,
)
from theodolite.measurement.fraction import mean_fraction

Whole = NDArray[np.int64]

Floats = NDArray[np.float64]

OTHERS: Final = "share of others' labels, mean over dialogues"
"""Unit of how far others say what one person says."""

CONFIDENCE: Final = 0.95
"""Coverage of its interval."""


class Halves(NamedTuple):
    """How many answers others gave too in the first and second half of somebody's work, and how many there are."""

    early_alike: int = 0
    early_asked: int = 0
    late_alike: int = 0
    late_asked: int = 0


def rater_agreements(question: Question, columns: AnswerArrays) -> tuple[RaterAgreement, ...]:
    """Return for every person what they said, and how often others said the same of the same unit; by name.

    Of each dialogue the share of others' labels that equal the person's is taken
    first, and then the mean over dialogues, so that a dialogue that many have
    labelled counts no more than another one.

    Args:
        question: The question.
        columns: Everybody's answers, one a person and unit.

    Source:
        See `mean_fraction`.
    """
    held = columns.of(np.flatnonzero(columns.value != NO_VALUE))
    _, unit = np.unique(held.unit, return_inverse=True)
    n_labels = len(held.labels)
    counts = np.bincount(unit * n_labels + held.value, minlength=(int(unit.max()) + 1) * n_labels if len(unit) else 0)
    table = counts.reshape(-1, n_labels) if n_labels else counts.reshape(0, 0)
    others = table.sum(axis=1)[unit] - 1
    same = table[unit, held.value] - 1
    people = by_person(columns)
    return tuple(
        _rater(question, name, columns.of(people[name]), np.flatnonzero(held.annotator == code), (held, same, others))
        for name, code in sorted((name, held.names.index(name)) for name in people)
    )


def _rater(
    question: Question, name: str, own: AnswerArrays, rows: Whole, beside: tuple[AnswerArrays, Whole, Whole]
) -> RaterAgreement:
    held, same, others = beside
    rows = rows[others[rows] > 0]
    return RaterAgreement(
        annotator=name,
        n_answers=len(own),
        n_without_value=int(np.count_nonzero(own.value == NO_VALUE)),
        alike=others_alike(held.dialogue[rows], same[rows], others[rows]),
        prevalence=prevalence(question, own),
    )


def others_alike(
    dialogues: Whole, same: NDArray[np.int64] | NDArray[np.bool_], others: Whole | None = None
) -> Estimate | Undefined:
    """Return the share of others' labels that are the same, of each dialogue first and then over dialogues.

    Args:
        dialogues: The dialogue of each comparison; shape (comparisons,).
        same: Labels that are the same in it; counts, or whether it is.
        others: Labels that it holds; counts, None for one each.
    """
    _, owner = np.unique(dialogues, return_inverse=True)
    hits, sizes = np.bincount(owner, weights=same), np.bincount(owner, weights=others)
    return mean_fraction(
        (hits / sizes).tolist(), clusters=None, unit=OTHERS, confidence=CONFIDENCE, otherwise=NO_UNIT_OF_TWO
    )


def spreads(question: Question, columns: AnswerArrays) -> tuple[UnitSpread, ...]:
    """Return what was said of every unit that two or more labelled, the most divided first.

    Divided by how many of its labels are not its most frequent one; units that are
    equally divided stand in the order of their dialogues.

    Args:
        question: The question.
        columns: Everybody's answers; dialogues are known by their numbers.
    """
    held = columns.of(np.flatnonzero(columns.value != NO_VALUE))
    if not len(held):
        return ()
    _, first, unit = np.unique(held.unit, return_index=True, return_inverse=True)
    counts = np.bincount(unit * len(held.labels) + held.value, minlength=len(first) * len(held.labels))
    table = counts.reshape(len(first), len(held.labels))
    n = table.sum(axis=1)
    divided = 1 - table.max(axis=1) / n
    order = [place for place in np.lexsort((held.dialogue[first], -divided)) if n[place] > 1]
    points = question.scale.categories or held.labels
    column = {label: place for place, label in enumerate(held.labels)}
    return tuple(
        UnitSpread(
            dialogue=int(held.dialogue[first[place]]),
            turn=int(held.turn[first[place]]) or None,
            counts=tuple((point, int(table[place, column[point]]) if point in column else 0) for point in points),
        )
        for place in order
    )


def halves_alike(answers: Iterable[AnswerArrays]) -> dict[str, Halves]:
    """Return for each annotator how many of their answers anybody else gave too, in both halves of their work.

    Args:
        answers: Everybody's answers to each question; those that nobody else gave to the same unit count in neither.
    """
    found: dict[str, list[tuple[Floats, NDArray[np.bool_]]]] = defaultdict(list)
    for columns in answers:
        held = columns.of(np.flatnonzero(columns.value != NO_VALUE))
        if not len(held):
            continue
        _, unit = np.unique(held.unit, return_inverse=True)
        table = np.bincount(unit * len(held.labels) + held.value, minlength=(int(unit.max()) + 1) * len(held.labels))
        counts = table.reshape(-1, len(held.labels))
        met, same = counts.sum(axis=1)[unit] > 1, counts[unit, held.value] > 1
        for name, rows in by_person(held).items():
            shared = rows[met[rows]]
            found[name].append((held.at[shared], same[shared]))
    return {name: _halves(parts) for name, parts in found.items()}


def _halves(parts: Sequence[tuple[Floats, NDArray[np.bool_]]]) -> Halves:
    at, same = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    in_time = same[np.argsort(at, kind="stable")]
    early, late = in_time[: len(in_time) // 2], in_time[len(in_time) // 2 :]
    return Halves(int(early.sum()), len(early), int(late.sum()), len(late))
