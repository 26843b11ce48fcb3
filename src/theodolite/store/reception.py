"""The reception: what people do in an event, asked of the store and done at its desk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from theodolite.store import people
from theodolite.store.attendance import has_dialogues
from theodolite.store.contents import Contents
from theodolite.store.workplace import Workplace

if TYPE_CHECKING:  # who only runs a study waits for no noun of an event
    from theodolite.domain.brought import BroughtResult
    from theodolite.domain.dialogue import Dialogue, Ending, Level
    from theodolite.domain.live import HeldDialogue, LiveDialogue, LiveEnding, LiveTurn
    from theodolite.domain.people.blinding import BlindingGuess
    from theodolite.domain.people.consent import Acknowledgement
    from theodolite.domain.people.participant import PersonProfile
    from theodolite.domain.people.seat import Seat
    from theodolite.domain.people.session import Session
    from theodolite.domain.people.withdrawal import Tombstone, Withdrawal
    from theodolite.domain.questionnaire import QuestionnaireResponse
    from theodolite.domain.run import Run, Spending, Unit
    from theodolite.domain.strategy import Strategy


class Reception:
    """Seats, sessions, live dialogues, answers and withdrawals of one workspace."""

    _work: Workplace
    _contents: Contents

    def take_seat(
        self,
        study: str,
        participant: str,
        level: Level,
        stratum: str = "",
        *,
        most: int | None = None,
        choose: Callable[[Collection[int]], int | None] | None = None,
    ) -> Seat:
        """Give a person a free number of a level; a person who has one keeps it."""
        return self._work.write(
            partial(people.seats.take_seat, study, participant, level, stratum, most=most, choose=choose)
        )

    def give_up_seat(self, study: str, participant: str, level: Level) -> bool:
        """Take back a seat on which nothing was begun, with the sessions that wait on it."""
        return self._work.write(partial(people.seats.give_up_seat, study, participant, level))

    def free_seat(self, study: str, participant: str, level: Level) -> None:
        """Give a person's number to whoever comes next."""
        self._work.write(partial(people.seats.free_seat, study, participant, level))

    def seats(self, study: str) -> list[Seat]:
        """Return the seats that somebody has, in order of level, stratum and number."""
        return self._work.read(partial(people.seats.seats, study))

    def keep_session(self, session: Session) -> None:
        """Store a new session."""
        self._work.write(partial(people.sessions.keep_session, session))

    def session(self, key: str) -> Session:
        """Return a session."""
        return self._work.read(partial(people.sessions.session_of, key))

    def sessions(self, study: str) -> list[Session]:
        """Return all sessions of a study, in the order in which they were made."""
        return self._work.read(partial(people.sessions.sessions, study))

    def sessions_of(self, participant: str) -> list[Session]:
        """Return all sessions of a person, in the order in which they were made."""
        return self._work.read(partial(people.sessions.sessions_of, participant))

    def revise_session(self, key: str, change: Callable[[Session], Session]) -> Session:
        """Change a session while nobody else does, and return what it became."""
        return self._work.write(partial(people.sessions.revise_session, key, change))

    def say(self, session: str, prompt: str, *, now: datetime) -> LiveTurn:
        """Store a prompt as the next turn of a session's open dialogue."""
        return self._work.write(partial(people.live.say, session, prompt, now=now))

    def retry(self, turn: str, *, now: datetime) -> LiveTurn:
        """Let the last turn of an open dialogue be under way again, after an error."""
        return self._work.write(partial(people.live.retry, turn, now=now))

    def hold(self, texts: Mapping[str, str]) -> None:
        """Store what has come of some replies so far, by key of the turn."""
        self._work.write(partial(people.live.hold, texts))

    def end_turn(self, turn: str, ending: LiveEnding, claims: Sequence[str] = ()) -> LiveTurn:
        """Store how a reply ended, and the words by which it tells what it is."""
        return self._work.write(partial(people.live.end_turn, turn, ending, claims))

    def mark_turn(self, turn: str, *, broke: bool) -> LiveTurn:
        """Store whether a person sees a broken guardrail in a turn."""
        return self._work.write(partial(people.live.mark_turn, turn, broke=broke))

    def interrupt_all(self) -> int:
        """End every reply that is under way and return how many there were."""
        return self._work.write(people.live.interrupt_all)

    def live_dialogues(self, session: str) -> tuple[LiveDialogue, ...]:
        """Return the dialogues of a session with their turns, in order."""
        return self._work.read(partial(people.live.live_dialogues, session))

    def live_dialogue(self, key: str) -> LiveDialogue:
        """Return a live dialogue with its turns."""
        return self._work.read(partial(people.live.live_dialogue, key))

    def dialogue_of_turn(self, turn: str) -> LiveDialogue:
        """Return the live dialogue that a turn belongs to."""
        return self._work.read(partial(people.live.dialogue_of_turn, turn))

    def keep_strategies(self, dialogue: str, strategies: Sequence[Strategy]) -> None:
        """Store what a red teamer tried in a live dialogue, as a whole."""
        self._work.write(partial(people.attempts.keep_strategies_of, dialogue, strategies))

    def end_dialogue(
        self, run: Run, key: str, ending: Ending, result: tuple[Unit, Dialogue] | None, *, now: datetime
    ) -> None:
        """End a live dialogue and keep what it became, in one transaction."""
        self._work.write(partial(people.ended.end_dialogue, self._contents, run, key, ending, result, now=now))

    def bring(self, run: Run, results: Sequence[BroughtResult], *, now: datetime) -> None:
        """Enter dialogues that were held elsewhere with their units, in one transaction."""
        self._work.write(partial(people.brought.bring, self._contents, run, results, now=now))

    def held(self, study: str) -> list[HeldDialogue]:
        """Return the dialogues of people in a study, in the order in which they began."""
        anybody = self._work.read(partial(has_dialogues, study))
        return self._work.read(partial(people.ended.held, study)) if anybody else []

    def turn_counts(self, study: str) -> dict[str, tuple[int, int]]:
        """Return, by session in which anything was said, its turns and those marked as broken guardrails; counts."""
        return self._work.read(partial(people.live.turn_counts, study))

    def dialogue_counts(self, study: str) -> dict[str, int]:
        """Return, by session held here with any, the dialogues that ended and are kept; counts."""
        return self._work.read(partial(people.live.dialogue_counts, study))

    def live_spending(self, study: str, models: Collection[str] = ()) -> Spending:
        """Return what the replies to people in a study have cost; those of models that tell no tokens, unknown."""
        return self._work.read(partial(people.ended.live_spending, study, models))


