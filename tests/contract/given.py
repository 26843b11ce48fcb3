"""Records for tests of stores."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from theodolite.domain.annotation import (
    Adjudication,
    AdjudicationOrigin,
    Annotation,
    Answer,
    Control,
    Outcome,
    Quote,
    Vote,
)
from theodolite.domain.application import Application, AriaClass
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.flow import JournalEntry, Reply
from theodolite.domain.identity import digest
from theodolite.domain.persona import Persona
from theodolite.domain.plan import Plan
from theodolite.domain.run import Failure, FailureKind, FailureSource, Run, Unit, UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.session import Session
from theodolite.domain.study import Study

if TYPE_CHECKING:  # a worker imports this before Django is set up
    from theodolite.store.django_store import DjangoStore

ANA = Persona(
    key="customers-1",
    name="Ana",
    group="customers",
    text="You are Ana.",
    goal="Find out whether it can go back.",
    model="user",
    parameters={"name": "Ana", "wish": "a refund"},
)


def a_study(name: str = "support") -> Study:
    application = Application(name="bot", connection=AriaClass(target="team:Bot"))
    return Study(name=name, applications=(application,), scenarios=(Scenario(name="returns"),))


def a_plan(seed: int = 1) -> Plan:
    return Plan(run_fingerprint=digest("study"), seed=seed, flow_version=1, n_sessions=3)


def a_session(run: Run, number: int = 0) -> Unit:
    return Unit(
        key=digest(run.key, "session", str(number)),
        kind=UnitKind.SESSION,
        work_key=digest("session", str(number)),
        position=number,
        label=f"d{number:03}",
        application="bot",
    )


def an_annotation_unit(run: Run, session: Unit, annotator: str = "judge") -> Unit:
    return Unit(
        key=digest(run.key, "annotation", session.work_key, annotator),
        kind=UnitKind.ANNOTATION,
        work_key=digest("annotation", session.work_key, annotator),
        position=session.position,
        label=session.label,
        application="bot",
        subject=session.key,
        annotator=annotator,
    )


def a_reply(text: str = "Yes, within 30 days.", **changes: object) -> Reply:
    known: dict[str, object] = {
        "text": text,
        "answered_as": "large-2026-01",
        "finish": "stop",
        "tokens_in": 100,
        "tokens_out": 20,
        "cost_microusd": 70,
        "latency_s": 0.25,
        "attempts": 2,
    }
    return Reply(**(known | changes))  # type: ignore[arg-type]


def an_entry(position: int = 0, reply: Reply | None = None) -> JournalEntry:
    return JournalEntry(position=position, request_hash=digest("request", str(position)), reply=reply or a_reply())


def a_dialogue(unit: Unit, **changes: object) -> Dialogue:
    known: dict[str, object] = {
        "key": unit.key,
        "label": unit.label,
        "application": unit.application,
        "application_version": digest("application"),
        "scenario": "returns",
        "scenario_version": digest("scenario"),
        "level": Level.MODEL_TESTING,
        "held_by": TesterType.SIMULATED_USER,
        "pair_key": digest("pair", unit.label),
        "cluster": "customers-1",
        "turns": (
            Turn(number=1, prompt="Can it go back?", response="Yes.", latency_s=0.25, context="Shop opens at nine."),
            Turn(number=2, prompt="", response="", withheld="licence"),
        ),
        "ending": Ending.STOP_RULE,
        "repeat": 2,
        "persona": ANA,
        "groups": {"kind": "safe", "language": "en"},
        "scripted": ("user", "bot"),
        "context": "Goods go back within 30 days.",
    }
    return Dialogue(**(known | changes))  # type: ignore[arg-type]


ANSWERS = (
    Answer(
        question="score",
        outcome=Outcome.ANSWERED,
        value="4",
        reasoning="It says so.",
        evidence=(Quote(turn=1, text="Yes.", verified=True), Quote(turn=2, text="No.")),
    ),
    Answer(question="score", outcome=Outcome.ANSWERED, value="yes", turn=1, replicate=2),
    Answer(question="tone", outcome=Outcome.MISSING),
    Answer(question="tone", outcome=Outcome.NOT_APPLICABLE, turn=1),
    Answer(question="tone", outcome=Outcome.REFUSED, raw="I cannot judge that."),
    Answer(question="tone", outcome=Outcome.UNPARSEABLE, raw="perhaps"),
    Answer(question="tone", outcome=Outcome.FAILED),
)


VOTES = (
    Vote(
        replicate=1,
        control=Control.PASSED,
        answers=(
            Answer(question="useful", outcome=Outcome.ANSWERED, value="yes", reasoning="It helps."),
            Answer(question="risk", outcome=Outcome.UNPARSEABLE, turn=1, raw="?"),
        ),
    ),
    Vote(
        replicate=2,
        arrangement="labels reversed",
        control=Control.FAILED,
        answers=(Answer(question="useful", outcome=Outcome.REFUSED, replicate=2, raw="no"),),
    ),
)
"""Two readings by one judge."""


def an_annotation(unit: Unit, dialogue: str, **changes: object) -> Annotation:
    known: dict[str, object] = {
        "unit": unit.key,
        "dialogue": dialogue,
        "annotator": unit.annotator,
        "annotator_version": digest("annotator", unit.annotator),
        "guideline": "useful",
        "instrument_version": digest("guideline"),
        "answers": ANSWERS,
        "scripted": True,
    }
    return Annotation(**(known | changes))  # type: ignore[arg-type]


def a_failure(unit: Unit, **changes: object) -> Failure:
    known: dict[str, object] = {
        "unit": unit.key,
        "label": unit.label,
        "application": unit.application,
        "party": FailureSource.APPLICATION,
        "kind": FailureKind.TIMED_OUT,
        "message": "no answer within 60 s",
        "turn": 2,
        "annotator": unit.annotator,
        "endpoint": "bot",
        "tries": 5,
    }
    return Failure(**(known | changes))  # type: ignore[arg-type]


def a_final_label(dialogue: str, **changes: object) -> Adjudication:
    known: dict[str, object] = {
        "dialogue": dialogue,
        "guideline": "useful",
        "question": "score",
        "outcome": Outcome.ANSWERED,
        "origin": AdjudicationOrigin.RECORDED,
        "value": "4",
        "participants": ("p-2", "p-1"),
        "rationale": "Both said so.",
        "decided": datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC),
        "raw": "four",
    }
    return Adjudication(**(known | changes))  # type: ignore[arg-type]


NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def a_person_session(run: Run, **changes: object) -> Session:
    known: dict[str, object] = {
        "key": digest("session", "p1"),
        "study": "support",
        "study_version": run.study_version,
        "run": run.key,
        "participant": "p1",
        "level": Level.RED_TEAMING,
        "scenario": "returns",
        "scenario_version": digest("scenario"),
        "application": "bot",
        "application_version": digest("application"),
        "slot": 0,
        "place": 0,
    }
    return Session(**(known | changes))  # type: ignore[arg-type]


def an_active_session(store: DjangoStore, run: Run, **changes: object) -> Session:
    session = a_person_session(run, **changes)
    store.events.sessions.add(session)
    return store.events.sessions.update(session.key, lambda known: known.begun(NOW, "de"))
