"""Bundles: the values of a node that holds one for each answer, or for each dialogue."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import OUTCOMES
from theodolite.domain.choices import Per, TransformForm, Weighing
from theodolite.domain.trees.tree import AnswersNode, CollapseNode, TransformNode, TreeDesign, ValueRange
from theodolite.measurement.trees.checks import Kinds, NodeKind
from theodolite.measurement.trees.leaves import ANSWERED, NO_TURN, Ints, LeafTable
from theodolite.measurement.trees.methods import MAX, MEAN, Holds, Methods, SummaryMethod
from theodolite.measurement.trees.summaries import Floats, summarise

NOBODY: Final = -1
"""Code of who answered where a value is that of several annotators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Values with the dialogue that each belongs to.

    Attributes:
        session: Place of the dialogue in the table, shape (values,).
        turn: Number of the turn; `NO_TURN` for the dialogue as a whole. Shape (values,).
        answerer: Place of who answered in the table; `NOBODY` where several did. Shape (values,).
        value: Numbers; for labels and texts their place in `words`. Shape (values,).
        words: Labels or texts; empty for numbers.
        rows: Rows of the table that the values come from; shape (leaves used,).
        planned: Rows of the table that should have brought a value; shape (leaves,).
        unreadable: Rows with a value that the scale does not have; among `planned`.
    """

    session: Ints
    turn: Ints
    answerer: Ints
    value: Floats
    words: tuple[str, ...]
    rows: Ints
    planned: Ints
    unreadable: Ints

    def weights(self, weigh: Weighing) -> Floats:
        """Return the weight of each value: 1, or its part of a dialogue that weighs 1; shape (values,)."""
        if weigh is Weighing.ANSWER or not len(self.session):
            return np.ones(len(self.session))
        answers = np.bincount(self.session)
        return 1.0 / answers[self.session]

    def histogram(self, weigh: Weighing, n_sessions: int) -> tuple[Floats, Floats]:
        """Return the levels that occur, shape (levels,), and their weight in each dialogue, (sessions, levels)."""
        levels, place = np.unique(self.value, return_inverse=True)
        cells = self.session * len(levels) + place
        flat = np.bincount(cells, weights=self.weights(weigh), minlength=n_sessions * len(levels))
        return levels, flat.reshape(n_sessions, len(levels)).astype(np.float64)

    def sums(self, weigh: Weighing, n_sessions: int) -> Floats:
        """Return weighted sum and weight of each dialogue, shape (sessions, 2)."""
        weights = self.weights(weigh)
        summed = np.bincount(self.session, weights=weights * self.value, minlength=n_sessions)
        return np.stack([summed, np.bincount(self.session, weights=weights, minlength=n_sessions)], axis=1)


def bundles_of(design: TreeDesign, kinds: Kinds, table: LeafTable, methods: Methods) -> Mapping[str, Bundle]:
    """Return the values of every node that holds several, by its name."""
    numbers: dict[tuple[int, ValueRange], Floats] = {}
    found: dict[str, Bundle] = {}
    for node in design.upwards():
        kind = kinds[node.name]
        if isinstance(node, AnswersNode):
            found[node.name] = _answers(node, kind, table, numbers)
        elif isinstance(node, TransformNode) and kind.many:
            found[node.name] = _transformed(node, kinds[node.of], kind, found[node.of])
        elif isinstance(node, CollapseNode):
            found[node.name] = _collapsed(node, methods[node.summary], kinds[node.of], found[node.of], table)
    return found


def _answers(
    node: AnswersNode, kind: NodeKind, table: LeafTable, numbers: dict[tuple[int, ValueRange], Floats]
) -> Bundle:
    planned = table.rows_of(node)
    rows = planned[table.outcome[planned] == ANSWERED]
    if kind.holds is Holds.NUMBERS and kind.range is not None:
        words: tuple[str, ...] = ()
        key = (id(table), kind.range)
        lookup = numbers.setdefault(key, _numbers(table.texts, kind.range))
    elif kind.holds is Holds.TEXTS:
        words, lookup = table.texts, np.arange(len(table.texts), dtype=np.float64)
    else:
        words = kind.labels
        lookup = np.array([words.index(text) if text in words else np.nan for text in table.texts])
    values = lookup[table.text[rows]] if len(rows) else np.empty(0)
    readable = ~np.isnan(values)
    return Bundle(
        session=table.session[rows[readable]],
        turn=table.turn[rows[readable]],
        answerer=table.answerer[rows[readable]],
        value=values[readable],
        words=words,
        rows=rows[readable],
        planned=planned,
        unreadable=rows[~readable],
    )


def _numbers(texts: tuple[str, ...], scale: ValueRange) -> Floats:
    """Return the number that each text writes; NaN where it writes none, or one that leaves the scale."""
    return np.array([_number(text, scale) for text in texts], dtype=np.float64)


def _number(text: str, scale: ValueRange) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if scale.lowest <= number <= scale.highest else math.nan


def _transformed(node: TransformNode, before: NodeKind, after: NodeKind, bundle: Bundle) -> Bundle:
    if node.form is TransformForm.RECODE:
        return _recoded(node, bundle)
    return replace(bundle, value=moved(node, before.range, after.range, bundle.value))


def moved(node: TransformNode, before: ValueRange | None, after: ValueRange | None, values: Floats) -> Floats:
    """Return numbers turned round or moved to another range.

    Args:
        node: What is to be done: `reverse` or `rescale`.
        before: Range that they have.
        after: Range that they will have.
        values: Numbers, any shape.
    """
    if before is None or after is None:
        return values
    if node.form is TransformForm.REVERSE:
        return before.lowest + before.highest - values
    # From the top down, so that the ends of one range land on the ends of the other exactly.
    share = (values - before.lowest) / before.width
    return np.asarray(after.lowest * (1 - share) + after.highest * share)


def _recoded(node: TransformNode, bundle: Bundle) -> Bundle:
    levels, place = np.unique(bundle.value, return_inverse=True)
    texts = [bundle.words[int(level)] if bundle.words else f"{level:.15g}" for level in levels]
    numbers = [node.recoded.get(text) for text in texts]
    value = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)[place]
    kept = ~np.isnan(value)
    one_each = len(bundle.rows) == len(bundle.value)
    return replace(
        bundle,
        session=bundle.session[kept],
        turn=bundle.turn[kept],
        answerer=bundle.answerer[kept],
        value=value[kept],
        words=(),
        rows=bundle.rows[kept] if one_each else _rows_in(bundle, kept),
    )


def _rows_in(bundle: Bundle, kept: NDArray[np.bool_]) -> Ints:
    """Return all rows where values are collapsed ones and cannot be told apart; none where nothing is left."""
    return bundle.rows if kept.any() else bundle.rows[:0]


def _collapsed(node: CollapseNode, method: SummaryMethod, below: NodeKind, bundle: Bundle, table: LeafTable) -> Bundle:
    highest = below.range.highest if below.range else None
    if node.per is Per.ANNOTATOR and method.name == MAX:
        bundle = _with_known_maximum(bundle, highest, table)
    own = bundle.turn if node.per is Per.TURN else bundle.answerer if node.per is Per.ANNOTATOR else None
    n_cells = 1 if own is None else int(own.max(initial=0)) + 2  # the first cell is that of the code -1
    cells = bundle.session if own is None else bundle.session * n_cells + own + 1
    places, place = np.unique(cells, return_inverse=True)
    packed = replace(bundle, session=place.astype(np.int64))
    if method.name == MEAN:
        sums = packed.sums(Weighing.ANSWER, len(places))
        values = sums[:, 0] / sums[:, 1]
    else:
        levels, weights = packed.histogram(Weighing.ANSWER, len(places))
        values = summarise(method, levels[None, :], weights, highest=highest) if len(places) else np.empty(0)
    kept = ~np.isnan(values)
    codes = places[kept] % n_cells - 1
    return replace(
        bundle,
        session=places[kept] // n_cells,
        turn=codes if node.per is Per.TURN else np.full(len(codes), NO_TURN),
        answerer=codes if node.per is Per.ANNOTATOR else np.full(len(codes), NOBODY),
        value=values[kept],
    )


def _with_known_maximum(bundle: Bundle, highest: float | None, table: LeafTable) -> Bundle:
    """Return the values without those of dialogues that an annotator knows in part: an unknown turn may be the highest.

    As in defect rates (rule 4 of `theodolite.domain.answer_rules`), a turn at the top of the scale decides alone.
    """
    codes = np.arange(len(OUTCOMES))
    is_unknown = ~np.isin(codes, [ANSWERED, OUTCOMES.index(Outcome.NOT_APPLICABLE)])[table.outcome[bundle.planned]]
    rows = np.concatenate([bundle.planned[is_unknown], bundle.unreadable])
    n_answerers = len(table.answerers)
    cells = bundle.session * n_answerers + bundle.answerer
    unknown = np.isin(cells, table.session[rows] * n_answerers + table.answerer[rows])
    top = cells[bundle.value == highest]
    kept = ~unknown | np.isin(cells, top)
    return replace(
        bundle,
        session=bundle.session[kept],
        turn=bundle.turn[kept],
        answerer=bundle.answerer[kept],
        value=bundle.value[kept],
        rows=bundle.rows[kept] if len(bundle.rows) == len(kept) else bundle.rows,
    )
