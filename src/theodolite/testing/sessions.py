"""Flows of sessions: a script, a simulated user or a simulated red teamer talks to an application."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from theodolite.domain.dialogue import Dialogue, Ending, Search, Turn, found_text, in_turn, material_with
from theodolite.domain.errors import ContentRefused, EmptyReply, PlanError
from theodolite.domain.flow import CONTENT_FILTER, AskModel, Exchange, Flow, Message, Reply, SayToApplication, Speaker
from theodolite.domain.identity import digest
from theodolite.domain.persona import Attack, Attempt, AttemptOutcome, Persona, Script, Strategy
from theodolite.domain.plan import PlannedSession, Slot
from theodolite.domain.run import FailureSource
from theodolite.domain.scenario import Scenario
from theodolite.testing.design import LEFT_OUT, OPENING, player_rules, rules_version
from theodolite.testing.strategies import APPROACHES, Approach, AttackReply, CheckedAttack, Try, approach_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTask:
    """Everything that a session's flow needs to know.

    Attributes:
        key: Key of the unit; becomes the key of the dialogue.
        session: The planned session.
        scenario: The scenario that it names.
        application_version: Content hash of the application.
        scenario_version: Content hash of the scenario.
        search: Finds passages of the scenario's corpus; None if it has none.
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
        """Source material of the dialogue: the persona's own, else the scenario's."""
        tester = self.session.tester
        own = tester.material if isinstance(tester, Persona) else ""
        return own or self.scenario.context


@dataclass(slots=True)
class ConversationState:
    """The state of a conversation in a session.

    Attributes:
        task: The session.
        ending: Reason for its end, if known.
        turns: The turns.
        positions: Replies in the journal; count.
        scripted: Endpoints with scripted replies.
        passages: Retrieved passages of each turn.
        contexts: Context that the application received with each prompt.
        attempts: Attempts of a red teamer.
        history_indices: Indices of turns in the application's current history.
        history_snapshots: Snapshot of `history_indices` after each turn.
    """

    task: SessionTask
    ending: Ending
    turns: list[Turn] = field(default_factory=list)
    positions: int = 0
    scripted: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    contexts: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    history_indices: tuple[int, ...] = ()
    history_snapshots: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def history(self) -> tuple[Exchange, ...]:
        """History that the application continues, each turn with its source material."""
        turns_and_contexts = ((self.turns[position], self.contexts[position]) for position in self.history_indices)
        return tuple(
            Exchange(prompt=turn.prompt, response=turn.response, context=context)
            for turn, context in turns_and_contexts
        )

    @property
    def is_over(self) -> bool:
        """Whether it has reached the scenario's number of turns."""
        return len(self.turns) >= self.task.scenario.turns

    def say(self, prompt: str, prompt_at: int | None, *, withheld: str = "", planted: str = "") -> Flow[Turn]:
        """Send a prompt to the application and return the resulting turn.

        Args:
            prompt: The text.
            prompt_at: Journal index of the model reply that contains the prompt; None if no model wrote it.
            withheld: Why the texts may not be shown; empty if they may.
            planted: Text to insert into the application's source material for this turn.
        """
        number, session = len(self.turns) + 1, self.task.session
        passages = found_text(prompt, self.task.search(prompt)) if self.task.search else ""
        if passages:
            self.passages = (*self.passages, in_turn(number, passages))
        request = SayToApplication(
            application=session.application,
            prompt=prompt,
            turn=number,
            item=session.tester.key,
            repeat=session.repeat,
            history=self.history,
            context=material_with(self.task.material, passages, planted),
        )
        reply = yield request
        turn = Turn(
            number=number,
            prompt=prompt,
            response=reply.text,
            withheld=withheld or reply.withheld,
            latency_s=reply.latency_s,
            prompt_at=prompt_at,
            response_at=self._took(reply, session.application),
            context=reply.context,
        )
        self._add(turn, request.context)
        return turn

    def receive(self, reply: Reply, model: str, name: str) -> int | None:
        """Record a model's reply for the tester's side, and return its journal index; None if there is no reply.

        Args:
            reply: Its reply.
            model: Name of its endpoint.
            name: Whom it plays.

        Raises:
            ContentRefused: If a filter withheld it.
        """
        if reply.finish == CONTENT_FILTER:
            message = f"the filter of `{model}` withheld what the simulated user `{name}` would say"
            raise ContentRefused(message, endpoint=model)
        return self._took(reply, model)

    def go_back(self, attempt: int | None) -> None:
        """Let the application continue from an attempt (by number) or from an empty chat."""
        turn = self.attempts[attempt - 1].turn if attempt else None
        self.history_indices = self.history_snapshots[turn - 1] if turn else ()

    def _add(self, turn: Turn, context: str) -> None:
        self.history_indices = (*self.history_indices, len(self.turns))
        self.history_snapshots.append(self.history_indices)
        self.turns.append(turn)
        self.contexts.append(context)

    def _took(self, reply: Reply, name: str) -> int | None:
        if reply.scripted and name not in self.scripted:
            self.scripted = (*self.scripted, name)
        if reply.recorded:
            return None
        self.positions += 1
        return self.positions - 1


