"""Comparisons on a terminal and as an HTML page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from theodolite.domain.annotator import PEOPLE
from theodolite.domain.comparison import ComparedSide, Comparison, Flip, PairedRate
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.guideline import Violation
from theodolite.reporting.terminal.layout import MARGIN, labelled
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import (
    annotator_title,
    counts_text,
    leading,
    left_out_text,
    paired_difference_text,
    rate_name,
)

HEADINGS: Mapping[Violation, str] = {
    Violation.PROHIBITED_RELEASED: "prohibited content released",
    Violation.PERMITTED_WITHHELD: "permitted content withheld",
    Violation.NOT_A_GUARDRAIL: "utility and the rest",
}

"""Quantities that a mitigation may change, in order of display."""


MOST_NAMED = 5

"""Rates, or people, that are named one by one; more are counted. Count."""


NO_COMMON_RATE = "no rule and annotator is on both sides"

"""Reasons why two sides cannot be compared."""


NO_SAME_TESTER = "no tester's side is the same in a dialogue of each"

"""Why no two dialogues are a pair."""


def comparison_text(comparisons: Sequence[Comparison], *, width: int = 80, command: str = "", page: str = "") -> str:
    """Return comparisons as lines of text, at most `width` columns.

    Args:
        comparisons: The comparisons.
        width: Columns of the terminal; count.
        command: The typed command, to be repeated with `--browser`.
        page: Path of the page; empty if it was not written.
    """
    lines: list[str] = []
    for comparison in comparisons:
        if len(comparisons) > 1 or comparison.mitigation or comparison.first.name != comparison.second.name:
            lines += labelled(heading(comparison), "", margin=1, width=width) or [heading(comparison)]
        empty = unpaired(comparison)
        for title, rates in sections(comparison):
            shown = [rate for rate in rates if rate not in empty]
            lines += [title.upper()] * bool(title and shown)
            for rate in shown:
                lines += _rate(rate, comparison, width)
        lines += labelled("No pairs", unpaired_text(comparison), margin=MARGIN, width=width) if empty else []
        if not comparison.rates:
            lines += labelled("Rates", NO_COMMON_RATE, margin=MARGIN, width=width)
        hidden_rates = hidden_text(comparison)
        lines += labelled("Also", hidden_rates, margin=MARGIN, width=width) if hidden_rates else []
        lines += labelled("Same", same_text(comparison), margin=MARGIN, width=width)
    lines += [f"{'Open':<{MARGIN}}{page}"] * bool(page)
    return "\n".join([*lines, *labelled("Next", _next(comparisons, command), margin=MARGIN, width=width)])


def heading(comparison: Comparison) -> str:
    """Return the two sides of a comparison, e.g. `bot-1.4 -> bot-1.5`."""
    sides = f"{comparison.first.name} -> {comparison.second.name}"
    return f"{comparison.mitigation}: {sides}" if comparison.mitigation else sides


def hidden_text(comparison: Comparison) -> str:
    """Return which rates are only in the data; empty for none."""
    shown = leading(comparison)
    hidden = [rate for rate in comparison.rates if rate not in shown]
    single = sum(rate.ruling.is_single for rate in hidden)
    parts = []
    if single:
        parts.append(f"{figures.number_of(single, 'rate')} by single people")
    if len(hidden) > single:
        parts.append(f"{figures.number_of(len(hidden) - single, 'rate')} by annotators beside the reference")
    return f"{' and '.join(parts)}, in the data" if parts else ""


def unpaired(comparison: Comparison) -> list[PairedRate]:
    """Return the leading rates without pairs labelled on both sides; they share one line of the screen."""
    return [rate for rate in leading(comparison) if not rate.n and not rate.changed]


def unpaired_text(comparison: Comparison) -> str:
    """Return which rates have no pair, and why."""
    rates = unpaired(comparison)
    names = [rate_name(rate, comparison) for rate in rates]
    listed = ", ".join(names) if len(names) <= MOST_NAMED else figures.number_of(len(names), "rate")
    return f"{listed}: {_why_no_pair(rates)}"


def _why_no_pair(rates: Sequence[PairedRate]) -> str:
    """Return why nothing could be compared: no dialogues form a pair, or no pair has labels on both sides."""
    common = max(rate.n_unmeasured for rate in rates)
    if not common:
        return NO_SAME_TESTER
    return f"none of {figures.number_of(common, 'pair')} has a label on both sides"


def sections(comparison: Comparison) -> Iterator[tuple[str, list[PairedRate]]]:
    """Yield the rates under their headings: by side of the guardrail for a mitigation, else together."""
    if not comparison.mitigation:
        yield "", leading(comparison)
        return
    for violation, title in HEADINGS.items():
        rates = [rate for rate in leading(comparison) if rate.ruling.subject.violation is violation]
        if rates:
            yield title, rates


def _rate(rate: PairedRate, comparison: Comparison, width: int) -> list[str]:
    name = rate_name(rate, comparison)
    parts = [counts_text(rate)]
    if text := left_out_text(rate):
        parts.append(text)
    parts.append(paired_difference_text(rate))
    lines = [name] if len(name) >= MARGIN else []
    for position, part in enumerate(parts):
        lines += labelled("" if position or lines else name, part, margin=MARGIN, width=width)
    return lines


def same_text(comparison: Comparison) -> str:
    """Return the equalities and differences of both sides."""
    first, second = comparison.first, comparison.second
    plan = (
        f"plan {first.plan[:4]}" if first.plan == second.plan else f"plans differ ({first.plan[:4]}, {second.plan[:4]})"
    )
    versions: dict[str, str] = {}
    for rate in leading(comparison):
        if not rate.changed:
            versions |= rate.ruling.instruments
    people = {f"annotator {name}": name for name in (*sorted({*first.people, *second.people}), PEOPLE)}
    parts = [plan, *(f"{name} {version[:4]}" for name, version in versions.items() if name not in people)]
    named = [annotator_title(comparison, people[name]) for name in versions if people.get(name, PEOPLE) != PEOPLE]
    parts += [_people_text(named)] if named else ["people"] if f"annotator {PEOPLE}" in versions else []
    return ", ".join([*parts, *_runs(first, second)])


def _people_text(names: Sequence[str]) -> str:
    """Return the annotators on both sides, without people's content hashes, which mean nothing to readers."""
    return ", ".join(names) if len(names) <= MOST_NAMED else figures.number_of(len(names), "person", "people")


