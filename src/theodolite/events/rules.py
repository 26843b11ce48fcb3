"""Pure rules of events: the state machine of a tester, slots of testers and coders, and when a prompt is refused.

No tester can skip a step by typing an address: every page asks `next_step` first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from theodolite.domain.coding import CODERS
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict
from theodolite.domain.event import LevelPlan
from theodolite.domain.live import LiveDialogue
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.testing.availability import Hours

GRACE = timedelta(minutes=10)
"""Time after its limit at which a session that was not ended counts as abandoned."""

TIME_IS_UP = "Your time is up. End the session to answer the questions."
STANDS_STILL = "The session is paused. You can send messages when it resumes."


class Step(StrEnum):
    """A step of a tester, in order."""

    SCREENING = "screening"
    SCREENED_OUT = "screened_out"
    """The answers to the screening do not qualify; no step follows."""
    FULL = "full"
    """All slots that the tester could be allocated are occupied."""
    CONSENT = "consent"
    TOPICS = "topics"
    """Content opt-outs."""
    PROFILE = "profile"
    NO_SCENARIO = "no_scenario"
    """All remaining sessions touch a topic that the tester opted out of."""
    SLOT = "slot"
    INSTRUCTIONS = "instructions"
    CHAT = "chat"
    QUESTIONS = "questions"
    GUESS = "guess"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProgress:
    """The progress of a tester in one session.

    Attributes:
        is_read: Whether the instructions were acknowledged.
        is_over: Whether the session has ended.
        to_answer: Questionnaires that are not submitted; count.
    """

    is_read: bool = False
    is_over: bool = False
    to_answer: int = 0


class ScreeningResult(StrEnum):
    """The result of the screening questions."""

    OPEN = "open"
    PASSED = "passed"
    OUT = "out"


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterProgress:
    """The progress of a tester in an event.

    Attributes:
        screening: Result of the screening; passed if there is none.
        has_consented: Whether consent and content warning were acknowledged in their current version.
        has_chosen_topics: Whether content opt-outs were chosen, or the study has no topics.
        has_profile: Whether the profile page was answered or skipped.
        has_time_slot: Whether a time slot that is not over is booked, or none is needed.
        has_capacity: Whether the tester is allocated or could be.
        limit_reached: Whether the exposure limit of the study is reached.
        next_session_no: Number of the next session, from 1; 0 if no session without an avoided topic remains,
            None for the first one that is not over.
        sessions: One entry for each session, in order, those not started included.
        has_guessed: Whether the final question was answered.
    """

    screening: ScreeningResult = ScreeningResult.PASSED
    has_consented: bool = False
    has_chosen_topics: bool = True
    has_profile: bool = False
    has_time_slot: bool = True
    has_capacity: bool = True
    limit_reached: bool = False
    next_session_no: int | None = None
    sessions: Sequence[SessionProgress] = ()
    has_guessed: bool = False

    @property
    def has_started(self) -> bool:
        """Whether any session has started; from then on the tester is neither screened nor turned away."""
        return any(session.is_read or session.is_over for session in self.sessions)

    @property
    def next_session(self) -> int:
        """Number of the session that starts next, from 1; 0 if none does."""
        if self.limit_reached:
            return 0
        if self.next_session_no is not None:
            return self.next_session_no
        return next((number for number, session in enumerate(self.sessions, start=1) if not session.is_over), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A step, and the session that it belongs to.

    Attributes:
        step: The step.
        session_no: Number of the session, from 1; 0 if it belongs to none.
    """

    step: Step
    session_no: int = 0


def next_step(progress: TesterProgress) -> NextStep:
    """Return the next step of a tester.

    Questionnaires follow right after their session. The guesses come last, because the
    question draws attention to the blinding. When the exposure limit is reached no further
    session starts, and the tester continues as if all sessions were complete.
    """
    unfinished = step_in_session(progress.sessions)
    if unfinished is not None:
        return unfinished
    first = _before_sessions(progress)
    if first is not None:
        return NextStep(step=first)
    number = progress.next_session
    if number:
        return (
            NextStep(step=Step.INSTRUCTIONS, session_no=number) if progress.has_time_slot else NextStep(step=Step.SLOT)
        )
    return NextStep(step=Step.GUESS if progress.has_started and not progress.has_guessed else Step.DONE)


def step_in_session(sessions: Sequence[SessionProgress]) -> NextStep | None:
    """Return the open step of a session that has started; it is completed before anything else.

    Args:
        sessions: The tester's sessions, in order, those not started included.

    Returns:
        The step; None if no session is open.
    """
    for number, session in enumerate(sessions, start=1):
        if session.is_over and session.to_answer:
            return NextStep(step=Step.QUESTIONS, session_no=number)
        if session.is_read and not session.is_over:
            return NextStep(step=Step.CHAT, session_no=number)
    return None


