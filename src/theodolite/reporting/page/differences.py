"""Differences in the report: applications pair by pair, and rates between groups of dialogues."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.domain.comparison import Comparison, GroupGap, PairedRate, TypologyRate
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.page.charts import Chart, ShareRow, differences, dots
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.queries.rates import Rate
from theodolite.reporting.tables import Link, Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of
from theodolite.reporting.words.estimates import (
    difference_text,
    is_significant,
    leading,
    left_out_text,
    p_value_text,
    paired_difference_text,
    rate_text,
    unsure_text,
)

MOST_NAMED = 2
"""Maximum number of differences that a sentence names; count."""

_WORDS = "{}. The table below holds the same values."


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsView:
    """The section on versions: one sentence for each pair of applications, a chart and its table.

    Attributes:
        first: The pair of the first sentence.
        verdicts: The sentences.
        chart: Differences with their intervals, and the table of their values.
    """

    first: Comparison
    verdicts: tuple[str, ...]
    chart: Chart


def versions_view(subject: Subject) -> VersionsView | None:
    """Return the comparisons of a run's applications; None if no pair has a label on both sides."""
    rows = [
        (comparison, rate)
        for comparison in subject.findings.comparisons
        for rate in leading(comparison)
        if rate.n or rate.changed
    ]
    if not rows:
        return None
    each = {id(one): one for one, _ in rows}.values()
    return VersionsView(
        first=rows[0][0],
        verdicts=tuple(verdict_of(subject, one) for one in each),
        chart=_versions_chart(subject, rows),
    )


def regressed_in(comparison: Comparison) -> list[str]:
    """Return the labels of the second application's dialogues that became a defect under any compared rate."""
    return [flip.second for rate in leading(comparison) if not rate.changed for flip in rate.regressed]


def verdict_of(subject: Subject, comparison: Comparison) -> str:
    """Return how the second application differs from the first one: the main differences, and counts of all."""
    rates = [rate for rate in leading(comparison) if rate.n or rate.changed]
    sure = [rate for rate in rates if is_significant(rate)]
    parts = [_difference_words(subject, rate) for rate in (sure or rates)[:MOST_NAMED]]
    if len(rates) > len(parts):
        lower = sum(_value(rate) < 0 for rate in sure)
        parts.append(
            f"of {figures.number_of(len(rates), 'rate')}, {lower} significantly lower, {len(sure) - lower}"
            f" significantly higher, {len(rates) - len(sure)} neither"
        )
    return f"{comparison.second.name} against {comparison.first.name}: {'; '.join(parts)}."


def _value(rate: PairedRate) -> float:
    return rate.difference.value if isinstance(rate.difference, Estimate) else 0.0


def _difference_words(subject: Subject, rate: PairedRate) -> str:
    name = _title(subject, rate.ruling.subject)
    if not isinstance(rate.difference, Estimate) or rate.n < figures.FEW:
        return f"{name}: {paired_difference_text(rate)}"
    direction = "fewer defects" if _value(rate) < 0 else "more defects"
    verdict = direction if is_significant(rate) else f"no significant difference{unsure_text(rate)}"
    return f"{name}: {verdict}, {_counts(rate)}, {difference_text(rate.difference)}"


def _counts(rate: PairedRate) -> str:
    return f"{figures.count(rate.n_first)} and {figures.count(rate.n_second)} of {figures.count(rate.n)}"


def _title(subject: Subject, of: EstimateSubject) -> str:
    pair = next(pair for pair in rules_of(subject.study) if (pair[0].name, pair[1].name) == (of.guideline, of.rule))
    return f"{heading_of(*pair)} ({of.test_setting})" if of.test_setting else heading_of(*pair)


def _sides(comparison: Comparison) -> str:
    return f"{comparison.first.name} and {comparison.second.name}"


def _versions_chart(subject: Subject, rows: Sequence[tuple[Comparison, PairedRate]]) -> Chart:
    title = "Differences between applications"
    chart_rows = [row for one, rate in rows for row in _difference_row(subject, one, rate)]
    return Chart(
        title=title,
        legend="Rate of the second application minus rate of the first, with 95% intervals."
        " To the left of 0 the second one has fewer defects.",
        drawing=differences(chart_rows, label=_WORDS.format(title)) if chart_rows else "",
        table=Table(
            title=f"{title}: values",
            columns=columns("First and second", "Rate", "By", "Defects", "Pairs", "Second minus first"),
            rows=tuple(_difference_cells(subject, number, one, rate) for number, (one, rate) in enumerate(rows)),
            style="groups figures",
            notes=(
                "Two dialogues with the same prompt are a pair.",
                "P-values are adjusted (Holm) for all rates of two applications by the same annotator.",
            ),
        ),
    )


