"""Redaction: passages that annotators do not see, texts that a person should check, and identifiers of people."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from theodolite.assessment.blinding import self_identification
from theodolite.domain.annotating.case import Flag, FlagKind, Redaction, TurnText
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.errors import InputError
from theodolite.domain.event_record import IdentifyingKind, IdentifyingSpan, apart, masked
from theodolite.domain.text import blocked


def redacted(dialogue: Dialogue, redactions: Sequence[Redaction], category: str) -> Dialogue:
    """Return a dialogue as annotators of a category may see it: same turns, same lengths, some words hidden.

    Args:
        dialogue: The original.
        redactions: Parts to hide.
        category: Name of the category; categories listed in a redaction's `shown_in` see the words.
    """
    hidden = [redaction for redaction in redactions if category not in redaction.shown_in]
    if not hidden:
        return dialogue
    return replace(dialogue, turns=tuple(_redacted(turn, hidden) for turn in dialogue.turns))


def _redacted(turn: Turn, redactions: Sequence[Redaction]) -> Turn:
    prompt, response = turn.prompt, turn.response
    for redaction in redactions:
        if redaction.turn == turn.number and redaction.side is TurnText.PROMPT:
            prompt = blocked(prompt, redaction.start, redaction.end)
        elif redaction.turn == turn.number:
            response = blocked(response, redaction.start, redaction.end)
    return replace(turn, prompt=prompt, response=response)


def redactions_of(dialogue: Dialogue, words: str, *, shown_in: tuple[str, ...] = ()) -> tuple[Redaction, ...]:
    """Return one redaction for each occurrence of some words in a dialogue.

    Raises:
        InputError: If they occur nowhere, or there are none.
    """
    result = tuple(
        Redaction(turn=turn.number, side=side, start=start, end=start + len(words), shown_in=shown_in)
        for turn in dialogue.turns
        for side, text in ((TurnText.PROMPT, turn.prompt), (TurnText.RESPONSE, turn.response))
        for start in _places(text, words)
    )
    if not result:
        message = f"the words {words!r} stand nowhere in the dialogue; copy them as they stand there"
        raise InputError(message)
    return result


def _places(text: str, words: str) -> list[int]:
    positions, start = [], text.find(words) if words else -1
    while start >= 0:
        positions.append(start)
        start = text.find(words, start + len(words))
    return positions


class Suspicion(NamedTuple):
    """A program's flag with the text that it would hide from annotators meanwhile."""

    flag: Flag
    hidden: tuple[Redaction, ...] = ()


def suspicions(dialogue: Dialogue, names: Sequence[str], *, shown_in: tuple[str, ...] = ()) -> tuple[Suspicion, ...]:
    """Return the suspicions about a dialogue: one for each kind and turn, in order of the turns.

    Personal details are hidden from annotators until a person has checked them, except in
    the categories that judge whether revealing them was a violation.
    Names of applications need no hiding here, since annotators see them masked
    anyway. No flag repeats the words that it is about.

    Args:
        dialogue: The dialogue.
        names: Names of the study's applications and models.
        shown_in: Categories whose annotators see personal details.
    """
    return tuple(suspicion for turn in dialogue.turns for suspicion in _of_turn(turn, names, shown_in))


def _of_turn(turn: Turn, names: Sequence[str], shown_in: tuple[str, ...]) -> Iterator[Suspicion]:
    sides = ((TurnText.PROMPT, turn.prompt), (TurnText.RESPONSE, turn.response))
    result = [(side, detail) for side, text in sides for detail in personal_details(text)]
    if result:
        kinds = ", ".join(dict.fromkeys(f"{one.kind.value} in the {side.value}" for side, one in result))
        hidden = tuple(
            Redaction(turn=turn.number, side=side, start=one.start, end=one.end, shown_in=shown_in)
            for side, one in result
        )
        yield Suspicion(_flag(FlagKind.PII, turn, f"Looks like: {kinds}"), hidden)
    if n := len(self_identification(turn.response, names)):
        times = "once" if n == 1 else f"{n} times"
        yield Suspicion(_flag(FlagKind.SELF_IDENTIFICATION, turn, f"The response names itself or a maker {times}"))
    if words_of_danger(turn.prompt):
        yield Suspicion(_flag(FlagKind.WELLBEING, turn, "The prompt holds words by which somebody may be in danger"))


def _flag(kind: FlagKind, turn: Turn, note: str) -> Flag:
    return Flag(kind=kind, turn=turn.number, note=note, by_detector=True)


REGIONS = ("US",)
"""Countries whose phone numbers are matched without a country code; others need one."""

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")

_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}\b")

_CARD = re.compile(r"(?<![\d.,-])\d(?:[ -]?\d){12,18}(?![\d-])")

_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d|\w)")

_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")

_NATIONAL: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (module, re.compile(pattern))
    for module, pattern in (
        ("us.ssn", r"\b\d{3}-\d{2}-\d{4}\b"),
        ("gb.nhs", r"\b\d{3}[ -]\d{3}[ -]\d{4}\b"),
        ("fr.nir", r"\b[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}\b"),
        ("de.idnr", r"\b\d{2} ?\d{3} ?\d{3} ?\d{3}\b"),
        ("it.codicefiscale", r"\b[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]\b"),
        ("es.dni", r"\b\d{8}-?[A-Z]\b"),
        ("es.nie", r"\b[XYZ]-?\d{7}-?[A-Z]\b"),
        ("pl.pesel", r"\b\d{11}\b"),
        ("se.personnummer", r"\b(?:\d{2})?\d{6}[-+]\d{4}\b"),
        ("fi.hetu", r"\b\d{6}[-+A]\d{3}[0-9A-Y]\b"),
        ("be.nn", r"\b\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}\b"),
        ("ch.ssn", r"\b756\.\d{4}\.\d{4}\.\d{2}\b"),
        ("br.cpf", r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b"),
        ("ca.sin", r"\b\d{3}[ -]\d{3}[ -]\d{3}\b"),
        ("in_.aadhaar", r"\b\d{4} \d{4} \d{4}\b"),
    )
)
"""Modules of `stdnum` that check a number, and how such a number is written."""


