"""The register: who said what of which planned session, without a word of any dialogue.

It is what measurement and reports are made from. Its columns hold one reference
for each planned session, equal entries are one object, so that its size is that
of the plan and not that of what was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag

from theodolite.domain.annotation import Outcome
from theodolite.domain.dialogue import Ending
from theodolite.domain.failure import FailureKind, Party
from theodolite.domain.plan import Sessions, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one annotator answered to one question, the words around it left out.

    Attributes:
        outcome: What became of the question.
        value: The label; None unless the outcome is `ANSWERED`.
        turn: Number of the turn; None for the dialogue as a whole.
        replicate: Number of the repetition by the same annotator, from 1.
    """

    outcome: Outcome
    value: str | None = None
    turn: int | None = None
    replicate: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How one strategy went in one dialogue, the attempts' words left out.

    Attributes:
        name: Name of the strategy.
        attempts: Attempts made; count.
        refinements: Those that build on an earlier one; count.
        succeeded: Whether the red teamer saw something released.
    """

    name: str
    attempts: int
    refinements: int
    succeeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What is known of a held dialogue without reading it.

    Attributes:
        ending: Why it ended.
        turns: Turns; count.
        filtered: Replies that the application's own filter withheld; count.
        withheld: Why its texts are not shown; empty where they are.
        tried: Strategies of a red teamer.
    """

    ending: Ending
    turns: int
    filtered: int = 0
    withheld: str = ""
    tried: tuple[Tried, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """What brought nothing in a planned session, its message left out.

    Attributes:
        party: Whose fault it is.
        kind: What went wrong.
        annotator: The annotator that failed; empty in testing.
    """

    party: Party
    kind: FailureKind
    annotator: str = ""


class Mark(IntFlag):
    """What is known of an annotation beside its answers."""

    QUOTING = 1
    """It quotes something."""
    UNGROUNDED = 2
    """It quotes words that do not stand where it says."""
    PASSED = 4
    """The control question was answered rightly."""
    FAILED = 8
    """The control question was answered wrongly."""
    UNANSWERED = 16
    """The control question was left out."""


Column = Sequence[tuple[Said, ...] | None]
"""What one annotator said to one question, a planned session each; None where nothing came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """Who said what of which planned session; positions are those of the plan.

    Attributes:
        sessions: The planned sessions.
        settings: What each shares with its repeats.
        held: What is known of each dialogue; None where there is none.
        columns: Annotator, guideline and question to what was said.
        annotated: Annotator to whether there is an annotation (1) or none (0), a session each.
        finals: Guideline and question to final labels.
        failures: Position to what failed there; positions without a failure are left out.
        backing: How well the labels of each session are backed: 2 for a verified
            quote, and 1 more for a reason in words.
        letters: Letters of all that was said in and about each session; count.
        unread: Annotator, guideline and question to the first reply that fits no label.
        scripted: Names of endpoints where a script answered for a model in a
            dialogue, then of annotators where it did; in order of appearance.
        marks: Annotator to the marks of its annotations, a session each; see `Mark`.
        votes: Annotator, guideline and question to what all readings of a judge said,
            with their replicate numbers; judges that read once are left out.
        names: Annotator to the names that its endpoint gave itself.
        sat: Annotator to the order that each sitting showed, in words, and its number among
            theirs; None where there was none. Only annotators whose sittings are counted.
    """

    sessions: Sessions
    settings: Sequence[Setting]
    held: Sequence[Holding | None]
    columns: Mapping[tuple[str, str, str], Column] = field(default_factory=dict)
    annotated: Mapping[str, Sequence[int]] = field(default_factory=dict)
    finals: Mapping[tuple[str, str], Sequence[Said | None]] = field(default_factory=dict)
    failures: Mapping[int, tuple[Failed, ...]] = field(default_factory=dict)
    backing: Sequence[int] = ()
    letters: Sequence[int] = ()
    unread: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    scripted: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    marks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    votes: Mapping[tuple[str, str, str], Column] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sat: Mapping[str, Sequence[tuple[str, int] | None]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return how many sessions are planned; count."""
        return len(self.settings)

    @property
    def n_held(self) -> int:
        """Dialogues that were held; count."""
        return sum(holding is not None for holding in self.held)

    @property
    def is_labelled(self) -> bool:
        """Whether at least one question about one dialogue was answered; without any there is no rate, not even 0."""
        columns = (said for column in self.columns.values() for said in column if said)
        if any(one.outcome is Outcome.ANSWERED for said in columns for one in said):
            return True
        finals = (final for column in self.finals.values() for final in column if final is not None)
        return any(final.outcome is Outcome.ANSWERED for final in finals)

    def said(self, position: int, annotator: str, guideline: str, question: str) -> tuple[Said, ...]:
        """Return what an annotator said to a question about a session; empty where nothing came."""
        column = self.columns.get((annotator, guideline, question))
        return (column[position] if column is not None else None) or ()

    def final(self, position: int, guideline: str, question: str) -> Said | None:
        """Return the final label of a session, where it has one."""
        column = self.finals.get((guideline, question))
        return column[position] if column is not None else None

    def places(self, application: str) -> Iterator[int]:
        """Yield the positions of an application's sessions."""
        return (place for place, setting in enumerate(self.settings) if setting.application == application)
