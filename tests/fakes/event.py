"""An open event on a real store, in which people test a toy study without a network."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import guideline, judge, live, study
from tests.fakes.clock import FakeClock
from tests.fresh_stores import fresh_store
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.event import Event, LevelPlan
from theodolite.domain.evidence import Evidence
from theodolite.domain.flow import Reply
from theodolite.domain.live import LiveEnding, LiveTurn
from theodolite.domain.plan import ListedSessions, Sessions
from theodolite.domain.run import FailureKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.session import Session
from theodolite.domain.study import Study
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.context import EventContext
from theodolite.events.results import event_evidence
from theodolite.events.sessions import prepare_session, start_session
from theodolite.store.django_store import DjangoStore
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.measuring import evidence_of

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


def an_open_event(of: Study | None = None, store: DjangoStore | None = None) -> EventContext:
    event = of or an_event()
    plan, _ = draw_plan(event)
    kept = store or fresh_store()
    return EventContext(study=event, plan=plan, run=kept.open_run(event, plan), store=kept, clock=FakeClock())


def measured(event: EventContext, planned: Sessions = ListedSessions(())) -> Evidence:  # noqa: B008  # frozen
    """Return the evidence of an event's run with everything that its participants contributed."""
    sessions = event_sessions(event.study, planned, event.dialogues.summaries(event.study.name))
    people = event_evidence(event.store, event.study)
    return evidence_of(event.store, event.study, sessions, event.run, event=people)


def a_session(event: EventContext, who: str = "p1", place: int = 0, level: Level = RED) -> Session:
    return start_session(event, prepare_session(event, who, level, place).key)


def all_sessions(event: EventContext, who: str, level: Level = RED) -> tuple[Session, ...]:
    n_sessions = next(plan.sessions for plan in event.study.levels if plan.level is level)
    return tuple(prepare_session(event, who, level, place) for place in range(n_sessions))


def exchange(event: EventContext, session: Session, prompt: str = "May I?", response: str = "You may.") -> LiveTurn:
    turn, _ = send_prompt(event, session.key, prompt)
    reply = Reply(text=response, tokens_in=10, tokens_out=5, cost_microusd=3)
    return finish_turn(event, turn.key, answered(response, reply=reply))


def answered(response: str = "You may.", **more) -> LiveEnding:
    return LiveEnding(**({"state": TurnState.COMPLETE, "text": response, "latency_s": 0.5, "waited_s": 1.2} | more))


def failed() -> LiveEnding:
    return replace(answered(""), state=TurnState.ERROR, kind=FailureKind.TIMED_OUT, cause="10.0.0.7 did not answer")
