"""Defect rates in the report: cells with interval bars, one block for each rule, and label distributions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.annotator import PEOPLE
from theodolite.domain.answer_rules import labels_of, pool_labels_of, positions_of, reference_names
from theodolite.domain.answers import AnswerTable, Positions
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Scale, ScaleKind
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.interval_bars import axis_end, bar_of
from theodolite.reporting.page.applications import BandPart, band
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.agreements import Correction, corrections_to_tell, own_words, validation_note
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.queries.rates import (
    Rate,
    guardrail_of,
    interval_words,
    lead_rates,
    matrix_of,
    rates_for,
    unlabelled_guidelines,
    unmeasured_words,
)
from theodolite.reporting.tables import RateCell, Table, TableCell, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of, phrase_of, short_phrase

_FEWEST_LEVELS = 3
"""Number of labels from which an ordered scale is drawn as a histogram instead of a stacked bar; count."""

_MOST_LEVELS = 12
"""Maximum number of labels with a column each; count."""


def is_graded(scale: Scale) -> bool:
    """Return whether labels of a scale have an order and are few enough for one column each."""
    is_ordered = scale.kind is ScaleKind.NUMBERS or (scale.kind is ScaleKind.CATEGORIES and scale.ordered)
    return is_ordered and _FEWEST_LEVELS <= len(scale.categories) <= _MOST_LEVELS


def rate_cell(subject: Subject, rate: Rate, end: float, *, column: Sequence[Rate] = ()) -> RateCell:
    """Return a rate on an axis from 0 to `end`; `column` holds the rates next to it."""
    result = rate.measurement.result
    enough = isinstance(result, Estimate) and result.n >= figures.FEW
    several = len({other.annotator for other in column}) > 1 or (bool(column) and rate.annotator == PEOPLE)
    application = rate.measurement.application
    by = (title_of(subject.study, rate.annotator) if several else "", rate.station)
    return RateCell(
        estimate=rate.place,
        application=application,
        tint=subject.tint(application),
        by=", ".join(filter(None, by)),
        count=rate.defects_text,
        of=figures.count(result.n),
        percent=figures.percent(result.value) if isinstance(result, Estimate) and enough else "",
        interval=interval_words(rate) if enough else "",
        undefined=undefined_text(result) if isinstance(result, Undefined) else "",
        unmeasured=unmeasured_words(rate),
        n_unmeasured=rate.measurement.outcomes.unmeasured,
        bar=bar_of(rate, end) if enough else None,
    )


def measured_rules(subject: Subject) -> list[tuple[Guideline, DefectRule]]:
    """Return the rules with annotators, in order of the study file."""
    bare = unlabelled_guidelines(subject.study, subject.rates)
    return [(guideline, rule) for guideline, rule in rules_of(subject.study) if guideline not in bare]


def shown_rules(subject: Subject) -> list[tuple[Guideline, DefectRule]]:
    """Return the rules of the first screen: both sides of a guardrail, else the first two."""
    guardrail = guardrail_of(subject.study)
    if guardrail is not None:
        return [(guardrail.guideline, guardrail.withheld), (guardrail.guideline, guardrail.released)]
    return (measured_rules(subject) or list(rules_of(subject.study)))[:2]


def shown_axis(subject: Subject) -> float:
    """Return the end of the common axis of the first screen's rules, over all annotators; fraction."""
    return axis_end([rate for rule in shown_rules(subject) for rate in _rates_under(subject, *rule)])


def axis_of(subject: Subject, guideline: Guideline, rule: DefectRule) -> float:
    """Return the end of a rule's axis, which is the same wherever the report draws its rates; fraction."""
    if (guideline, rule) in shown_rules(subject):
        return shown_axis(subject)
    return axis_end(_rates_under(subject, guideline, rule))


