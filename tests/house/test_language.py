"""Documents and messages use the ordinary words of the field; both lists may only grow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.house.tree import PACKAGE, ROOT

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
WRITTEN_BY_TOOLS = {"cli.md", "rest-api.md"}

IN_DOCUMENTS_AND_SOURCE = {
    r"not a rate of 0\b": "no rate can be computed",
    r"put it right": "fix the problem",
    r"to tell \d+ points": "detecting a difference of N points",
    r"detectors alarm within": "false alarms: at most 1 per N scores",
    r"this interval knows": "the interval accounts for clustering",
    r"a side room": "a dedicated thread",
    r"a fault invites nobody": "if the list has errors, nobody is invited",
    r"waits for the system, and not": "writes are not fsynced",
    r"no place stands empty": "all slots are used",
    r"was let pass with": "tolerated deviations",
    r"\bbare numbers\b": "rates without an interval",
    r"\bdo to people\b": "risks",
    r"\bthe told\b": "name the noun",
    r"\bcomes? to nothing\b": "has no effect",
    r"Fine: 0 faults": "0 errors",
    r"\bnobody knows yet\b": "not validated against human labels",
    r"\bI take it that\b": "detected",
    r"\bRead these first\b": "Review first",
    r"\bIt knows chance\b": "covers sampling error",
    r"\bHow the labels are spread\b": "Label distribution",
    r"\bHow judges went about\b": "Judge behaviour",
    r"\btalked round\b": "gave in after pressure",
    r"\bsuch [a-z]+ as\b": "X like Y, e.g. Y",
    r"\bno news about\b": "does not describe",
    r"\bstart(s|ed)? afresh\b": "start again, restart",
    r"\bwithout tact\b": "tactless",
    r"\bis no regular expression\b": "is not a regular expression",
    r"\bnot to be told\b": "unknown",
    r"\bthings that are not so\b": "false statements",
    r"\bstayed put\b": "is stable",
    r"\bShares hold for\b": "Rates describe",
    r"\bgraver things\b": "more serious offences",
    r"\bat nobody's cost\b": "without ridiculing anyone",
    r"\bEveryday words are enough\b": "no technical knowledge is needed",
}
"""Phrases that are gone everywhere, and the words to use in their place."""

IN_DOCUMENTS = {
    r"\bmay be nothing\b": "not statistically significant",
    r"\btold apart\b": "distinguished",
    r"\bnot told\b": "unknown",
    r"\bknock(s|ed|ing)?\b": "endpoint check",
    r"\bnobody answers\b": "connection refused",
    r"\bfell out of (its|their) part\b": "broke character",
    r"\bcontrol question left out\b": "skipped the control question",
    r"\bat an unknown price\b": "cost unknown",
    r"\brehears(e|es|al|als|ed|ing)\b": "dry run",
    r"\banew\b": "again, new run",
    r"--(first|anew|parallel|unfinished)\b": "--limit, --new-run, --concurrency, --partial",
    r"\bCaught of the defects\b": "Sensitivity",
    r"\bPassed of the sound\b": "Specificity",
    r"\bthe other less the one\b": "difference (B - A)",
    r"\bHow shall we call you\b": "What should we call you?",
    r"\bEnter goes there\b": "All questions answered",
    r"\bfor a talk, not for a verdict\b": "Work so far",
    r"\bMinutes in the middle\b": "Median minutes",
    r"\bbrakes?\b": "pause, controls",
    r"\blets? nobody new in\b": "closes to new participants",
    r"\bWho comes in by it\b": "Who can use this link",
    r"\bWhat everybody reads\b": "Message shown while paused",
    r"\bLetters stand for annotators\b": "Annotators appear as letters",
    r"\bYou have met a good deal\b": "You have seen a lot of difficult content",
    r"\bRest for ten\b|\btired eyes\b": "Take a ten-minute break",
    r"\bHand it in\b": "Submit",
    r"\bCome in\b": "Join",
    r"\bTake back\b": "Revoke",
    r"\bLook again\b": "Refresh",
    r"\bGo on\b": "Resume",
    r"\bSessions that go on\b": "Active sessions",
    r"\bBegun\b": "Started",
    r"\bPeople at its gate\b": "Access requests",
    r"\bThis way is shut\b": "Access denied",
    r"\bSomething broke\b": "Something went wrong",
    r"\brather not meet\b": "content opt-outs",
    r"\bnobody (has to|need) meet\b": "content opt-outs",
    r"\b(may|to|can|cannot) be had\b": "available",
    r"\bnought\b": "0",
    r"\bstands? in for\b": "replaces",
    r"\bstands? (beside|apart)\b|\bstand side by side\b": "appears next to",
    r"\b(brings?|brought) nothing\b": "fails",
    r"\bwalks? to the end\b": "completes",
    r"\bwho moved\b": "judge drift or application drift",
    r"\bhold(s|ing)? (a judge|it|them) against\b|\bheld against\b": "compare with, validate against",
    r"\b(a|an) [a-z]+ of (its|one's|their) own\b": "its own, a separate",
    r"\bone's own\b": "your own",
    r"\bdialogues? that (was|were) held\b|\bheld dialogues?\b": "completed dialogues",
    r"\bis told (so|how|what|who)\b": "sees, receives",
    r"\btells? (neither|nothing|how|who|nobody|somebody)\b": "shows, reports",
    r"\bwould do somebody good\b": "suggested rotations",
    r"\bthat can be published\b": "name the properties",
    r"\bWhoever\b": "people who, participants who",
}
"""Phrases that are gone from the documents; one that is gone from the source as well moves to the list above."""

IN_PAGES = {
    r"\bhow far\b": "progress, extent",
    r"\b(not (answered )?alike|all alike)\b": "disagreements, all agree",
    r"\bto be looked at\b": "quality checks",
    r"\blook(s|ed|ing)? (into|through)\b|\blook again\b": "preview, search, refresh",
    r"\b(take|takes|took|taken) (back|along|out|in)\b": "withdraw, export, remove, import",
    r"\b(hold|holds|holding|held)\b": "contain, enforce, run, reserve",
    r"\bstands?\b(?! still)": "is, appears",
    r"\b(begun|begins?|beginning)\b": "started, starts",
    r"\b(go|goes|going|gone) on\b": "continue, resume, active",
    r"\b(meet|meets|met)\b": "see, use, match",
    r"\b(come|comes|came) in\b|\blet(s|ting)? (somebody |nobody |anybody )?in\b": "join, admit",
    r"\b(hand|hands|handed) (it |them )?(in|over)\b": "submit, pass on",
    r"\bwrite (it |them )?down\b|\bwritten down\b": "record, save",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bfaults?\b": "errors",
    r"\beditions?\b(?! (\{|X))": "published versions",
    r"\bcalibration rooms?\b": "calibration sessions",
    r"\b(sensitive places|known answers right)\b": "sensitive content, gold items",
    r"\bjudges beside people\b": "judges compared with people",
    r"\b((?<!your )own words|both sides)\b": "free-text answers, session comparison",
    r"\b(became|become) real\b": "materialised",
    r"\bcertif(y|ied|icates?)\b": "validate, validation report",
    r"\bwould rather\b": "content opt-outs",
    r"\bunder way\b": "running, in progress",
    r"\bsay (so|why|it|what)\b": "enter, select",
    r"\b(told|heard)\b": "sees, receives",
    r"\bof which\b": "a separate sentence",
    r"\bplease\b": "leave it out",
    r"\b(comfort|take along|give back|put first)\b": "display settings, export, release, prioritise",
}
"""Phrases that are gone from the templates and the texts for translation."""

NAMES_OF_KEYS = {"list.html", "_around.html"}
"""Templates of schemas, which name the key `edition` of a schema's file."""

