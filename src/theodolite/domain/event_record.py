"""Records of an event: blinding guesses, withdrawals, identifying spans, and the findings about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study_parts import TopicTally


class GuessedThing(StrEnum):
    """Facts that are hidden from testers."""

    APPLICATION = "application"
    LEVEL = "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindingGuess:
    """One tester's guess about one session.

    Attributes:
        session: Key of the session.
        about: Subject of the guess.
        guess: Name of the application or the level; empty for "I do not know".
        options: Names that were offered, "I do not know" left out.
        at: Time; UTC.
    """

    session: str
    about: GuessedThing
    guess: str
    options: tuple[str, ...]
    at: datetime


class Withdrawal(StrEnum):
    """A withdrawing person's choice for their dialogues and answers."""

    REMOVE = "remove"
    """Words and answers are deleted, and estimates leave the dialogues out."""
    ANONYMISE = "anonymise"
    """Words and answers stay, and nothing leads from them to the person any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Trace of a withdrawal in append-only logs: the fact alone, without content.

    Attributes:
        study: Name of the study.
        kind: Kind of request.
        at: Time; UTC.
        sessions: Sessions that it reached; count.
        dialogues: Dialogues that it reached; count.
        answers: Answers in questionnaires and annotations that it reached; count.
    """

    study: str
    kind: Withdrawal
    at: datetime
    sessions: int = 0
    dialogues: int = 0
    answers: int = 0


class IdentifyingKind(StrEnum):
    """Revealed fact."""

    EMAIL = "e-mail address"
    PHONE = "phone number"
    CARD = "payment card"
    IBAN = "bank account"
    NATIONAL_ID = "national identity number"
    IP_ADDRESS = "IP address"
    URL = "web address with user data"
    STREET = "street address"
    NAME = "person's name"
    BIRTH_DATE = "date of birth"
    APPLICATION = "application"


MASK = "\N{BULLET}"
"""Replacement for each hidden letter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifyingSpan:
    """Words of a text that give something away; a suggestion until a person has confirmed it.

    Attributes:
        kind: Kind of information that is revealed.
        start: Place of the first letter, from 0.
        end: Place behind the last letter.
        words: The words.
    """

    kind: IdentifyingKind
    start: int
    end: int
    words: str


def masked(text: str, identifying_spans: Iterable[IdentifyingSpan]) -> str:
    """Return a text with the letters of giveaways replaced one by one, so that every place in it stays where it was.

    Example:
        >>> found = IdentifyingSpan(kind=IdentifyingKind.PHONE, start=5, end=9, words="0815")
        >>> masked("Call 0815 now", [found])
        'Call \N{BULLET}\N{BULLET}\N{BULLET}\N{BULLET} now'
    """
    letters = list(text)
    for span in identifying_spans:
        letters[span.start : span.end] = MASK * (span.end - span.start)
    return "".join(letters)


def apart(identifying_spans: Iterable[IdentifyingSpan]) -> tuple[IdentifyingSpan, ...]:
    """Return giveaways in order of their place; of two that overlap the one that was found first stays."""
    spans: list[IdentifyingSpan] = []
    for span in identifying_spans:
        if all(span.end <= known.start or known.end <= span.start for known in spans):
            spans.append(span)
    return tuple(sorted(spans, key=lambda span: span.start))


FEWEST_GUESSES = 5
"""Guesses below which an assessment has no p-value: of two options, five right guesses are the first with p < 0.05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindingAssessment:
    """How far testers saw through the blinding.

    Attributes:
        about: Subject of the guess.
        level: Level of testing; None for all levels together.
        rate: Share of testers with a right first guess, without those who did not know.
        chance: Share that would be right by guessing alone; fraction.
        p_value: Probability of at least this number of right guesses by chance; None for too few guesses.
        n_unknown: First answers that said "I do not know"; count.
        n_repeated: Later guesses by the same people, which are not independent of the first; count.
    """

    about: GuessedThing
    level: Level | None
    rate: Estimate | Undefined
    chance: float
    p_value: float | None = None
    n_unknown: int = 0
    n_repeated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """People's records other than dialogues and answers.

    Attributes:
        sessions: Those of the study, in any edition, in the order of creation.
        turns: Key of a session with any turn to its turns, and to those that the person marked as
            broken guardrails; counts.
        dialogues: Key of a session to its dialogues that ended and are kept; counts, none if there are none.
        guesses: Testers' guesses about the application, the oldest first.
        tombstones: Withdrawals, the oldest first.
        topics: Effect of avoided topics on the balance, for each topic.
    """

    sessions: tuple[Session, ...] = ()
    turns: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    dialogues: Mapping[str, int] = field(default_factory=dict)
    guesses: tuple[BlindingGuess, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    topics: tuple[TopicTally, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureTally:
    """Exposure of one level's people, over finished sessions.

    Attributes:
        level: Level of testing.
        n_people: People with such a session; count.
        n_sessions: Such sessions; count.
        minutes_median: Median of the people's time in sessions; minutes.
        minutes_most: Longest time of one person; minutes.
        turns: Prompts sent; count.
        severe: Turns that people marked as broken guardrails; count.
        severe_most: Most of them that one person met; count.
        n_enough: People who reached the study's limit of exposure; count, None without a limit.
    """

    level: Level
    n_people: int
    n_sessions: int
    minutes_median: float
    minutes_most: float
    turns: int
    severe: int
    severe_most: int
    n_enough: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawalTally:
    """Extent of withdrawals of one kind; counts, and nothing else is stored."""

    kind: Withdrawal
    n_people: int
    sessions: int
    dialogues: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTally:
    """Sessions of readers of the study in one language; counts, without names.

    Attributes:
        language: Language tag; empty for all sessions without a known one.
        n_sessions: Sessions that were started and not withdrawn; count.
        n_dialogues: Their dialogues that ended and are kept; count.
    """

    language: str
    n_sessions: int
    n_dialogues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFinding:
    """Findings about an event other than its dialogues.

    Attributes:
        leaks: How far testers saw through the blinding.
        exposures: Exposure of participants, an entry for each level.
        withdrawals: Withdrawals, an entry for each kind.
        topics: Avoided topics.
        languages: What people held by the language in which they read the study, the most sessions first; what is
            unknown comes last.
    """

    leaks: tuple[BlindingAssessment, ...] = ()
    exposures: tuple[ExposureTally, ...] = ()
    withdrawals: tuple[WithdrawalTally, ...] = ()
    topics: tuple[TopicTally, ...] = ()
    languages: tuple[LanguageTally, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTally:
    """How many sessions of one cell of the design are in one state; count.

    Attributes:
        level: Level of testing.
        scenario: Name of the scenario.
        application: Name of the application.
        state: The state.
        n: Sessions; count.
    """

    level: Level
    scenario: str
    application: str
    state: SessionState
    n: int

    @property
    def is_started(self) -> bool:
        """Whether the sessions have started."""
        return self.state is not SessionState.WAITING

    @property
    def is_over(self) -> bool:
        """Whether the sessions have ended, in whichever way."""
        return self.state not in {SessionState.WAITING, SessionState.ACTIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterTally:
    """Progress of one participant in the sessions of a study.

    Attributes:
        n_ended: Ended sessions; count.
        n_active: Active sessions; count.
        last: When a session last started or ended; UTC, None before the first one.
    """

    n_ended: int
    n_active: int
    last: datetime | None
