"""The port to what people do in an event."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a port is its signatures: whoever has only those waits for no noun
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


class Seats(Protocol):
    """Who has which number of a level's design."""

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
        """Give a person a free number of a level; a person who has one keeps it.

        Args:
            study: Name of the study.
            participant: Opaque key of the person.
            level: Level of testing.
            stratum: Part of the people that the person belongs to.
            most: How many people the part has room for; None for no limit.
            choose: Returns a free number from those that are taken, None for none that suits; the lowest if left out.

        Raises:
            Conflict: If all places of the part are taken, or none suits.
        """
        ...

    def give_up_seat(self, study: str, participant: str, level: Level) -> bool:
        """Take back a seat on which nothing was begun, with the sessions that wait on it; return whether it was so."""
        ...

    def free_seat(self, study: str, participant: str, level: Level) -> None:
        """Give a person's number to whoever comes next; nothing happens where there is none."""
        ...

    def seats(self, study: str) -> list[Seat]:
        """Return the seats that somebody has, in order of level, stratum and number."""
        ...


class LiveSessions(Protocol):
    """Sessions of people and what is said in them while it is said; each method is one transaction."""

    def keep_session(self, session: Session) -> None:
        """Store a new session.

        Raises:
            Conflict: If the person has one at that place of the level already.
            NotFound: If the run is none of this workspace.
        """
        ...

    def session(self, key: str) -> Session:
        """Return a session.

        Raises:
            NotFound: If there is none of that key.
        """
        ...

    def sessions(self, study: str) -> list[Session]:
        """Return all sessions of a study, whichever edition, in the order in which they were made."""
        ...

    def sessions_of(self, participant: str) -> list[Session]:
        """Return all sessions of a person, in the order in which they were made."""
        ...

    def revise_session(self, key: str, change: Callable[[Session], Session]) -> Session:
        """Change a session while nobody else does, and return what it became.

        Args:
            key: Which one.
            change: Returns the session that is to stand from now on: state, alias,
                clock and task may differ, nothing else is written.

        Raises:
            NotFound: If there is none of that key.
        """
        ...

    def say(self, session: str, prompt: str, *, now: datetime) -> LiveTurn:
        """Store a prompt as the next turn of a session's open dialogue, which is begun where there is none.

        Raises:
            Conflict: If the session is not active, or a reply is still under way.
            NotFound: If there is no such session.
        """
        ...

    def retry(self, turn: str, *, now: datetime) -> LiveTurn:
        """Let the last turn of an open dialogue be under way again, after an error.

        Raises:
            Conflict: If it has brought a response, or is not the last one of an open dialogue.
            NotFound: If there is no such turn.
        """
        ...

    def hold(self, texts: Mapping[str, str]) -> None:
        """Store what has come of some replies so far, by key of the turn; those that have ended stay as they ended."""
        ...

    def end_turn(self, turn: str, ending: LiveEnding, claims: Sequence[str] = ()) -> LiveTurn:
        """Store how a reply ended, and the words by which it tells what it is.

        Raises:
            Conflict: If it has ended before.
            NotFound: If there is no such turn.
        """
        ...

    def mark_turn(self, turn: str, *, broke: bool) -> LiveTurn:
        """Store whether a person sees a broken guardrail in a turn.

        Raises:
            NotFound: If there is no such turn.
        """
        ...

    def interrupt_all(self) -> int:
        """End every reply that is under way, as a process does that has just begun; return how many there were."""
        ...

    def live_dialogues(self, session: str) -> tuple[LiveDialogue, ...]:
        """Return the dialogues of a session with their turns, in order."""
        ...

    def live_dialogue(self, key: str) -> LiveDialogue:
        """Return a live dialogue with its turns.

        Raises:
            NotFound: If there is none of that key.
        """
        ...

    def dialogue_of_turn(self, turn: str) -> LiveDialogue:
        """Return the live dialogue that a turn belongs to.

        Raises:
            NotFound: If there is no such turn.
        """
        ...

    def keep_strategies(self, dialogue: str, strategies: Sequence[Strategy]) -> None:
        """Store what a red teamer tried in a live dialogue, in place of what was written down before.

        Raises:
            NotFound: If there is no such dialogue.
        """
        ...

    def end_dialogue(
        self, run: Run, key: str, ending: Ending, result: tuple[Unit, Dialogue] | None, *, now: datetime
    ) -> None:
        """End a live dialogue and keep what it became, in one transaction.

        Args:
            run: The run that its unit belongs to.
            key: Key of the live dialogue.
            ending: Why it ended.
            result: The unit and the dialogue; None where the application never answered.
            now: The present moment.

        Raises:
            Conflict: If it has ended before.
            NotFound: If there is none of that key.
        """
        ...