def _runs(first: ComparedSide, second: ComparedSide) -> list[str]:
    return [f"run {first.run}"] if (first.study, first.run) == (second.study, second.run) else []


def _next(comparisons: Sequence[Comparison], command: str) -> str:
    rates = [rate for comparison in comparisons for rate in leading(comparison)]
    regressed = sum(len(rate.regressed) for rate in rates if not rate.changed)
    again = f"{command} --browser" if command else "theodolite compare ... --browser"
    if regressed:
        return f"review the {figures.count(regressed)} regressed pair{'' if regressed == 1 else 's'}:  {again}"
    if not any(rate.n or rate.changed for rate in rates):
        return f"nothing could be compared: {_why_no_pair(rates) if rates else NO_COMMON_RATE}"
    if any(rate.changed for rate in rates):
        return "judge both sides with one version of the judge and guideline, then compare again"
    return (
        f"review the fixed pairs:  {again}"
        if any(rate.flips for rate in rates)
        else "nothing changed; more pairs would show smaller differences"
    )


SHOWN = 100

"""Maximum number of flips of one rate that are shown with their texts; count."""


Words = Mapping[tuple[str, str], Dialogue]

"""Dialogue by comparison side and label, if its texts are available."""


STYLE = """
:root { --ink: #1b2330; --soft: #4d5868; --line: #cfd6df; --wash: #f4f6f9; --paper: #fff; --row: #24478f; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 20px 24px 60px; color: var(--ink); background: var(--paper);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 27px; margin: 0 0 6px; }
h2 { font-size: 20px; margin: 36px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
h3 { font-size: 16px; margin: 22px 0 4px; } p { margin: 0 0 8px; max-width: 90ch; } .soft { color: var(--soft); }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0 0 8px; padding: 4px 12px; }
summary { cursor: pointer; padding: 4px 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 18px; } .pair > div { min-width: 0; }
.words { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--wash); border-radius: 6px; padding: 8px 10px;
  margin: 2px 0 8px; }
:focus-visible { outline: 3px solid var(--row); outline-offset: 2px; }
@media (max-width: 700px) { .pair { grid-template-columns: 1fr; } }
""".strip()


