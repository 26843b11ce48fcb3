"""Questionnaire responses: what testers say after a session; never shown to annotators."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.annotation import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionnaireResponse:
    """One tester's answers to one questionnaire after one session.

    Attributes:
        session: Key of the session.
        participant: Opaque key of the person.
        instrument_version: Content hash of the questionnaire.
        answers: The answers.
        revision: Number of the revision, from 1.
    """

    session: str
    participant: str
    instrument_version: str
    answers: tuple[Answer, ...]
    revision: int = 1
