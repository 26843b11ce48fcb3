"""Rates, order metrics, testers and the next step as lines of a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.coding import CodedState
from theodolite.domain.estimate import Estimate, Findings, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import TaskTally
from theodolite.domain.findings.order import OrderMetrics, RankingAgreement, RankingFinding, ScoreSubject
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import Setting
from theodolite.domain.run import RunState
from theodolite.domain.study import Study
from theodolite.domain.undefined_reasons import UNDEFINED, reason_text, undefined_text
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.interval_bars import Pen, axis_end, bar_of, bar_text
from theodolite.reporting.queries.agreements import agreements_of, is_checked, judges_of, validation_of_judge
from theodolite.reporting.queries.cases import scripted_names, title_of
from theodolite.reporting.queries.dispositions import Account, accounts_to_tell
from theodolite.reporting.queries.rates import (
    Guardrail,
    MatrixRow,
    Rate,
    interval_words,
    lead_rates,
    rates_of,
    unlabelled_guidelines,
)
from theodolite.reporting.terminal.layout import MARGIN, labelled
from theodolite.reporting.words import figures
from theodolite.reporting.words import order_metrics as words
from theodolite.reporting.words.descriptions import cluster_words, phrase_of, short_phrase
from theodolite.reporting.words.reading_aids import Words

SHOWN: Final = 4

"""Maximum number of sequences, and of rankings, in a summary; further ones are counted and are in the report. Count."""


def order_lines(study: Study, metrics: OrderMetrics) -> Iterator[tuple[str, str]]:
    """Yield labelled lines on the order of scores and on rankings; a pointer if there are many."""
    defined = [sequence for sequence in metrics.sequences if not isinstance(sequence.profile, Undefined)]
    texts = [
        f"{_about(finding.subject)} by {title_of(study, finding.annotator)}:"
        f" mean {finding.level:.2f}, {words.profile_text(finding.profile)}"
        for finding in defined
    ]
    texts = texts if len(texts) <= SHOWN else [_pointer(len(texts))]
    texts += _undefined(metrics)
    yield from zip(["Order", *[""] * len(texts)], texts, strict=False)
    yield from zip(["Rankings", *[""] * len(metrics.rankings)], _rankings(study, metrics.rankings), strict=False)


def _rankings(study: Study, rankings: Sequence[RankingFinding]) -> list[str]:
    """Return human and model rankings together, and the reasons why there are none."""
    ranked = [ranking for ranking in rankings if isinstance(ranking.ranking, RankingAgreement)]
    texts = [
        f"{_about(one.subject)}: {title_of(study, one.annotator)} in the order of {_human(study, one.human)}:"
        f" {words.ranking_text(one.ranking, 'dialogue')}"
        for one in ranked
    ]
    if len(texts) > SHOWN:
        texts = [f"{figures.count(len(texts))} human and model rankings are compared in the report"]
    reasons = [ranking.ranking for ranking in rankings if isinstance(ranking.ranking, Undefined)]
    alike = Counter(reason_text(reason.reason) for reason in reasons)
    return [*texts, *(f"{UNDEFINED} for {figures.number_of(n, 'ranking')}: {text}" for text, n in alike.items())]


def _human(study: Study, name: str) -> str:
    return "people (mean)" if name == "people" else title_of(study, name)


def _about(subject: ScoreSubject) -> str:
    parts = (subject.guideline, subject.application, subject.level, subject.tester_type)
    return ", ".join(part for part in parts if part)


def _pointer(n: int) -> str:
    return f"PEN, CIN, LIS and LNDS of {figures.count(n)} sequences of scores are in the report"


def _undefined(metrics: OrderMetrics) -> list[str]:
    """Return why sequences have no metrics, once for each reason."""
    reasons = [sequence.profile for sequence in metrics.sequences if isinstance(sequence.profile, Undefined)]
    texts = dict.fromkeys(reason_text(reason.reason) for reason in reasons)
    if len(reasons) > SHOWN:
        return [f"{UNDEFINED} for {figures.count(len(reasons))} sequences: fewer scores than order metrics need"]
    return [f"{UNDEFINED}: {text}" for text in texts]


def testers_text(findings: Findings) -> str:
    """Return testers' answers; empty without any answer or statement on a task."""
    parts = [
        f"{figures.number_of(response.n, 'response')} of {figures.number_of(response.n_people, 'tester')}"
        f" in {response.level.value}"
        for response in findings.responses
        if response.n
    ]
    parts += [_task(level, tallies) for level, tallies in _by_level(findings).items()]
    uncoded = sum(
        coding.states.get(state, 0) for coding in findings.codings for state in (CodedState.UNCODED, CodedState.ONCE)
    )
    parts += [f"{figures.number_of(uncoded, 'answer')} in own words not coded by two yet"] if uncoded else []
    pending = sum(len(risk.pending) for risk in findings.risks)
    parts += (
        [f"{figures.number_of(pending, 'session')} to be reviewed with dialogue and answers together"]
        if pending
        else []
    )
    return "; ".join(parts)