def _before_sessions(progress: TesterProgress) -> Step | None:
    """Return the next step before the first session; None if there is none left."""
    if not progress.has_started and not progress.has_capacity:
        return Step.FULL
    if not progress.has_started and progress.screening is not ScreeningResult.PASSED:
        return Step.SCREENING if progress.screening is ScreeningResult.OPEN else Step.SCREENED_OUT
    if not progress.has_consented:
        return Step.CONSENT
    if not progress.has_chosen_topics:
        return Step.TOPICS
    if not progress.has_profile:
        return Step.PROFILE
    return Step.NO_SCENARIO if progress.next_session_no == 0 and not progress.has_started else None


def free_slot(
    taken: Collection[int],
    level: Level,
    stratum: str = "",
    *,
    capacity: int | None = None,
    suitable: Callable[[Collection[int]], int | None] | None = None,
) -> int:
    """Return the slot that a new participant gets.

    Args:
        taken: Occupied slots of the stratum, by number.
        level: Level of testing.
        stratum: Stratum of the participant.
        capacity: Slots of the stratum; count, None for no limit.
        suitable: From the occupied slots to a free one, None if none is suitable; the lowest free slot by default.

    Raises:
        Conflict: If all slots are occupied, or none is suitable.

    Example:
        >>> free_slot({0, 2}, Level.RED_TEAMING, capacity=3)
        1
    """
    if capacity is not None and len(taken) >= capacity:
        message = f"all {capacity} slots of {level.value}{f' ({stratum})' if stratum else ''} are occupied"
        raise Conflict(message)
    lowest = next(number for number in range(len(taken) + 1) if number not in taken)
    slot = suitable(taken) if suitable else lowest
    if slot is None:
        message = f"no free slot of {level.value} suits this person"
        raise Conflict(message)
    return slot


def coder_slot(coder: str, holders: Mapping[int, str], *, instead_of: str = "") -> int:
    """Return the slot of a coder for an answer: the own one, that of a replaced coder, or the next free one.

    Args:
        coder: Opaque key of the coder.
        holders: Coders of the answer by slot, from 1.
        instead_of: Replaced coder; empty for none.

    Raises:
        Conflict: If enough other coders have coded the answer, or `instead_of` has not coded it.

    Example:
        >>> coder_slot("c3", {1: "c1", 2: "c2"}, instead_of="c2")
        2
    """
    slots = {holder: slot for slot, holder in holders.items()}
    if instead_of and instead_of not in slots:
        message = "another coder has taken that slot meanwhile; take another answer"
        raise Conflict(message)
    slot = slots.get(coder) or (slots[instead_of] if instead_of else len(slots) + 1)
    if slot > CODERS:
        message = f"{CODERS} people have coded this answer; take another one"
        raise Conflict(message)
    return slot


def time_left_s(study: Study, session: Session, hours: Hours, now: datetime) -> float | None:
    """Return the time left in a session: its own limit, or until its level closes.

    Args:
        study: The study in the release for which the session was created.
        session: The session.
        hours: When its level is open.
        now: The moment in question.

    Returns:
        Seconds; None if there is no limit.
    """
    plans = (plan for plan in study.levels if plan.level is session.level)
    own = session.clock.left_s(now, next(plans, LevelPlan(level=session.level)).minutes)
    ends = [limit for limit in (own, hours.left_s(now)) if limit is not None]
    return min(ends, default=None)


def is_abandoned(study: Study, session: Session, hours: Hours, now: datetime) -> bool:
    """Return whether a session is active although its time was up a while ago, so that no prompt can follow."""
    return session.state is SessionState.ACTIVE and time_left_s(study, session, hours, now - GRACE) == 0


def session_refusal(study: Study, session: Session, hours: Hours, now: datetime) -> str:
    """Return why a session accepts no prompt now, whatever its dialogue contains; empty if it does."""
    if session.clock.pausers:
        return STANDS_STILL
    return TIME_IS_UP if time_left_s(study, session, hours, now) == 0 else ""


def prompt_refusal(study: Study, session: Session, dialogue: LiveDialogue | None, hours: Hours, now: datetime) -> str:
    """Return why a prompt is refused now, in words for the tester; empty if it is accepted.

    Args:
        study: The study in the release for which the session was created.
        session: The session.
        dialogue: Its latest dialogue; None before the first prompt.
        hours: When its level is open.
        now: The present moment.
    """
    refusal = session_refusal(study, session, hours, now)
    if refusal:
        return refusal
    most = study.scenario(session.scenario).turns
    if dialogue is not None and dialogue.is_open and len(dialogue.turns) >= most:
        return f"This dialogue has reached its limit of {most} turns. Start a new one, or end the session."
    return ""


def final_state(dialogues: Sequence[LiveDialogue]) -> SessionState:
    """Return the state of a session that ends: failed if the application answered no prompt of it."""
    is_failed = bool(dialogues) and not any(dialogue.unit for dialogue in dialogues)
    return SessionState.FAILED if is_failed else SessionState.COMPLETE


def started_order(session: Session) -> tuple[float, int]:
    """Return a sort key by start; sessions that never started come first."""
    return session.clock.started.timestamp() if session.clock.started else 0.0, session.place


def has_response(dialogue: LiveDialogue) -> bool:
    """Return whether a dialogue has any response; a partial one counts."""
    return any(turn.is_answered or (turn.is_under_way and turn.response) for turn in dialogue.turns)
