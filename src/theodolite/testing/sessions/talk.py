"""Talks: what has been said so far in a session, and how it becomes a dialogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from theodolite.domain.dialogue import Dialogue, Ending, Turn
from theodolite.domain.errors import ContentRefused
from theodolite.domain.flow import CONTENT_FILTER, Exchange, Flow, Reply, SayToApplication
from theodolite.domain.passage import found_text, in_turn, material_with
from theodolite.domain.persona import Persona
from theodolite.domain.strategy import Attack, Attempt, Strategy
from theodolite.testing.sessions.task import SessionTask


@dataclass(slots=True)
class Talk:
    """What has been said so far in a session.

    Attributes:
        task: What the session is.
        ending: Why it ends, as far as is known.
        turns: The turns.
        positions: Replies in the journal; count.
        scripted: Endpoints whose replies a script gave.
        found: Passages that searches found, turn by turn.
        contexts: What the application was given to each turn beside the prompt.
        attempts: What a red teamer tried.
        remembered: Places of the turns that the application goes on from.
        memories: The same as it was after each turn.
    """

    task: SessionTask
    ending: Ending
    turns: list[Turn] = field(default_factory=list)
    positions: int = 0
    scripted: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    contexts: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    remembered: tuple[int, ...] = ()
    memories: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def history(self) -> tuple[Exchange, ...]:
        """What the application goes on from, each turn with the source material that it had then."""
        told = ((self.turns[place], self.contexts[place]) for place in self.remembered)
        return tuple(Exchange(prompt=turn.prompt, response=turn.response, context=given) for turn, given in told)

    @property
    def is_over(self) -> bool:
        """Whether it has as many turns as the scenario has room for."""
        return len(self.turns) >= self.task.scenario.turns

    def say(self, prompt: str, prompt_at: int | None, *, withheld: str = "", planted: str = "") -> Flow[Turn]:
        """Say a prompt to the application and return the turn that it makes.

        Args:
            prompt: The words.
            prompt_at: Place in the journal of the reply that they are; None where they are no model's.
            withheld: Why the texts may not be shown; empty where they may.
            planted: Text to put into the application's source material for this turn.
        """
        number, session = len(self.turns) + 1, self.task.session
        found = found_text(prompt, self.task.search(prompt)) if self.task.search else ""
        if found:
            self.found = (*self.found, in_turn(number, found))
        said = SayToApplication(
            application=session.application,
            prompt=prompt,
            turn=number,
            item=session.tester.key,
            repeat=session.repeat,
            history=self.history,
            context=material_with(self.task.material, found, planted),
        )
        reply = yield said
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
        self._add(turn, said.context)
        return turn

    def hear(self, reply: Reply, model: str, name: str) -> int | None:
        """Take what a model said for the tester's side, and return its place in the journal; None for none.

        Args:
            reply: What it said.
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
        """Let the application go on from an attempt, by its number, or from an empty chat."""
        turn = self.attempts[attempt - 1].turn if attempt else None
        self.remembered = self.memories[turn - 1] if turn else ()

    def _add(self, turn: Turn, context: str) -> None:
        self.remembered = (*self.remembered, len(self.turns))
        self.memories.append(self.remembered)
        self.turns.append(turn)
        self.contexts.append(context)

    def _took(self, reply: Reply, name: str) -> int | None:
        if reply.scripted and name not in self.scripted:
            self.scripted = (*self.scripted, name)
        if reply.recorded:
            return None
        self.positions += 1
        return self.positions - 1


def dialogue_of(talk: Talk) -> Dialogue:
    """Return what was said as the record that is kept."""
    task, session = talk.task, talk.task.session
    context, turns = with_shared_context(talk.turns)
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
        ending=talk.ending,
        repeat=session.repeat,
        persona=session.tester if isinstance(session.tester, Persona) else None,
        groups=session.groups,
        scripted=talk.scripted,
        context=material_with(task.material, context, *talk.found),
        strategies=_strategies(talk),
    )


def with_shared_context(turns: Sequence[Turn]) -> tuple[str, tuple[Turn, ...]]:
    """Return the source material that belongs to a whole dialogue, and the turns without it.

    Material belongs to the dialogue where all turns have the same, or where the first turn alone has any: a table
    with one row a turn often states it once. All other material stays with its turn.
    """
    first, *others = (turn.context for turn in turns) if turns else ("",)
    if not first or any(context not in {"", first} for context in others) or (any(others) and not all(others)):
        return "", tuple(turns)
    return first, tuple(replace(turn, context="") for turn in turns)


def _strategies(talk: Talk) -> tuple[Strategy, ...]:
    tester = talk.task.session.tester
    if not isinstance(tester, Attack):
        return ()
    return (Strategy(name=tester.strategy, dialogue=talk.task.key, attempts=tuple(talk.attempts)),)
