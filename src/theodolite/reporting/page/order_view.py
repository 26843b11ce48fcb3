"""What orders did to answers, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from theodolite.domain.findings.order_effect import OrderEffect
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words.order_effects import shift_text, side_text


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersTable:
    """What stood elsewhere, and what that did to the answers to each question.

    Attributes:
        title: What stood elsewhere, guideline, and whose answers.
        rows: Question, answers the one way, the other way, and how far they moved; in words.
    """

    title: str
    rows: tuple[tuple[str, str, str, str], ...]


def order_tables(subject: Subject) -> tuple[OrdersTable, ...]:
    """Return one table for each guideline, thing that stood elsewhere, and judge or all people."""

    def kind(effect: OrderEffect) -> tuple[str, str, str]:
        return effect.guideline, effect.annotator, effect.factor.value

    found = sorted(subject.findings.orders, key=kind)
    return tuple(
        OrdersTable(
            title=f"{factor.capitalize()}: {guideline}, {title_of(subject.study, who) if who else 'people'}",
            rows=tuple((one.question, side_text(one.first), side_text(one.second), shift_text(one)) for one in effects),
        )
        for (guideline, who, factor), effects in groupby(found, key=kind)
    )
