"""Sessions from the allocated slot to the dialogue of the run, and the consent of participants."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from theodolite.assessment.redaction import mask_personal
from theodolite.domain.choices import TopicWeight
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn, TurnState, in_turn
from theodolite.domain.errors import Conflict, InputError, did_you_mean
from theodolite.domain.event import (
    INCLUDED,
    LATELY_H,
    LEFT_OUT,
    AcknowledgedText,
    Acknowledgement,
    BreakRule,
    Exposure,
    LevelPlan,
    PersonProfile,
)
from theodolite.domain.event_record import Tombstone, Withdrawal
from theodolite.domain.identity import keyed_draw, version_of
from theodolite.domain.live import LiveDialogue, LiveDialogueSummary, turns_of
from theodolite.domain.plan import Cell, Slot
from theodolite.domain.run import Unit
from theodolite.domain.session import Pauser, Session, SessionState
from theodolite.domain.study import Study
from theodolite.domain.study_parts import SensitiveTopic, TopicTally, heavy_scenarios, scenarios_of, topics_in
from theodolite.events.context import ContextOf, EventContext
from theodolite.events.rules import final_state, free_slot, has_response, is_abandoned, started_order
from theodolite.testing.assigning import allocation_design, people_levels
from theodolite.testing.availability import best_number, place_after, topic_tallies, topics_version
from theodolite.testing.people import counted, pair_key_of, person_unit, scenario_sight, visit_of

if TYPE_CHECKING:
    from theodolite.store.event_sessions import ParticipantRepository


def capacity_left(event: EventContext, level: Level, stratum: str | None) -> int:
    """Return the number of free places in a level; count.

    Args:
        event: The event.
        level: Level of testing.
        stratum: A user type with a quota, or "" for all others; None for all strata together.
    """
    plan = next((plan for plan in people_levels(event.study) if plan.level is level), None)
    if plan is None:
        return 0
    strata = [*plan.quotas, ""] if stratum is None else [stratum]
    occupied = [slot.stratum for slot in event.sessions.allocations(event.study.name) if slot.level is level]
    return sum(max(plan.places(name) - occupied.count(name), 0) for name in strata)


def stratum_of(event: EventContext, participant: str, plan: LevelPlan) -> str:
    """Return the stratum of a participant: the user type if the level has a quota for it, else ""."""
    profile = event.participants.profile(participant)
    user_type = profile.user_type.value if profile and profile.user_type else ""
    return user_type if user_type in plan.quotas else ""


def avoided_scenarios(event: EventContext, participant: str) -> frozenset[str]:
    """Return the scenarios that touch a topic which a participant opted out of."""
    topics = event.study.topics
    if not topics:
        return frozenset()
    return scenarios_of(topics, event.participants.avoided_topics(event.study.name, participant))


def slot_choice(event: EventContext, participant: str, level: Level) -> Callable[[Collection[int]], int | None]:
    """Return a function from the occupied slots to the free slot with the fewest avoided sessions."""
    plan = event.level_plan(level)
    design, stratum = allocation_design(event.study, plan), stratum_of(event, participant, plan)
    avoided = avoided_scenarios(event, participant)

    def best(occupied: Collection[int]) -> int | None:
        return best_number(design, occupied, plan.places(stratum), stratum, avoided)

    return best


def allocate(event: EventContext, participant: str, level: Level) -> Slot:
    """Allocate a slot of a level to a participant; an existing allocation is kept.

    Of the free slots it is the one with the fewest sessions on topics that the participant
    opted out of, and the lowest of these.

    Raises:
        InputError: If no people take part in the level.
        Conflict: If all slots that the participant could take are occupied, or none is suitable.
    """
    plan = event.level_plan(level)
    stratum = stratum_of(event, participant, plan)
    suitable = slot_choice(event, participant, level) if event.study.topics else None
    choose = partial(free_slot, level=level, stratum=stratum, capacity=plan.places(stratum), suitable=suitable)
    return event.sessions.allocate(event.study.name, participant, level, stratum, choose=choose)


def planned_cells(event: EventContext, participant: str, level: Level) -> tuple[Cell, ...]:
    """Return the cells of a participant's slot, or of the slot that would be allocated now; empty if none suits.

    Sessions that exist keep their cell, even if the study has changed since.
    """
    plan = event.level_plan(level)
    design, slot = allocation_design(event.study, plan), _slot_of(event, participant, level)
    if slot is None:
        stratum = stratum_of(event, participant, plan)
        number = slot_choice(event, participant, level)(_occupied(event, level, stratum))
        return () if number is None else design.cells(number, stratum)
    made = {session.place: session for session in _sessions_in(event, participant, level)}
    return tuple(
        Cell(scenario=made[number].scenario, application=made[number].application) if number in made else cell
        for number, cell in enumerate(design.cells(slot.number, slot.stratum))
    )


def next_session_index(event: EventContext, participant: str, level: Level) -> int | None:
    """Return the index of a participant's next session, from 0; None if no session without an avoided topic is left."""
    cells, heavy = planned_cells(event, participant, level), heavy_scenarios(event.study.topics)
    ended = [session for session in _sessions_in(event, participant, level) if session.is_over]
    done = [session.place for session in sorted(ended, key=started_order)]
    return place_after([cell.scenario for cell in cells], done, avoided_scenarios(event, participant), heavy)


