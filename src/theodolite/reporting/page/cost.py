"""Cost in the report: model calls by stage, application, annotator and model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from theodolite.domain.run import Spending, SpendingPart, UnitKind
from theodolite.domain.text import cost_text
from theodolite.reporting.page.charts import BarRow, Chart, bars
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.tables import Column, ColumnKind, Table, columns
from theodolite.reporting.words import figures

_STAGES = {UnitKind.SESSION: "Dialogues", UnitKind.ANNOTATION: "Annotation"}


def cost_chart(subject: Subject) -> Chart | None:
    """Return the cost of a run's calls, by stage, application and model; None if no model was called."""
    parts = sorted(subject.evidence.spending_parts, key=lambda part: part.stage is not UnitKind.SESSION)
    rest = subject.evidence.spending - reduce(Spending.__add__, (part.spending for part in parts), Spending())
    if not parts:
        return None
    amount, unit = _measure(subject.evidence.spending)
    title = f"{unit} by stage, application and model"
    rows = tuple(_rows(subject, parts, rest, amount))
    n = subject.evidence.spending.unpriced_calls
    notes = (f"{figures.number_of(n, 'call')} without a known price: their cost is in no number.",) if n else ()
    return Chart(
        title=title,
        legend="Calls of this run. Replies that an earlier run or the cache brought cost nothing here.",
        drawing=bars(rows, label=f"{title}. The table below holds the same values.", is_cost=unit == "Cost"),
        table=Table(
            title=f"{title}: values",
            columns=columns(
                "Stage",
                "Application",
                "Model",
                Column("Calls", ColumnKind.COUNT),
                Column("Tokens read", ColumnKind.COUNT),
                Column("Tokens written", ColumnKind.COUNT),
                "Cost",
            ),
            rows=tuple(_cells(subject, part) for part in parts)
            + (((*_REST, *_numbers(rest)),) if rest != Spending() else ()),
            notes=notes,
            style="groups figures",
        ),
    )


_REST = ("Replies to participants", "all", "not recorded")


def _measure(spending: Spending) -> tuple[Callable[[Spending], int], str]:
    """Return the quantity of the bars: cost if any is known, else tokens, else calls."""
    if spending.cost_microusd:
        return (lambda one: one.cost_microusd), "Cost"
    if spending.tokens:
        return (lambda one: one.tokens), "Tokens"
    return (lambda one: one.calls), "Calls"


def _rows(
    subject: Subject, parts: list[SpendingPart], rest: Spending, amount: Callable[[Spending], int]
) -> Iterator[BarRow]:
    for part in parts:
        yield BarRow(
            title=f"{part.application}: {_model(subject, part)}" if part.application else _model(subject, part),
            tint=subject.tint(part.application),
            value=amount(part.spending),
            text=_text(part.spending),
            heading=_STAGES[part.stage],
        )
    if rest != Spending():
        yield BarRow(title=_REST[1], tint=-1, value=amount(rest), text=_text(rest), heading=_REST[0])


def _model(subject: Subject, part: SpendingPart) -> str:
    judge = title_of(subject.study, part.annotator) if part.annotator else ""
    model = part.model if part.model != judge else ""
    return ", ".join(filter(None, (judge, model))) or "no name reported"


def _text(spending: Spending) -> str:
    return f"{_cost(spending)}, {figures.number_of(spending.calls, 'call')}"


def _cost(spending: Spending) -> str:
    if spending.cost_microusd:
        return cost_text(spending.cost_microusd) + (" or more" if spending.unpriced_calls else "")
    return "cost unknown" if spending.unpriced_calls else "no cost"


def _cells(subject: Subject, part: SpendingPart) -> tuple[str | int, ...]:
    return (_STAGES[part.stage], part.application, _model(subject, part), *_numbers(part.spending))


def _numbers(spending: Spending) -> tuple[int, int, int, str]:
    return spending.calls, spending.tokens_in, spending.tokens_out, _cost(spending)