def _by_level(findings: Findings) -> dict[str, list[TaskTally]]:
    result: dict[str, list[TaskTally]] = {}
    for task in findings.tasks:
        result.setdefault(task.level.value, []).append(task)
    return result


def _task(level: str, tallies: Sequence[TaskTally]) -> str:
    done = [(tally.application, tally.done) for tally in tallies if isinstance(tally.done, Estimate)]
    rates_text = ", ".join(f"{name} {figures.share(rate.count or 0, rate.n)}" for name, rate in done)
    return f"task done by own account in {level}: {rates_text or 'nobody said'}"


_MANY_UNMEASURED = 0.1

_SAMPLE = 40


def next_step(evidence: Evidence, findings: Findings, facts: RunFacts, accounts: Sequence[Account]) -> str:
    """Return the next step as text; empty if nothing is more urgent than reading the report."""
    if evidence.run.state is RunState.UNFINISHED:
        return f"go on where this run stopped:  {facts.command}"
    return (
        _unscripted(evidence)
        or _labelled(evidence, accounts, facts)
        or _mended(accounts)
        or _validated_judge(evidence, findings, facts)
        or _validated(evidence, facts)
        or _own_rows(evidence)
        or _more_testers(evidence, findings)
    )


def _unscripted(evidence: Evidence) -> str:
    names = scripted_names(evidence)
    if not names:
        return ""
    return f"replace the script with a model ({', '.join(names)}): nothing is measured so far."


def _labelled(evidence: Evidence, accounts: Sequence[Account], facts: RunFacts) -> str:
    """Return the request for labels, if no guideline has any."""
    if not evidence.answers.n_completed or not accounts or any(account.annotators for account in accounts):
        return ""
    command = f"   {facts.label_command}" if facts.label_command else ""
    return f"let a judge or people label: nobody has yet, so nothing is measured.{command}"


def _mended(accounts: Sequence[Account]) -> str:
    shown_accounts = accounts_to_tell(accounts)
    worst = max(shown_accounts, key=_n_unlabelled, default=None)
    if worst is None or _n_unlabelled(worst) <= _MANY_UNMEASURED * worst.planned:
        return ""
    part = max((part for part in worst.unmeasured if not part.is_by_some), key=lambda part: part.n)
    unmeasured = f"{figures.count(_n_unlabelled(worst))} of {figures.count(worst.planned)}"
    return f"find out why {unmeasured} lack labels; most often: {part.words} ({figures.count(part.n)})."


def _n_unlabelled(account: Account) -> int:
    """Return the dialogues without any label; people who divide the dialogues among themselves each label a part."""
    return account.planned - account.labelled.n - account.n_by_some


def _own_rows(evidence: Evidence) -> str:
    examples = [group.name for group in evidence.study.personas if group.example]
    return f"replace the example rows of {', '.join(examples)} by your own users." if examples else ""


def _validated_judge(evidence: Evidence, findings: Findings, facts: RunFacts) -> str:
    study, agreements = evidence.study, agreements_of(findings)
    for guideline in study.guidelines:
        for judge in judges_of(study, guideline.name):
            if judge.kind is AnnotatorKind.MODEL and not is_checked(evidence, agreements, guideline, judge.name):
                sample = min(_SAMPLE, evidence.answers.n_completed)
                command = f"   {facts.label_command} --sample {sample}" if facts.label_command else ""
                dialogues = figures.number_of(sample, "dialogue")
                minutes = max(1, round(sample / 2))
                unvalidated = "the judge is not validated against human labels"
                return f"label {dialogues} (about {minutes} min): {unvalidated}.{command}"
    return ""


