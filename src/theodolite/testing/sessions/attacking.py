"""Attacking: a simulated red teamer follows a strategy, try by try."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.dialogue import Ending
from theodolite.domain.errors import EmptyReply, PlanError
from theodolite.domain.flow import Flow
from theodolite.domain.strategy import Attack, Attempt, AttemptOutcome
from theodolite.testing.sessions.talk import Talk
from theodolite.testing.sessions.task import SessionTask
from theodolite.testing.strategies.catalogue import approach_of
from theodolite.testing.strategies.checked import CheckedLine
from theodolite.testing.strategies.line import Heard, Try


def attack_with(task: SessionTask, attack: Attack) -> Flow[Talk]:
    """Follow a strategy until it released something, has nothing left to try or reaches the turn limit.

    Raises:
        PlanError: If the strategy refines a try that was not made.
        EmptyReply: If it ends before anything was tried.
        ContentRefused: If a filter withheld what the red teamer would say.
    """
    talk = Talk(task, Ending.TURN_LIMIT)
    line = CheckedLine(attack.strategy, lambda: approach_of(attack.strategy, task.approaches).line(attack))
    written, at = "", None
    move = line.begin()
    while move is not None and not talk.is_over:
        if isinstance(move, Try):
            heard = yield from _attempt(talk, move, at if move.prompt == written else None)
        else:
            reply = yield replace(move, replicate=task.session.repeat)
            at = talk.hear(reply, move.model, attack.strategy)
            written = reply.text
            heard = Heard(text=reply.text)
        if heard.outcome is AttemptOutcome.RELEASED:
            talk.ending = Ending.STOP_RULE
            break
        move = line.send(heard)
    if not talk.turns:
        message = f"the simulated red teamer `{attack.key}` ended the dialogue before it began"
        raise EmptyReply(message, endpoint=attack.model)
    if move is None:
        talk.ending = Ending.SCRIPT_END
    return talk


def _attempt(talk: Talk, move: Try, prompt_at: int | None) -> Flow[Heard]:
    task = talk.task
    if move.refines is not None and not 1 <= move.refines <= len(talk.attempts):
        message = f"`{task.session.label}`: its strategy refines try {move.refines}, of {len(talk.attempts)} made"
        raise PlanError(message)
    if move.goes_back:
        talk.go_back(move.refines)
    turn = yield from talk.say(move.prompt, prompt_at, planted=move.planted)
    outcome = task.scenario.packet.outcome_of(turn.response)
    talk.attempts.append(
        Attempt(
            description=move.description,
            outcome=outcome,
            turn=turn.number,
            refines=move.refines,
            planted=move.planted,
        )
    )
    return Heard(text=turn.response, outcome=outcome)