def personal_details(text: str, regions: Sequence[str] = REGIONS) -> tuple[IdentifyingSpan, ...]:
    """Return the personal details in a text, in order of position: suggestions, never verdicts.

    Args:
        text: Any text.
        regions: Countries (two letters) whose phone numbers are matched without a country code.

    Example:
        >>> [(one.kind.value, one.words) for one in personal_details("Write to ana@example.org")]
        [('e-mail address', 'ana@example.org')]
    """
    return apart(_found(text, regions))


def mask_personal(text: str) -> str:
    """Return a text with every letter of a personal detail replaced; its length stays."""
    return masked(text, personal_details(text))


def _found(text: str, regions: Sequence[str]) -> Iterator[IdentifyingSpan]:
    """Yield the matches, the surest first: it wins if two overlap."""
    yield from _matching(IdentifyingKind.EMAIL, _EMAIL, text, lambda _: True)
    yield from _matching(IdentifyingKind.IP_ADDRESS, _IPV4, text, _is_address)
    yield from _matching(IdentifyingKind.IP_ADDRESS, _IPV6, text, _is_address)
    if not any(letter.isdigit() for letter in text):
        return
    yield from _matching(IdentifyingKind.IBAN, _IBAN, text, _checks("iban"))
    yield from _matching(IdentifyingKind.CARD, _CARD, text, _checks("luhn"))
    for module, pattern in _NATIONAL:
        yield from _matching(IdentifyingKind.NATIONAL_ID, pattern, text, _checks(module))
    yield from _phones(text, regions)


def _matching(
    kind: IdentifyingKind, pattern: re.Pattern[str], text: str, is_valid: Callable[[str], bool]
) -> Iterator[IdentifyingSpan]:
    for match in pattern.finditer(text):
        if is_valid(match.group()):
            yield IdentifyingSpan(kind=kind, start=match.start(), end=match.end(), words=match.group())


def _checks(name: str) -> Callable[[str], bool]:
    """Return the checker of a number's digits; the library is loaded at the first number."""

    def is_valid(words: str) -> bool:
        from stdnum import get_cc_module, iban, luhn

        if name == "luhn":
            return bool(luhn.is_valid(re.sub(r"[ -]", "", words)))
        country, _, which = name.partition(".")
        module: Any = iban if name == "iban" else get_cc_module(country.rstrip("_"), which)
        return bool(module.is_valid(words))

    return is_valid


def _is_address(words: str) -> bool:
    if "::" in words and words.strip("0123456789:") == "" and words.count(":") < 4:
        return False  # a ratio, or a time
    try:
        return not ipaddress.ip_address(words).is_unspecified
    except ValueError:
        return False


def _phones(text: str, regions: Sequence[str]) -> Iterator[IdentifyingSpan]:
    from phonenumbers import PhoneNumberMatcher

    for region in (None, *regions):
        for match in PhoneNumberMatcher(text, region):
            yield IdentifyingSpan(kind=IdentifyingKind.PHONE, start=match.start, end=match.end, words=match.raw_string)


_ONESELF = r"(?:my\s?self|me)"

_WORDS = re.compile(
    r"\b(?:"
    rf"(?:kill|hurt|harm|cut|starve)(?:ing)?\s+{_ONESELF}"
    r"|end(?:ing)?\s+(?:my\s+(?:own\s+)?life|it\s+all)"
    r"|tak(?:e|ing)\s+my\s+(?:own\s+)?life"
    r"|(?:want|wish|going|ready)\s+to\s+(?:die|be\s+dead)"
    r"|(?:want|wish)\s+I\s+(?:was|were)\s+(?:dead|never\s+born)"
    r"|better\s+off\s+without\s+me"
    r"|no\s+reason\s+to\s+live"
    r"|can(?:no|['\N{RIGHT SINGLE QUOTATION MARK}])t\s+go\s+on\s+(?:living|like\s+this|any\s?more)"
    r"|suicid(?:e|al)"
    r"|self[- ]harm(?:ing)?"
    r"|(?:he|she|they|somebody|someone|my\s+\w+)\s+(?:hits|beats|hurts|threatens)\s+me"
    r"|(?:I\s+am|I['\N{RIGHT SINGLE QUOTATION MARK}]m)\s+(?:afraid|scared)\s+(?:for\s+my\s+life|to\s+go\s+home)"
    r")\b",
    re.IGNORECASE,
)


def words_of_danger(text: str) -> tuple[str, ...]:
    """Return words of a prompt by which its writer may be in danger, each once, in order.

    Args:
        text: A person's text.

    Example:
        >>> words_of_danger("Sometimes I want to die."), words_of_danger("Who wants to live?")
        (('want to die',), ())
    """
    return tuple(dict.fromkeys(match.group() for match in _WORDS.finditer(text)))


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
    """Return parts of a text that may identify a person, in order; a person decides about each.

    Example:
        >>> [(one.kind.value, one.words) for one in identifiers("My name is Ana Silva, born on 3 May 1980.")]
        [("person's name", 'Ana Silva'), ('date of birth', '3 May 1980')]
    """
    return apart(_identifiers_in(text))


def _identifiers_in(text: str) -> Iterator[IdentifyingSpan]:
    """Yield the matches; the earlier one wins if two overlap."""
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