def expected_sessions(event: EventContext, participant: str, level: Level, sessions: Collection[Session]) -> int:
    """Return the number of sessions of a participant: all of the slot except those that avoided topics exclude; count.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        level: Level of testing.
        sessions: The participant's sessions of the level.
    """
    started = {session.place for session in sessions if session.clock.started}
    avoided = avoided_scenarios(event, participant)
    cells = planned_cells(event, participant, level)
    return sum(number in started or cell.scenario not in avoided for number, cell in enumerate(cells))


def _slot_of(event: EventContext, participant: str, level: Level) -> Slot | None:
    slots = event.sessions.allocations(event.study.name)
    return next((slot for slot in slots if slot.participant == participant and slot.level is level), None)


def _occupied(event: EventContext, level: Level, stratum: str) -> set[int]:
    slots = event.sessions.allocations(event.study.name)
    return {slot.number for slot in slots if slot.level is level and slot.stratum == stratum}


def _sessions_in(event: EventContext, participant: str, level: Level) -> list[Session]:
    return [session for session in event.sessions_of(participant) if session.level is level]


LETTERS = "BCDGHJKLMNPQRSTVWXZ"
"""Letters that distinguish the applications of one participant's sessions."""


ERROR_TEXT = "(No reply came: the application failed.)"
"""Replaces a reply that an error prevented; it is no refusal."""


STOPPED_TEXT = "(The reply was stopped before its first word.)"
"""Replaces a reply that was stopped before any of it was shown."""


def prepare_session(event: EventContext, participant: str, level: Level, index: int) -> Session:
    """Return a session of a participant; it is created, and waits, if it does not exist yet.

    The first session of a level allocates a slot to the participant.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        level: Level of testing.
        index: Index of the session among those of the participant's slot, from 0.

    Raises:
        InputError: If no people take part in the level, or it has fewer sessions.
        Conflict: If all slots that the participant could take are occupied, or none is suitable.
    """
    known = _session_at(event, participant, level, index)
    if known is not None:
        return known
    plan = event.level_plan(level)
    if not 0 <= index < plan.sessions:
        message = f"people hold {plan.sessions} sessions of {level.value} each; there is no session {index + 1}"
        raise InputError(message)
    slot = allocate(event, participant, level)
    cell = allocation_design(event.study, plan).cells(slot.number, slot.stratum)[index]
    session = _session(event, slot, index, cell)
    try:
        event.sessions.add(session)
    except Conflict:  # another request created it in the meantime
        return _session_at(event, participant, level, index) or session
    return session


def start_session(event: EventContext, key: str, *, language: str = "") -> Session:
    """Start the clock of a session; a session that runs continues.

    Args:
        event: The event.
        key: Key of the session.
        language: Language in which the participant reads the study, as a tag; empty if unknown.

    Raises:
        InputError: If the session is over.
        NotFound: If there is none with that key.
    """
    return event.sessions.update(key, lambda known: known.begun(event.clock.now(), language))