def _validated(evidence: Evidence, facts: RunFacts) -> str:
    """Return the command that validates a judge on dialogues with people's labels."""
    by_hand = {annotator.guideline for annotator in evidence.study.annotators if annotator.by_hand}
    for judge in evidence.study.asked:
        is_judge = judge.kind is AnnotatorKind.MODEL and judge.guideline in by_hand
        if is_judge and validation_of_judge(evidence, judge.name) is None and facts.validate_command:
            return (
                f"validate {judge.title or judge.name} against people's labels:   {facts.validate_command} {judge.name}"
            )
    return ""


def _more_testers(evidence: Evidence, findings: Findings) -> str:
    crowded = [rate for rate in rates_of(findings, evidence.study) if rate.group is None and _is_crowded(rate)]
    if not crowded:
        return ""
    k, rate = min(((rate.measurement.result.n_clusters or 0, rate) for rate in crowded), key=lambda found: found[0])
    _, testers = cluster_words(evidence.answers.settings, rate.measurement.subject)
    return f"add {testers} rather than repeats: {k} of them carry all this evidence."


def _is_crowded(rate: Rate) -> bool:
    estimate = rate.estimate
    return estimate is not None and estimate.n_clusters is not None and estimate.n_clusters * 3 <= estimate.n


_NAME = 16

_SIDE = 32

_CELLS = 7

_LONG_CELLS = 10

_STRIP_AT = 36

_MARGIN_OF_NAMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Characters for drawing rows.

    Attributes:
        width: Columns of the terminal; count.
        pen: Characters of the strips.
        words: The reading aids.
        settings: Common settings of the run's sessions, for the names of clusters.
    """

    width: int
    pen: Pen
    words: Words
    settings: Sequence[Setting] = ()


def guardrail_rows(study: Study, guardrail: Guardrail, rates: tuple[Rate, ...], screen: Screen) -> list[str]:
    """Return both sides of a guardrail next to each other, one line per application."""
    sides = (guardrail.withheld, guardrail.released)
    columns = [lead_rates(rates, guardrail.guideline.name, rule.name) for rule in sides]
    end = axis_end([rate for column in columns for rate in column])
    titles = [(rule.title or rule.name).upper() for rule in sides]
    apart = any(rate.station for column in columns for rate in column)
    phrases = [
        short_phrase(rule) if apart else phrase_of(rule, {_widest(column)})
        for rule, column in zip(sides, columns, strict=True)
    ]
    margin = " " * _NAME
    rows = [_sided(margin, titles), _sided(margin, phrases)]
    for application in study.applications:
        rows += _sided_rows(study, application.name, columns, end, screen)
    return [*rows, margin + f"95% intervals; axis 0 to {figures.points(end).removesuffix('.0')}%; {_ORDER}"]


_ORDER = "file order, not a ranking"


def _widest(column: Sequence[Rate]) -> int:
    return max((rate.estimate.n for rate in column if rate.estimate), default=0)


def _sided(name: str, cells: Sequence[str]) -> str:
    return (name + cells[0].ljust(_SIDE) + cells[1]).rstrip()


def _sided_rows(
    study: Study, application: str, columns: Sequence[Sequence[Rate]], end: float, screen: Screen
) -> list[str]:
    """Return an application's row or, if several annotators are side by side, one row each below its name."""
    sides = [
        {(r.station, r.annotator): r for r in column if r.measurement.application == application} for column in columns
    ]
    keys = _keys(sides)
    several = len({annotator for _, annotator in keys}) > 1
    rows = [] if len(keys) < 2 and len(application) < _NAME else [application]
    met = ""
    for condition, annotator in keys:
        result = [side.get((condition, annotator)) for side in sides]
        if condition and condition != met:
            rows.append(f"  {condition}, {_of_each(result)}")
            met = condition
        name = f"  {title_of(study, annotator)}" if several or (rows and not condition) else ""
        cells = [_side(rate, end, screen) for rate in result]
        rows.append(_sided(f"{(name if rows else application)[: _NAME - 1]:<{_NAME}}", cells))
    return rows


