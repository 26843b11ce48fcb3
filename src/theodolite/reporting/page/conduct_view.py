"""Judge behaviour, as the page shows it: one row a judge and application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.judge_diagnostics import JudgeDiagnostics, VoteRecord
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ConductCell:
    """A text, and the set of dialogues that it opens; empty for none."""

    text: str
    opens: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConductTable:
    """One matter of judges' conduct: a row a judge and application."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[ConductCell, ...]], ...]


def conduct_tables(subject: Subject) -> tuple[ConductTable, ...]:
    """Return what is known of judges beside their labels: what they rest on, and how their votes fell."""
    conducts = subject.findings.judge_diagnostics
    resting = [conduct for conduct in conducts if not conduct.scripted and (conduct.quoting or _asked(conduct))]
    voting = [(conduct, conduct.votes) for conduct in conducts if conduct.votes]
    tables = [
        _table(subject, "What verdicts rest on", [(one, _ground_cells(subject, one)) for one in resting]),
        _table(subject, "Votes", [(one, _vote_cells(subject, one, votes)) for one, votes in voting]),
    ]
    return tuple(table for table in tables if table.rows)


def _table(
    subject: Subject, title: str, rows: Sequence[tuple[JudgeDiagnostics, dict[str, ConductCell]]]
) -> ConductTable:
    return ConductTable(
        title=title,
        columns=tuple(rows[0][1]) if rows else (),
        rows=tuple(
            (title_of(subject.study, conduct.annotator), conduct.application, tuple(cells.values()))
            for conduct, cells in rows
        ),
    )


def _asked(conduct: JudgeDiagnostics) -> int:
    return conduct.control_passed + len(conduct.control_failed) + conduct.control_unanswered


def _ground_cells(subject: Subject, conduct: JudgeDiagnostics) -> dict[str, ConductCell]:
    asked = _asked(conduct)
    return {
        "Verdicts": ConductCell(text=figures.count(conduct.verdicts)),
        "Quote words that are not there": _share(subject, conduct, "ungrounded", conduct.ungrounded, conduct.quoting),
        "Control question wrong": _share(subject, conduct, "control", conduct.control_failed, asked),
        "Control question left out": ConductCell(
            text=figures.share(conduct.control_unanswered, asked) if asked else "not asked"
        ),
        "Answers as": ConductCell(text=", ".join(conduct.answered_as) or "no name given"),
    }


def _vote_cells(subject: Subject, conduct: JudgeDiagnostics, votes: VoteRecord) -> dict[str, ConductCell]:
    calls = f"{votes.cast / votes.dialogues:.1f} of {votes.voting.most}"
    return {
        "Calls a dialogue": ConductCell(text=calls),
        "Readings differ": _share(subject, conduct, "split", votes.split, votes.dialogues),
        "No majority": _share(subject, conduct, "tied", votes.tied, votes.dialogues),
        "Contradicts itself": ConductCell(text=_number(votes.flip_rate)),
        "Retest alpha": ConductCell(text=_number(votes.retest_alpha)),
        "Rate by single readings": ConductCell(text=_rate(votes.by_single_votes)),
        "Rate by majorities": ConductCell(text=_rate(votes.by_majorities)),
    }


def _share(subject: Subject, conduct: JudgeDiagnostics, what: str, labels: Sequence[str], of: int) -> ConductCell:
    if not of:
        return ConductCell(text=_NOTHING[what])
    name = f"conduct-{what}-{conduct.annotator}-{conduct.application}"
    title = f"{title_of(subject.study, conduct.annotator)} on {conduct.application}: {_TITLES[what]}"
    opens = subject.sets.add(name, title, [case.index for case in subject.labelled(labels)]) if labels else ""
    return ConductCell(text=figures.share(len(labels), of), opens=opens)


_NOTHING = {"ungrounded": "no quotes", "control": "not asked", "split": "no votes", "tied": "no votes"}

_TITLES = {
    "ungrounded": "quotes words that are not there",
    "control": "control question wrong",
    "split": "readings differ",
    "tied": "no majority",
}


def _number(result: Estimate | Undefined) -> str:
    if isinstance(result, Undefined):
        return "not defined"
    ends = "" if result.low is None or result.high is None else f", {_ends(result.low, result.high)}"
    return f"{figures.coefficient(result.value)}{ends} (n = {figures.count(result.n)})"


def _ends(low: float, high: float) -> str:
    return f"{figures.coefficient(low)} to {figures.coefficient(high)}"


def _rate(result: Estimate | Undefined) -> str:
    if isinstance(result, Undefined):
        return "not defined"
    if result.n < figures.FEW:
        return f"n = {figures.count(result.n)}"
    ends = "" if result.low is None or result.high is None else f", {figures.span(result.low, result.high)}"
    return f"{figures.percent(result.value)} of {figures.count(result.n)}{ends}"