def pause_session(event: EventContext, key: str, by: Pauser) -> Session:
    """Stop the clock of a session; it runs again after all pauses are ended."""
    now = event.clock.now()
    return event.sessions.update(key, lambda session: session.paused(by, now))


def resume_session(event: EventContext, key: str, by: Pauser) -> Session:
    """End a person's pause; the clock runs again without other pauses."""
    now = event.clock.now()
    return event.sessions.update(key, lambda session: session.resumed(by, now))


def reset(event: EventContext, key: str, ending: Ending = Ending.TESTER_LEFT) -> None:
    """End the open dialogue of a session, if there is one; the next prompt starts another dialogue.

    The ended dialogue is a dialogue of the run like any other.

    Raises:
        NotFound: If there is no session of that key.
    """
    end_open_dialogue(event, event.sessions.get(key), ending)


def end_session(
    event: EventContext, key: str, *, task_done: bool | None = None, ending: Ending = Ending.TESTER_LEFT
) -> Session:
    """End a session together with its open dialogue.

    The session has failed if it has prompts and the application answered none.

    Args:
        event: The event.
        key: Key of the session.
        task_done: Whether the participant states that the task was completed; None if not stated.
        ending: Why the dialogue ended: the participant's decision, or a limit.

    Raises:
        NotFound: If there is no session of that key.
    """
    reset(event, key, ending)
    state = final_state(event.dialogues.of_session(key))
    return event.sessions.update(key, lambda known: known.over(state, event.clock.now()).with_task_done(task_done))


def is_session_abandoned(event: EventContext, session: Session) -> bool:
    """Return whether a session is active although its time was up a while ago.

    Args:
        event: The event in the release for which the session was created.
        session: The session.
    """
    return is_abandoned(event.study, session, event.hours(session.level), event.clock.now())


def end_abandoned_session(event: EventContext, session: Session) -> Session:
    """End a session that its participant left, together with its open dialogue, so that the dialogue counts."""
    return end_session(event, session.key, ending=Ending.INTERRUPTED)


def end_open_dialogue(event: EventContext, session: Session, ending: Ending) -> None:
    """End the open dialogue of a session, if there is one, and store it as a dialogue of the run.

    A dialogue without any response is not a dialogue of the run; it counts as a failure, or as
    missing if the participant stopped every reply.
    """
    for dialogue in event.dialogues.of_session(session.key):
        if dialogue.is_open:
            result = _result(event, session, dialogue, ending) if has_response(dialogue) else None
            event.dialogues.end(event.run, dialogue.key, ending, result, now=event.clock.now())


def _result(event: EventContext, session: Session, live: LiveDialogue, ending: Ending) -> tuple[Unit, Dialogue]:
    study = event.study
    summaries = counted(study, event.dialogues.summaries(study.name))
    positions = {summary.key: position for position, summary in enumerate(summaries)}
    summary = LiveDialogueSummary(key=live.key, session=session, number=live.number, ordinal=live.ordinal)
    unit = person_unit(event.run, summary, positions[live.key], event.plan.n_sessions)
    scenario = study.scenario(session.scenario)
    profile = event.participants.profile(session.participant)
    visit = visit_of(session, event.sessions.of_participant(session.participant))
    dialogue = Dialogue(
        key=unit.key,
        label=unit.label,
        application=session.application,
        application_version=session.application_version,
        scenario=session.scenario,
        scenario_version=version_of(scenario),
        level=session.level,
        held_by=TesterType.PERSON,
        pair_key=pair_key_of(session, visit, live.number),
        cluster=session.participant,
        turns=tuple(_with_response(turn) for turn in turns_of(live)),
        ending=ending,
        repeat=live.number,
        groups=profile.attributes if profile else {},
        context=event.material(scenario.name, *_search_results(event, live, scenario.name)),
        strategies=tuple(replace(strategy, dialogue=unit.key) for strategy in live.strategies),
    )
    return unit, dialogue


def _search_results(event: EventContext, live: LiveDialogue, scenario: str) -> list[str]:
    """Return the matches of each prompt of a dialogue; they are deterministic, so they are not stored."""
    results = ((turn.number, event.found(scenario, turn.prompt)) for turn in live.turns)
    return [in_turn(number, text) for number, text in results if text]