def _difference_row(subject: Subject, comparison: Comparison, rate: PairedRate) -> Iterator[ShareRow]:
    result = rate.difference
    if isinstance(result, Estimate) and result.low is not None and result.high is not None and rate.n >= figures.FEW:
        yield ShareRow(
            title=_title(subject, rate.ruling.subject),
            tint=subject.tint(comparison.second.application),
            low=result.low,
            value=result.value,
            high=result.high,
            text=f"{difference_text(result)}, {p_value_text(rate)}",
            heading=_sides(comparison),
        )


def _difference_cells(
    subject: Subject, number: int, comparison: Comparison, rate: PairedRate
) -> tuple[Value | TableCell, ...]:
    flips = {"fixed": rate.fixed, "regressed": rate.regressed}
    links: list[Link] = []
    for word, changed in flips.items():
        cases = subject.labelled(label for flip in changed for label in (flip.first, flip.second))
        title = f"{_sides(comparison)}: {word}, {_title(subject, rate.ruling.subject)}"
        opens = subject.sets.add(f"versions{number}.{word}", title, [case.index for case in cases])
        links.append(Link(before=", " if links else "", text=f"{figures.count(len(changed))} {word}", opens=opens))
    links.append(Link(text=f", {figures.count(rate.n - len(rate.flips))} unchanged", opens=""))
    left_out = left_out_text(rate).strip("()")
    return (
        _sides(comparison),
        _title(subject, rate.ruling.subject),
        title_of(subject.study, rate.ruling.subject.annotator),
        TableCell(value=_counts(rate), details=(left_out,) if left_out else ()),
        TableCell(value="", links=tuple(links)),
        paired_difference_text(rate),
    )


def gap_chart(subject: Subject) -> Chart | None:
    """Return the differences of each leading rate between groups of dialogues; None if a study has no groups."""
    order = {(guideline.name, rule.name): index for index, (guideline, rule) in enumerate(rules_of(subject.study))}
    gaps = sorted(subject.findings.gaps, key=lambda gap: (order[gap.subject.guideline, gap.subject.rule], gap.group))
    if not gaps:
        return None
    title = "Gap between groups"
    chart_rows = [row for gap in gaps for row in _gap_row(subject, gap)]
    return Chart(
        title=title,
        legend="Highest rate of a group minus the lowest, among groups with 10 labelled dialogues or more."
        " Each interval holds for all pairs of its groups at once; of twenty gaps without a true difference"
        " one or fewer is expected to exclude 0.",
        drawing=dots(chart_rows, axis=1.0, label=_WORDS.format(title), unit="points") if chart_rows else "",
        table=Table(
            title=f"{title}: values",
            columns=columns("Rate", "Application", "Group", "Highest", "Lowest", "Gap"),
            rows=tuple(_gap_cells(subject, gap) for gap in gaps),
            style="groups figures",
        ),
    )


def _gap_row(subject: Subject, gap: GroupGap) -> Iterator[ShareRow]:
    result = gap.gap
    if isinstance(result, Estimate) and result.low is not None and result.high is not None:
        yield ShareRow(
            title=gap.subject.application,
            tint=subject.tint(gap.subject.application),
            low=result.low,
            value=result.value,
            high=result.high,
            text=_gap_text(result),
            heading=f"{_by_title(subject, gap)} by {gap.group}",
        )


def _by_title(subject: Subject, gap: GroupGap) -> str:
    """Return the rate of a gap, with the annotator if several lead."""
    of = gap.subject
    same = {
        group_gap.subject.annotator
        for group_gap in subject.findings.gaps
        if (group_gap.subject.guideline, group_gap.subject.rule) == (of.guideline, of.rule)
    }
    by = f", by {title_of(subject.study, of.annotator)}" if len(same) > 1 else ""
    return f"{_title(subject, of)}{by}"


def _gap_cells(subject: Subject, gap: GroupGap) -> tuple[Value | TableCell, ...]:
    return (
        _by_title(subject, gap),
        gap.subject.application,
        gap.group,
        group_cell(subject, gap, gap.highest),
        group_cell(subject, gap, gap.lowest),
        _gap_text(gap.gap),
    )