def _keys(sides: Sequence[Mapping[tuple[str, str], Rate]]) -> list[tuple[str, str]]:
    """Return test setting and annotator of each row; unmeasured rows have none if others are measured."""
    keys = list(dict.fromkeys(voice for side in sides for voice in side)) or [("", "")]
    at_stations = [(condition, annotator) for condition, annotator in keys if condition]
    idle = not any(rate.estimate for side in sides for (condition, _), rate in side.items() if not condition)
    return at_stations if at_stations and idle else keys


def _of_each(rates: Sequence[Rate | None]) -> str:
    """Return the dialogues behind each side, since levels of testing differ between them."""
    return " and ".join(f"of {figures.count(rate.estimate.n)}" for rate in rates if rate and rate.estimate)


def _side(rate: Rate | None, end: float, screen: Screen) -> str:
    if rate is None or rate.estimate is None:
        return "not measured"
    if rate.estimate.n < figures.FEW:
        return " " * (_CELLS + 1) + f"{rate.defects_text} of {rate.estimate.n}"
    strip = bar_text(bar_of(rate, end), cells=_CELLS, pen=screen.pen)
    percent, interval = (
        words.replace("100.0", "100")  # or both sides would be wider than a terminal, and grow together
        for words in (figures.percent(rate.estimate.value), interval_words(rate))
    )
    return f"{strip} {rate.defects_text:>3} {percent:>6} {interval}"


def rule_rows(
    study: Study, rules: Sequence[tuple[Guideline, DefectRule]], rates: tuple[Rate, ...], screen: Screen
) -> list[str]:
    """Return one block per rule: its condition, and one line per application and annotator."""
    bare = unlabelled_guidelines(study, rates)
    result = [
        (guideline, rule, lead_rates(rates, guideline.name, rule.name))
        for guideline, rule in rules
        if guideline not in bare
    ]
    shown = [rate for _, _, column in result for rate in column]
    end = axis_end(shown)
    rows = [line for guideline, rule, column in result for line in _block(study, guideline, rule, column, end, screen)]
    if any(rate.estimate is not None and rate.estimate.n >= figures.FEW for rate in shown):
        rows.append(" " * MARGIN + f"95% intervals; axis 0 to {figures.points(end).removesuffix('.0')}%; {_ORDER}")
    return rows


def _block(
    study: Study, guideline: Guideline, rule: DefectRule, column: Sequence[Rate], end: float, screen: Screen
) -> list[str]:
    title = f"defect ({rule.condition})"
    if len(guideline.defect_rules) > 1 and rule.title:
        title = f"{rule.title} ({rule.condition})"
    head = f"{guideline.name} ".ljust(MARGIN) + title
    if len(column) == 1 and column[0].estimate is not None and len(head) < _STRIP_AT:
        return [head.ljust(_STRIP_AT) + line_of(column[0], end, screen), *_remarks(column[0], screen)]
    rows = [head]
    for rate in column:
        if rate.estimate is not None:
            rows += _line_of_name(f"  {_who(study, rate, column)}", line_of(rate, end, screen))
            rows += _remarks(rate, screen)
    return rows + _undefined_rows(study, column, screen)


def _line_of_name(name: str, line: str) -> list[str]:
    """Return name and rate on one line, or on two if the name would move the bar out of its column."""
    together = name.ljust(_STRIP_AT - 1) + " " + line
    return [together] if len(name) < _STRIP_AT else [name, " " * _STRIP_AT + line]


def _undefined_rows(study: Study, column: Sequence[Rate], screen: Screen) -> list[str]:
    """Return why there are no rates: one line per rate, or one for all with the same reason."""
    alike: dict[str, list[Rate]] = {}
    for rate in column:
        if isinstance(rate.measurement.result, Undefined):
            alike.setdefault(rate.measurement.result.reason, []).append(rate)
    rows = []
    for reason, rates in alike.items():
        names = [_who(study, rate, column) for rate in rates]
        if len(names) == 1:
            label, text = f"  {names[0]} ", f"{UNDEFINED}: {reason_text(reason)}"
        else:
            label, text = f"  {UNDEFINED}", f"{reason} So for {'; '.join(names)}."
        rows += labelled(label, text, margin=_MARGIN_OF_NAMES, width=screen.width)
    return rows


def _who(study: Study, rate: Rate, column: Sequence[Rate]) -> str:
    names = [rate.measurement.application]
    if len({other.annotator for other in column}) > 1:
        names.append(f"by {title_of(study, rate.annotator)}")
    if rate.station:
        names.append(rate.station)
    return ", ".join(names)


