"""Themes of what testers wrote, and their tasks, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.codings.finding import CodingFinding, ThemeQuote, ThemeShare
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.task_tally import TaskTally
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeBlock:
    """What came of coding the answers to one question.

    Attributes:
        title: The question.
        about: How many answers, and where they stand.
        agreement: How far the coders agree, in words.
        rows: Theme, where, answers that speak of it, and what is not in that number.
        groups: The same by group of testers.
        codes: Code and agreement on it.
        pairs: Two coders, how many answers both have coded, and how far they agree on them.
        quotes: Words that may be shown, and what they are about.
    """

    title: str
    about: str
    agreement: str
    rows: tuple[tuple[str, str, str, str], ...]
    groups: tuple[tuple[str, str, str, str], ...]
    codes: tuple[tuple[str, str, str], ...]
    pairs: tuple[tuple[str, str, str, str], ...]
    quotes: tuple[tuple[str, str], ...]


def theme_blocks(subject: Subject) -> tuple[ThemeBlock, ...]:
    """Return one block for each open question of which two people have coded an answer."""
    return tuple(_block(found) for found in subject.findings.codings if found.n_coders > 1)


def _block(found: CodingFinding) -> ThemeBlock:
    states = ", ".join(f"{figures.count(n)} {state.value}" for state, n in found.states.items())
    coders = found.coders
    book = f"Codebook `{found.name}`" if found.name else "Codebook"
    return ThemeBlock(
        title=found.text,
        about=f"{figures.number_of(found.n, 'answer')}: {states}. {book}, revision {found.revision}.",
        agreement=(
            f"The same codes: {_share(found.alike)}. "
            f"Krippendorff's alpha of whole sets of codes: {_number(found.alpha)}."
        ),
        rows=tuple(_row(one) for one in found.themes if not one.group),
        groups=tuple(_row(one) for one in found.themes if one.group),
        codes=tuple((one.code, _share(one.alike), _number(one.alpha)) for one in found.codes),
        pairs=tuple(
            (
                f"{coders[one.first]} and {coders[one.second]}",
                figures.count(one.n),
                _share(one.alike),
                _number(one.alpha),
            )
            for one in found.pairs
        ),
        quotes=tuple((one.text, _about(one)) for one in found.quotes),
    )


def _row(one: ThemeShare) -> tuple[str, str, str, str]:
    group = f", {one.group[0]}: {one.group[1]}" if one.group else ""
    left = [(one.n_undecided, "undecided"), (one.n_uncoded, "not coded by two")]
    words = "too few people to tell" if one.share is None else _share(one.share)
    return (
        one.code,
        f"{one.application}, {one.level.value}{group}",
        words,
        ", ".join(f"{figures.count(n)} {why}" for n, why in left if n),
    )


def _share(found: Estimate | Undefined) -> str:
    if isinstance(found, Undefined):
        return "none coded by two"
    words = figures.share(found.count or 0, found.n)
    if found.n < figures.FEW or found.low is None or found.high is None:
        return words
    return f"{words}, {figures.span(found.low, found.high)}"


def _number(found: Estimate | Undefined) -> str:
    if isinstance(found, Undefined):
        return f"unknown: {found.reason}".rstrip(".")
    if found.low is None or found.high is None:
        return figures.coefficient(found.value)
    ends = f"{figures.coefficient(found.low)} to {figures.coefficient(found.high)}"
    return f"{figures.coefficient(found.value)} ({ends}), from {figures.count(found.n)}"


def _about(quote: ThemeQuote) -> str:
    codes = f"; {', '.join(quote.codes)}" if quote.codes else ""
    return f"{quote.application}, {quote.level.value}{codes}"


def task_lines(subject: Subject) -> tuple[str, ...]:
    """Return in how many sessions people completed their task, an application and level each."""
    return tuple(_task(one) for one in subject.findings.tasks)


def _task(one: TaskTally) -> str:
    unsaid = f"; {figures.number_of(one.n_unsaid, 'session')} without a word about it" if one.n_unsaid else ""
    done = "nobody said" if isinstance(one.done, Undefined) else _share(one.done)
    return f"{one.application}, {one.level.value}: {done}{unsaid}"
