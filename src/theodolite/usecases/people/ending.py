"""Ending: a live dialogue becomes a dialogue of the run, like those of simulated users."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Turn, TurnState
from theodolite.domain.identity import version_of
from theodolite.domain.live import HeldDialogue, LiveDialogue, turns_of
from theodolite.domain.passage import in_turn
from theodolite.domain.people.session import Session
from theodolite.domain.run import Unit
from theodolite.domain.strategy import Strategy
from theodolite.testing.people import counted, pair_key_of, visit_of
from theodolite.usecases.ledger import person_unit
from theodolite.usecases.people.venue import Venue

ERROR_TEXT = "(No reply came: the application failed.)"
"""What stands in a dialogue in place of a reply that an error took; it is no refusal."""

STOPPED_TEXT = "(The reply was stopped before its first word.)"
"""What stands in a dialogue in place of a reply of which nothing was shown."""


def end_open_dialogue(venue: Venue, session: Session, ending: Ending) -> None:
    """End the open dialogue of a session, if there is one; in one transaction it becomes a dialogue of the run.

    A dialogue in which the application never answered becomes none; it is
    accounted for as a failure, or as missing where the person stopped every reply.
    """
    for dialogue in venue.store.live_dialogues(session.key):
        if dialogue.is_open:
            result = _result(venue, session, dialogue, ending) if _is_answered(dialogue) else None
            venue.store.end_dialogue(venue.run, dialogue.key, ending, result, now=venue.clock.now())


def _is_answered(dialogue: LiveDialogue) -> bool:
    """Tell whether there is any response; one that is still under way counts for what has come of it."""
    return any(turn.is_answered or (turn.is_under_way and turn.response) for turn in dialogue.turns)


def _result(venue: Venue, session: Session, live: LiveDialogue, ending: Ending) -> tuple[Unit, Dialogue]:
    study = venue.study
    places = {one.key: place for place, one in enumerate(counted(study, venue.store.held(study.name)))}
    held = HeldDialogue(key=live.key, session=session, number=live.number, ordinal=live.ordinal)
    unit = person_unit(venue.run, held, places[live.key], venue.plan.n_sessions)
    scenario = study.scenario(session.scenario)
    profile = venue.store.profile(session.participant)
    dialogue = Dialogue(
        key=unit.key,
        label=unit.label,
        application=session.application,
        application_version=session.application_version,
        scenario=session.scenario,
        scenario_version=version_of(scenario),
        level=session.level,
        held_by=HeldBy.PERSON,
        pair_key=pair_key_of(session, visit_of(session, venue.store.sessions_of(session.participant)), live.number),
        cluster=session.participant,
        turns=tuple(_told(turn) for turn in turns_of(live)),
        ending=ending,
        repeat=live.number,
        groups=profile.attributes if profile else {},
        context=venue.material(scenario.name, *_found(venue, live, scenario.name)),
        strategies=tuple(_about(strategy, unit.key) for strategy in live.strategies),
    )
    return unit, dialogue


def _found(venue: Venue, live: LiveDialogue, scenario: str) -> list[str]:
    """Return what each prompt of a dialogue has found; the same prompt finds the same, so nobody has to keep it."""
    found = ((turn.number, venue.found(scenario, turn.prompt)) for turn in live.turns)
    return [in_turn(number, words) for number, words in found if words]


def _told(turn: Turn) -> Turn:
    """Return a turn with words in place of a reply that has none."""
    if turn.response:
        return turn
    return replace(turn, response=ERROR_TEXT if turn.state is TurnState.ERROR else STOPPED_TEXT)


def _about(strategy: Strategy, dialogue: str) -> Strategy:
    return replace(strategy, dialogue=dialogue)
