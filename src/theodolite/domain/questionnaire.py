"""Questionnaires and what testers answer after a session; never shown to annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.annotation import Answer
from theodolite.domain.dialogue import Level
from theodolite.domain.instrument import Instrument


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """Questions that a tester answers once a session is over.

    Attributes:
        name: Identifier within the study.
        instrument: The questions, all of them about the session as a whole.
        title: Heading that testers read.
        about: One or two sentences above the questions.
        edition: Edition that its author gave it; identity is the content hash.
    """

    name: str
    instrument: Instrument
    title: str = ""
    about: str = ""
    edition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionnaireResponse:
    """One tester's answers to one questionnaire after one session.

    The session tells what the response is about; a store fills that in when it
    reads one.

    Attributes:
        session: Key of the session.
        participant: Opaque key of the person.
        questionnaire: Name of the questionnaire.
        instrument_version: Content hash of the questionnaire.
        answers: The answers; one for each chosen label where several may be chosen.
        revision: Number of the revision, from 1.
        submitted: Whether the tester has handed it in; until then it is a draft.
        application: Name of the application that the session was held with.
        scenario: Name of the scenario.
        level: Level of testing; None where the session is not known.
        dialogues: Keys of the session's dialogues.
        groups: Group name to value, of the session.
    """

    session: str
    participant: str
    questionnaire: str
    instrument_version: str
    answers: tuple[Answer, ...]
    revision: int = 1
    submitted: bool = False
    application: str = ""
    scenario: str = ""
    level: Level | None = None
    dialogues: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What trees call the session that it is about."""
        return f"session {self.session[:8]}"

    def to(self, question: str) -> tuple[Answer, ...]:
        """Return the answers to one question: several where several labels were chosen, none where it was left open."""
        return tuple(answer for answer in self.answers if answer.question == question)
