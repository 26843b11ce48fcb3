"""Check what a machine can check of the documents: links, sentences, records of decisions.

python tools/check_docs.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = {"cli.md", "rest-api.md"}
LONGEST_DECISION = 400
PARTS_OF_A_DECISION = ("Context", "Decision", "Consequences", "Alternatives")

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<words>.+)$", re.MULTILINE)
STATUS = re.compile(r"\A# .*\n\nStatus: (accepted|superseded (in part )?by \[\d{4}\])")
SUPERSEDED = re.compile(r"^Supersedes .*\[(?P<number>\d{4})\]", re.MULTILINE)
BULLET = re.compile(r"^\s*[-*] (?P<words>.+)$", re.MULTILINE)
LONGEST_CHANGE = 15
TWO_SENTENCES = re.compile(r"(?<!\b\w)(?<!e\.g)(?<!i\.e)[.!?] +[A-Z]")
ABBREVIATION = re.compile(r"\b(vs|e\.g|i\.e|cf|No|Sec)\. ")
CODE = re.compile(r"`[^`\n]+`")


def pages() -> list[Path]:
    """Return every document that people write."""
    names = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "llms.txt", "skills/theodolite/SKILL.md")
    top = [ROOT / name for name in names]
    return [*top, *(path for path in sorted(DOCS.rglob("*.md")) if path.name not in GENERATED)]


def anchor(words: str) -> str:
    """Return the address that a heading gets."""
    plain = re.sub(r"[^\w\- ]", "", words.replace("`", "").lower())
    return plain.strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the addresses of all headings of a page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {anchor(heading["words"]) for heading in HEADING.finditer(text)}


def broken_links(page: Path) -> Iterator[str]:
    """Yield links to files and headings that are not there."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.finditer(text):
        file, _, heading = link["target"].partition("#")
        target = (page.parent / file).resolve() if file else page
        if "://" in link["target"] or file.startswith("mailto:"):
            continue
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: link to `{link['target']}`, which is not there"
        elif page.is_relative_to(DOCS) and not target.is_relative_to(DOCS):
            yield f"{page.relative_to(ROOT)}: link to `{link['target']}` leaves `docs/`; the site has no such page"
        elif heading and target.suffix == ".md" and heading not in anchors(target):
            yield f"{page.relative_to(ROOT)}: link to `{link['target']}`, which has no such heading"


def crowded_lines(page: Path) -> Iterator[str]:
    """Yield lines that hold more than one sentence; a change should touch one line a sentence."""
    text = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), page.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), 1):
        prose = ABBREVIATION.sub("", CODE.sub("x", line))
        if not line.startswith(("|", "#", "    ")) and TWO_SENTENCES.search(prose):
            yield f"{page.relative_to(ROOT)}:{number}: two sentences on one line"


def loose_decisions() -> Iterator[str]:
    """Yield records of decisions that are too long, share a number or lack a part."""
    numbers: dict[str, str] = {}
    for page in sorted((DOCS / "adr").glob("[0-9]*.md")):
        text = page.read_text(encoding="utf-8")
        other = numbers.setdefault(page.name[:4], page.name)
        if other != page.name:
            yield f"{page.name}: {other} has the same number"
        n_words = len(re.sub(r"^Status: .*$", "", text, flags=re.MULTILINE).split())
        if n_words > LONGEST_DECISION:
            yield f"{page.name}: {n_words} words; {LONGEST_DECISION} are allowed"
        missing = [part for part in PARTS_OF_A_DECISION if f"## {part}" not in text]
        if missing:
            yield f"{page.name}: lacks {', '.join(missing)}"


def unmarked_decisions() -> Iterator[str]:
    """Yield records of decisions without a status, and superseded ones that do not say so."""
    texts = {page.name[:4]: page.read_text(encoding="utf-8") for page in sorted((DOCS / "adr").glob("[0-9]*.md"))}
    for number, text in texts.items():
        if not STATUS.match(text):
            yield f"ADR {number}: expected `Status: accepted.` or `Status: superseded by [NNNN](...)` below the title"
        for superseded in SUPERSEDED.finditer(text.partition("## Context")[0]):
            status = texts.get(superseded["number"], "").partition("## Context")[0]
            if f"by [{number}]" not in status:
                yield f"ADR {superseded['number']}: expected `Status: superseded by [{number}](...)`, as {number} says"


def long_changes() -> Iterator[str]:
    """Yield lines of the changelog that are too long."""
    for line in BULLET.finditer((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        if len(line["words"].split()) > LONGEST_CHANGE:
            yield f"CHANGELOG.md: expected at most {LONGEST_CHANGE} words: {line['words']}"


def lost_pages() -> Iterator[str]:
    """Yield pages that no other page links to."""
    linked = {
        (page.parent / link["target"].partition("#")[0]).resolve()
        for page in pages()
        for link in LINK.finditer(page.read_text(encoding="utf-8"))
        if "://" not in link["target"]
    }
    for page in pages():
        if page.is_relative_to(DOCS) and page.resolve() not in linked:
            yield f"{page.relative_to(ROOT)}: no page links to it"


def faults() -> list[str]:
    """Return everything that is wrong."""
    found = [fault for page in pages() for check in (broken_links, crowded_lines) for fault in check(page)]
    return [*found, *loose_decisions(), *unmarked_decisions(), *long_changes(), *lost_pages()]


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)
