"""A comparison as one HTML page: every flip, with both dialogues side by side."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from theodolite.domain.comparison import Comparison, Flip, PairedRate
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.reporting.comparing.text import (
    counts_text,
    difference_text,
    heading,
    hidden_text,
    rate_name,
    same_text,
    sections,
    unpaired,
    unpaired_text,
)

SHOWN = 100
"""Flips of one rate that are shown with their words at most; count."""

Words = Mapping[tuple[str, str], Dialogue]
"""ComparedSide's name and label to the dialogue, where its words are at hand."""

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
    """Return the page; regressed pairs come before fixed ones.

    Args:
        comparisons: What was compared.
        words: Dialogues of the flips, where the study is at hand and not its results alone.
    """
    title = "; ".join(heading(one) for one in comparisons[:3]) or "Comparison"
    body = "".join(part for one in comparisons for part in _comparison(one, words))
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
            yield from _rate(rate, comparison, words)
    if empty:
        yield f"<p>No pairs: {escape(unpaired_text(comparison))}</p>"
    if hidden := hidden_text(comparison):
        yield f'<p class="soft">Also {escape(hidden)}</p>'


def _rate(rate: PairedRate, comparison: Comparison, words: Words) -> Iterator[str]:
    name, condition = rate_name(rate, comparison), rate.ruling.subject.condition
    yield f'<h3>{escape(name)} <span class="soft">{escape(condition)}</span></h3>'
    yield f"<p>{escape(counts_text(rate))}. {escape(difference_text(rate))}</p>"
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
