"""Sessions: who says what next, as flows without I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from theodolite.domain.dialogue import Dialogue, Ending, Turn
from theodolite.domain.errors import ContentRefused, EmptyReply, PlanError
from theodolite.domain.failure import Party
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Exchange, Flow, Message, Reply, SayToApplication, Speaker
from theodolite.domain.identity import digest
from theodolite.domain.passage import Search, found_text, in_turn, material_with
from theodolite.domain.people.seat import Seat
from theodolite.domain.persona import Persona, Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.scenario import Scenario
from theodolite.domain.strategy import Attack, Attempt, AttemptOutcome, Strategy
from theodolite.testing.strategies.catalogue import APPROACHES, approach_of
from theodolite.testing.strategies.checked import CheckedLine
from theodolite.testing.strategies.line import Approach, Heard, Try
from theodolite.testing.tasks import LEFT_OUT, OPENING, player_rules, rules_version

FLOW_VERSION = 3
"""Number of the rules by which sessions are held; raised by hand when they change."""

STOP_WORD = "[END]"
"""What a simulated user writes when it is done, unless the scenario says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTask:
    """Everything that a session's flow needs to know.

    Attributes:
        key: Key of the unit; becomes the key of the dialogue.
        session: What the plan says.
        scenario: The scenario that it names.
        application_version: Content hash of the application.
        scenario_version: Content hash of the scenario.
        search: Finds passages of the scenario's corpus; None where it has none.
        approaches: Strategies of red teaming by name.
    """

    key: str
    session: PlannedSession
    scenario: Scenario
    application_version: str
    scenario_version: str
    search: Search | None = None
    approaches: Mapping[str, Approach] = field(default_factory=lambda: APPROACHES)

    @property
    def material(self) -> str:
        """What the dialogue is about: the persona's own, else the scenario's source material."""
        tester = self.session.tester
        own = tester.material if isinstance(tester, Persona) else ""
        return own or self.scenario.context


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
            record = yield from _follow(task, tester)
        case Attack():
            record = yield from _attack(task, tester)
        case Persona():
            record = yield from _play(task, tester)
        case Seat():
            message = f"`{task.session.label}` is held by a person, and by no program"
            raise PlanError(message)
        case _:
            assert_never(tester)
    return _dialogue(task, record)


@dataclass(slots=True)
class _Record:
    """What has been said so far in a session.

    Attributes:
        turns: The turns.
        ending: Why it ends, as far as is known.
        positions: Replies in the journal; count.
        scripted: Endpoints whose replies a script gave.
        found: Passages that searches found, turn by turn.
        contexts: What the application was given to each turn beside the prompt.
        attempts: What a red teamer tried.
        remembered: Places of the turns that the application goes on from.
        memories: The same as it was after each turn.
    """

    turns: list[Turn]
    ending: Ending
    positions: int = 0
    scripted: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    contexts: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    remembered: tuple[int, ...] = ()
    memories: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def history(self) -> tuple[Exchange, ...]:
        told = ((self.turns[place], self.contexts[place]) for place in self.remembered)
        return tuple(Exchange(prompt=turn.prompt, response=turn.response, context=given) for turn, given in told)

    def add(self, turn: Turn, context: str) -> None:
        """Add what was said last, and the source material that the application had for it."""
        self.remembered = (*self.remembered, len(self.turns))
        self.memories.append(self.remembered)
        self.turns.append(turn)
        self.contexts.append(context)

    def go_back(self, attempt: int | None) -> None:
        """Let the application go on from an attempt, by its number, or from an empty chat."""
        turn = self.attempts[attempt - 1].turn if attempt else None
        self.remembered = self.memories[turn - 1] if turn else ()

    def took(self, reply: Reply, name: str) -> int | None:
        """Count a reply and return its place in the journal; None where it does not go there."""
        if reply.scripted and name not in self.scripted:
            self.scripted = (*self.scripted, name)
        if reply.recorded:
            return None
        self.positions += 1
        return self.positions - 1


def _follow(task: SessionTask, script: Script) -> Flow[_Record]:
    record = _Record([], Ending.SCRIPT_END)
    for prompt in script.prompts:
        yield from _say(task, record, prompt, None, script.withheld)
    return record


def _play(task: SessionTask, persona: Persona) -> Flow[_Record]:
    record = _Record([], Ending.TURN_LIMIT)
    stop = task.scenario.stop or STOP_WORD
    rules = player_rules(persona, task.scenario.task, stop=stop, material=task.material)
    while len(record.turns) < task.scenario.turns:
        if persona.starter and not record.turns:
            yield from _say(task, record, persona.starter, None)
            continue
        asked = AskModel(
            model=persona.model,
            messages=_player_view(rules, persona, record),
            party=Party.SIMULATED_USER,
            replicate=task.session.repeat,
        )
        reply = yield asked
        _refuse_filtered(reply, persona.model, persona.name)
        at = record.took(reply, persona.model)
        prompt, stopped = _until_stop(reply.text, stop)
        if prompt:
            yield from _say(task, record, prompt, at if prompt == reply.text else None)
        if stopped or not prompt:
            record.ending = Ending.STOP_RULE
            break
    if not record.turns:
        message = f"the simulated user `{persona.name}` ended the dialogue before it began"
        raise EmptyReply(message, endpoint=persona.model)
    return record


