"""Materialised risks, as the page shows them: counts of what was looked at, never rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from theodolite.domain.findings.risks import RiskContrast, RiskFinding, RiskPart
from theodolite.reporting.page.responses_view import comparison_words
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures
from theodolite.reporting.words.risks import found_words, open_words


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRow:
    """One risk with one application at one level.

    Attributes:
        risk: Name of the risk, with its description where it has one.
        where: Application and level.
        found: Where it became real, of what was looked at.
        disputed: Records that an annotator speaks against; in words, empty for none.
        open: What somebody still has to review, likewise.
        groups: Counts of groups of people, in words.
        contrasts: Comparisons of groups, likewise.
        span: Rows over which the risk's name stands, from this one on; 0 under another row that tells it; count.
    """

    risk: str
    where: str
    found: str
    disputed: str = ""
    open: str = ""
    groups: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    span: int = 1


def risk_rows(subject: Subject) -> tuple[RiskRow, ...]:
    """Return one row for each risk, application and level that something could show."""
    rows = [_row(finding) for finding in subject.findings.risks]
    runs = [list(run) for _, run in groupby(rows, key=attrgetter("risk"))]
    return tuple(replace(row, span=0 if place else len(run)) for run in runs for place, row in enumerate(run))


def _row(finding: RiskFinding) -> RiskRow:
    risk, records = finding.risk, finding.materialised
    disputed = sum(bool(record.against) for record in records)
    return RiskRow(
        risk=f"{risk.name}: {risk.description}" if risk.description else risk.name,
        where=f"{finding.application}, {finding.level.value}",
        found=f"{found_words(finding)}, by {risk.identified_by.value}",
        disputed=f"{figures.number_of(disputed, 'record')} not seen so by every annotator" if disputed else "",
        open=open_words(finding),
        groups=tuple(_part(part) for part in finding.parts),
        contrasts=tuple(_contrast(contrast) for contrast in finding.contrasts),
    )


def _part(part: RiskPart) -> str:
    undecided = f"; {figures.count(part.n_undecided)} undecided, not in it" if part.n_undecided else ""
    found = "too few to tell" if part.count is None else f"{figures.count(part.count)} of {figures.count(part.n)}"
    return f"{part.group}: {part.part}: {found}{undecided}"


def _contrast(contrast: RiskContrast) -> str:
    words = comparison_words(contrast.test, contrast.adjusted_p_value, "cluster")
    return f"{contrast.group}, {contrast.first} and {contrast.second}: {words}"
