"""Personal details in a text: suggestions for people to confirm, by shape and by check digits.

Names and addresses of people are not found: that takes a model, and is left to
those who read. What is found keeps to published forms, so that a hit means something.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from theodolite.domain.event_record import IdentifyingKind, IdentifyingSpan, apart, masked

REGIONS = ("US",)
"""Countries whose phone numbers are known without their country code; others are found with it."""

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
    """Return the personal details in a text, in order of their place: suggestions, never verdicts.

    Args:
        text: Anything that was said.
        regions: Countries, by two letters, whose phone numbers are known without their country code.

    Example:
        >>> [(one.kind.value, one.words) for one in personal_details("Write to ana@example.org")]
        [('e-mail address', 'ana@example.org')]
    """
    return apart(_found(text, regions))


def mask_personal(text: str) -> str:
    """Return a text with every letter of a personal detail replaced; its length stays."""
    return masked(text, personal_details(text))


def _found(text: str, regions: Sequence[str]) -> Iterator[IdentifyingSpan]:
    """Yield what is found, the surest first: it wins where two overlap."""
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
    """Return what checks the digits of a number; the library is read when the first number is met."""

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