def dialogue_of(state: ConversationState) -> Dialogue:
    """Return the dialogue as the record that is stored."""
    task, session = state.task, state.task.session
    context, turns = with_shared_context(state.turns)
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
        turns=turns,
        ending=state.ending,
        repeat=session.repeat,
        persona=session.tester if isinstance(session.tester, Persona) else None,
        groups=session.groups,
        scripted=state.scripted,
        context=material_with(task.material, context, *state.passages),
        strategies=_strategies(state),
    )


def with_shared_context(turns: Sequence[Turn]) -> tuple[str, tuple[Turn, ...]]:
    """Return the source material that belongs to a whole dialogue, and the turns without it.

    Material belongs to the dialogue if all turns have the same, or if only the first turn has any: a table
    with one row per turn often states it once. All other material belongs to its turn.
    """
    first, *others = (turn.context for turn in turns) if turns else ("",)
    if not first or any(context not in {"", first} for context in others) or (any(others) and not all(others)):
        return "", tuple(turns)
    return first, tuple(replace(turn, context="") for turn in turns)


def _strategies(state: ConversationState) -> tuple[Strategy, ...]:
    tester = state.task.session.tester
    if not isinstance(tester, Attack):
        return ()
    return (Strategy(name=tester.strategy, dialogue=state.task.key, attempts=tuple(state.attempts)),)


STOP_WORD = "[END]"
"""Text of a simulated user that ends the dialogue, unless the scenario states another."""


def play(task: SessionTask, persona: Persona) -> Flow[ConversationState]:
    """Let a model play a person until it stops or reaches the turn limit.

    Raises:
        EmptyReply: If the simulated user ends the dialogue before its first prompt.
        ContentRefused: If a filter withheld the simulated user's prompt.
    """
    state = ConversationState(task, Ending.TURN_LIMIT)
    stop = task.scenario.stop or STOP_WORD
    rules = player_rules(persona, task.scenario.task, stop=stop, material=task.material)
    while not state.is_over:
        if persona.starter and not state.turns:
            yield from state.say(persona.starter, None)
            continue
        reply = yield AskModel(
            model=persona.model,
            messages=_player_view(rules, persona, state),
            party=FailureSource.SIMULATED_USER,
            replicate=task.session.repeat,
        )
        at = state.receive(reply, persona.model, persona.name)
        prompt, stopped = _until_stop(reply.text, stop)
        if prompt:
            yield from state.say(prompt, at if prompt == reply.text else None)
        if stopped or not prompt:
            state.ending = Ending.STOP_RULE
            break
    if not state.turns:
        message = f"the simulated user `{persona.name}` ended the dialogue before it began"
        raise EmptyReply(message, endpoint=persona.model)
    return state


def _until_stop(text: str, stop: str) -> tuple[str, bool]:
    """Return the text before the stop word, ignoring case, and whether it was there."""
    passages = re.search(re.escape(stop), text, re.IGNORECASE)
    return (text[: passages.start()].strip(), True) if passages else (text, False)