def comparison_html(comparisons: Sequence[Comparison], words: Words) -> str:
    """Return the page, with regressed pairs before fixed ones.

    Args:
        comparisons: The comparisons.
        words: Dialogues of the flips, if the study is available and not only its results.
    """
    title = "; ".join(heading(comparison) for comparison in comparisons[:3]) or "Comparison"
    body = "".join(part for comparison in comparisons for part in _comparison(comparison, words))
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{escape(title)}</h1>\n{body}</main>\n</body>\n</html>\n"
    )


def _comparison(comparison: Comparison, words: Words) -> Iterator[str]:
    yield f"<h2>{escape(heading(comparison))}</h2>"
    yield f'<p class="soft">Same: {escape(same_text(comparison))}</p>'
    empty = unpaired(comparison)
    for title, rates in sections(comparison):
        shown = [rate for rate in rates if rate not in empty]
        if title and shown:
            yield f"<p><strong>{escape(title[0].upper() + title[1:])}</strong></p>"
        for rate in shown:
            yield from _rate_html(rate, comparison, words)
    if empty:
        yield f"<p>No pairs: {escape(unpaired_text(comparison))}</p>"
    if hidden := hidden_text(comparison):
        yield f'<p class="soft">Also {escape(hidden)}</p>'


def _rate_html(rate: PairedRate, comparison: Comparison, words: Words) -> Iterator[str]:
    name, condition = rate_name(rate, comparison), rate.ruling.subject.condition
    yield f'<h3>{escape(name)} <span class="soft">{escape(condition)}</span></h3>'
    yield f"<p>{escape(counts_text(rate))}. {escape(paired_difference_text(rate))}</p>"
    if rate.changed:
        return
    for title, flips in (("Regressed", rate.regressed), ("Fixed", rate.fixed)):
        for flip in flips[:SHOWN]:
            yield _flip(title, flip, comparison, words)
        if len(flips) > SHOWN:
            yield f'<p class="soft">and {len(flips) - SHOWN:,} more, in the data</p>'


def _flip(title: str, flip: Flip, comparison: Comparison, words: Words) -> str:
    sides = (
        (comparison.first.name, flip.first, flip.is_fixed),
        (comparison.second.name, flip.second, not flip.is_fixed),
    )
    columns = "".join(
        f"<div><strong>{escape(name)}</strong> {escape(label)}, {'a defect' if is_defect else 'no defect'}"
        f"{_words(words.get((name, label)))}</div>"
        for name, label, is_defect in sides
    )
    return f'<details><summary>{title}: {escape(flip.second)}</summary><div class="pair">{columns}</div></details>'


def _reply(turn: Turn) -> str:
    return f"({turn.withheld})" if turn.withheld else turn.response


def _words(dialogue: Dialogue | None) -> str:
    if dialogue is None:
        return '<p class="soft">Its words stand in the study, not in its results.</p>'
    return "".join(
        f'<div class="words"><strong>User</strong> {escape(turn.prompt)}</div>'
        f'<div class="words"><strong>Reply</strong> {escape(_reply(turn))}</div>'
        for turn in dialogue.turns
    )