class Guestbook(Reception):
    """What people agree to, say of themselves, answer and guess, and their right to take it back."""

    def acknowledge(self, given: Acknowledgement) -> None:
        """Store that a person agreed to a text."""
        self._work.write(partial(people.persons.acknowledge, given))

    def acknowledgements(self, participant: str) -> list[Acknowledgement]:
        """Return what a person has agreed to, the oldest first."""
        return self._work.read(partial(people.persons.acknowledgements, participant))

    def keep_avoided(self, study: str, participant: str, topics: Collection[str]) -> None:
        """Store which topics of a study a person would rather not meet from now on."""
        self._work.write(partial(people.persons.keep_avoided, study, participant, topics))

    def avoided_by(self, study: str, participant: str) -> frozenset[str]:
        """Return the topics of a study that a person would rather not meet."""
        return self._work.read(partial(people.persons.avoided_by, study, participant))

    def avoided_topics(self, study: str) -> dict[str, frozenset[str]]:
        """Return everybody who was asked which topics of a study they avoid, by key, with the topics."""
        return self._work.read(partial(people.persons.avoided_topics, study))

    def keep_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        """Store a further revision of a person's profile and return its number."""
        return self._work.write(partial(people.persons.keep_profile, participant, profile, now=now))

    def profile(self, participant: str) -> PersonProfile | None:
        """Return the latest revision of a person's profile; None where there is none."""
        return self._work.read(partial(people.persons.profiles, [participant])).get(participant)

    def keep_response(self, given: QuestionnaireResponse) -> None:
        """Store a further revision of a response to a questionnaire."""
        self._work.write(partial(people.responses.keep_response, given))

    def responses(self, run: Run) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response to the sessions of a run."""
        return self._work.read(partial(people.responses.responses, run.key))

    def responses_to(self, session: str) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response after one session."""
        return self._work.read(partial(people.responses.responses_to, session))

    def study_responses(self, study: str) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response to the sessions of a study, whichever run."""
        return self._work.read(partial(people.responses.study_responses, study))

    def keep_guess(self, given: BlindingGuess) -> None:
        """Store what a tester believes of a session."""
        self._work.write(partial(people.persons.keep_guess, given))

    def guesses(self, study: str) -> list[BlindingGuess]:
        """Return what testers of a study believe, the oldest first."""
        return self._work.read(partial(people.persons.guesses, study))

    def withdraw(
        self,
        study: str,
        participant: str,
        kind: Withdrawal,
        *,
        now: datetime,
        mask: Callable[[str], str] = str,
    ) -> Tombstone:
        """Take everything back that a person said and answered in a study, and return what is left: a count."""
        taken_back = partial(people.withdrawal.withdraw, self._contents, study, participant, kind, now=now, mask=mask)
        return self._work.write(taken_back)

    def tombstones(self, study: str) -> list[Tombstone]:
        """Return the withdrawals from a study, the oldest first."""
        return self._work.read(partial(people.withdrawal.tombstones, study))