class HeldDialogues(Protocol):
    """What has become of people's dialogues, and what was held elsewhere."""

    def bring(self, run: Run, results: Sequence[BroughtResult], *, now: datetime) -> None:
        """Enter dialogues that were held elsewhere with their units, in one transaction.

        Args:
            run: The run that their units belong to.
            results: The dialogues; their ordinals follow those that are there.
            now: The present moment.

        Raises:
            Conflict: If others were entered under the same ordinals meanwhile.
        """
        ...

    def held(self, study: str) -> list[HeldDialogue]:
        """Return the dialogues of people in a study, whichever edition and run, in the order in which they began."""
        ...

    def turn_counts(self, study: str) -> Mapping[str, tuple[int, int]]:
        """Return, by session in which anything was said, its turns and those marked as broken guardrails; counts."""
        ...

    def dialogue_counts(self, study: str) -> Mapping[str, int]:
        """Return, by session held here with any, the dialogues that ended and are kept; counts."""
        ...

    def live_spending(self, study: str, models: Collection[str] = ()) -> Spending:
        """Return what the replies to people in a study have cost.

        Args:
            study: Name of the study.
            models: Applications that are models: what a reply of theirs cost that tells no tokens is unknown.
        """
        ...


class Persons(Protocol):
    """What people agree to, say of themselves, answer and guess, and their right to take it back."""

    def acknowledge(self, given: Acknowledgement) -> None:
        """Store that a person agreed to a text.

        Raises:
            NotFound: If it names a session that does not exist.
        """
        ...

    def acknowledgements(self, participant: str) -> list[Acknowledgement]:
        """Return what a person has agreed to, the oldest first."""
        ...

    def keep_avoided(self, study: str, participant: str, topics: Collection[str]) -> None:
        """Store which topics of a study a person would rather not meet, in place of what was said before."""
        ...

    def avoided_by(self, study: str, participant: str) -> frozenset[str]:
        """Return the topics of a study that a person would rather not meet."""
        ...

    def avoided_topics(self, study: str) -> Mapping[str, frozenset[str]]:
        """Return everybody who was asked which topics of a study they avoid, by key, with the topics."""
        ...

    def keep_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        """Store a further revision of a person's profile and return its number, from 1."""
        ...

    def profile(self, participant: str) -> PersonProfile | None:
        """Return the latest revision of a person's profile; None where there is none."""
        ...

    def keep_response(self, given: QuestionnaireResponse) -> None:
        """Store a further revision of a response to a questionnaire.

        Raises:
            Conflict: If that revision is there already, or an earlier one was submitted.
            NotFound: If there is no such session.
        """
        ...

    def responses(self, run: Run) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response to the sessions of a run, in the order of the sessions.

        Those of sessions that were held in an earlier edition of the study are
        `study_responses`.
        """
        ...

    def responses_to(self, session: str) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response after one session."""
        ...

    def study_responses(self, study: str) -> list[QuestionnaireResponse]:
        """Return the latest revision of every response to the sessions of a study, whichever edition and run."""
        ...

    def keep_guess(self, given: BlindingGuess) -> None:
        """Store what a tester believes of a session.

        Raises:
            Conflict: If the tester has guessed that before.
            NotFound: If there is no such session.
        """
        ...

    def guesses(self, study: str) -> list[BlindingGuess]:
        """Return what testers of a study believe, the oldest first."""
        ...

    def withdraw(
        self,
        study: str,
        participant: str,
        kind: Withdrawal,
        *,
        now: datetime,
        mask: Callable[[str], str] = str,
    ) -> Tombstone:
        """Take everything back that a person said and answered in a study, and return what is left: a count.

        Removing deletes words and answers, those of annotators about the
        dialogues included; anonymising gives what stays a key that nobody knows.

        Args:
            study: Name of the study.
            participant: Opaque key of the person; after this nobody knows it any more.
            kind: Which of the two.
            now: The present moment.
            mask: Takes out of a text what tells who wrote it; for texts that stay.
        """
        ...

    def tombstones(self, study: str) -> list[Tombstone]:
        """Return the withdrawals from a study, the oldest first."""
        ...


class People(Seats, LiveSessions, HeldDialogues, Persons, Protocol):
    """Everything that people do in an event."""
