"""Names are terms of the field: old private names do not return, and a class name has one meaning.

The list of former names may only grow; the limit of shared class names may only fall.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest
from tests.house.tree import PACKAGE, ROOT, modules, parsed, tracked_files

FORMER_NAMES = frozenset(
    [
        "Accounts",
        "AnswerStretch",
        "Aside",
        "AtWork",
        "Brakes",
        "Bundle",
        "Cabinet",
        "Cast",
        "CategoryStanding",
        "Certificate",
        "ChatKnock",
        "ClaimStanding",
        "CodingOffice",
        "CodingRoom",
        "Complaints",
        "Conduct",
        "Crew",
        "DescribedPeople",
        "Ear",
        "Fault",
        "Footing",
        "Foresight",
        "Giveaway",
        "GiveawayKind",
        "GivenUp",
        "GoodAnswer",
        "Guestbook",
        "GuidelineShelf",
        "HiddenStretch",
        "Handover",
        "HeldBy",
        "Here",
        "JudgeStanding",
        "Keeper",
        "Knock",
        "Lapse",
        "Leak",
        "Likeness",
        "Lines",
        "LiveRoom",
        "Mishap",
        "OWN_WORDS",
        "Onlooker",
        "Outgoing",
        "Party",
        "PlacedFault",
        "QuestionCard",
        "Reception",
        "Register",
        "RegisterBook",
        "Rehearsed",
        "Scribe",
        "Seat",
        "SeatRow",
        "Shape",
        "Sheet",
        "Shelf",
        "Shelves",
        "Sighting",
        "Slips",
        "Station",
        "StrategyCard",
        "Stretch",
        "Strip",
        "Supply",
        "Talk",
        "TesterStretch",
        "ToldTopic",
        "Voice",
        "WAYS_OUT",
        "Workbench",
        "Workplace",
        "Worse",
        "announced",
        "brakes",
        "bundle",
        "card_for",
        "card_of",
        "cards_in_order",
        "cards_of",
        "certificate_of",
        "certificates_of",
        "certify",
        "crew",
        "departures",
        "departures_of",
        "described_in",
        "described_people",
        "footing",
        "foresight",
        "giveaway",
        "giveaways",
        "heed",
        "insist",
        "is_mended",
        "knock",
        "knock_at",
        "knock_first",
        "knocks",
        "lapse",
        "late_complaint",
        "lay_out_scratch",
        "let_annotate",
        "mended",
        "onlooker",
        "planned_seats",
        "rehearsal_environ",
        "scribe",
        "seat_of",
        "shaping",
        "shelves",
        "sighting",
        "sightings",
        "substance",
        "supposed_microusd",
        "supposed_tokens",
        "thoughts",
        "told_topics",
        "vault",
        "standing_failures",
        "ways_out",
    ]
)
"""Identifiers that the project used before it adopted the terms of the field."""

FORMER_WORDS = frozenset(["conduct", "heard", "seat", "stretch", "stretches", "told", "worded"])
"""Words that no identifier of the package contains outside its pages and its demonstration applications."""

TABLES = frozenset(["QuoteStretchRow"])
"""Classes of database tables, which keep their names without a migration."""

SHARED_CLASS_NAMES = 5
"""Class names that may stand in two modules; count."""

WORD = re.compile(rf"\b(?:{'|'.join(sorted(FORMER_NAMES))})\b")


def identifiers(text: str) -> set[str]:
    """Return the identifiers of a program, without the words of its texts and comments."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def former_names(text: str) -> list[str]:
    """Return the former names that a program uses; programs without such a word are not parsed."""
    return sorted(identifiers(text) & FORMER_NAMES) if WORD.search(text) else []


def words_of(name: str) -> set[str]:
    """Return the words of an identifier, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def programs() -> list[Path]:
    """Return the Python files under version control; migrations tell of the past."""
    files = (path for path in tracked_files() if path.suffix == ".py")
    return [path for path in files if "migrations" not in path.relative_to(ROOT).parts]


def test_no_program_uses_a_former_name():
    used = {path.relative_to(ROOT).as_posix(): former_names(path.read_text(encoding="utf-8")) for path in programs()}

    assert {path: names for path, names in used.items() if names} == {}


def test_no_identifier_of_the_package_contains_a_former_word():
    pages = {PACKAGE / "web", PACKAGE / "resources"}
    texts = {path: path.read_text(encoding="utf-8") for path in modules() if not pages & set(path.parents)}
    likely = re.compile("|".join(FORMER_WORDS), re.IGNORECASE)
    names = {path: identifiers(text) for path, text in texts.items() if likely.search(text)}
    used = {
        path: sorted(name for name in named - TABLES if words_of(name) & FORMER_WORDS) for path, named in names.items()
    }

    assert {str(path.relative_to(PACKAGE)): found for path, found in used.items() if found} == {}


def test_class_names_have_one_meaning():
    homes: dict[str, set[str]] = defaultdict(set)
    for path in modules():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef) and node.name not in {"Meta", "Migration"}:
                homes[node.name].add(path.relative_to(PACKAGE).as_posix())
    shared = {name: sorted(paths) for name, paths in homes.items() if len(paths) > 1}

    assert len(shared) <= SHARED_CLASS_NAMES, f"rename one class of each pair: {shared}"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("class HeldBy: ...", ["HeldBy"]),
        ("x.knock(f'{venue}')", ["knock"]),
        ("x = 'HeldBy'  # HeldBy", []),
        ("HeldByTester = 1", []),
    ],
    ids=["class", "attribute", "text and comment", "longer name"],
)
def test_former_names_are_detected_among_identifiers(text, names):
    assert former_names(text) == names