def typology_chart(subject: Subject) -> Chart | None:
    """Return the rates of types of users with types of applications; None if a study has no typology."""
    typology, result = subject.study.typology, subject.findings.typology
    if typology is None or not result:
        return None
    order = {(guideline.name, rule.name): index for index, (guideline, rule) in enumerate(rules_of(subject.study))}
    rates = sorted(result, key=lambda typology_rate: order[typology_rate.subject.guideline, typology_rate.subject.rule])
    title = "Defect rates by types"
    chart_rows = [row for rate in rates for row in _typology_row(subject, rate)]
    types = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in typology.applications.items())
    return Chart(
        title=title,
        legend=f"Defect rates of each type of user (by {typology.by.replace('_', ' ')}) with each type of application,"
        " with 95% intervals. Dialogues of one user are one cluster."
        " Intervals describe further users of a type with these applications, not further applications.",
        drawing=dots(chart_rows, axis=1.0, label=_WORDS.format(title)) if chart_rows else "",
        table=Table(
            title=f"{title}: values",
            columns=columns(
                "Rate",
                "By",
                "Users",
                *typology.applications,
                *(f"Not measured, {kind}" for kind in typology.applications),
            ),
            rows=tuple(_typology_cells(subject, rates)),
            style="groups figures",
            notes=(f"Types of applications: {types}.",),
        ),
    )


def _typology_row(subject: Subject, rate: TypologyRate) -> Iterator[ShareRow]:
    result = rate.rate
    if isinstance(result, Estimate) and result.low is not None and result.high is not None and result.n >= figures.FEW:
        by = title_of(subject.study, rate.subject.annotator)
        yield ShareRow(
            title=f"{rate.user_type}, {rate.application_type}",
            tint=list(subject.study.typology.applications).index(rate.application_type)
            if subject.study.typology
            else 0,
            low=result.low,
            value=result.value,
            high=result.high,
            text=rate_text(result),
            heading=f"{_title(subject, rate.subject)}, by {by}",
        )


def _typology_cells(subject: Subject, rates: Sequence[TypologyRate]) -> Iterator[Sequence[Value | TableCell]]:
    """Yield a row for each rule, annotator, test setting and type of user."""
    kinds = subject.study.typology.applications if subject.study.typology else {}
    rows: dict[tuple[EstimateSubject, str], dict[str, TypologyRate]] = {}
    for rate in rates:
        rows.setdefault((rate.subject, rate.user_type), {})[rate.application_type] = rate
    for (of, user), result in rows.items():
        yield (
            _title(subject, of),
            title_of(subject.study, of.annotator),
            user,
            *(_typology_cell(result.get(kind)) for kind in kinds),
            *(figures.count(result[kind].outcomes.unmeasured) if kind in result else "" for kind in kinds),
        )


def _typology_cell(rate: TypologyRate | None) -> TableCell:
    if rate is None:
        return TableCell(value="not planned")
    users = figures.number_of(rate.n_users, "user")
    return TableCell(
        value="withheld: fewer than 5 people" if rate.rate is None else rate_text(rate.rate), details=(users,)
    )


def _gap_text(gap: Estimate | Undefined) -> str:
    if isinstance(gap, Undefined):
        return undefined_text(gap)
    ends = "" if gap.low is None or gap.high is None else f" ({100 * gap.low:.1f} to {100 * gap.high:.1f})"
    return f"{100 * gap.value:.1f} points{ends}, n {figures.count(gap.n)}"


def group_cell(subject: Subject, gap: GroupGap, value: str) -> TableCell:
    """Return the rate of one group of a gap; it links to its estimate."""
    result = next((group_rate for group_rate in gap.rates if group_rate.value == value and group_rate.rate), None)
    if result is None or result.rate is None:
        return TableCell(value="none")
    count = f"{figures.count(result.rate.count or 0)} of {figures.count(result.n)}"
    place = next((rate.place for rate in subject.rates if _is_of(rate, gap, value)), None)
    return TableCell(value=f"{value}: {count}", details=(figures.percent(result.rate.value),), estimate=place)


def _is_of(rate: Rate, gap: GroupGap, value: str) -> bool:
    of, other = rate.measurement.subject, gap.subject
    is_same = (of.application, of.guideline, of.rule, of.annotators, of.level, of.tester_type) == (
        other.application, other.guideline, other.rule, other.annotators, other.level, other.tester_type,
    )  # fmt: skip
    return is_same and rate.group is not None and (rate.group.name, rate.group.value) == (gap.group, value)


def clear_gaps(subject: Subject) -> list[GroupGap]:
    """Return the gaps with an interval that excludes 0, the clearest first."""
    clear = [gap for gap in subject.findings.gaps if isinstance(gap.gap, Estimate) and (gap.gap.low or 0.0) > 0]
    return sorted(clear, key=lambda gap: -(gap.gap.low or 0.0) if isinstance(gap.gap, Estimate) else 0.0)


def gap_words(subject: Subject, gap: GroupGap) -> str:
    """Return a gap in one sentence without its end."""
    sides = " against ".join(
        f"{cell.text} ({cell.details[0]})"
        for cell in (group_cell(subject, gap, gap.highest), group_cell(subject, gap, gap.lowest))
        if cell.details
    )
    return f"{gap.subject.application}, {_by_title(subject, gap)} by {gap.group}: {sides}, {_gap_text(gap.gap)}"
