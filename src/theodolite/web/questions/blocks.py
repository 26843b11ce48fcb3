"""Blocks of a form: a question by itself, or several with the same answers in a row as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from theodolite.web.questions.field import Field, Option

FEWEST, MOST = 3, 9
"""Answers with which a row is worth columns, and with which they still fit; counts."""

LONGEST: Final = 32
"""Letters of an answer that fit at the head of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question of a matrix: what stands in each column, None where it does not offer that answer."""

    field: Field
    cells: tuple[Option | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Questions that stand together.

    Attributes:
        fields: One question, or several with the same answers, in the order of the instrument.
    """

    fields: tuple[Field, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """What stands above the columns; empty where the block is a question by itself."""
        if len(self.fields) == 1:
            return ()
        return (*(option.words for option in self.fields[0].plain), *self._asides().values())

    @property
    def rows(self) -> tuple[Row, ...]:
        """The questions, each with what stands in each column."""
        asides = self._asides()
        return tuple(
            Row(field=field, cells=(*field.plain, *(_offered(field, value) for value in asides)))
            for field in self.fields
        )

    def _asides(self) -> dict[str, str]:
        """Return the ways out that any question offers, with their words."""
        return {option.value: option.words for field in self.fields for option in field.aside}


def blocks_of(fields: Sequence[Field]) -> tuple[Block, ...]:
    """Return a form's questions in their order, those with the same answers in a row as one block.

    A question that waits for another's answer stands in the block as well: it is hidden until it is asked.
    """
    blocks: list[Block] = []
    for answers, run in groupby(fields, _answers):
        row = tuple(run)
        blocks += [Block(fields=row)] if answers else [Block(fields=(field,)) for field in row]
    return tuple(blocks)


def _answers(field: Field) -> tuple[tuple[str, str], ...]:
    """Return what can be chosen, where that fits into columns; else nothing."""
    plain = field.plain
    if field.kind != "list" or field.exemplars or not FEWEST <= len(plain) <= MOST - len(field.aside):
        return ()
    if any(option.meaning or len(option.words) > LONGEST for option in plain):
        return ()
    return tuple((option.value, option.words) for option in plain)


def _offered(field: Field, value: str) -> Option | None:
    return next((option for option in field.aside if option.value == value), None)
