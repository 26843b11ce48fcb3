"""What a team is told and signs: criteria of submission, terms, and the public part of the test packets."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404

from theodolite.domain.errors import TheodoliteError
from theodolite.domain.identity import digest
from theodolite.web.events import event_of
from theodolite.web.models import HostedStudy

CRITERIA = (
    "It answers a text with a text, within 60 seconds: at a public address, or as a class that the operator installed.",
    "It keeps the dialogues of different sessions apart, and begins each session without knowledge of any other.",
    "It says who made it, or what it is built on, only if nothing else would be true: testers are not to know.",
    "It stays as it is while the event is open. A change is another version, and has to be submitted again.",
    "It may fail: an error is recorded as an error, never as a refusal.",
    "What it can do and what it cannot is claimed below; both are tested.",
)
"""What an application must meet to be accepted."""

TERMS = (
    "The application may be called by testers, scripts and simulated users while the event is open.",
    "What it says is kept, annotated and measured, and may be published without the names of people.",
    "Results describe the application as it was submitted. They are no certificate, no endorsement and no ranking.",
    "You get your own application's results and may say publicly where you think they are wrong.",
    "Credentials serve these calls alone, are kept encrypted, and are deleted with the submission.",
    "You may withdraw the application until the event opens; what was said with it before stays in the accounts.",
)
"""What a team agrees to."""


def terms_version() -> str:
    """Return the content hash of criteria and terms, as a signature names it."""
    return digest("terms of submission", *CRITERIA, *TERMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPacket:
    """What a team may know of a scenario before the event; scripts, signs and aims are kept back.

    Attributes:
        scenario: Its name.
        goal: What people will want of the application.
        permitted: What must be possible.
        prohibited: What must not occur.
    """

    scenario: str
    goal: str
    permitted: tuple[str, ...]
    prohibited: tuple[str, ...]


def public_packets(hosted: HostedStudy) -> tuple[PublicPacket, ...]:
    """Return the public part of the test packets of what was published; none where it cannot be read at present."""
    try:
        study = event_of(hosted).study
    except (Http404, TheodoliteError):
        return ()
    return tuple(
        PublicPacket(
            scenario=one.name,
            goal="" if "{{" in one.goal else one.goal,
            permitted=one.packet.permitted,
            prohibited=one.packet.prohibited,
        )
        for one in study.scenarios
    )
