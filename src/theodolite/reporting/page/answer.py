"""The first screen of the report: the question, the rates with their heatmap, and how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate import Estimate, ValidationReport
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.run import RunState
from theodolite.domain.study import Study
from theodolite.reporting.interval_bars import bar_of, scale_of
from theodolite.reporting.page.overview import Tag, Tile, findings_of, tags_of, tiles_of
from theodolite.reporting.page.rates import measured_rules, rate_cell, shown_axis, shown_rules
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.agreements import is_checked, judges_of, unreadable_judges
from theodolite.reporting.queries.cases import scripted_names, title_of
from theodolite.reporting.queries.headline import headline
from theodolite.reporting.queries.rates import SPLIT, MatrixRow, Rate, lead_rates, matrix_of
from theodolite.reporting.tables import RateCell
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import cluster_words, heading_of, phrase_of, short_phrase
from theodolite.reporting.words.estimates import rules_of_report

_TRIED = (Measure.JUDGE_SENSITIVITY, Measure.JUDGE_PRECISION, Measure.CORRECTED_RATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumn:
    """One rule over all applications; `tells_n` is whether its phrase states n for each count."""

    title: str
    phrase: str
    condition: str
    tells_n: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One application: its rates under each column, one or several annotators each."""

    application: str
    tint: int
    cells: tuple[tuple[RateCell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """The first screen.

    Attributes:
        title: Heading.
        about: One or two sentences.
        headline: Applications, testers and annotators.
        warnings: Warnings to read before any number.
        tags: Status and make-up of the run.
        tiles: The main counts.
        findings: Takeaways that the rates call for.
        columns: The displayed rules; at most two.
        rows: The applications in order of the study file.
        axis: End of the axis, e.g. `75%`.
        scale: Position of each tick in percent of a strip, and its value.
        aids: Reading aids; at most two.
        more_aids: The rest, under "why?".
        n_more_rules: Rules that are further down only; count.
    """

    title: str
    about: str
    headline: str
    warnings: tuple[str, ...]
    tags: tuple[Tag, ...]
    tiles: tuple[Tile, ...]
    findings: tuple[str, ...]
    columns: tuple[AnswerColumn, ...]
    rows: tuple[Row, ...]
    axis: str
    scale: tuple[tuple[float, str], ...]
    aids: tuple[str, ...]
    more_aids: tuple[str, ...]
    n_more_rules: int


def answer_view(subject: Subject) -> AnswerView:
    """Return the first screen of a run's report."""
    shown = shown_rules(subject)
    columns = [lead_rates(subject.rates, guideline.name, rule.name) for guideline, rule in shown]
    end = shown_axis(subject)
    aids = _aids(subject, [rate for column in columns for rate in column])
    study = subject.study
    return AnswerView(
        title=study.title or study.name,
        about=study.about,
        headline=headline(subject.evidence, subject.agreements),
        warnings=_warnings(subject),
        tags=tags_of(subject),
        tiles=tiles_of(subject),
        findings=findings_of(subject),
        columns=tuple(_column(guideline, rule, rates) for (guideline, rule), rates in zip(shown, columns, strict=True)),
        rows=tuple(_row(subject, app.name, columns, end) for app in study.applications),
        axis=f"{figures.points(end).removesuffix('.0')}%",
        scale=scale_of(end),
        aids=aids[:2],
        more_aids=aids[2:],
        n_more_rules=sum(rule not in shown for rule in measured_rules(subject)),
    )


def _column(guideline: Guideline, rule: DefectRule, rates: Sequence[Rate]) -> AnswerColumn:
    sizes = {rate.measurement.result.n for rate in rates}
    phrase, without = phrase_of(rule, sizes), short_phrase(rule)
    if any(rate.station for rate in rates):
        phrase = without
    tells_n = len(sizes) == 1 and phrase != without
    return AnswerColumn(title=heading_of(guideline, rule), phrase=phrase, condition=rule.condition, tells_n=tells_n)


def _row(subject: Subject, application: str, columns: Sequence[Sequence[Rate]], end: float) -> Row:
    cells = tuple(
        tuple(
            rate_cell(subject, rate, end, column=column)
            for rate in column
            if rate.measurement.application == application
        )
        for column in columns
    )
    return Row(application=application, tint=subject.tint(application), cells=cells)


def _warnings(subject: Subject) -> tuple[str, ...]:
    evidence, words, texts = subject.evidence, subject.words, []
    if evidence.run.state is RunState.UNFINISHED:
        done, planned = figures.count(evidence.answers.n_completed), figures.count(len(evidence.sessions))
        texts.append(words.aid("unfinished", done=done, planned=planned))
    if names := scripted_names(evidence):
        texts.append(f"{words.aid('scripted')} Scripted: {', '.join(names)}.")
    texts += unreadable_judges(evidence.study, subject.cases)
    if any(group.example for group in evidence.study.personas):
        texts.append(words.aid("example_rows"))
    return tuple(texts)


def _aids(subject: Subject, rates: Sequence[Rate]) -> tuple[str, ...]:
    """Return the reading aids that these rates call for, the most pressing first."""
    words, settings = subject.words, subject.evidence.answers.settings
    untried = any(
        judge.kind is AnnotatorKind.MODEL
        and not is_checked(subject.evidence, subject.agreements, guideline, judge.name)
        for guideline in subject.study.guidelines
        for judge in judges_of(subject.study, guideline.name)
    )
    held_by = {setting.held_by for setting in settings}
    simulated = TesterType.SIMULATED_USER in held_by and TesterType.PERSON not in held_by
    aids = [
        _zero_aid(subject, rates),
        words.aid("pool_share") if any(rate.has_shares for rate in rates) else "",
        _failures_aid(subject, rates),
        _levels_aid(subject, rates),
        words.aid("judge_untried") if untried else "",
        _validation_aid(subject),
        words.aid("simulated_users") if simulated else "",
        words.aid("any_rate"),
        _cluster_aid(subject, rates),
        _unparseable_aid(subject, rates),
        words.aid("interval"),
    ]
    return tuple(aid for aid in aids if aid)


def _validation_aid(subject: Subject) -> str:
    """Return the accuracy of the first validated judge, by the first rule for which labels are sufficient."""
    for report in subject.evidence.validation_reports:
        for rule in rules_of_report(report):
            result = [report.figure(measure, rule=rule) for measure in _TRIED]
            results = [
                measurement.result
                for measurement in result
                if measurement is not None and isinstance(measurement.result, Estimate)
            ]
            if len(results) == len(_TRIED):
                validation_note = _validation_text(subject, report, results)
                return f"{title_of(subject.study, report.judge)}, {rule}: {validation_note}"
    return ""


def _validation_text(subject: Subject, report: ValidationReport, results: Sequence[Estimate]) -> str:
    """Return how a judge errs against one authority: defects that it misses, false alarms, its corrected rate."""
    caught, right, rate = results
    exact = report.figure(Measure.EXACT_AGREEMENT)
    n = exact.result.n if exact else report.labelled
    authority = report.authorities[0]
    by = "final labels" if authority == REFERENCE else f"labels by {title_of(subject.study, authority)}"
    return subject.words.aid(
        "judge_tried",
        n=figures.count(n),
        labels=by,
        miss=_rest_text(caught),
        false=_rest_text(right),
        value=figures.percent(rate.value),
        low=figures.points(rate.low or 0.0),
        high=figures.percent(1.0 if rate.high is None else rate.high),
    )


def _rest_text(share: Estimate) -> str:
    """Return the remaining share, with its interval: `25.0% (3.8 to 79.1)`; a count of few units."""
    if share.count is not None and share.n < figures.FEW:
        return f"{figures.count(share.n - share.count)} of {figures.count(share.n)}"
    ends = "" if share.low is None or share.high is None else f" ({figures.span(1 - share.high, 1 - share.low)})"
    return f"{figures.percent(1 - share.value)}{ends}"


def _failures_aid(subject: Subject, rates: Sequence[Rate]) -> str:
    result = [r for r in rates if r.measurement.bounds and r.measurement.result.n >= figures.FEW]
    if not result:
        return ""
    worst = max(result, key=lambda rate: rate.measurement.outcomes.unmeasured)
    low, high = (figures.percent(bound) for bound in worst.measurement.bounds or (0.0, 0.0))
    outcomes = worst.measurement.outcomes
    n = outcomes.planned - outcomes.not_applicable
    aid = subject.words.aid("failures", f=outcomes.unmeasured, n=figures.count(n), low=low, high=high)
    return f"{worst.measurement.application}: {aid}" if len(subject.study.applications) > 1 else aid


def _levels_aid(subject: Subject, rates: Sequence[Rate]) -> str:
    levels = {rate.measurement.subject.level for rate in rates}
    return subject.words.aid("levels") if len(levels - {None}) > 1 else ""


def _unparseable_aid(subject: Subject, rates: Sequence[Rate]) -> str:
    unread = max((rate.measurement.outcomes.unparseable for rate in rates), default=0)
    return subject.words.aid("unparseable", u=figures.count(unread)) if unread else ""


def _zero_aid(subject: Subject, rates: Sequence[Rate]) -> str:
    zeros = [r for r in rates if r.estimate and not r.defects and r.ceiling and r.estimate.n >= figures.FEW]
    if not zeros:
        return ""
    rate = max(zeros, key=lambda zero: zero.measurement.result.n)
    n, bound = figures.count(rate.measurement.result.n), figures.percent(rate.ceiling or 0.0)
    tester, _ = cluster_words(subject.evidence.answers.settings, rate.measurement.subject)
    aid = "zero_defects" if rate.estimate is None or rate.estimate.n_clusters is None else "zero_defects_clustered"
    return subject.words.aid(aid, zero=0, n=n, bound=bound, tester=tester)


def _cluster_aid(subject: Subject, rates: Sequence[Rate]) -> str:
    for rate in rates:
        estimate = rate.estimate
        if estimate is None or not estimate.n_clusters or not estimate.n >= estimate.n_clusters * 2:
            continue
        worth = round(estimate.n / estimate.design_effect) if estimate.design_effect else estimate.n_clusters
        n, k, m = (figures.count(number) for number in (estimate.n, estimate.n_clusters, worth))
        one, many = cluster_words(subject.evidence.answers.settings, rate.measurement.subject)
        return subject.words.aid(
            "few_personas", n=n, k=k, m=m, testers=one if estimate.n_clusters == 1 else many, tester=one
        )
    return ""


STEPS = 9
"""Number of steps of the hue; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """One rate.

    Attributes:
        rate: The rate; None if the study plans none.
        step: Its step of the hue, 0 to 8; -1 for too few dialogues or an undefined rate.
        value: The rate as a fraction, for sorting; -1 for none.
        width: Width of its interval, for sorting; -1 for none.
    """

    rate: RateCell | None
    step: int = -1
    value: float = -1
    width: float = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatRow:
    """One area with its cells, level by level."""

    area: str
    group: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatLevel:
    """A group of columns: a level of testing.

    Attributes:
        title: Level and tester type; empty if there is only one.
        size: Dialogues in a cell, as text.
        is_small: Whether all its cells have too few dialogues for a rate.
    """

    title: str
    size: str
    is_small: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Heatmap:
    """Areas by applications.

    Attributes:
        applications: Name and number of the colour of each application.
        levels: Groups of columns.
        rows: Areas, those of one group together.
        groups: Each group of areas with the number of its areas.
    """

    applications: tuple[tuple[str, int], ...]
    levels: tuple[HeatLevel, ...]
    rows: tuple[HeatRow, ...]
    groups: tuple[tuple[str, int], ...]


def heatmap_of(subject: Subject) -> Heatmap | None:
    """Return the heatmap of a study with many areas and several applications; None for others."""
    rows = [replace(row, station=_condition(subject, row)) for row in matrix_of(subject.study, subject.rates)]
    if not rows:
        return None
    by_cell = {(row.area, row.station): row for row in rows}
    stations = sorted(dict.fromkeys(row.station for row in rows), key=lambda name: -_largest(rows, name))
    areas = list(dict.fromkeys(row.area for row in rows))
    groups = {area: _group(subject.study, [row for row in rows if row.area == area]) for area in areas}
    ordered = sorted(areas, key=lambda area: list(dict.fromkeys(groups.values())).index(groups[area]))
    applications = tuple((app.name, subject.tint(app.name)) for app in subject.study.applications)
    return Heatmap(
        applications=applications,
        levels=tuple(_level(rows, condition) for condition in stations),
        rows=tuple(
            HeatRow(
                area=area,
                group=groups[area],
                cells=tuple(
                    cell
                    for condition in stations
                    for cell in _cells(subject, by_cell.get((area, condition)), len(applications))
                ),
            )
            for area in ordered
        ),
        groups=tuple(
            (group, sum(other == group for other in groups.values()))
            for group in dict.fromkeys(groups[a] for a in ordered)
        ),
    )


def _group(study: Study, rows: Sequence[MatrixRow]) -> str:
    """Return the title of an area's defect if several areas share it; else of its violation."""
    rate = next((rate for row in rows for rate in row.cells if rate is not None), None)
    if rate is None:
        return ""
    subject = rate.measurement.subject
    guideline = next((one for one in study.guidelines if one.name == subject.guideline), None)
    rule = (
        next((defect_rule for defect_rule in guideline.defect_rules if defect_rule.name == subject.rule), None)
        if guideline
        else None
    )
    violation = rule.violation if rule else None
    return violation.value.replace("_", " ").capitalize() if violation else "Other"


def _condition(subject: Subject, row: MatrixRow) -> str:
    """Return the level of testing and the tester type; read from the plan if an area has only one level."""
    rate = next((rate for rate in row.cells if rate is not None and rate.group is not None), None)
    if row.station or rate is None or rate.group is None or rate.group.name != SPLIT:
        return row.station
    scenario = rate.group.value
    settings = {
        f"{setting.level.value}, {setting.held_by.value}"
        for setting in subject.evidence.answers.settings
        if setting.scenario == scenario
    }
    return settings.pop() if len(settings) == 1 else ""


def _add_rest(subject: Subject, rate: Rate) -> None:
    """Store the labelled dialogues of a rate that are not defects, if their number equals its count."""
    of, group = rate.measurement.subject, rate.group
    guideline = next((one for one in subject.study.guidelines if one.name == of.guideline), None)
    defects = {case.index for case in subject.labelled(rate.measurement.dialogues)}
    if guideline is None or (group is not None and group.name != SPLIT):
        return
    rule = next((defect_rule for defect_rule in guideline.defect_rules if defect_rule.name == of.rule), None)
    rest = [
        case.index
        for case in subject.cases
        if case.index not in defects
        and case.setting.application == of.application
        and (group is None or case.setting.scenario == group.value)
        and rate.station in {"", f"{case.setting.level.value}, {case.setting.held_by.value}"}
        and rule is not None
        and case.dialogue_label(rate.annotator, guideline, rule.question).outcome is Outcome.ANSWERED
    ]
    if len(rest) + len(defects) == rate.measurement.result.n:
        subject.sets.add(f"rest{rate.place}", f"{of.application}: no defect", rest)


def _sizes(rows: Sequence[MatrixRow], condition: str) -> list[int]:
    return [
        rate.measurement.result.n for row in rows if row.station == condition for rate in row.cells if rate is not None
    ]


def _largest(rows: Sequence[MatrixRow], condition: str) -> int:
    return max(_sizes(rows, condition), default=0)


def _level(rows: Sequence[MatrixRow], condition: str) -> HeatLevel:
    sizes = sorted(_sizes(rows, condition))
    low, high = sizes[0], sizes[-1]
    cell_size = figures.count(high) if low == high else f"{figures.count(low)} to {figures.count(high)}"
    return HeatLevel(
        title=condition[:1].upper() + condition[1:], size=f"{cell_size} dialogues a cell", is_small=high < figures.FEW
    )


def _cells(subject: Subject, row: MatrixRow | None, n: int) -> tuple[HeatCell, ...]:
    rates: Sequence[Rate | None] = row.cells if row else [None] * n
    return tuple(_cell(subject, rate) for rate in rates)


def _cell(subject: Subject, rate: Rate | None) -> HeatCell:
    if rate is None:
        return HeatCell(rate=None)
    shown = rate_cell(subject, rate, 1.0)
    _add_rest(subject, rate)
    estimate = rate.estimate
    if estimate is None or shown.bar is None:
        return HeatCell(rate=shown)
    bar = bar_of(rate, 1.0)
    step = min(int(estimate.value * (STEPS - 0.001)), STEPS - 1)
    return HeatCell(rate=shown, step=step, value=estimate.value, width=round(bar.high - bar.low, 4))
