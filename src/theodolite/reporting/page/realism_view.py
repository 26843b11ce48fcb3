"""Simulated users beside people, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.dialogue import TesterType
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.realism import GroupCover, RateContrast, Realism, SpokenSide, StyleContrast, StyleSpread
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures

NOTHING = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastRow:
    """One number on both sides.

    Attributes:
        name: What it is.
        more: What else it is about; empty for nothing.
        people: On the people's side, in words.
        simulated: On the simulated users' side, in words.
        difference: Simulated minus people, or why there is none.
    """

    name: str
    more: str
    people: str
    simulated: str
    difference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RealismTable:
    """One scenario: style, rates and groups of both sides.

    Attributes:
        scenario: Name of the scenario.
        people: Who the people's side is, with n.
        simulated: Who the other side is, with n.
        styles: One row a mark.
        rates: One row a rate.
        groups: Sentences on the groups that were met.
        is_recorded: Whether people's dialogues come from a file.
    """

    scenario: str
    people: str
    simulated: str
    styles: tuple[ContrastRow, ...]
    rates: tuple[ContrastRow, ...]
    groups: tuple[str, ...]
    is_recorded: bool


def realism_tables(subject: Subject) -> tuple[RealismTable, ...]:
    """Return one table for each scenario with dialogues of people and of simulated users."""
    return tuple(_table(subject, realism) for realism in subject.findings.realisms)


def _table(subject: Subject, realism: Realism) -> RealismTable:
    return RealismTable(
        scenario=realism.people.scenario,
        people=_named(realism.people),
        simulated=_named(realism.simulated),
        styles=tuple(_style(contrast) for contrast in realism.styles),
        rates=tuple(_rate(subject, contrast) for contrast in realism.rates),
        groups=tuple(_cover(cover) for cover in realism.groups),
        is_recorded=realism.people.held_by is TesterType.RECORDED,
    )


def _named(side: SpokenSide) -> str:
    return f"{side.held_by.value}, {side.level.value}: {figures.number_of(side.n, 'dialogue')}"


def _style(contrast: StyleContrast) -> ContrastRow:
    is_share = contrast.mark.is_share
    return ContrastRow(
        name=contrast.mark.value,
        more="",
        people=_spread(contrast.people, is_share=is_share),
        simulated=_spread(contrast.simulated, is_share=is_share),
        difference=_difference(contrast.difference, is_share=is_share),
    )


def _spread(spread: StyleSpread, *, is_share: bool) -> str:
    """Return median and quartiles of a count, the mean of a share; each with its interval and n."""
    mean = _number(spread.mean, is_share=is_share)
    if is_share or spread.quartiles is None:
        return mean
    low, middle, high = (f"{value:.3g}" for value in spread.quartiles)
    return f"{mean}; median {middle}, quartiles {low} and {high}"


def _rate(subject: Subject, contrast: RateContrast) -> ContrastRow:
    of = contrast.subject
    return ContrastRow(
        name=f"{of.application}: {of.rule}",
        more=f"{of.guideline}, by {title_of(subject.study, of.annotator)}",
        people=_number(contrast.people, is_share=True),
        simulated=_number(contrast.simulated, is_share=True),
        difference=_difference(contrast.difference, is_share=True),
    )


def _number(result: Estimate | Undefined, *, is_share: bool) -> str:
    if isinstance(result, Undefined):
        return f"undefined: {result.reason.rstrip('.')}"
    part = f"{figures.count(result.count)} of {figures.count(result.n)}" if result.count is not None else ""
    if part and result.n < figures.FEW:
        return f"{part}; too few for a percent"
    count = f"{part}, " if part else ""
    is_share = is_share and result.n >= figures.FEW
    value = figures.percent(result.value) if is_share else f"{result.value:.3g}"
    n = "" if count else f", n = {figures.count(result.n)}"
    return f"{count}{value}{_interval(result, is_share=is_share)}{n}"


def _difference(result: Estimate | Undefined, *, is_share: bool) -> str:
    if isinstance(result, Undefined):
        return f"undefined: {result.reason.rstrip('.')}"
    is_share = is_share and result.n >= figures.FEW
    value = f"{100 * result.value:+.1f} points" if is_share else f"{result.value:+.3g}"
    return value + _interval(result, is_share=is_share)


def _interval(result: Estimate, *, is_share: bool) -> str:
    if result.low is None or result.high is None:
        return " (no interval)"
    low, high = (f"{100 * end:.1f}" if is_share else f"{end:.3g}" for end in (result.low, result.high))
    return f" ({low} to {high})"


def _cover(cover: GroupCover) -> str:
    both, people, simulated = (
        ", ".join(values) or NOTHING for values in (cover.both, cover.people_only, cover.simulated_only)
    )
    return f"{cover.name}: met by both: {both}; by people only: {people}; by simulated users only: {simulated}"
