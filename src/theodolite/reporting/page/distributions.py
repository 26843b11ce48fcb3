"""Distributions in the report: severities, votes, exclusions before a rate, questionnaires, groups and controls."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.answer_rules import labels_of, positions_of
from theodolite.domain.application import Application
from theodolite.domain.estimate import Estimate
from theodolite.domain.findings.agreement import AnnotatorGroups, GroupDefects
from theodolite.domain.findings.responses import AnswerSpread, ResponseFinding
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.plan import Setting
from theodolite.reporting.interval_bars import ends_of
from theodolite.reporting.page.charts import Chart, CountRow, Part, ShareRow, dots, funnel, histograms, stacked
from theodolite.reporting.page.rates import axis_of, is_graded, lead_annotators, positions_by_label
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.queries.dispositions import Account, account_text
from theodolite.reporting.queries.rates import Rate, interval_words, lead_rates
from theodolite.reporting.tables import Column, ColumnKind, Link, Table, TableCell, Value, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of


def _in_words(title: str) -> str:
    """Return the text alternative of a drawing."""
    return f"{title}. The table below holds the same values."


def severity_charts(subject: Subject) -> tuple[Chart, ...]:
    """Return the histogram of each graded question in a rule, by the annotators of the leading rates."""
    return tuple(
        _severity(subject, guideline, annotator, f"severity{index}.{number}")
        for index, guideline in enumerate(subject.study.guidelines)
        if is_graded(guideline.question.scale)
        for number, annotator in enumerate(lead_annotators(subject, guideline))
    )


def _severity(subject: Subject, guideline: Guideline, annotator: str, name: str) -> Chart:
    by, scale = title_of(subject.study, annotator), guideline.question.scale.categories
    by_application = {
        application.name: positions_by_label(
            subject.evidence.answers,
            annotator,
            guideline,
            positions_of(subject.study, subject.evidence.answers, application, guideline),
        )
        for application in subject.study.applications
    }
    labels = (*scale, *sorted({label for result in by_application.values() for label in result} - set(scale)))
    panels = []
    for index, (application, result) in enumerate(by_application.items()):
        parts = tuple(
            Part(
                label=label,
                n=len(result.get(label, [])),
                opens=subject.sets.add(
                    f"{name}.{index}.{number}", f"{application}: {guideline.name} {label}", result.get(label, [])
                ),
            )
            for number, label in enumerate(labels)
        )
        panels.append(CountRow(title=application, tint=subject.tint(application), parts=parts))
    title = f"Severity: {guideline.name}, by {by}"
    unit = "labels" if annotator == PEOPLE else "dialogues"
    shown_panels = [replace(panel, parts=panel.parts[: len(scale)]) for panel in panels]
    others = ", ".join(labels[len(scale) :])
    return Chart(
        title=title,
        legend=f"{guideline.question.text or guideline.question.name} Columns are {unit}, one scale for all."
        + (f" The table also counts: {others}." if others else ""),
        drawing=histograms(shown_panels, label=_in_words(title), unit=unit),
        table=_panel_table(title, "Application", panels),
    )


def _panel_table(title: str, first: str, panels: Sequence[CountRow]) -> Table:
    """Return the counts of some panels: one row per panel, one column per part."""
    return Table(
        title=f"{title}: values",
        columns=(*columns(first), *(Column(part.label, ColumnKind.COUNT) for part in panels[0].parts), *columns("n")),
        rows=tuple(
            (
                panel.title,
                *(TableCell(value=part.n, kind=ColumnKind.COUNT, opens=part.opens) for part in panel.parts),
                panel.n,
            )
            for panel in panels
        ),
        style="groups",
    )


def vote_charts(subject: Subject) -> tuple[Chart, ...]:
    """Return the number of annotators of one kind who see each defect, for rules with several annotators."""
    charts = []
    for number, (guideline, rule) in enumerate(rules_of(subject.study)):
        for kind, title in ((AnnotatorKind.PERSON, "people"), (AnnotatorKind.MODEL, "model judges")):
            names = [
                annotator.name
                for annotator in subject.study.annotators
                if annotator.guideline == guideline.name and annotator.kind is kind
            ]
            panels = _votes(subject, guideline, rule, names, f"votes{number}.{kind.value}") if len(names) > 1 else ()
            if any(panel.n for panel in panels):
                charts.append(_vote_chart(guideline, rule, title, names, panels))
    return tuple(charts)


def _vote_chart(
    guideline: Guideline, rule: DefectRule, kind: str, names: Sequence[str], panels: Sequence[CountRow]
) -> Chart:
    parts = dict.fromkeys((guideline.name, heading_of(guideline, rule).lower()))
    title = f"Votes: {', '.join(parts)}, {len(names)} {kind}"
    voters = f"both {kind}" if len(names) == 2 else f"all {len(names)} {kind}"
    return Chart(
        title=title,
        legend=f"Dialogues that {voters} labelled, by the number of them who see the defect."
        " Columns between the ends are disagreements.",
        drawing=histograms(panels, label=_in_words(title), unit="dialogues"),
        table=_panel_table(title, "Application", panels),
    )


def _votes(
    subject: Subject, guideline: Guideline, rule: DefectRule, names: Sequence[str], name: str
) -> tuple[CountRow, ...]:
    table, question = subject.evidence.answers, _question_of(guideline, rule)
    panels = []
    for place, application in enumerate(subject.study.applications):
        own = positions_of(subject.study, table, application, guideline)
        positions = array("L", (place for place in own if rule.applies_to(table.settings[place].groups)))
        by_name = [
            labels_of(table, annotator, guideline, question, rule=rule, positions=positions) for annotator in names
        ]
        result: dict[int, list[int]] = defaultdict(list)
        for position, *labels in zip(positions, *by_name, strict=True):
            values = [label.value for label in labels if label.value is not None]
            if len(values) == len(names):
                result[sum(rule.is_defect(value, question.scale) for value in values)].append(position)
        parts = tuple(
            Part(
                label=str(votes),
                n=len(result[votes]),
                opens=subject.sets.add(
                    f"{name}.{place}.{votes}", f"{application.name}: {votes} of {len(names)} votes", result[votes]
                ),
            )
            for votes in range(len(names) + 1)
        )
        panels.append(CountRow(title=application.name, tint=subject.tint(application.name), parts=parts))
    return tuple(panels)


def repeat_charts(subject: Subject) -> tuple[Chart, ...]:
    """Return the number of repeats of a dialogue, and of readings of a judge, that see each defect."""
    charts = [
        chart
        for number, (guideline, rule) in enumerate(rules_of(subject.study))
        for annotator in lead_annotators(subject, guideline)
        if (chart := _repeats(subject, guideline, rule, annotator, f"repeats{number}.{annotator}"))
    ]
    for number, guideline in enumerate(subject.study.guidelines):
        judges = (one for one in subject.study.annotators if one.guideline == guideline.name)
        result = (_readings(subject, guideline, judge.name, f"readings{number}.{judge.name}") for judge in judges)
        charts += [chart for chart in result if chart]
    return tuple(charts)


_MOST_VOTES = 12
"""Maximum number of votes with a column for each number; count."""


@dataclass(slots=True)
class _Votes:
    """Prompts or dialogues with the same number of votes: their number, and the positions of their dialogues."""

    n: int = 0
    positions: array[int] = field(default_factory=lambda: array("L"))


_ByVotes = dict[tuple[int, int], _Votes]
"""Votes: all counted votes and those for a defect."""


def _repeats(subject: Subject, guideline: Guideline, rule: DefectRule, annotator: str, name: str) -> Chart | None:
    """Return by application the number of repeats of a dialogue with a defect; None if no dialogue repeats."""
    result = {
        application.name: _repeat_votes(subject, application, guideline, rule, annotator)
        for application in subject.study.applications
    }
    title = f"Repeats: {guideline.name}, {heading_of(guideline, rule).lower()}, by {title_of(subject.study, annotator)}"
    legend = "Prompts whose repeats all have a label, by the number of repeats that are a defect."
    return _vote_panels(subject, result, title, legend, "prompts", name)


def _repeat_votes(
    subject: Subject, application: Application, guideline: Guideline, rule: DefectRule, annotator: str
) -> _ByVotes:
    table, question = subject.evidence.answers, _question_of(guideline, rule)
    own = positions_of(subject.study, table, application, guideline)
    positions = array("L", (place for place in own if rule.applies_to(table.settings[place].groups)))
    labels = labels_of(table, annotator, guideline, question, rule=rule, positions=positions)
    # Columns by number of the prompt: a list for each prompt would need too much memory for many dialogues.
    numbers: dict[tuple[str, ...], int] = {}
    prompt_of, sizes, defects, is_labelled = array("L"), array("L"), array("L"), bytearray()
    for position, label in zip(positions, labels, strict=True):
        prompt = numbers.setdefault(_repeated_as(table.settings[position]), len(sizes))
        if prompt == len(sizes):
            sizes.append(0)
            defects.append(0)
            is_labelled.append(True)
        prompt_of.append(prompt)
        sizes[prompt] += 1
        if label.value is None:
            is_labelled[prompt] = False
        else:
            defects[prompt] += rule.is_defect(label.value, question.scale)
    result: _ByVotes = defaultdict(_Votes)
    for prompt, size in enumerate(sizes):
        if size > 1 and is_labelled[prompt]:
            result[size, defects[prompt]].n += 1
    for position, prompt in zip(positions, prompt_of, strict=True):
        if sizes[prompt] > 1 and is_labelled[prompt]:
            result[sizes[prompt], defects[prompt]].positions.append(position)
    return result


def _repeated_as(setting: Setting) -> tuple[str, ...]:
    """Return the settings that a session shares only with its repeats."""
    level, held_by = setting.level.value, setting.held_by.value
    return (setting.scenario, level, held_by, setting.kind.value, setting.tester, setting.model, setting.strategy)


def _readings(subject: Subject, guideline: Guideline, judge: str, name: str) -> Chart | None:
    """Return by application the number of a judge's readings that see the first rule's defect; None for one."""
    table, rule = subject.evidence.answers, next(iter(guideline.defect_rules), None)
    columns_of = table.votes.get((judge, guideline.name, guideline.question.name))
    if rule is None or columns_of is None or rule.question != guideline.question.name:
        return None
    scale = guideline.question.scale
    by_application: dict[str, _ByVotes] = defaultdict(lambda: defaultdict(_Votes))
    for position, rows in columns_of.by_position():
        setting = table.settings[position]
        values = [row.value for row in rows if row.value is not None and scale.admits(row.value)]
        if len(rows) > 1 and len(values) == len(rows) and rule.applies_to(setting.groups):
            n_defects = sum(rule.is_defect(value, scale) for value in values)
            votes = by_application[setting.application][len(rows), n_defects]
            votes.n += 1
            votes.positions.append(position)
    title = f"Readings: {guideline.name}, {heading_of(guideline, rule).lower()}, by {title_of(subject.study, judge)}"
    legend = "Dialogues whose readings all have a label, by the number of readings that see the defect."
    return _vote_panels(subject, by_application, title, legend, "dialogues", name)


def _vote_panels(
    subject: Subject, found: Mapping[str, _ByVotes], title: str, legend: str, unit: str, name: str
) -> Chart | None:
    """Return histograms of votes by application; None if there are no votes."""
    sizes: Counter[int] = Counter()
    for by_votes in found.values():
        for (size, _), votes in by_votes.items():
            sizes[size] += votes.n
    if not sizes:
        return None
    usual = max(sizes, key=lambda n: (sizes[n], n))
    columns_of = vote_columns(usual)
    panels = []
    for index, application in enumerate(subject.study.applications):
        own = found.get(application.name, {})
        parts = []
        for column, (first, last) in enumerate(columns_of):
            those = [own[usual, n] for n in range(first, last + 1) if (usual, n) in own]
            label = str(first) if first == last else f"{first} to {last}"
            opens = subject.sets.add(
                f"{name}.{index}.{column}",
                f"{application.name}: {label} of {usual}",
                chain.from_iterable(votes.positions for votes in those),
            )
            parts.append(Part(label=label, n=sum(votes.n for votes in those), opens=opens))
        panels.append(CountRow(title=application.name, tint=subject.tint(application.name), parts=tuple(parts)))
    others = sizes.total() - sizes[usual]
    excluded = f" {figures.count(others)} with another number than {usual} are not in it." if others else ""
    return Chart(
        title=title,
        legend=f"{legend} Columns between the ends change from one to the next.{excluded}",
        drawing=histograms(panels, label=_in_words(title), unit=unit),
        table=_panel_table(title, "Application", panels),
    )


def vote_columns(n: int) -> list[tuple[int, int]]:
    """Return the columns for 0 to `n` votes by their first and last number: single numbers, or ranges if too many."""
    if n <= _MOST_VOTES:
        return [(votes, votes) for votes in range(n + 1)]
    ends = [round((n - 1) * part / 4) for part in range(5)]
    return [(0, 0), *((first + 1, last) for first, last in pairwise(ends)), (n, n)]


def _question_of(guideline: Guideline, rule: DefectRule) -> Question:
    return next(question for question in guideline.instrument.questions if question.name == rule.question)


def funnels(subject: Subject) -> tuple[tuple[str, str, Chart], ...]:
    """Return name, dispositions in words and funnel of each guideline."""
    return tuple(
        (account.guideline, account_text(account), _funnel(subject, number, account))
        for number, account in enumerate(subject.accounts)
    )


def _funnel(subject: Subject, number: int, account: Account) -> Chart:
    """Return planned, run, scored and used dialogues of a guideline with the losses by source."""
    losses: dict[str, list[Part]] = {"run": [], "scored": [], "used": []}
    lost: dict[str, set[int]] = {stage: set() for stage in losses}
    for index, part in enumerate(account.unmeasured):
        ran = {case for case in part.cases if subject.cases[case].dialogue is not None}
        last = "used" if part.outcome is Outcome.UNPARSEABLE else "scored"
        for stage, cases in (("run", set(part.cases) - ran), (last, ran)):
            if cases:
                opens = subject.sets.add(f"lost{number}.{index}.{stage}", f"{part.words} ({account.guideline})", cases)
                losses[stage].append(Part(label=part.words, n=len(cases), opens=opens))
                lost[stage] |= cases
    left = {*account.labelled.cases, *(case for part in account.unmeasured for case in part.cases)}
    stages = [_stage(subject, number, account, "planned", left)]
    for stage, cases in lost.items():
        left = left - cases
        stages.append(_stage(subject, number, account, stage, left))
    title = f"From plan to rate: {account.guideline}"
    return Chart(
        title=title,
        legend="",
        drawing=funnel(stages, tuple(losses.values()), label=_in_words(title)),
        table=_funnel_table(title, stages, tuple(losses.values())),
    )


def _stage(subject: Subject, number: int, account: Account, name: str, places: set[int]) -> Part:
    opens = subject.sets.add(f"stage{number}.{name}", f"{account.guideline}: {name}", places)
    return Part(label=name, n=len(places), opens=opens)


def _funnel_table(title: str, stages: Sequence[Part], losses: Sequence[Sequence[Part]]) -> Table:
    rows: list[tuple[Value | TableCell, ...]] = []
    for stage, lost in zip(stages, ((), *losses), strict=True):
        links = tuple(
            Link(before="; " if index else "", text=f"{part.label}: {figures.count(part.n)}", opens=part.opens)
            for index, part in enumerate(lost)
        )
        count = TableCell(value=stage.n, kind=ColumnKind.COUNT, opens=stage.opens)
        rows.append((stage.label, count, TableCell(value="" if links else "0", links=links)))
    return Table(
        title=f"{title}, values",
        columns=columns("Stage", "Dialogues", "Lost before this stage"),
        rows=tuple(rows),
        style="failures",
    )


def answer_charts(finding: ResponseFinding) -> tuple[Chart, ...]:
    """Return one stacked bar per application for each question of a questionnaire with ordered labels."""
    return tuple(
        _answer_chart(question, spreads, f"{finding.title}, {finding.level.value}")
        for question in finding.questions
        if (spreads := _graded_spreads(finding, question))
    )


def _graded_spreads(finding: ResponseFinding, question: Question) -> list[AnswerSpread]:
    if not is_graded(question.scale):
        return []
    return [spread for spread in finding.spreads if spread.question == question.name and not spread.group and spread.n]


def spread_chart(question: Question, spreads: Sequence[AnswerSpread], about: str) -> Chart | None:
    """Return one stacked bar per application; None if the labels have no order, or without answers."""
    answered = [spread for spread in spreads if spread.n]
    return _answer_chart(question, answered, about) if is_graded(question.scale) and answered else None


def _answer_chart(question: Question, spreads: Sequence[AnswerSpread], about: str) -> Chart:
    labels = question.scale.categories
    panels = [
        CountRow(
            title=spread.application,
            tint=-1,
            parts=tuple(Part(label=label, n=spread.counts.get(label, 0)) for label in labels),
        )
        for spread in spreads
    ]
    title = f"{question.text} ({about})"
    return Chart(
        title=question.text or question.name,
        legend="",
        drawing=stacked(panels, label=_in_words(title)),
        table=_panel_table(title, "Application", panels),
    )


def group_charts(subject: Subject) -> tuple[Chart, ...]:
    """Return the share of defects by self-described group of annotators, with intervals."""
    return tuple(
        _group_chart(groups, defects)
        for groups in subject.findings.annotator_groups
        for defects in groups.defects
        if any(isinstance(rate, Estimate) for _, rate in defects.rates)
    )


def _group_chart(groups: AnnotatorGroups, defects: GroupDefects) -> Chart:
    title = f"{defects.rule} by {groups.attribute}: {groups.guideline}, {groups.application}"
    rows = [
        ShareRow(
            title=name,
            tint=-1,
            low=rate.low if rate.low is not None else rate.value,
            value=rate.value,
            high=rate.high if rate.high is not None else rate.value,
            text=f"{figures.percent(rate.value)}, n {figures.count(rate.n)}",
        )
        for name, rate in defects.rates
        if isinstance(rate, Estimate)
    ]
    return Chart(
        title=title,
        legend="Share of the labels of each group that are a defect, with its interval.",
        drawing=dots(rows, axis=1.0, label=_in_words(title)),
        table=Table(
            title=f"{title}: values",
            columns=(*columns("Group"), Column("Defects of labels", ColumnKind.RATE)),
            rows=tuple((name, TableCell(value=rate, kind=ColumnKind.SHARE)) for name, rate in defects.rates),
            style="groups",
        ),
    )


def control_charts(subject: Subject) -> tuple[Chart, ...]:
    """Return the rates of each application next to its variants, with levels of testing as headings."""
    families = _families(subject)
    return tuple(
        chart
        for guideline, rule in rules_of(subject.study)
        for base, members in families
        if (chart := _control_chart(subject, guideline, rule, base, members)) is not None
    )


def _families(subject: Subject) -> list[tuple[Application, list[Application]]]:
    """Return each application with variants, together with these in order of the study file."""
    applications = subject.study.applications
    families = []
    for base in applications:
        variants = [application for application in applications if application.variant_of == base.name]
        if variants:
            families.append((base, [base, *variants]))
    return families


def _control_chart(
    subject: Subject, guideline: Guideline, rule: DefectRule, base: Application, members: Sequence[Application]
) -> Chart | None:
    names = [member.name for member in members]
    rates = [
        rate
        for rate in lead_rates(subject.rates, guideline.name, rule.name)
        if rate.measurement.application in names and rate.estimate is not None
    ]
    if len({rate.measurement.application for rate in rates}) < 2:
        return None
    title = f"{heading_of(guideline, rule)}: {base.name} and its variants"
    controls = {member.name: _controls(member, base) for member in members}
    ordered = sorted(rates, key=lambda rate: (rate.station, rate.annotator, names.index(rate.measurement.application)))
    rows = tuple(_control_dots(subject, ordered, controls))
    return Chart(
        title=title,
        legend="Intervals are of single rates. The command compare tests the difference on the same dialogues.",
        drawing=dots(rows, axis=axis_of(subject, guideline, rule), label=_in_words(title)),
        table=Table(
            title=f"{title}: values",
            columns=columns("Application", "Controls", "Level of testing", "Defects"),
            rows=tuple(
                (
                    rate.measurement.application,
                    controls[rate.measurement.application],
                    rate.station or "one level",
                    TableCell(value=_share_words(rate), estimate=rate.place),
                )
                for rate in ordered
            ),
            style="groups",
        ),
    )


def _controls(application: Application, base: Application) -> str:
    if application is base:
        return "as it is"
    added = [mitigation.name for mitigation in application.mitigations if mitigation not in base.mitigations]
    return ", ".join(added) or "none declared"


def _control_dots(subject: Subject, rates: Sequence[Rate], controls: dict[str, str]) -> Iterator[ShareRow]:
    heading = None
    several = len({rate.annotator for rate in rates}) > 1
    for rate in rates:
        by = f"by {title_of(subject.study, rate.annotator)}" if several else ""
        where = ", ".join(filter(None, (rate.station, by)))
        low, value, high = ends_of(rate)
        name = rate.measurement.application
        yield ShareRow(
            title=f"{name} ({controls[name]})",
            tint=subject.tint(name),
            low=low,
            value=value,
            high=high,
            text=_share_words(rate),
            heading=where if where != heading else "",
            opens=rate.place,
        )
        heading = where


def _share_words(rate: Rate) -> str:
    """Return a rate with the same interval or bound as in the rest of the report, for the drawing and its table."""
    estimate = rate.estimate
    share = figures.percent(estimate.value) if estimate else "undefined"
    return f"{rate.defects_text} of {figures.count(estimate.n if estimate else 0)}, {share} ({interval_words(rate)})"
