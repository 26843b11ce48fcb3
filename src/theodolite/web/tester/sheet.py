"""The sheet: what the tester's page shows of one session, ready to be printed into HTML."""

from __future__ import annotations

from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.identity import digest
from theodolite.domain.live import LiveDialogue, LiveTurn
from theodolite.domain.people.exposure import BreakRule
from theodolite.domain.people.session import Session
from theodolite.domain.strategy import AttemptOutcome
from theodolite.usecases.people.exposure import exposure_of
from theodolite.usecases.people.talking import left_s, why_silent
from theodolite.web.safe_text import safe_html
from theodolite.web.tester.aliases import alias_of
from theodolite.web.tester.notes import Note, notes_on, ways_of
from theodolite.web.tester.texts import Text, hints_for, said_left, said_why, task_of
from theodolite.web.tester.visit import Visit

OUTCOMES = (
    (AttemptOutcome.RELEASED.value, _("It gave away what it should withhold")),
    (AttemptOutcome.WITHHELD.value, _("It kept it to itself")),
    (AttemptOutcome.UNCLEAR.value, _("I cannot tell")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOnSheet:
    """One turn as it is shown; nothing in it tells which application answered."""

    number: int
    prompt: str
    html: SafeString
    state: str
    is_under_way: bool
    can_retry: bool
    can_mark: bool
    broke: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the page shows of one session.

    Attributes:
        visit: Who looks.
        session: The session.
        dialogue: Its latest dialogue; None before the first word.
    """

    visit: Visit
    session: Session
    dialogue: LiveDialogue | None

    @property
    def place(self) -> int:
        """Number of the session, from 1."""
        return self.session.place + 1

    @property
    def alias(self) -> str:
        """What the person knows the application by."""
        return alias_of(self.session)

    @property
    def is_red(self) -> bool:
        """Whether attempts are noted and guardrails marked."""
        return self.session.level is Level.RED_TEAMING

    @property
    def number(self) -> int:
        """Number of the dialogue that goes on or would begin, from 1."""
        if self.dialogue is None:
            return 1
        return self.dialogue.number if self.dialogue.is_open else self.dialogue.number + 1

    @property
    def said(self) -> tuple[LiveTurn, ...]:
        """The turns of the dialogue that goes on."""
        return self.dialogue.turns if self.dialogue is not None and self.dialogue.is_open else ()

    @property
    def turns(self) -> list[TurnOnSheet]:
        """The same as they are shown; their words are made into HTML each time that somebody asks."""
        return [self.turn(turn) for turn in self.said]

    def turn(self, turn: LiveTurn) -> TurnOnSheet:
        """Return one turn as it is shown."""
        is_last = self.dialogue is not None and turn.number == len(self.dialogue.turns)
        return TurnOnSheet(
            number=turn.number,
            prompt=turn.prompt,
            html=safe_html(turn.response),
            state="" if turn.state is None else turn.state.value,
            is_under_way=turn.is_under_way,
            can_retry=is_last and turn.state is TurnState.ERROR and not self.session.is_over,
            can_mark=self.is_red and not turn.is_under_way and bool(turn.response),
            broke=turn.broke,
        )

    @property
    def turn_limit(self) -> int:
        """Turns of one dialogue at most; count."""
        return self.visit.venue.study.scenario(self.session.scenario).turns

    @property
    def next_number(self) -> int:
        """Number of the next turn, from 1."""
        return len(self.said) + 1

    @property
    def task(self) -> Text:
        """What the person is told to do."""
        return task_of(self.visit.read, self.session.scenario, self.session.level)

    @property
    def hints(self) -> tuple[str, ...]:
        """What the person is told beside it."""
        return hints_for(self.visit.venue.study.scenario(self.session.scenario), self.session.level)

    @property
    def left(self) -> str:
        """Time left, in words; empty where there is no limit."""
        seconds = left_s(self.visit.venue, self.session)
        return "" if seconds is None else said_left(seconds)

    @property
    def why_not(self) -> str:
        """Why nothing can be said now; empty where something can."""
        return said_why(why_silent(self.visit.venue, self.session, self.dialogue), self.turn_limit)

    @property
    def can_say(self) -> bool:
        """Whether something can be said now."""
        return not self.why_not

    @property
    def is_open(self) -> bool:
        """Whether the session goes on."""
        return not self.session.is_over

    @property
    def rest(self) -> bool:
        """Whether the person is reminded of a break."""
        event = self.visit.venue.study.event
        if event is None or event.breaks == BreakRule():
            return False
        exposure = exposure_of(self.visit.venue, self.visit.participant)
        return event.breaks.is_due(exposure) or event.breaks.is_enough(exposure)

    @property
    def draft(self) -> str:
        """Under what the browser keeps a text that was not sent; another one for each person and dialogue."""
        return digest("draft", self.session.key, str(self.number))[:16]

    @property
    def saved(self) -> str:
        """When something was last stored, in the event's own time."""
        if not self.said:
            return ""
        event = self.visit.venue.study.event
        zone = ZoneInfo(event.zone) if event else ZoneInfo("UTC")
        return gettext("Saved %(time)s") % {"time": f"{self.said[-1].asked.astimezone(zone):%H:%M:%S}"}

    @property
    def attempts(self) -> list[Note]:
        """What was noted in the dialogue, in order."""
        if self.dialogue is None or not self.dialogue.is_open:
            return []
        return notes_on(self.visit.venue.study, self.dialogue.strategies)

    @property
    def ways(self) -> list[tuple[str, str]]:
        """Names of ways to attack, and how they are called."""
        return ways_of(self.visit.venue.study)

    @property
    def outcomes(self) -> tuple[tuple[str, str], ...]:
        """What an attempt can bring."""
        return tuple((value, str(words)) for value, words in OUTCOMES)

    def with_turn(self, turn: LiveTurn) -> Sheet:
        """Return the sheet once a turn was said; of the first one in a dialogue the store knows more."""
        if self.dialogue is None or not self.dialogue.is_open:
            return sheet_of(self.visit, self.place)
        return replace(self, dialogue=replace(self.dialogue, turns=(*self.dialogue.turns, turn)))


def sheet_of(visit: Visit, place: int) -> Sheet:
    """Return the sheet of a session by its number, from 1.

    Raises:
        Http404: If it was not begun.
    """
    session = visit.session(place)
    dialogues = visit.venue.store.live_dialogues(session.key)
    return Sheet(visit, session, dialogues[-1] if dialogues else None)
