"""What is known of an event beside its dialogues: guesses, exposure, withdrawals; and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.dialogue import Level
from theodolite.domain.people.blinding import BlindingGuess
from theodolite.domain.people.leak import BlindingAssessment
from theodolite.domain.people.session import Session
from theodolite.domain.people.topic import TopicTally
from theodolite.domain.people.withdrawal import Tombstone, Withdrawal


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """What people left beside dialogues and answers.

    Attributes:
        sessions: Those of the study, whichever edition, in the order in which they were made.
        turns: Key of a session in which anything was said to its turns, and to those that the person marked as
            broken guardrails; counts.
        dialogues: Key of a session to its dialogues that ended and are kept; counts, none where there are none.
        guesses: What testers believe they met, the oldest first.
        tombstones: Withdrawals, the oldest first.
        topics: What it cost the balance that nobody has to meet some topics, a topic each.
    """

    sessions: tuple[Session, ...] = ()
    turns: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    dialogues: Mapping[str, int] = field(default_factory=dict)
    guesses: tuple[BlindingGuess, ...] = ()
    tombstones: tuple[Tombstone, ...] = ()
    topics: tuple[TopicTally, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureTally:
    """What the people of one level went through, over sessions that are over.

    Attributes:
        level: Level of testing.
        n_people: People with such a session; count.
        n_sessions: Such sessions; count.
        minutes_median: Median of the people's time in sessions; minutes.
        minutes_most: Longest time of one person; minutes.
        turns: Prompts sent; count.
        severe: Turns that people marked as broken guardrails; count.
        severe_most: Most of them that one person met; count.
        n_enough: People who went through as much as the study asks of anybody; count, None where it sets no limit.
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
    """What withdrawals of one kind reached; counts, and nothing else is left of it."""

    kind: Withdrawal
    n_people: int
    sessions: int
    dialogues: int
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTally:
    """What people held reading the study in one language; counts, and no names.

    Attributes:
        language: Language tag; empty for all sessions of which it is not known.
        n_sessions: Sessions that were begun and not withdrawn; count.
        n_dialogues: Their dialogues that ended and are kept; count.
    """

    language: str
    n_sessions: int
    n_dialogues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFinding:
    """What can be said of an event beside what was said in it.

    Attributes:
        leaks: How far testers saw through the blinding.
        exposures: What people went through, a level each.
        withdrawals: What was taken back, a kind each.
        topics: What people did not have to meet, a topic each.
        languages: What people held by the language in which they read the study, the most sessions first; what is
            not known comes last.
    """

    leaks: tuple[BlindingAssessment, ...] = ()
    exposures: tuple[ExposureTally, ...] = ()
    withdrawals: tuple[WithdrawalTally, ...] = ()
    topics: tuple[TopicTally, ...] = ()
    languages: tuple[LanguageTally, ...] = ()
