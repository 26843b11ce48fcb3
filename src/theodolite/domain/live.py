"""Dialogues from outside a run: live with a participant, recorded in a file, or imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn, TurnState
from theodolite.domain.flow import Exchange, Reply
from theodolite.domain.persona import Strategy
from theodolite.domain.run import FailureKind, Unit
from theodolite.domain.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEnding:
    """Outcome of one reply to a participant.

    Attributes:
        state: Complete, interrupted (by the person, or as the program ended) or error.
        text: The displayed text.
        reply: The application's reply, with cost and duration; without text if it was unusable, None if
            it is missing or incomplete.
        kind: Kind of error; None unless the state is error.
        cause: Description of the error, only for organisers; empty otherwise.
        latency_s: Time from sending to the application's last word; seconds.
        waited_s: Time from sending to the first word shown; seconds, None if none was shown.
    """

    state: TurnState
    text: str
    reply: Reply | None = None
    kind: FailureKind | None = None
    cause: str = ""
    latency_s: float = 0.0
    waited_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTurn:
    """One prompt of a participant and its response so far.

    Attributes:
        key: Opaque key; 64 hexadecimal digits.
        number: Number in the dialogue, from 1.
        prompt: The person's prompt.
        asked: Time of the request; UTC.
        response: The part of the reply shown so far.
        original: The HTML of the application, if the response is its text; else empty. Pages never show it.
        state: Its outcome; None while it is in progress.
        latency_s: Time that the application took; seconds, None if unknown.
        waited_s: Time until the person saw the first text; seconds, None if there was none.
        kind: Kind of the latest error.
        cause: Description of the latest error, only for organisers.
        tries: Number of calls to the application; count.
        broke: Whether the person marked it as a broken guardrail.
        claims: Words by which the response identifies itself; recorded, never deleted.
        tokens_in: Tokens read; count, 0 if unknown.
        tokens_out: Tokens written; count, 0 if unknown.
        cost_microusd: Cost in millionths of a US dollar; None if no price is known.
    """

    key: str
    number: int
    prompt: str
    asked: datetime
    response: str = ""
    original: str = ""
    state: TurnState | None = None
    latency_s: float | None = None
    waited_s: float | None = None
    kind: FailureKind | None = None
    cause: str = ""
    tries: int = 1
    broke: bool = False
    claims: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    cost_microusd: int | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether the reply is in progress."""
        return self.state is None

    @property
    def is_answered(self) -> bool:
        """Whether there is a response, complete or partial."""
        return self.state is TurnState.COMPLETE or (self.state is TurnState.INTERRUPTED and bool(self.response))


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveDialogue:
    """The turns between one participant and one application from a start or reset to the next one.

    Attributes:
        key: Opaque key; 64 hexadecimal digits.
        session: Key of the session.
        number: Number in the session, from 1.
        ordinal: Index among all dialogues of people in the study, from 0; never reused.
        turns: In order.
        strategies: Attacks that a red teamer tried, and their outcomes.
        ending: Why it ended; None while it is in progress.
        unit: Key of its unit of work; empty while it is in progress, and if it has no reply.
    """

    key: str
    session: str
    number: int
    ordinal: int
    turns: tuple[LiveTurn, ...] = ()
    strategies: tuple[Strategy, ...] = ()
    ending: Ending | None = None
    unit: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it is open."""
        return self.ending is None

    @property
    def under_way(self) -> LiveTurn | None:
        """The turn whose reply is in progress; None if there is none."""
        last = self.turns[-1] if self.turns else None
        return last if last is not None and last.is_under_way else None

    @property
    def history(self) -> tuple[Exchange, ...]:
        """The history that the application receives; prompts without a response are left out."""
        return exchanges(self.turns)


def exchanges(turns: Sequence[LiveTurn]) -> tuple[Exchange, ...]:
    """Return the answered turns as an application receives them."""
    return tuple(Exchange(prompt=turn.prompt, response=turn.response) for turn in turns if turn.is_answered)


def turns_of(dialogue: LiveDialogue) -> tuple[Turn, ...]:
    """Return the turns of a dialogue that has ended; an unfinished reply counts as interrupted."""
    return tuple(
        Turn(
            number=turn.number,
            prompt=turn.prompt,
            response=turn.response,
            latency_s=turn.latency_s,
            state=turn.state or TurnState.INTERRUPTED,
        )
        for turn in dialogue.turns
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCounts:
    """Outcomes of the replies of one application; counts, and their cost.

    Attributes:
        complete: Complete replies.
        interrupted: Replies that were stopped, by the participant or by a restart.
        errors: Replies that failed.
        stuck: Replies that have been in progress for too long.
        cost_microusd: Cost in millionths of a US dollar; None if none is reported.
    """

    complete: int = 0
    interrupted: int = 0
    errors: int = 0
    stuck: int = 0
    cost_microusd: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedReply:
    """A reply that failed, for organisers.

    Attributes:
        asked: Time of the request; UTC.
        application: Name of the application.
        participant: Opaque key of the participant.
        turn: Number of the turn in its dialogue, from 1.
        cause: Why it failed.
    """

    asked: datetime
    application: str
    participant: str
    turn: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingCount:
    """Number of times an application identified itself.

    Attributes:
        application: Name of the application.
        turns: Its turns; count.
        named: Turns in which it identified itself; count.
        phrases: The phrases that it used, each once.
    """

    application: str
    turns: int
    named: int
    phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveDialogueSummary:
    """A dialogue of a participant without its texts: enough to count it.

    Attributes:
        key: Key of the live dialogue.
        session: The session of the dialogue.
        number: Number in the session, from 1.
        ordinal: Position among all dialogues of participants in the study, from 0.
        ending: Why it ended; None while it is open.
        unit: Key of its unit of work; empty if it has none.
        turns: Turns; count.
        pair_key: Pair key of the dialogue of the run; empty if there is none.
        kind: The last failure.
        groups: Attributes that the participant states, by name.
        strategies: Strategies and attempts that a red teamer noted.
        held_by: Tester type; a person, unless it was imported.
    """

    key: str
    session: Session
    number: int
    ordinal: int
    ending: Ending | None = None
    unit: str = ""
    turns: int = 0
    pair_key: str = ""
    kind: FailureKind | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    strategies: tuple[Strategy, ...] = ()
    held_by: TesterType = TesterType.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """One row of a recorded file.

    Attributes:
        prompt: The tester's prompt; empty if it is withheld.
        response: The application's reply; empty if it is withheld.
        withheld: Why the texts are not there; empty if they are.
        context: Source material that the application received for this turn; empty for none.
    """

    prompt: str
    response: str
    withheld: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedDialogue:
    """A dialogue of a recorded file, with the other columns of its rows.

    Attributes:
        key: The file's identifier of the item; the same for all applications.
        application: Name of the application.
        turns: The turns.
        columns: Values by column of the dialogue's first row: labels and groups.
        turn_columns: Values by column of each row, in order of the turns; empty if the dialogue has one row.
        line: Line of the first row in the file.
        repeat: Number among rows of the same item and application, from 1.
        labelled: Whether a person labelled it although a response is empty; then the empty response
            is the application's answer, and not a failure.
        expected: Expected answer, for judges and rules; empty for none.
    """

    key: str
    application: str
    turns: tuple[RecordedTurn, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    turn_columns: tuple[Mapping[str, str], ...] = ()
    line: int = 0
    repeat: int = 1
    labelled: bool = False
    expected: str = ""

    @property
    def rows(self) -> tuple[Mapping[str, str], ...]:
        """Columns of each row, in order of the turns."""
        return self.turn_columns or (self.columns,)


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtDialogue:
    """A dialogue conducted elsewhere, and its position in a study.

    Attributes:
        item: The file's identifier; the same for all applications that received the same prompts.
        application: Name of an application of the study.
        scenario: Name of a scenario of the study.
        level: Level of testing.
        held_by: Kind of tester: a person, or a recording without more information.
        turns: The turns.
        tester: The tester's name in the file; empty if there is none.
        repeat: Number among dialogues of the same item and application, from 1.
        line: Line of its first row in the file.
    """

    item: str
    application: str
    scenario: str
    level: Level
    held_by: TesterType
    turns: tuple[RecordedTurn, ...]
    tester: str = ""
    repeat: int = 1
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtResult:
    """An imported dialogue as a run stores it.

    Attributes:
        held: How it counts among the dialogues of people.
        unit: The unit of work that it is.
        dialogue: The dialogue.
    """

    held: LiveDialogueSummary
    unit: Unit
    dialogue: Dialogue


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtIn:
    """Result of an import of dialogues.

    Attributes:
        new: Labels of the new dialogues, in file order.
        known: Dialogues already stored; count.
    """

    new: tuple[str, ...]
    known: int
