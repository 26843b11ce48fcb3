"""Identifiers of people in texts that are to be published: ten kinds, found by form, check digits and context.

`personal_details` finds what has a published form. This module adds what only its surroundings
tell: a name behind an introduction, a date behind the word "born", a street with its number, a
web address that carries an account. These four are heuristics for the languages listed in
`LANGUAGES`; they miss names without an introduction, and text in other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from theodolite.assessment.capture.personal import personal_details
from theodolite.domain.event_record import IdentifyingKind, IdentifyingSpan, apart

LANGUAGES: Final = ("en", "de", "fr", "es", "it", "nl", "pl", "sv")
"""Languages whose introductions, street words and birth words are known."""

_INTRODUCTIONS: Final = (
    r"my (?:full )?name is",
    r"my name's",
    r"i am called",
    r"(?:mr|mrs|ms|dr|prof)\.?",
    r"mein name ist",
    r"ich hei(?:ß|ss)e",
    r"(?:herr|frau)",
    r"je m['\u2019]appelle",
    r"mon nom est",
    r"(?:monsieur|madame)",
    r"me llamo",
    r"mi nombre es",
    r"(?:señor|señora)",
    r"mi chiamo",
    r"il mio nome è",
    r"(?:signor|signora)",
    r"mijn naam is",
    r"ik heet",
    r"nazywam się",
    r"mam na imię",
    r"jag heter",
    r"mitt namn är",
)
_WORD: Final = r"[^\W\d_a-zß-öø-ÿ][\w'\u2019-]+"
_NAME: Final = re.compile(
    rf"(?<!\w)(?i:{'|'.join(_INTRODUCTIONS)})\s+({_WORD}(?:\s+(?:(?:van|von|de|der|den|da|di|la|le|al)\s+)*{_WORD}){{0,3}})"
)

_BORN: Final = (
    r"born(?: on)?",
    r"(?:my )?(?:date of birth|birth ?date|birthday)(?: is)?",
    r"dob",
    r"geboren(?: am)?",
    r"geburtsdatum(?: ist)?",
    r"née? le",
    r"date de naissance",
    r"nac[ií](?:do|da)?(?: el)?",
    r"fecha de nacimiento",
    r"nat[oa] il",
    r"data di nascita",
    r"geboren op",
    r"geboortedatum(?: is)?",
    r"urodz(?:iłem|iłam|ony|ona)(?: się)?",
    r"data urodzenia",
    r"född(?: den)?",
)
_MONTHS: Final = r"[^\W\d_]{3,12}\.?"
_DATE: Final = (
    r"(?:\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4}|\d{4}-\d{2}-\d{2}|"
    rf"\d{{1,2}}(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?{_MONTHS},?\s+(?:de\s+)?\d{{4}}|{_MONTHS}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}})"
)
_BIRTH: Final = re.compile(rf"(?<!\w)(?:{'|'.join(_BORN)})[:\s]+({_DATE})", re.IGNORECASE)

_HOUSE: Final = r"\d{1,5}\s?[A-Za-z]?(?![\w])"
_CAPITALISED: Final = r"[^\W\d_a-zß-öø-ÿ][\w'\u2019.-]*"
_SMALL: Final = r"(?:(?:de|la|le|les|du|des|del|di|della|van|der|den|das|dos|l['\u2019])\s*){0,3}"
_STREETS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # 12 Baker Street, 1600 Pennsylvania Ave.
        rf"(?<!\w)\d{{1,5}}[A-Za-z]?,?\s+(?:{_CAPITALISED}\s+){{1,3}}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Boulevard|Blvd|Way|Terrace|Close)\b\.?",
        # Lindenstraße 5, Am Alten Markt 7, Kerkstraat 12, Storgatan 3
        rf"(?<!\w)[^\W\d_a-zß-öø-ÿ][\w-]*(?:straße|strasse|str\.|weg|allee|platz|gasse|straat|laan|plein|gracht|gatan|vägen)\s+{_HOUSE}",
        rf"(?<!\w)(?:{_CAPITALISED}\s+)(?:Straße|Allee|Weg|Platz)\s+{_HOUSE}",
        # 8 rue de la Paix, 24 avenue Foch
        rf"(?<!\w)\d{{1,5}}(?:\s?(?:bis|ter))?,?\s+(?:rue|avenue|boulevard|place|quai|chemin|impasse)\s+{_SMALL}{_CAPITALISED}(?:\s+{_CAPITALISED}){{0,2}}",
        # Calle Mayor 10, Via Roma 3, ul. Długa 4
        rf"(?<!\w)(?:[Cc]alle|[Aa]venida|[Pp]laza|[Vv]ia|[Vv]iale|[Pp]iazza|[Cc]orso|[Uu]l\.|[Uu]lica|[Aa]leja)\s+{_SMALL}{_CAPITALISED}(?:\s+{_CAPITALISED}){{0,2}},?\s+{_HOUSE}",
    )
)

_URL: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+", re.IGNORECASE)
_USER_DATA: Final = re.compile(
    r"//[^/@\s]+@"
    r"|[?&#;](?:user|username|uid|userid|user_id|id|email|mail|account|acct|token|session|sid|key|auth|name|phone)=[^&\s]+"
    r"|/(?:user|users|u|profile|profiles|in|people|account|accounts|member|members)/[\w.@-]{2,}"
    r"|/~[\w.-]{2,}"
    r"|(?<![\w-])(?:facebook|instagram|twitter|x|tiktok|linkedin|github|t)\.(?:com|me)/[\w.@-]{2,}",
    re.IGNORECASE,
)


def identifiers(text: str) -> tuple[IdentifyingSpan, ...]:
    """Return what may identify a person in a text, in order of its place; a person decides about each.

    Example:
        >>> [(one.kind.value, one.words) for one in identifiers("My name is Ana Silva, born on 3 May 1980.")]
        [("person's name", 'Ana Silva'), ('date of birth', '3 May 1980')]
    """
    return apart(_found(text))


def _found(text: str) -> Iterator[IdentifyingSpan]:
    """Yield what is found; what stands earlier wins where two overlap."""
    for match in _URL.finditer(text):
        if _USER_DATA.search(match.group()):
            yield _span(IdentifyingKind.URL, match, 0)
    for match in _BIRTH.finditer(text):
        yield _span(IdentifyingKind.BIRTH_DATE, match, 1)
    yield from personal_details(text)
    for pattern in _STREETS:
        for match in pattern.finditer(text):
            yield _span(IdentifyingKind.STREET, match, 0)
    for match in _NAME.finditer(text):
        yield _span(IdentifyingKind.NAME, match, 1)


def _span(kind: IdentifyingKind, match: re.Match[str], group: int) -> IdentifyingSpan:
    return IdentifyingSpan(kind=kind, start=match.start(group), end=match.end(group), words=match.group(group))
