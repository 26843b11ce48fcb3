"""Order metrics in the report: tables, rolling charts and the reasons of the worst scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.order import (
    OrderFinding,
    OrderProfile,
    RankingFinding,
    RunOrder,
    ScoreSubject,
    band_cuts,
)
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.tables import Table, TableCell, columns
from theodolite.reporting.words import figures, lanes
from theodolite.reporting.words import order_metrics as words
from theodolite.reporting.words.estimates import coefficient_text

CHARTS: Final = 24
"""Maximum number of drawn sequences; count."""

LONGEST_REASON: Final = 400
"""Maximum length of a reason on the page; characters."""

PEOPLE: Final = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceBlock:
    """One sequence in detail.

    Attributes:
        title: Application and annotator.
        region: Name of the region with the chart, including guideline and question.
        chart: Rolling windows as SVG; empty if none fits or too many sequences are drawn.
        notes: Limits of the numbers.
        worst: The worst scores; None without any.
        runs: Run, day, scores, mean and metrics; None for one run.
    """

    title: str
    region: str
    chart: str
    notes: tuple[str, ...]
    worst: Table | None
    runs: Table | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBlock:
    """The scores of one question.

    Attributes:
        title: Guideline and question.
        scale: The scale as text.
        table: Application, annotator, scores, mean, PEN, CIN, LIS, LNDS; None without metrics.
        undefined: Application and annotator of sequences without metrics, with the reason.
        sequences: The sequences in detail.
        rankings: Application, human and automated annotator, tau, rho, CIN, LIS, n; None without rankings.
    """

    title: str
    scale: str
    table: Table | None
    undefined: tuple[str, ...]
    sequences: tuple[SequenceBlock, ...]
    rankings: Table | None


def order_blocks(subject: Subject) -> tuple[OrderBlock, ...]:
    """Return one block for each scored question; none if no question has scores."""
    metrics = subject.findings.order_metrics
    charted = [sequence for sequence in metrics.sequences if sequence.windows.positions][:CHARTS]
    subjects = [
        *(sequence.subject for sequence in metrics.sequences),
        *(ranking.subject for ranking in metrics.rankings),
    ]
    keys = sorted({_key(score_subject) for score_subject in subjects})
    return tuple(
        _block(subject, key, [sequence for sequence in metrics.sequences if _key(sequence.subject) == key], charted)
        for key in keys
    )


def _key(subject: ScoreSubject) -> tuple[str, str]:
    return subject.guideline, subject.question


def title_of_key(key: tuple[str, str]) -> str:
    """Return guideline and question as text, or only one if both are the same."""
    return key[0] if key[0] == key[1] else f"{key[0]}: {key[1]}"


def _block(
    subject: Subject, key: tuple[str, str], findings: Sequence[OrderFinding], charted: Sequence[OrderFinding]
) -> OrderBlock:
    first = findings[0] if findings else None
    rankings = [ranking for ranking in subject.findings.order_metrics.rankings if _key(ranking.subject) == key]
    title = title_of_key(key)
    rows = tuple(
        _row(subject, finding, finding.profile) for finding in findings if isinstance(finding.profile, OrderProfile)
    )
    return OrderBlock(
        title=title,
        scale=_scale_text(first) if first else "no scores",
        table=_metric_table(f"Order of scores: {title}", ("Application", "Annotator"), rows),
        undefined=tuple(
            f"{_who(subject, finding)}: {words.profile_text(finding.profile)}."
            for finding in findings
            if isinstance(finding.profile, Undefined)
        ),
        sequences=tuple(_sequence(subject, finding, has_chart=finding in charted) for finding in findings),
        rankings=_ranking_table(title, tuple(_ranking(subject, ranking) for ranking in rankings)),
    )


def _metric_table(title: str, first: Sequence[str], rows: Sequence[tuple[str, ...]], caption: str = "") -> Table | None:
    headings = columns(*first, "Scores", "Mean", "PEN", "CIN", "LIS", "LNDS")
    if not rows:
        return None
    return Table(title=title, columns=headings, rows=tuple(rows), caption=caption, style="groups contrasts")


def _ranking_table(title: str, rows: tuple[tuple[str, ...], ...]) -> Table | None:
    if not rows:
        return None
    return Table(
        title=f"Rankings: {title}",
        caption="Human ranking and model ranking",
        columns=columns(
            "Application",
            "Human order",
            "Annotator",
            "Kendall's tau-b",
            "Spearman's rho",
            "CIN: pairs in opposite order",
            "LIS: longest common chain",
            "Dialogues",
        ),
        rows=rows,
        style="groups contrasts",
    )


def _scale_text(finding: OrderFinding) -> str:
    return f"scale {finding.lowest:g} to {finding.highest:g}, {'high' if finding.higher_is_worse else 'low'} is bad"


def _where(about: ScoreSubject) -> str:
    return ", ".join(part for part in (about.application, about.level, about.tester_type) if part)


def _who(subject: Subject, finding: OrderFinding) -> str:
    return f"{_where(finding.subject)} by {title_of(subject.study, finding.annotator)}"


def _row(subject: Subject, finding: OrderFinding, profile: OrderProfile) -> tuple[str, ...]:
    left_out = f", {figures.count(profile.n_missing)} missing" if profile.n_missing else ""
    return (
        _where(finding.subject),
        title_of(subject.study, finding.annotator),
        f"{figures.count(profile.n)}{left_out}",
        f"{finding.level:.2f}" if finding.level is not None else "none",
        *metric_cells(profile),
    )


def metric_cells(profile: OrderProfile) -> tuple[str, str, str, str]:
    """Return the four metrics of a row: value, band, chance."""
    cells = (words.pen_text(profile), words.cin_text(profile), words.lis_text(profile), words.lnds_text(profile))
    pen, cin, lis, lnds = (cell.partition(" ")[2] for cell in cells)
    return pen, cin, lis, lnds


def _sequence(subject: Subject, finding: OrderFinding, *, has_chart: bool) -> SequenceBlock:
    title = f"{title_of_key(_key(finding.subject))}, {_who(subject, finding)}"
    return SequenceBlock(
        title=_who(subject, finding),
        region=f"{title}: rolling windows",
        chart=sequence_chart(finding) if has_chart else "",
        notes=finding.profile.notes if isinstance(finding.profile, OrderProfile) else (),
        worst=_worst_table(subject, title, finding),
        runs=_metric_table(
            f"Runs: {title}",
            ("Run", "Started"),
            [_run_row(run) for run in finding.runs],
            caption="Over the runs of the study",
        ),
    )


def _worst_table(subject: Subject, title: str, finding: OrderFinding) -> Table | None:
    if not finding.worst:
        return None
    rows = []
    for score in finding.worst:
        cases = [case.index for case in subject.labelled([score.dialogue])]
        opens = subject.sets.add(f"worst-{score.dialogue}", score.dialogue, cases)
        reason = score.reason if len(score.reason) <= LONGEST_REASON else f"{score.reason[:LONGEST_REASON]}…"
        rows.append((TableCell(value=score.dialogue, opens=opens), f"{score.value:g}", reason or "no reason was given"))
    return Table(
        title=f"Worst scores: {title}",
        caption="Worst scores with their reasons",
        columns=columns("Dialogue", "Score", "Reason"),
        rows=tuple(rows),
        style="failures",
    )


def _run_row(order: RunOrder) -> tuple[str, ...]:
    n = figures.count(order.n) + (f", {figures.count(order.n_repeated)} repeated" if order.n_repeated else "")
    other = "" if order.is_same_annotator else ", another version of the annotator"
    head = (f"run {order.run}{other}", f"{order.started:%Y-%m-%d}" if order.started else "-", n)
    level = f"{order.level:.2f}" if order.level is not None else "none"
    if isinstance(order.profile, Undefined):
        return (*head, level, words.profile_text(order.profile), "", "", "")
    return (*head, level, *metric_cells(order.profile))


def _ranking(subject: Subject, finding: RankingFinding) -> tuple[str, ...]:
    human = "mean of people" if finding.human == PEOPLE else title_of(subject.study, finding.human)
    head = (_where(finding.subject), human, title_of(subject.study, finding.annotator))
    ranking = finding.ranking
    if isinstance(ranking, Undefined):
        return (*head, words.ranking_text(ranking), "", "", "", str(ranking.n))
    n = f"{figures.count(ranking.n)}{', sampled' if finding.is_sampled else ''}"
    tau, rho = coefficient_text(ranking.tau), coefficient_text(ranking.spearman)
    chance = f"; {words.chance_text(ranking.chance_cin)}"
    return (*head, tau, rho, f"{words.opposed_text(ranking)}{chance}", words.chain_text(ranking), n)


def sequence_chart(finding: OrderFinding) -> str:
    """Return mean, PEN, CIN and LIS of the rolling windows of a run as SVG."""
    windows, size = finding.windows, finding.window
    axis = lanes.Axis(max(windows.positions))

    def line(values: Sequence[float]) -> list[list[tuple[int, float]]]:
        return [list(zip(windows.positions, values, strict=True))]

    cuts, most = band_cuts(size), size * (size - 1) / 2.0
    charts = (
        lanes.Lane(f"mean of {size}", finding.lowest, finding.highest, line(windows.level)),
        lanes.Lane("PEN, normalised", 0.0, 1.0, line(windows.pen), bands=lanes.bands(cuts["pen"], 0.0, 1.0)),
        lanes.Lane("CIN, count", 0.0, most, line(windows.cin), bands=lanes.bands(cuts["cin"], 0.0, most)),
        lanes.Lane("LIS, count", 0.0, float(size), line(windows.lis), bands=lanes.bands(cuts["lis"], 0.0, float(size))),
    )
    parts = [part for index, lane in enumerate(charts) for part in lanes.lane_parts(lane, index, axis)]
    ends = sorted({windows.positions[0], windows.positions[-1]})
    parts += [lanes.tick(axis, position, f"dialogue {position + 1:,}", len(charts)) for position in ends]
    title = f"{_where(finding.subject)}, {finding.subject.guideline}: rolling windows of {size} scores"
    return lanes.chart(parts, len(charts), title=title, label=f"{title}. The table above holds the whole sequence.")