def _with_response(turn: Turn) -> Turn:
    """Return a turn with a placeholder if it has no response."""
    if turn.response:
        return turn
    return replace(turn, response=ERROR_TEXT if turn.state is TurnState.ERROR else STOPPED_TEXT)


def _session_at(event: EventContext, participant: str, level: Level, index: int) -> Session | None:
    at = (session for session in event.sessions_of(participant) if (session.level, session.place) == (level, index))
    return next(at, None)


def _session(event: EventContext, slot: Slot, index: int, cell: Cell) -> Session:
    study = event.study
    return Session(
        key=secrets.token_hex(32),
        study=study.name,
        study_version=version_of(study),
        run=event.run.key,
        participant=slot.participant,
        level=slot.level,
        scenario=cell.scenario,
        scenario_version=scenario_sight(study.scenario(cell.scenario)),
        application=cell.application,
        application_version=study.application_version(cell.application),
        slot=slot.number,
        place=index,
        stratum=slot.stratum,
        alias=f"Application {_letter(slot.participant, slot.level, index)}",
    )


def _letter(participant: str, level: Level, index: int) -> str:
    """Return a letter that differs between the first sessions of a participant, independent of the application."""
    order = sorted(LETTERS, key=lambda letter: keyed_draw(0, f"alias {participant} {level.value}", letter))
    return order[index % len(order)]


def leave(event: EventContext, participant: str, *, context_of: ContextOf | None = None) -> None:
    """End all sessions of a participant in a study, and release the slots.

    The texts are kept. Sessions that have not started are interrupted too, because they will not take place.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        context_of: From a session to the event in its release; `event` for all sessions by default.
    """
    for session in event.sessions_of(participant):
        if not session.is_over:
            end_open_dialogue(context_of(session) if context_of else event, session, Ending.TESTER_LEFT)
            event.sessions.update(session.key, lambda known: known.over(SessionState.INTERRUPTED, event.clock.now()))
    for level in {session.level for session in event.sessions.of_participant(participant)}:
        event.sessions.release(event.study.name, participant, level)


def withdraw(
    event: EventContext, participant: str, kind: Withdrawal, *, context_of: ContextOf | None = None
) -> Tombstone:
    """Remove or anonymise everything that a participant contributed to a study; return the remaining counts.

    Dialogues that are anonymised are ended first, so that they count. The caller forgets
    the participant's key afterwards.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        kind: Whether texts are deleted, or kept without a link to the participant.
        context_of: From a session to the event in its release; `event` for all sessions by default.
    """
    if kind is Withdrawal.ANONYMISE:
        leave(event, participant, context_of=context_of)
    withdrawals = event.store.events.withdrawals
    return withdrawals.withdraw(event.study.name, participant, kind, now=event.clock.now(), mask=mask_personal)


def acknowledge(
    event: EventContext, participant: str, subject: AcknowledgedText, version: str, *, session: str = ""
) -> None:
    """Store that a participant agreed to a text.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        subject: The text.
        version: Content hash of the text.
        session: Key of the session that the text concerns; empty if it concerns the event.
    """
    event.participants.add_acknowledgement(
        Acknowledgement(
            participant=participant,
            study=event.study.name,
            subject=subject,
            version=version,
            at=event.clock.now(),
            session=session,
        )
    )


def choose_release(event: EventContext, participant: str, *, included: bool) -> None:
    """Store whether a participant's dialogues may be part of public releases; the latest choice counts."""
    acknowledge(event, participant, AcknowledgedText.RELEASE, INCLUDED if included else LEFT_OUT)


def release_choice(event: EventContext, participant: str) -> bool | None:
    """Return whether a participant's dialogues may be part of public releases; None before the first choice."""
    choices = [
        stored.version == INCLUDED
        for stored in event.participants.acknowledgements(participant)
        if stored.study == event.study.name and stored.subject is AcknowledgedText.RELEASE
    ]
    return choices[-1] if choices else None


def save_profile(event: EventContext, participant: str, profile: PersonProfile) -> int:
    """Store another revision of a participant's profile and return its number, from 1."""
    return event.participants.add_profile(participant, profile, now=event.clock.now())


