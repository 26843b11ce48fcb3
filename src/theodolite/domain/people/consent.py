"""Consent: which texts a person has read and agreed to, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class AcknowledgedText(StrEnum):
    """Texts that people acknowledge before they test."""

    CONSENT = "consent"
    CONTENT_WARNING = "content warning"
    INSTRUCTIONS = "instructions"
    TOPICS = "topics"
    """What one may choose not to meet; acknowledged is that one was asked, whatever one chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """One person's agreement to one version of one text; never changed, a later text needs another one.

    Attributes:
        participant: Opaque key of the person.
        study: Name of the study.
        subject: Which text.
        version: Content hash of its words; 64 hexadecimal digits.
        at: When; UTC.
        session: Key of the session that it is about; empty for the whole study.
    """

    participant: str
    study: str
    subject: AcknowledgedText
    version: str
    at: datetime
    session: str = ""
