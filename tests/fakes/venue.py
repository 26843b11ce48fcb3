"""A venue in memory, in which people test a toy study without a network."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import guideline, judge, live, study
from tests.fakes.clock import FakeClock
from tests.fakes.store import FakeStore
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.failure import FailureKind
from theodolite.domain.flow import Reply
from theodolite.domain.live import LiveEnding, LiveTurn
from theodolite.domain.people.event import Event, LevelPlan
from theodolite.domain.people.session import Session
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.ports.store import Store
from theodolite.testing.planning import draw_plan
from theodolite.usecases.people.sitting import begin_session, prepare_session
from theodolite.usecases.people.talking import finish, say
from theodolite.usecases.people.venue import Venue

RED, FIELD = Level.RED_TEAMING, Level.FIELD_TESTING


def an_event(*, people: int = 2, sessions: int = 2, **more) -> Study:
    """A study that only people test, two applications in one scenario."""
    known = {
        "applications": (live("blue"), live("green")),
        "scenarios": (Scenario(name="shop", turns=4),),
        "personas": (),
        "guidelines": (guideline(),),
        "annotators": (judge(),),
        "levels": (LevelPlan(level=RED, people=people, sessions=sessions, minutes=20),),
        "event": Event(),
    }
    return study(**(known | more))


def a_venue(of: Study | None = None, store: Store | None = None) -> Venue:
    event = of or an_event()
    plan, _ = draw_plan(event)
    kept = store or FakeStore()
    return Venue(study=event, plan=plan, run=kept.open_run(event, plan), store=kept, clock=FakeClock())


def a_session(venue: Venue, who: str = "p1", place: int = 0, level: Level = RED) -> Session:
    return begin_session(venue, prepare_session(venue, who, level, place).key)


def all_sessions(venue: Venue, who: str, level: Level = RED) -> tuple[Session, ...]:
    n_sessions = next(plan.sessions for plan in venue.study.levels if plan.level is level)
    return tuple(prepare_session(venue, who, level, place) for place in range(n_sessions))


def exchange(venue: Venue, session: Session, prompt: str = "May I?", response: str = "You may.") -> LiveTurn:
    turn, _ = say(venue, session.key, prompt)
    reply = Reply(text=response, tokens_in=10, tokens_out=5, cost_microusd=3)
    return finish(venue, turn.key, answered(response, reply=reply))


def answered(response: str = "You may.", **more) -> LiveEnding:
    return LiveEnding(**({"state": TurnState.COMPLETE, "text": response, "latency_s": 0.5, "waited_s": 1.2} | more))


def failed() -> LiveEnding:
    return replace(answered(""), state=TurnState.ERROR, kind=FailureKind.TIMED_OUT, cause="10.0.0.7 did not answer")