def opt_out(
    event: EventContext, participant: str, topics: Collection[str], *, closed: ContextOf | None = None
) -> tuple[Session, ...]:
    """Store a participant's content opt-outs, and end sessions on these topics.

    An active session on such a topic ends without a rationale and without questionnaires.
    A slot in which no session has started is released in exchange for a suitable one.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        topics: Names of the avoided topics; all others are accepted from now on.
        closed: From an active session to the event in its release, once no reply to it can
            arrive any more; `event` for all sessions by default.

    Returns:
        The sessions that were ended.

    Raises:
        InputError: If the study has no topic of a name.
    """
    save_avoided_topics(event.participants, event.study, participant, topics, now=event.clock.now())
    scenarios = scenarios_of(event.study.topics, topics)
    active = (session for session in event.sessions_of(participant) if session.state is SessionState.ACTIVE)
    ended = tuple(session for session in active if session.scenario in scenarios)
    for session in ended:
        end_open_dialogue(closed(session) if closed else event, session, Ending.TESTER_LEFT)
        event.sessions.update(session.key, lambda known: known.over(SessionState.INTERRUPTED, event.clock.now()))
    for plan in people_levels(event.study):
        event.sessions.release_unused(event.study.name, participant, plan.level)
    return ended


def save_avoided_topics(
    participants: ParticipantRepository, study: Study, participant: str, topics: Collection[str], *, now: datetime
) -> None:
    """Store the topics that a participant opts out of, and that the question was answered.

    Args:
        participants: Their store.
        study: The study that names the topics.
        participant: Opaque key of the participant.
        topics: Names of the avoided topics; all others are accepted from now on.
        now: The present moment.

    Raises:
        InputError: If the study has no topic of a name.
    """
    known = [topic.name for topic in study.topics]
    for name in topics:
        if name not in known:
            message = f"the study names no topic `{name}`{did_you_mean(name, known)}"
            raise InputError(message)
    participants.set_avoided_topics(study.name, participant, topics)
    participants.add_acknowledgement(
        Acknowledgement(
            participant=participant,
            study=study.name,
            subject=AcknowledgedText.TOPICS,
            version=topics_version(study),
            at=now,
        )
    )


def exposure_of(event: EventContext, participant: str) -> Exposure:
    """Return a participant's exposure in all levels of an event.

    The questionnaires after a session count as a break, and so does a pause while
    it lasts: the time since the last break is that of the active session.
    """
    now = event.clock.now()
    sessions = event.sessions_of(participant)
    turns = [
        turn for session in sessions for dialogue in event.dialogues.of_session(session.key) for turn in dialogue.turns
    ]
    active_s = [session.clock.elapsed_s(now) for session in sessions if session.state is SessionState.ACTIVE]
    return Exposure(
        minutes=sum(session.clock.elapsed_s(now) for session in sessions) / 60,
        turns=len(turns),
        severe=sum(turn.broke for turn in turns),
        since_break_min=max(active_s, default=0.0) / 60,
    )


def is_limit_reached(event: EventContext, participant: str) -> bool:
    """Return whether a participant has reached the exposure limit of the study."""
    rule = event.study.event.breaks if event.study.event else BreakRule()
    return (bool(rule.most_min) or bool(rule.most_severe)) and rule.is_enough(exposure_of(event, participant))


def heavy_minutes(event: EventContext) -> Mapping[tuple[str, SensitiveTopic], float]:
    """Return how long participants tested each heavy topic in the last hours, by key and topic; minutes."""
    heavy = [topic for topic in event.study.topics if topic.weight is TopicWeight.HEAVY]
    now = event.clock.now()
    since, minutes = now - timedelta(hours=LATELY_H), defaultdict[tuple[str, SensitiveTopic], float](float)
    for session in event.sessions.started_since(event.study.name, since) if heavy else ():
        for topic in topics_in(heavy, session.scenario):
            minutes[session.participant, topic] += session.clock.elapsed_s(now) / 60
    return minutes


def opt_out_tallies(event: EventContext) -> tuple[TopicTally, ...]:
    """Return the effect of content opt-outs on the balance of an event, one entry for each topic."""
    name = event.study.name
    slots, sessions = event.sessions.allocations(name), event.sessions.in_study(name)
    return tuple(topic_tallies(event.study, slots, sessions, event.participants.avoided_topics_in(name)))