CLAUSE_AS_SUBJECT = re.compile(r"^\s*(?:[-*] |\d+\. )?(?:What|Who|Whoever) [^?]*$")
SENTENCES_OF_EARLIER_DOCUMENTS = (
    "A difference whose interval spans 0 may be nothing.",
    "The page tells neither which application spoke nor who asked.",
    "Where nothing is found, the cost is not told.",
    "A mask is a judge of its own.",
    "Wait, then Look again.",
)
TEXTS_OF_EARLIER_PAGES = (
    "<h1>Take along, take in</h1>",
    '<th scope="col">How far</th>',
    '<p title="Not answered alike">X</p>',
    '{% translate "What you would rather not meet" %}',
    "<p>Their work: for a talk, not for a verdict</p>",
)


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page without code."""
    text = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), page.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), 1):
        yield number, INLINE_CODE.sub("`x`", line)


@cache
def documents() -> tuple[Path, ...]:
    """Return the pages for users: no records of decisions, and nothing that a tool writes."""
    left_out = WRITTEN_BY_TOOLS
    pages = (page for page in sorted((ROOT / "docs").rglob("*.md")) if "adr" not in page.parts)
    return (ROOT / "README.md", *(page for page in pages if page.name not in left_out))


@cache
def sources() -> tuple[Path, ...]:
    """Return the files of the package with words for people: code, templates and texts."""
    kinds = {".py", ".html", ".txt", ".yaml", ".md"}
    return tuple(path for path in sorted(PACKAGE.rglob("*")) if path.suffix in kinds and path.is_file())


def pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase; one that begins with a capital is the start of a sentence or a label."""
    starts_a_label = re.search(r"[A-Z]", phrase.replace("\\b", "").replace("\\B", ""))
    return re.compile(phrase, 0 if starts_a_label else re.IGNORECASE)


