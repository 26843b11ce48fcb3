"""Holding: whoever a session's tester is, the dialogue comes of it."""

from __future__ import annotations

from typing import assert_never

from theodolite.domain.dialogue import Dialogue, Ending
from theodolite.domain.errors import PlanError
from theodolite.domain.flow import Flow
from theodolite.domain.identity import digest
from theodolite.domain.people.seat import Seat
from theodolite.domain.persona import Persona, Script
from theodolite.domain.strategy import Attack
from theodolite.testing.sessions.attacking import attack_with
from theodolite.testing.sessions.playing import play
from theodolite.testing.sessions.talk import Talk, dialogue_of
from theodolite.testing.sessions.task import SessionTask
from theodolite.testing.tasks import rules_version

FLOW_VERSION = 3
"""Number of the rules by which sessions are held; raised by hand when they change."""


def task_version() -> str:
    """Return the hash of the rules by which sessions are held."""
    return digest(str(FLOW_VERSION), rules_version())


def hold_session(task: SessionTask) -> Flow[Dialogue]:
    """Hold one session: ask the tester's side, tell the application, until it ends.

    Raises:
        PlanError: If the session is held by a person, or a strategy refines a try that was not made.
        EmptyReply: If the simulated user ends the dialogue before it began.
        ContentRefused: If a filter withheld what the simulated user would say.
    """
    tester = task.session.tester
    match tester:
        case Script():
            talk = yield from _follow(task, tester)
        case Attack():
            talk = yield from attack_with(task, tester)
        case Persona():
            talk = yield from play(task, tester)
        case Seat():
            message = f"`{task.session.label}` is held by a person, and by no program"
            raise PlanError(message)
        case _:
            assert_never(tester)
    return dialogue_of(talk)


def _follow(task: SessionTask, script: Script) -> Flow[Talk]:
    talk = Talk(task, Ending.SCRIPT_END)
    for prompt in script.prompts:
        yield from talk.say(prompt, None, withheld=script.withheld)
    return talk
