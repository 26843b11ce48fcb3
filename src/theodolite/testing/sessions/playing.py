"""Playing: a simulated user asks, hears and asks on, until it has what it wants."""

from __future__ import annotations

import re

from theodolite.domain.dialogue import Ending
from theodolite.domain.errors import EmptyReply
from theodolite.domain.failure import FailureSource
from theodolite.domain.flow import AskModel, Flow, Message, Speaker
from theodolite.domain.persona import Persona
from theodolite.testing.sessions.talk import Talk
from theodolite.testing.sessions.task import SessionTask
from theodolite.testing.tasks import LEFT_OUT, OPENING, player_rules

STOP_WORD = "[END]"
"""What a simulated user writes when it is done, unless the scenario says otherwise."""


def play(task: SessionTask, persona: Persona) -> Flow[Talk]:
    """Let a model play a person until it stops or the turns are used up.

    Raises:
        EmptyReply: If the simulated user ends the dialogue before it began.
        ContentRefused: If a filter withheld what the simulated user would say.
    """
    talk = Talk(task, Ending.TURN_LIMIT)
    stop = task.scenario.stop or STOP_WORD
    rules = player_rules(persona, task.scenario.task, stop=stop, material=task.material)
    while not talk.is_over:
        if persona.starter and not talk.turns:
            yield from talk.say(persona.starter, None)
            continue
        reply = yield AskModel(
            model=persona.model,
            messages=_player_view(rules, persona, talk),
            party=FailureSource.SIMULATED_USER,
            replicate=task.session.repeat,
        )
        at = talk.hear(reply, persona.model, persona.name)
        prompt, stopped = _until_stop(reply.text, stop)
        if prompt:
            yield from talk.say(prompt, at if prompt == reply.text else None)
        if stopped or not prompt:
            talk.ending = Ending.STOP_RULE
            break
    if not talk.turns:
        message = f"the simulated user `{persona.name}` ended the dialogue before it began"
        raise EmptyReply(message, endpoint=persona.model)
    return talk


def _until_stop(text: str, stop: str) -> tuple[str, bool]:
    """Return what stands before the stop word, letters' case ignored, and whether it was there."""
    found = re.search(re.escape(stop), text, re.IGNORECASE)
    return (text[: found.start()].strip(), True) if found else (text, False)


def _player_view(rules: str, persona: Persona, talk: Talk) -> tuple[Message, ...]:
    seen = talk.turns[-persona.history :] if persona.history else talk.turns
    opening = OPENING if len(seen) == len(talk.turns) else LEFT_OUT
    messages = [Message(speaker=Speaker.SYSTEM, text=rules), Message(speaker=Speaker.USER, text=opening)]
    for turn in seen:
        messages.append(Message(speaker=Speaker.ASSISTANT, text=turn.prompt))
        messages.append(Message(speaker=Speaker.USER, text=turn.response))
    return tuple(messages)
