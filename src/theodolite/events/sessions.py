"""Sessions: from the allocated slot to the dialogue of the run."""

from __future__ import annotations

import secrets
from dataclasses import replace

from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn, TurnState
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import keyed_draw, version_of
from theodolite.domain.live import LiveDialogue, LiveDialogueSummary, turns_of
from theodolite.domain.passage import in_turn
from theodolite.domain.people.session import Pauser, Session
from theodolite.domain.people.slot import Cell, Slot
from theodolite.domain.run import Unit
from theodolite.events.allocation import allocate
from theodolite.events.context import EventContext
from theodolite.events.rules import final_state, has_response, is_abandoned
from theodolite.testing.assigning import allocation_design
from theodolite.testing.people import counted, pair_key_of, person_unit, scenario_sight, visit_of

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
        NotFound: If there is none of that key.
    """
    return event.sessions.update(key, lambda known: known.begun(event.clock.now(), language))


def pause_session(event: EventContext, key: str, by: Pauser) -> Session:
    """Stop the clock of a session; it runs again when everybody who paused it has resumed it."""
    now = event.clock.now()
    return event.sessions.update(key, lambda session: session.paused(by, now))


def resume_session(event: EventContext, key: str, by: Pauser) -> Session:
    """Withdraw a pause; the clock runs again if nobody else paused the session."""
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
    return event.sessions.update(key, lambda known: known.over(state, event.clock.now()).told(task_done))


def is_session_abandoned(event: EventContext, session: Session) -> bool:
    """Tell whether a session is active although its time was up a while ago.

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

    A dialogue without any response is no dialogue of the run; it counts as a failure, or as
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
    """Return what each prompt of a dialogue found; a prompt always finds the same, so it is not stored."""
    results = ((turn.number, event.found(scenario, turn.prompt)) for turn in live.turns)
    return [in_turn(number, text) for number, text in results if text]


def _with_response(turn: Turn) -> Turn:
    """Return a turn with a placeholder if it has no response."""
    if turn.response:
        return turn
    return replace(turn, response=ERROR_TEXT if turn.state is TurnState.ERROR else STOPPED_TEXT)


def _session_at(event: EventContext, participant: str, level: Level, index: int) -> Session | None:
    at = (one for one in event.sessions_of(participant) if (one.level, one.place) == (level, index))
    return next(at, None)


def _session(event: EventContext, slot: Slot, index: int, cell: Cell) -> Session:
    study = event.study
    return Session(
        key=secrets.token_hex(32),
        study=study.name,
        edition=version_of(study),
        run=event.run.key,
        participant=slot.participant,
        level=slot.level,
        scenario=cell.scenario,
        scenario_version=scenario_sight(study.scenario(cell.scenario)),
        application=cell.application,
        application_version=study.application_version(cell.application),
        seat=slot.number,
        place=index,
        stratum=slot.stratum,
        alias=f"Application {_letter(slot.participant, slot.level, index)}",
    )


def _letter(participant: str, level: Level, index: int) -> str:
    """Return a letter that differs between the first sessions of a participant, independent of the application."""
    order = sorted(LETTERS, key=lambda letter: keyed_draw(0, f"alias {participant} {level.value}", letter))
    return order[index % len(order)]
