"""Precision, budget and cost: intervals with more dialogues, the next run, and model calls by purpose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.run import Spending, SpendingPart, UnitKind
from theodolite.domain.text import cost_text
from theodolite.domain.undefined_reasons import NO_INTERVAL, ONE_END, TOO_FEW_FOR_PRECISION, TOO_FEW_INDEPENDENT
from theodolite.reporting.page.charts import BarRow, Chart, bars
from theodolite.reporting.page.rates import shown_rules
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.rates import Rate, lead_rates
from theodolite.reporting.tables import Column, ColumnKind, Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of

GROWTHS = (2, 4)
"""Multiples of the present number of independent dialogues."""

DIFFERENCE = 0.05
"""Difference that should be detected; fraction."""

POWER = 0.8
"""Probability of detecting it; fraction."""

COST_UNKNOWN = "cost unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The interval of a rate now and with more dialogues.

    Attributes:
        half_width: Half-width of the current interval; fraction.
        expected: The half-width at each of `GROWTHS`; fractions.
        n_difference: Dialogues on each side that detect `DIFFERENCE`; count.
    """

    half_width: float
    expected: tuple[float, ...]
    n_difference: int


def precision_of(rate: Rate) -> Precision | Undefined:
    """Return the interval of a rate now and with more dialogues.

    The effective sample size is the number of independent dialogues whose Wilson interval is as wide as the
    interval of the report, for any method. The forecast is Wilson's interval of 2 and 4 times as many: close to
    the square-root law. It assumes that the rate and the clustering stay as they are, and that clusters
    (personas, scripts, annotators) grow with the dialogues.

    A difference is between two rates of different dialogues; the larger variance of a rise and a fall counts,
    multiplied by the design effect n / effective sample size.

    Source:
        Wilson (1927), doi:10.1080/01621459.1927.10502953; design effect: Kish (1965), Survey Sampling, section 5.4;
        difference: Miller (2024), arXiv:2411.00640, equation 9.
    """
    result = rate.measurement.result
    if isinstance(result, Undefined):
        return result
    if result.n < figures.FEW:
        return Undefined(reason=TOO_FEW_FOR_PRECISION.format(fewest=figures.FEW), n=result.n)
    if result.low is None or result.high is None:
        return Undefined(reason=NO_INTERVAL, n=result.n)
    if not 0.0 < result.value < 1.0:
        which = "No dialogue is" if not result.value else "All dialogues are"
        return Undefined(reason=ONE_END.format(which=which), n=result.n)
    half_width = (result.high - result.low) / 2
    worth = _effective_n(result, half_width)
    if worth < figures.FEW:
        return Undefined(reason=TOO_FEW_INDEPENDENT.format(fewest=figures.FEW), n=result.n)
    return Precision(
        half_width=half_width,
        expected=tuple(_wilson_half_width(result.value, worth * growth, result.confidence) for growth in GROWTHS),
        n_difference=_n_for_difference(result, result.n / worth),
    )


def _effective_n(result: Estimate, half_width: float) -> float:
    """Return the number of independent dialogues with a Wilson interval of this width; 0 for less than one."""
    low, high = 1.0, 2.0
    if _wilson_half_width(result.value, low, result.confidence) <= half_width:
        return 0.0
    while _wilson_half_width(result.value, high, result.confidence) > half_width:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        is_wider = _wilson_half_width(result.value, middle, result.confidence) > half_width
        low, high = (middle, high) if is_wider else (low, middle)
    return high


def _wilson_half_width(value: float, n: float, confidence: float) -> float:
    z = _quantile((1 + confidence) / 2)
    return z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n)) / (1 + z * z / n)


def _n_for_difference(result: Estimate, design_effect: float) -> int:
    others = [other for other in (result.value - DIFFERENCE, result.value + DIFFERENCE) if 0.0 <= other <= 1.0]
    variance = result.value * (1 - result.value) + max(other * (1 - other) for other in others)
    reach = _quantile((1 + result.confidence) / 2) + _quantile(POWER)
    return math.ceil(reach**2 * variance * design_effect / DIFFERENCE**2 - 1e-9)


def _quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


def precision_table(subject: Subject) -> Table | None:
    """Return the leading rates of the first screen with the gain from more dialogues; None if there are none."""
    rows = tuple(_rows(subject))
    if not rows:
        return None
    return Table(
        title="Precision and budget",
        columns=columns(
            "Application",
            "Rate",
            "Dialogues",
            "Half-width",
            *(f"At {growth} times" for growth in GROWTHS),
            f"To detect {100 * DIFFERENCE:.0f} points",
            *(f"Cost of {growth} times" for growth in GROWTHS),
        ),
        rows=rows,
        style="groups figures",
    )


def _rows(subject: Subject) -> Iterator[tuple[Value | TableCell, ...]]:
    for guideline, rule in shown_rules(subject):
        rates = lead_rates(subject.rates, guideline.name, rule.name)
        several = len({rate.annotator for rate in rates}) > 1
        for rate in rates:
            by = f"by {title_of(subject.study, rate.annotator)}" if several else ""
            where = tuple(filter(None, (by, rate.station)))
            n = rate.measurement.result.n
            yield (
                rate.measurement.application,
                TableCell(value=heading_of(guideline, rule), details=where),
                TableCell(value=n, estimate=rate.place),
                *_forecast(precision_of(rate)),
                *(cost_of(subject, (growth - 1) * n) for growth in GROWTHS),
            )


def _forecast(found: Precision | Undefined) -> tuple[Value, ...]:
    if isinstance(found, Undefined):
        return (found, *("undefined" for _ in GROWTHS), "undefined")
    widths = (found.half_width, *found.expected)
    return (*(f"{figures.points(width)} points" for width in widths), f"{figures.count(found.n_difference)} each")


def cost_of(subject: Subject, n_more: int) -> str:
    """Return the cost of the model calls of further dialogues at this run's cost of a completed dialogue."""
    spending, n = subject.evidence.spending, subject.evidence.answers.n_completed
    if not (n and n_more and spending.calls) or spending.unpriced_calls or spending.estimated_microusd:
        return COST_UNKNOWN
    if not spending.cost_microusd:
        return "no cost"
    return f"{cost_text(spending.cost_microusd / n * n_more)} for {figures.count(n_more)} more"


_STAGES = {UnitKind.SESSION: "Dialogues", UnitKind.ANNOTATION: "Annotation"}


def cost_chart(subject: Subject) -> Chart | None:
    """Return the cost of a run's calls, by stage, application and model; None if no model was called."""
    parts = sorted(subject.evidence.spending_parts, key=lambda part: part.stage is not UnitKind.SESSION)
    rest = subject.evidence.spending - reduce(Spending.__add__, (part.spending for part in parts), Spending())
    if not parts:
        return None
    amount, unit = _measure(subject.evidence.spending)
    title = f"{unit} by stage, application and model"
    rows = tuple(_cost_rows(subject, parts, rest, amount))
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


def _cost_rows(
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
