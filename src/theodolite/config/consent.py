"""Consent and content warning of an event: what is missing before people may be let in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from theodolite.config.resources import shipped_bytes
from theodolite.domain.study import Study
from theodolite.testing.assigning import people_levels

NEEDED = "needed before people are invited"
"""Why something that is missing matters."""

_SAMPLES = (
    "starters/consent.md",
    *(f"packs/aria/{name}/consent.md" for name in ("tv-spoilers", "meal-planner", "pathfinder")),
)
"""Texts that are to be completed before anybody reads them."""

_BLANK = re.compile(r"(?<!\])(?!^\[[^\]\n]+\]:\s)\[[^\]\n]{1,60}\](?![(\[])", re.MULTILINE)
"""A place that is still to be filled in; links are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """Something that an event must not open without.

    Attributes:
        what: What is missing, in words.
        key: Key of the study file that names its text; empty where no file can bring it.
    """

    what: str
    key: str = ""


def unfinished(consent: str) -> str:
    """Return what is still to be done to a consent text, in words; empty where it is whole."""
    samples = [raw.decode("utf-8").strip() for path in _SAMPLES if (raw := shipped_bytes(path)) is not None]
    if consent.strip() in samples:
        return "still the sample text"
    blanks = tuple(dict.fromkeys(_BLANK.findall(consent)))
    return f"places still to be filled in: {', '.join(blanks)}" if blanks else ""


def lacks_of(study: Study) -> tuple[Lack, ...]:
    """Return the texts that people must read and that a study does not have yet.

    A study that looks for risks and tells people nothing of what they may meet is one
    that nobody can agree to. Where no people take part nothing is missing.
    """
    if not people_levels(study):
        return ()
    consent, warning = (study.event.consent, study.event.warning) if study.event else ("", "")
    lacks = []
    if not consent.strip():
        lacks.append(Lack(what="no consent text is named", key="consent"))
    elif problem := unfinished(consent):
        lacks.append(Lack(what=f"the consent text: {problem}", key="consent"))
    if study.risks and not warning.strip():
        lacks.append(Lack(what="no content warning is named, and the study looks for risks", key="warning"))
    return tuple(lacks)