def uses(phrase: str, lines: Iterator[tuple[Path, int, str]]) -> list[str]:
    """Return where a phrase is used."""
    searched = pattern(phrase)
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}" for path, number, line in lines if searched.search(line)
    ]


def document_lines() -> Iterator[tuple[Path, int, str]]:
    """Yield the prose of all documents."""
    return ((page, number, line) for page in documents() for number, line in prose(page))


def source_lines() -> Iterator[tuple[Path, int, str]]:
    """Yield the lines of the package."""
    for path in sources():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield path, number, line


def shown(template: str) -> str:
    """Return the text of a template that a browser shows or reads aloud, line by line."""
    marked = re.sub(r"\{% (?:block)?trans(?:late)? (\"[^\"]*\"|'[^']*').*?%\}", lambda tag: tag[1][1:-1], template)
    plain = re.sub(r"\{%.*?%\}", "", re.sub(r"\{\{.*?\}\}", "X", marked))
    read = re.sub(r"<[^>]*(?:aria-label|title|alt|placeholder)=\"([^\"]*)\"[^>]*>", r" | \1 | ", plain)
    return re.sub(r"<[^>]*>", " | ", read)


def page_lines() -> Iterator[tuple[Path, int, str]]:
    """Yield the shown text of all templates and the source texts of the catalogues."""
    for page in sorted([*(PACKAGE / "web" / "templates").rglob("*.html"), *PACKAGE.rglob("templates/**/*.txt")]):
        for number, line in enumerate(shown(page.read_text(encoding="utf-8")).splitlines(), 1):
            yield page, number, line
    for catalogue in sorted((PACKAGE / "web" / "locale").rglob("*.po")):
        text = re.sub(r'"\n"', "", catalogue.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("msgid"):
                yield catalogue, number, re.sub(r"%\(\w+\)s", "X", ast.literal_eval(line[line.index('"') :]))


@pytest.mark.parametrize("phrase", [*IN_PAGES, *IN_DOCUMENTS, *IN_DOCUMENTS_AND_SOURCE])
def test_pages_use_ordinary_words(phrase):
    better = {**IN_PAGES, **IN_DOCUMENTS, **IN_DOCUMENTS_AND_SOURCE}[phrase]
    lines = (line for line in page_lines() if "edition" not in phrase or line[0].name not in NAMES_OF_KEYS)

    assert uses(phrase, lines) == [], f"write: {better}"


def test_no_text_of_a_page_starts_with_a_clause_as_its_subject():
    found = [
        f"{page.relative_to(ROOT)}:{n}: {part.strip()}"
        for page, n, line in page_lines()
        for part in line.split("|")
        if re.match(r"\s*(What|Who|Whoever|Those who|Where|How) [^?]*[.,:;][^?]*$", part)
    ]

    assert found == []


@pytest.mark.parametrize("phrase", [*IN_DOCUMENTS, *IN_DOCUMENTS_AND_SOURCE])
def test_documents_use_ordinary_words(phrase):
    better = {**IN_DOCUMENTS, **IN_DOCUMENTS_AND_SOURCE}[phrase]

    assert uses(phrase, document_lines()) == [], f"write: {better}"


def test_the_source_uses_ordinary_words():
    searched = [pattern(phrase) for phrase in IN_DOCUMENTS_AND_SOURCE]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path, number, line in source_lines()
        if any(phrase.search(line) for phrase in searched)
    ]

    assert found == []


def test_no_sentence_starts_with_a_clause_as_its_subject():
    found = [
        f"{page.relative_to(ROOT)}:{n}: {line}" for page, n, line in document_lines() if CLAUSE_AS_SUBJECT.match(line)
    ]

    assert found == []


@pytest.mark.parametrize("sentence", SENTENCES_OF_EARLIER_DOCUMENTS)
def test_banned_phrases_match_sentences_of_earlier_documents(sentence):
    assert any(pattern(phrase).search(sentence) for phrase in IN_DOCUMENTS)


@pytest.mark.parametrize("text", TEXTS_OF_EARLIER_PAGES, ids=range(len(TEXTS_OF_EARLIER_PAGES)))
def test_banned_phrases_match_texts_of_earlier_pages(text):
    assert any(pattern(phrase).search(shown(text)) for phrase in [*IN_PAGES, *IN_DOCUMENTS])