def line_of(rate: Rate, end: float, screen: Screen) -> str:
    """Return a rate as bar, count, percentage and interval; only the count if there are few units."""
    result = rate.measurement.result
    if isinstance(result, Undefined):
        return undefined_text(result)
    part = f"{rate.defects_text} of {figures.count(result.n)}"
    if result.n < figures.FEW:
        return f"{part}; too few for a percent"
    strip = bar_text(bar_of(rate, end), cells=_LONG_CELLS, pen=screen.pen)
    wide = f"{strip} {part:>9}   {figures.percent(result.value):>6}   {interval_words(rate)}"
    return wide if len(wide) <= screen.width - _STRIP_AT else " ".join(wide.split())


def _remarks(rate: Rate, screen: Screen) -> list[str]:
    estimate = rate.estimate
    if estimate is None or estimate.n < figures.FEW:
        return []
    remarks = []
    if estimate.n_clusters is not None and estimate.n_clusters < estimate.n:
        one, many = cluster_words(screen.settings, rate.measurement.subject)
        testers = one if estimate.n_clusters == 1 else many
        n, k = figures.count(estimate.n), figures.count(estimate.n_clusters)
        remarks.append(screen.words.short("few_personas", n=n, k=k, testers=testers, tester=one, m=""))
    return [line for remark in remarks for line in labelled("", remark, margin=MARGIN, width=screen.width)]


_AREA_NAME = 20


_CELL = 20


def matrix_lines(study: Study, rows: Sequence[MatrixRow], width: int) -> list[str]:
    """Return a matrix as lines of a terminal; applications that do not fit follow in a further table."""
    names = [application.name for application in study.applications]
    widest = max((len(_cell(rate)) for row in rows for rate in row.cells), default=0)
    cell = max(_CELL, widest + 1)
    fitting = max(1, (width - _AREA_NAME) // cell)
    lines: list[str] = []
    for start in range(0, len(names), fitting):
        part = [(row, row.cells[start : start + fitting]) for row in rows]
        lines += _table(names[start : start + fitting], part, cell)
    return [*lines, " " * _AREA_NAME + "defects of labelled, 95% interval in percent; no ranking"]


def _table(names: Sequence[str], rows: Sequence[tuple[MatrixRow, Sequence[Rate | None]]], cell: int) -> list[str]:
    lines = [_line("", names, cell)]
    condition = ""
    shown = Counter((row.station, _area(row)[: _AREA_NAME - 1]) for row, _ in rows)
    for row, cells in rows:
        if row.station != condition:
            condition = row.station
            lines.append(condition)
        name = _area(row)
        is_cut = len(name) >= _AREA_NAME and ", by " in name
        if is_cut or shown[condition, name[: _AREA_NAME - 1]] > 1:  # cut off, two areas would have one name
            lines.append(name)
            name = ""
        lines.append(_line(name, [_cell(rate) for rate in cells], cell))
    return lines


def _area(row: MatrixRow) -> str:
    return f"{'  ' if row.station else ''}{row.area}"


def _line(name: str, texts: Sequence[str], cell: int) -> str:
    """Return a row; numbers are never cut, because the cells are as wide as the widest number."""
    return (
        f"{name[: _AREA_NAME - 1]:<{_AREA_NAME}}" + "".join(f"{text[: cell - 1]:<{cell}}" for text in texts)
    ).rstrip()


def _cell(rate: Rate | None) -> str:
    if rate is None or rate.estimate is None:
        return "not measured"
    estimate = rate.estimate
    counts = f"{rate.defects_text} of {figures.count(estimate.n)}"
    if estimate.n < figures.FEW or estimate.low is None or estimate.high is None:
        return counts
    if rate.defects == 0:
        return f"{counts}, to {_whole(rate.ceiling if rate.ceiling is not None else estimate.high)}"
    return f"{counts}, {_whole(estimate.low)} to {_whole(estimate.high)}"


def _whole(fraction: float) -> str:
    """Return a fraction as whole percent, never rounded to 0 or 100% unless exact."""
    percent = round(100 * fraction)
    return "<1" if fraction > 0 and not percent else ">99" if fraction < 1 and percent == 100 else str(percent)