def _rates_under(subject: Subject, guideline: Guideline, rule: DefectRule) -> tuple[Rate, ...]:
    return rates_for(subject.rates, guideline.name, rule.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBlock:
    """One rule: rates by every annotator, and by groups.

    Attributes:
        title: Heading.
        guideline: Name of the guideline.
        condition: The rule as written.
        phrase: Definition of a defect.
        axis: End of the axis, e.g. `75%`.
        tables: Annotators, and the rates by their labels.
        n_open: Number of open tables; the others are folded. Count.
        groups: Group and the rates by its values.
        corrected: Rates of judges corrected by labels of people; None without any.
        risks: Risks that a defect shows, each with its entry in a taxonomy.
    """

    title: str
    guideline: str
    condition: str
    phrase: str
    axis: str
    tables: tuple[tuple[str, tuple[RateCell, ...]], ...]
    n_open: int
    groups: tuple[tuple[str, Table], ...]
    corrected: Table | None
    risks: tuple[str, ...]


def nobody_labels_by(subject: Subject) -> tuple[str, ...]:
    """Return the names of guidelines with rules that have no rate because there are no labels."""
    return tuple(guideline.name for guideline in unlabelled_guidelines(subject.study, subject.rates))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Distribution of one annotator's labels over the scale, one application per row."""

    guideline: str
    question: str
    by: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[BandPart, ...]], ...]


def area_table(subject: Subject) -> Table | None:
    """Return areas by applications, if the study covers many areas."""
    rows = matrix_of(subject.study, subject.rates)
    if not rows:
        return None
    end = axis_end([rate for row in rows for rate in row.cells if rate is not None])
    return Table(
        title="Areas by application",
        columns=columns("area", *(application.name for application in subject.study.applications)),
        rows=tuple(
            (
                f"{row.area} ({row.station})" if row.station else row.area,
                *(_cell(subject, rate, end) for rate in row.cells),
            )
            for row in rows
        ),
        style="groups areas",
    )


def rule_blocks(subject: Subject) -> tuple[RuleBlock, ...]:
    """Return one block for each rule with annotators, in order of the study file."""
    return tuple(_block(subject, guideline, rule) for guideline, rule in measured_rules(subject))


def _block(subject: Subject, guideline: Guideline, rule: DefectRule) -> RuleBlock:
    rates = rates_for(subject.rates, guideline.name, rule.name)
    end = axis_of(subject, guideline, rule)
    by_annotator: dict[str, list[Rate]] = defaultdict(list)
    for rate in rates:
        by_annotator[rate.annotator].append(rate)
    lead = {rate.annotator for rate in lead_rates(subject.rates, guideline.name, rule.name)}
    ordered = sorted(by_annotator, key=lambda name: name not in lead)
    sizes = {rate.measurement.result.n for rate in rates}
    return RuleBlock(
        title=heading_of(guideline, rule),
        guideline=guideline.name,
        condition=rule.condition,
        phrase=short_phrase(rule) if any(rate.station for rate in rates) else phrase_of(rule, sizes),
        axis=f"{figures.points(end).removesuffix('.0')}%",
        tables=tuple(
            (_by(subject, name), tuple(rate_cell(subject, rate, end) for rate in by_annotator[name]))
            for name in ordered
        ),
        n_open=len(lead) if any(rate.is_single for rate in rates) else 1,
        groups=_groups(subject, guideline, rule, ordered[:1]),
        corrected=_corrected(subject, guideline, rule),
        risks=tuple(
            f"{risk.name} ({risk.classes[0].text})"
            for risk in subject.study.risks
            if risk.classes and f"{guideline.name}.{rule.name}" in risk.rules
        ),
    )


def _by(subject: Subject, annotator: str) -> str:
    """Return the annotators of a table; of a judge, whether it is validated."""
    note = validation_note(subject.evidence, annotator)
    return title_of(subject.study, annotator) + (f" ({note})" if note else "")


def _corrected(subject: Subject, guideline: Guideline, rule: DefectRule) -> Table | None:
    corrections = corrections_to_tell(subject.study, subject.findings, guideline, rule)
    if not corrections:
        return None
    return Table(
        title=f"{heading_of(guideline, rule)} corrected by people's labels",
        caption="Corrected by people's labels",
        columns=columns("Application", "Judge alone", "Corrected"),
        rows=tuple(_corrected_row(subject, correction) for correction in corrections),
        style="groups figures",
    )


def _corrected_row(subject: Subject, correction: Correction) -> tuple[TableCell | str, ...]:
    study = subject.study
    by = f"{title_of(study, correction.judge)}, by {title_of(study, correction.by)}"
    return (
        TableCell(value=correction.measurement.application, details=(by,)),
        own_words(correction, subject.findings, subject.rates) or "none",
        TableCell(value=correction.text, estimate=correction.place),
    )


