"""Records of an event: blinding guesses, withdrawals, identifying spans, and the findings about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined
from theodolite.domain.session import NOT_ENDED, Session, SessionState
from theodolite.domain.study_parts import TopicTally


class GuessedThing(StrEnum):
    """Facts that are hidden from testers."""

    APPLICATION = "application"
    LEVEL = "level"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindingGuess:
    """A tester's guess about one session.

    Attributes:
        session: Key of the session.
        about: Subject of the guess.
        guess: Name of the application or the level; empty for "I do not know".
        options: Offered names, excluding "I do not know".
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
    """Texts and answers are deleted, and estimates exclude the dialogues."""
    ANONYMISE = "anonymise"
    """Texts and answers are kept without any link to the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Trace of a withdrawal in append-only logs: only the fact, without content.

    Attributes:
        study: Name of the study.
        kind: Kind of request.
        at: Time; UTC.
        sessions: Affected sessions; count.
        dialogues: Affected dialogues; count.
        answers: Affected answers in questionnaires and annotations; count.
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
"""Replacement for each hidden character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifyingSpan:
    """A span of a text that may identify someone; a suggestion until a person has confirmed it.

    Attributes:
        kind: Kind of revealed information.
        start: Index of the first character, from 0.
        end: Index after the last character.
        words: The words.
    """

    kind: IdentifyingKind
    start: int
    end: int
    words: str


def masked(text: str, identifying_spans: Iterable[IdentifyingSpan]) -> str:
    """Return a text with the characters of identifying spans replaced one by one, so that all indices stay valid.

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
    """Return identifying spans in order of position; of two overlapping spans the first found is kept."""
    spans: list[IdentifyingSpan] = []
    for span in identifying_spans:
        if all(span.end <= known.start or known.end <= span.start for known in spans):
            spans.append(span)
    return tuple(sorted(spans, key=lambda span: span.start))


FEWEST_GUESSES = 5
"""Minimum number of guesses for a p-value: with two options, five right guesses are the first with p < 0.05."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindingAssessment:
    """Result of the blinding assessment.

    Attributes:
        about: Subject of the guess.
        level: Level of testing; None for all levels together.
        rate: Share of testers with a right first guess, excluding those who did not know.
        chance: Share that would be right by guessing alone; fraction.
        p_value: Probability of at least this number of right guesses by chance; None for too few guesses.
        n_unknown: First answers "I do not know"; count.
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
        sessions: Sessions of the study, in any release, in order of creation.
        turns: Session key to its number of turns, and the number that the person marked as
            broken guardrails; counts.
        dialogues: Session key to its ended and kept dialogues; counts, absent if there are none.
        guesses: Testers' guesses about the application, oldest first.
        tombstones: Withdrawals, oldest first.
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
        n_people: People with a finished session; count.
        n_sessions: Finished sessions; count.
        minutes_median: Median of the people's time in sessions; minutes.
        minutes_most: Longest time of one person; minutes.
        turns: Prompts sent; count.
        severe: Turns that people marked as broken guardrails; count.
        severe_most: Maximum number of broken guardrails of one person; count.
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
    """Extent of withdrawals of one kind; only counts are stored."""

    kind: Withdrawal
    n_people: int
    sessions: int
    dialogues: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTally:
    """Sessions in one study language; counts, without names.

    Attributes:
        language: Language tag; empty for all sessions in unknown languages.
        n_sessions: Sessions that were started and not withdrawn; count.
        n_dialogues: Their ended and kept dialogues; count.
    """

    language: str
    n_sessions: int
    n_dialogues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFinding:
    """Findings about an event besides its dialogues.

    Attributes:
        leaks: Results of the blinding assessment.
        exposures: Exposure of participants, one entry for each level.
        withdrawals: Withdrawals, one entry for each kind.
        topics: Avoided topics.
        languages: Sessions by the language in which people read the study, most frequent first;
            unknown languages last.
    """

    leaks: tuple[BlindingAssessment, ...] = ()
    exposures: tuple[ExposureTally, ...] = ()
    withdrawals: tuple[WithdrawalTally, ...] = ()
    topics: tuple[TopicTally, ...] = ()
    languages: tuple[LanguageTally, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTally:
    """Number of sessions of one cell of the design in one state.

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
        """Whether the sessions have ended, in any way."""
        return self.state not in NOT_ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterTally:
    """Progress of one participant in the sessions of a study.

    Attributes:
        n_ended: Ended sessions; count.
        n_active: Active sessions; count.
        last: When a session last started or ended; UTC, None before the first one.
        n: All sessions, those that have not started included; count.
        elapsed_s: Time in sessions, excluding pauses; seconds.
    """

    n_ended: int
    n_active: int
    last: datetime | None
    n: int = 0
    elapsed_s: float = 0.0