def _refuse_filtered(reply: Reply, model: str, name: str) -> None:
    if reply.finish == CONTENT_FILTER:
        message = f"the filter of `{model}` withheld what the simulated user `{name}` would say"
        raise ContentRefused(message, endpoint=model)


def _attack(task: SessionTask, attack: Attack) -> Flow[_Record]:
    """Follow a strategy until it released something, has nothing left to try or reaches the turn limit."""
    record = _Record([], Ending.TURN_LIMIT)
    line = CheckedLine(attack.strategy, lambda: approach_of(attack.strategy, task.approaches).line(attack))
    written, at = "", None
    move = line.begin()
    while move is not None and len(record.turns) < task.scenario.turns:
        if isinstance(move, Try):
            heard = yield from _attempt(task, record, move, at if move.prompt == written else None)
        else:
            reply = yield replace(move, replicate=task.session.repeat)
            _refuse_filtered(reply, move.model, attack.strategy)
            written, at = reply.text, record.took(reply, move.model)
            heard = Heard(text=reply.text)
        if heard.outcome is AttemptOutcome.RELEASED:
            record.ending = Ending.STOP_RULE
            break
        move = line.send(heard)
    if not record.turns:
        message = f"the simulated red teamer `{attack.key}` ended the dialogue before it began"
        raise EmptyReply(message, endpoint=attack.model)
    if move is None:
        record.ending = Ending.SCRIPT_END
    return record


def _attempt(task: SessionTask, record: _Record, move: Try, prompt_at: int | None) -> Flow[Heard]:
    if move.refines is not None and not 1 <= move.refines <= len(record.attempts):
        message = f"`{task.session.label}`: its strategy refines try {move.refines}, of {len(record.attempts)} made"
        raise PlanError(message)
    if move.goes_back:
        record.go_back(move.refines)
    yield from _say(task, record, move.prompt, prompt_at, planted=move.planted)
    turn = record.turns[-1]
    outcome = task.scenario.packet.outcome_of(turn.response)
    record.attempts.append(
        Attempt(
            description=move.description,
            outcome=outcome,
            turn=turn.number,
            refines=move.refines,
            planted=move.planted,
        )
    )
    return Heard(text=turn.response, outcome=outcome)


def _until_stop(text: str, stop: str) -> tuple[str, bool]:
    """Return what stands before the stop word, letters' case ignored, and whether it was there."""
    found = re.search(re.escape(stop), text, re.IGNORECASE)
    return (text[: found.start()].strip(), True) if found else (text, False)


def _say(
    task: SessionTask, record: _Record, prompt: str, prompt_at: int | None, withheld: str = "", planted: str = ""
) -> Flow[None]:
    number = len(record.turns) + 1
    found = found_text(prompt, task.search(prompt)) if task.search else ""
    if found:
        record.found = (*record.found, in_turn(number, found))
    said = SayToApplication(
        application=task.session.application,
        prompt=prompt,
        turn=number,
        item=task.session.tester.key,
        repeat=task.session.repeat,
        history=record.history,
        context=material_with(task.material, found, planted),
    )
    reply = yield said
    response_at = record.took(reply, task.session.application)
    turn = Turn(
        number=said.turn,
        prompt=prompt,
        response=reply.text,
        withheld=withheld or reply.withheld,
        latency_s=reply.latency_s,
        prompt_at=prompt_at,
        response_at=response_at,
    )
    record.add(turn, said.context)


def _player_view(rules: str, persona: Persona, record: _Record) -> tuple[Message, ...]:
    seen = record.turns[-persona.history :] if persona.history else record.turns
    opening = OPENING if len(seen) == len(record.turns) else LEFT_OUT
    messages = [Message(speaker=Speaker.SYSTEM, text=rules), Message(speaker=Speaker.USER, text=opening)]
    for turn in seen:
        messages.append(Message(speaker=Speaker.ASSISTANT, text=turn.prompt))
        messages.append(Message(speaker=Speaker.USER, text=turn.response))
    return tuple(messages)


def _dialogue(task: SessionTask, record: _Record) -> Dialogue:
    session = task.session
    return Dialogue(
        key=task.key,
        label=session.label,
        application=session.application,
        application_version=task.application_version,
        scenario=session.scenario,
        scenario_version=task.scenario_version,
        level=session.level,
        held_by=session.held_by,
        pair_key=session.pair_key,
        cluster=session.cluster,
        turns=tuple(record.turns),
        ending=record.ending,
        repeat=session.repeat,
        persona=session.tester if isinstance(session.tester, Persona) else None,
        groups=session.groups,
        scripted=record.scripted,
        context=material_with(task.material, *record.found),
        strategies=_strategies(task, record),
    )


def _strategies(task: SessionTask, record: _Record) -> tuple[Strategy, ...]:
    tester = task.session.tester
    if not isinstance(tester, Attack):
        return ()
    return (Strategy(name=tester.strategy, dialogue=task.key, attempts=tuple(record.attempts)),)
