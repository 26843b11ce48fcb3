"""Themes: how often each was written of, drawn side by side for applications, levels and groups of testers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.codings.coded import CodedState
from theodolite.domain.codings.finding import CodingFinding, ThemeShare
from theodolite.domain.estimate import Estimate
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.tried import TRIED
from theodolite.measurement.study.codings import coding_findings
from theodolite.reporting.words import figures
from theodolite.usecases.coding import CodingRoom
from theodolite.web.analyst.desk import ReadingDesk
from theodolite.web.analyst.drawing import ShareLine, UnitStrip, number_words, share_line, unit_strip


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeCell:
    """One theme on one side.

    Attributes:
        line: The share as it is drawn where there are enough answers, and in words.
        strip: Few answers, each as a square; None where they are many, or must not be told of.
        open: What is not in it, in words; empty for nothing.
    """

    line: ShareLine
    strip: UnitStrip | None
    open: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeGrid:
    """Themes in rows, sides in columns.

    Attributes:
        title: What the sides differ in.
        sides: Names of the sides.
        rows: Name of the theme, and its cells in the order of the sides; None where nobody answered.
    """

    title: str
    sides: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ThemeCell | None, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedQuestion:
    """One open question with everything that came of coding it."""

    found: CodingFinding
    states: tuple[tuple[str, int], ...]
    alike: str
    alpha: str
    codes: tuple[tuple[str, int, str, str], ...]
    whole: tuple[ThemeGrid, ...]
    by_group: tuple[ThemeGrid, ...]

    @property
    def is_begun(self) -> bool:
        """Whether two have coded any of its answers."""
        return any(state not in {CodedState.UNCODED, CodedState.ONCE} for state in self.found.states)


def findings_of(desk: ReadingDesk, room: CodingRoom) -> list[CodingFinding]:
    """Return what came of coding; nothing of the run but answers, notes and codings is needed for it."""
    given = {(text.answer.session, text.answer.questionnaire): text.response for text in room.texts}
    notes = tuple(one for one in given.values() if one.questionnaire == TRIED.name)
    responses = [one for one in given.values() if one.questionnaire != TRIED.name]
    evidence = listed_evidence(desk.study, desk.venue.run, (), responses=responses)
    return list(coding_findings(replace(evidence, coding=room.work, notes=notes)))


def coded_question(found: CodingFinding) -> CodedQuestion:
    """Return what came of coding one question, as it is shown."""
    groups = dict.fromkeys((_attribute(one), one.level.value) for one in found.themes if one.group)
    return CodedQuestion(
        found=found,
        states=tuple((state.value, n) for state, n in found.states.items()),
        alike=number_words(found.alike),
        alpha=number_words(found.alpha),
        codes=tuple((one.code, one.n_given, number_words(one.alike), number_words(one.alpha)) for one in found.codes),
        whole=tuple(
            _grid(level, [one for one in found.themes if not one.group and one.level.value == level])
            for level in dict.fromkeys(one.level.value for one in found.themes if not one.group)
        ),
        by_group=tuple(
            _grid(
                f"{name}, {level}",
                [one for one in found.themes if (_attribute(one), one.level.value) == (name, level)],
            )
            for name, level in groups
        ),
    )


def _attribute(one: ThemeShare) -> str:
    """Return by what its group of testers is one; nothing for all testers."""
    return one.group[0] if one.group else ""


def _grid(title: str, shares: Sequence[ThemeShare]) -> ThemeGrid:
    cells = {(one.code, _side(one)): _cell(one) for one in shares}
    sides = tuple(sorted({_side(one) for one in shares}))
    codes = dict.fromkeys(one.code for one in shares)
    rows = tuple((code, tuple(cells.get((code, side)) for side in sides)) for code in codes)
    return ThemeGrid(title=title, sides=sides, rows=rows)


def _side(one: ThemeShare) -> str:
    return f"{one.application}, {one.group[1]}" if one.group else one.application


def _cell(one: ThemeShare) -> ThemeCell:
    strip = None
    if isinstance(one.share, Estimate):
        n_yes = one.share.count or 0
        strip = unit_strip(n_yes, one.n - n_yes, one.n_undecided + one.n_uncoded)
    return ThemeCell(line=share_line(one.share), strip=strip, open=", ".join(_left_out(one)))


def _left_out(one: ThemeShare) -> Iterator[str]:
    counts: Iterable[tuple[int, str]] = ((one.n_undecided, "undecided"), (one.n_uncoded, "not coded by two"))
    return (f"{figures.count(n)} {why}" for n, why in counts if n)
