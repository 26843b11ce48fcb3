"""How judges went about their work, as the page shows it: one row a judge and application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.conduct import Conduct, VoteRecord
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.reporting import figures
from theodolite.reporting.cases import title_of
from theodolite.reporting.page.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class ConductCell:
    """A text, and the set of dialogues that it opens; empty for none."""

    text: str
    opens: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConductTable:
    """What is known of judges beside their labels; columns that nobody fills are left out."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[ConductCell, ...]], ...]


def conduct_table(subject: Subject) -> ConductTable | None:
    """Return the conduct of all judges; None where there is none to tell of."""
    found = [conduct for conduct in subject.findings.conducts if not _is_silent(conduct)]
    if not found:
        return None
    rows = [(conduct, _cells(subject, conduct)) for conduct in found]
    columns = [name for name in rows[0][1] if any(cells[name].text for _, cells in rows)]
    return ConductTable(
        columns=tuple(columns),
        rows=tuple(
            (title_of(subject.study, conduct.annotator), conduct.application, tuple(cells[name] for name in columns))
            for conduct, cells in rows
        ),
    )


def _is_silent(conduct: Conduct) -> bool:
    return not conduct.votes and (
        conduct.scripted or not (conduct.quoting or conduct.control_passed or _asked(conduct))
    )


def _asked(conduct: Conduct) -> int:
    return conduct.control_passed + len(conduct.control_failed) + conduct.control_unanswered


def _cells(subject: Subject, conduct: Conduct) -> dict[str, ConductCell]:
    asked = _asked(conduct)
    cells = {
        "Verdicts": ConductCell(text=figures.count(conduct.verdicts)),
        "Quote words that are not there": _share(subject, conduct, "ungrounded", conduct.ungrounded, conduct.quoting),
        "Control question wrong": _share(subject, conduct, "control", conduct.control_failed, asked),
        "Left out": ConductCell(text=figures.share(conduct.control_unanswered, asked) if asked else ""),
        "Answers as": ConductCell(text=", ".join(conduct.answered_as)),
    }
    return cells | (_vote_cells(subject, conduct, conduct.votes) if conduct.votes else _NO_VOTES)


def _vote_cells(subject: Subject, conduct: Conduct, votes: VoteRecord) -> dict[str, ConductCell]:
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


_NO_VOTES = dict.fromkeys(
    (
        "Calls a dialogue",
        "Readings differ",
        "No majority",
        "Contradicts itself",
        "Retest alpha",
        "Rate by single readings",
        "Rate by majorities",
    ),
    ConductCell(text=""),
)


def _share(subject: Subject, conduct: Conduct, what: str, labels: Sequence[str], of: int) -> ConductCell:
    if not of:
        return ConductCell(text="")
    name = f"conduct-{what}-{conduct.annotator}-{conduct.application}"
    title = f"{title_of(subject.study, conduct.annotator)} on {conduct.application}: {_TITLES[what]}"
    opens = subject.sets.add(name, title, [case.index for case in subject.labelled(labels)]) if labels else ""
    return ConductCell(text=figures.share(len(labels), of), opens=opens)


_TITLES = {
    "ungrounded": "quotes words that are not there",
    "control": "control question wrong",
    "split": "readings differ",
    "tied": "no majority",
}


def _number(result: Estimate | Undefined) -> str:
    if isinstance(result, Undefined):
        return "not defined"
    ends = "" if result.low is None or result.high is None else f" {_ends(result.low, result.high)}"
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