def _player_view(rules: str, persona: Persona, state: ConversationState) -> tuple[Message, ...]:
    seen = state.turns[-persona.history :] if persona.history else state.turns
    opening = OPENING if len(seen) == len(state.turns) else LEFT_OUT
    messages = [Message(speaker=Speaker.SYSTEM, text=rules), Message(speaker=Speaker.USER, text=opening)]
    for turn in seen:
        messages.append(Message(speaker=Speaker.ASSISTANT, text=turn.prompt))
        messages.append(Message(speaker=Speaker.USER, text=turn.response))
    return tuple(messages)


def run_attack(task: SessionTask, attack: Attack) -> Flow[ConversationState]:
    """Follow a strategy until it causes a release, runs out of attempts or reaches the turn limit.

    Raises:
        PlanError: If the strategy refines an attempt that does not exist.
        EmptyReply: If it ends before its first attempt.
        ContentRefused: If a filter withheld the red teamer's prompt.
    """
    state = ConversationState(task, Ending.TURN_LIMIT)
    line = CheckedAttack(attack.strategy, lambda: approach_of(attack.strategy, task.approaches).line(attack))
    written, at = "", None
    move = line.begin()
    while move is not None and not state.is_over:
        if isinstance(move, Try):
            reply = yield from _attempt(state, move, at if move.prompt == written else None)
        else:
            model_reply = yield replace(move, replicate=task.session.repeat)
            at = state.receive(model_reply, move.model, attack.strategy)
            written = model_reply.text
            reply = AttackReply(text=written)
        if reply.outcome is AttemptOutcome.RELEASED:
            state.ending = Ending.STOP_RULE
            break
        move = line.send(reply)
    if not state.turns:
        message = f"the simulated red teamer `{attack.key}` ended the dialogue before it began"
        raise EmptyReply(message, endpoint=attack.model)
    if move is None:
        state.ending = Ending.SCRIPT_END
    return state


def _attempt(state: ConversationState, move: Try, prompt_at: int | None) -> Flow[AttackReply]:
    task = state.task
    if move.refines is not None and not 1 <= move.refines <= len(state.attempts):
        message = f"`{task.session.label}`: its strategy refines try {move.refines}, of {len(state.attempts)} made"
        raise PlanError(message)
    if move.goes_back:
        state.go_back(move.refines)
    turn = yield from state.say(move.prompt, prompt_at, planted=move.planted)
    outcome = task.scenario.packet.outcome_of(turn.response)
    state.attempts.append(
        Attempt(
            description=move.description,
            outcome=outcome,
            turn=turn.number,
            refines=move.refines,
            planted=move.planted,
        )
    )
    return AttackReply(text=turn.response, outcome=outcome)


FLOW_VERSION = 3
"""Version of the rules of sessions; incremented by hand when they change."""


def task_version() -> str:
    """Return the hash of the rules of sessions."""
    return digest(str(FLOW_VERSION), rules_version())


def run_session(task: SessionTask) -> Flow[Dialogue]:
    """Run one session: pass prompts and replies between tester and application until it ends.

    Raises:
        PlanError: If a person is the tester, or a strategy refines an attempt that does not exist.
        EmptyReply: If the simulated user ends the dialogue before its first prompt.
        ContentRefused: If a filter withheld the simulated user's prompt.
    """
    tester = task.session.tester
    match tester:
        case Script():
            state = yield from _follow(task, tester)
        case Attack():
            state = yield from run_attack(task, tester)
        case Persona():
            state = yield from play(task, tester)
        case Slot():
            message = f"`{task.session.label}` is held by a person, and by no program"
            raise PlanError(message)
        case _:
            assert_never(tester)
    return dialogue_of(state)


def _follow(task: SessionTask, script: Script) -> Flow[ConversationState]:
    state = ConversationState(task, Ending.SCRIPT_END)
    for prompt in script.prompts:
        yield from state.say(prompt, None, withheld=script.withheld)
    return state