def _groups(
    subject: Subject, guideline: Guideline, rule: DefectRule, lead: Sequence[str]
) -> tuple[tuple[str, Table], ...]:
    splits: dict[str, list[Rate]] = defaultdict(list)
    for rate in subject.rates:
        of = rate.measurement.subject
        if rate.group and (of.guideline, of.rule) == (guideline.name, rule.name) and rate.annotator in lead:
            splits[rate.group.name].append(rate)
    title = heading_of(guideline, rule)
    return tuple((name, _group_table(subject, title, name, rates)) for name, rates in splits.items())


def _group_table(subject: Subject, title: str, name: str, rates: Sequence[Rate]) -> Table:
    end = axis_end(rates)
    applications = tuple(application.name for application in subject.study.applications)
    by_cell = {(_value(rate), rate.measurement.application): rate for rate in rates}
    return Table(
        title=f"{title} by {name}",
        columns=columns(name, *applications),
        rows=tuple(
            (
                value or "(none)",
                *(_cell(subject, by_cell.get((value, application)), end) for application in applications),
            )
            for value in dict.fromkeys(value for value, _ in by_cell)
        ),
        style="groups",
    )


def _value(rate: Rate) -> str:
    """Return the value that a rate is a split by, with the level of testing if there are several."""
    value = rate.group.value if rate.group else ""
    return f"{value} ({rate.station})" if rate.station else value


def _cell(subject: Subject, rate: Rate | None, end: float) -> RateCell | None:
    return rate_cell(subject, rate, end) if rate is not None and rate.measurement.result.n else None


def spreads(subject: Subject) -> tuple[Spread, ...]:
    """Return how the labels that the rates are read by are spread over each guideline's scale."""
    return tuple(
        _spread(subject, guideline, annotator, f"spread{index}.{number}")
        for index, guideline in enumerate(subject.study.guidelines)
        if guideline.question.scale.kind is not ScaleKind.DECIMALS  # no two numbers need be equal
        and not is_graded(guideline.question.scale)  # a histogram shows these
        for number, annotator in enumerate(lead_annotators(subject, guideline))
    )


def lead_annotators(subject: Subject, guideline: Guideline) -> tuple[str, ...]:
    """Return the annotators of a guideline's leading rates, over all applications."""
    study = subject.study
    names = [name for application in study.applications for name in reference_names(study, guideline, application)]
    return tuple(dict.fromkeys(names))


def _spread(subject: Subject, guideline: Guideline, annotator: str, name: str) -> Spread:
    question, table = guideline.question, subject.evidence.answers
    rows, seen = [], set[str]()
    for index, application in enumerate(subject.study.applications):
        positions = positions_of(subject.study, table, application, guideline)
        result = positions_by_label(table, annotator, guideline, positions)
        seen |= set(result)
        order = [*question.scale.categories, *sorted(set(result) - set(question.scale.categories))]
        parts = [(label, result.get(label, [])) for label in order]
        bars = band(subject, parts, name=f"{name}.{index}", title=f"{application.name}: {{}}")
        rows.append((application.name, subject.tint(application.name), bars))
    on_scale = [label for label in question.scale.categories if label in seen]
    return Spread(
        guideline=guideline.name,
        question=question.text or question.name,
        by=title_of(subject.study, annotator),
        labels=(*on_scale, *sorted(seen - set(question.scale.categories))),
        rows=tuple(rows),
    )


def positions_by_label(
    table: AnswerTable, annotator: str, guideline: Guideline, positions: Positions
) -> dict[str, list[int]]:
    """Return the dialogues by label, or by outcome without one; a pool has one entry for each person."""
    result: dict[str, list[int]] = defaultdict(list)
    labels = labels_of(table, annotator, guideline, guideline.question, positions=positions)
    for position, label in zip(positions, labels, strict=True):
        if annotator != PEOPLE or label.value is None:
            result[label.value or label.outcome.value].append(position)
    if annotator == PEOPLE:
        for pool_label in pool_labels_of(table, guideline, guideline.question, positions=positions):
            result[pool_label.value].append(pool_label.position)
    return result
