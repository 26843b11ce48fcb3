"""Dialogues with their turns, and the passages that a search over a corpus returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from theodolite.domain.errors import InputError
from theodolite.domain.persona import Persona, Strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A paragraph of a corpus.

    Attributes:
        name: Its location, e.g. `manual.md, paragraph 4`.
        text: Its text.
    """

    name: str
    text: str


Search: TypeAlias = Callable[[str], tuple[Passage, ...]]
"""Returns the passages that best match a query, best first; deterministic."""


def passages_in(name: str, text: str) -> tuple[Passage, ...]:
    r"""Return the paragraphs of a document, which blank lines separate.

    Example:
        >>> [passage.name for passage in passages_in("faq.md", "One.\n\n \nTwo,\nstill two.")]
        ['faq.md, paragraph 1', 'faq.md, paragraph 2']
    """
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip():
            paragraphs[-1].append(line.rstrip())
        elif paragraphs[-1]:
            paragraphs.append([])
    return tuple(
        Passage(name=f"{name}, paragraph {number}", text="\n".join(lines))
        for number, lines in enumerate(filter(None, paragraphs), start=1)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassages:
    """Result of one search in the record of a dialogue.

    Attributes:
        turn: Number of the turn whose prompt was the query.
        passages: Matching passages, best first.
    """

    turn: int
    passages: tuple[Passage, ...]


FOUND = 'Passages found for "{query}": {n}'
"""Start of the record of a search."""


def found_text(query: str, passages: Sequence[Passage]) -> str:
    """Return the results of a search in the form that applications read."""
    parts = [f"[{number}] {passage.name}\n{passage.text}" for number, passage in enumerate(passages, start=1)]
    return "\n\n".join([FOUND.format(query=query, n=len(passages)), *parts])


def in_turn(number: int, text: str) -> str:
    """Return the results in the form that judges and readers of the whole dialogue read."""
    return f"Turn {number}. {text}"


def material_with(*texts: str) -> str:
    """Return several pieces of source material as one text."""
    return "\n\n".join(filter(None, texts))


def found_in(material: str, prompts: Sequence[str]) -> tuple[str, tuple[FoundPassages, ...]]:
    """Return source material without the records of searches, and the results of these searches.

    Args:
        material: Text assembled by `material_with`.
        prompts: Prompts of the dialogue in order; if there were searches, each prompt was a query.

    Example:
        >>> passages = (Passage(name="faq.md, paragraph 1", text="Returns are free."),)
        >>> material = material_with("We sell coats.", in_turn(1, found_text("Returns?", passages)))
        >>> found_in(material, ["Returns?"]) == ("We sell coats.", (FoundPassages(turn=1, passages=passages),))
        True
    """
    heads = [in_turn(number, FOUND.format(query=prompt, n="")) for number, prompt in enumerate(prompts, start=1)]
    first = f"\n\n{material}".find(f"\n\n{heads[0]}") if heads else -1
    if first < 0:
        return material, ()
    rest, found_passages = material[first:], []
    for number, head in enumerate(heads, start=1):
        following = rest.find(f"\n\n{heads[number]}") if number < len(heads) else -1
        own, rest = (rest[:following], rest[following + 2 :]) if following >= 0 else (rest, "")
        found_passages.append(FoundPassages(turn=number, passages=_passages(own.removeprefix(head))))
    return material[: max(0, first - 2)], tuple(found_passages)


def _passages(record: str) -> tuple[Passage, ...]:
    """Return the passages of one record, separated by blank lines, which they do not contain."""
    blocks = (block.partition("\n") for block in record.split("\n\n")[1:])
    return tuple(Passage(name=head.partition("] ")[2], text=text) for head, _, text in blocks)


class Level(StrEnum):
    """ARIA's three levels of testing."""

    MODEL_TESTING = "model testing"
    RED_TEAMING = "red teaming"
    FIELD_TESTING = "field testing"


class TesterType(StrEnum):
    """Kind of tester of a dialogue."""

    SCRIPT = "script"
    SIMULATED_USER = "simulated user"
    PERSON = "person"
    RECORDED = "recorded"


class Ending(StrEnum):
    """Reason why a dialogue ended."""

    TURN_LIMIT = "turn limit"
    STOP_RULE = "stop rule"
    SCRIPT_END = "script ended"
    TESTER_LEFT = "tester left"
    INTERRUPTED = "interrupted"


class TurnState(StrEnum):
    """Outcome of the application's side of a turn.

    An error is never a refusal: after an error, the application's answer is unknown.
    """

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user prompt and the application's one response.

    Attributes:
        number: Number in the dialogue, from 1.
        prompt: The tester's prompt; empty if it is withheld.
        response: The application's reply; empty if it is withheld.
        withheld: Reason why the texts are not shown; empty if they are.
        latency_s: Response time of the application; seconds, None if unknown.
        prompt_at: Index of the prompt in the unit's journal, from 0; None if it is not there.
        response_at: Index of the response in the unit's journal, from 0; None if it is not there.
        state: Status of the response.
        context: Source material of this turn; `Dialogue.context` contains the material of all turns.
    """

    number: int
    prompt: str
    response: str
    withheld: str = ""
    latency_s: float | None = None
    prompt_at: int | None = None
    response_at: int | None = None
    state: TurnState = TurnState.COMPLETE
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """The ordered turns of a session.

    Attributes:
        key: Key of its unit; unique in the workspace.
        label: Displayed label, e.g. `d001` or `gpt4/v2-31`.
        application: Name of the application.
        application_version: Content hash of the application.
        scenario: Name of the scenario.
        scenario_version: Content hash of the scenario.
        level: Level of testing.
        held_by: Tester type.
        pair_key: Hash of the tester's side and the repeat number; two
            applications' dialogues with equal pair keys are a pair.
        cluster: Common property of similar dialogues: the persona or script.
        turns: The turns.
        ending: Why it ended.
        repeat: Number of the repetition, from 1.
        persona: The persona, for simulated users.
        groups: Group name to value, for splits and defect rules.
        scripted: Names of the endpoints at which a script answered instead of a model.
        context: Source material of the whole dialogue; that of single turns is in the turns.
        strategies: Attacks that a red teamer tried in it, and their outcomes.
    """

    key: str
    label: str
    application: str
    application_version: str
    scenario: str
    scenario_version: str
    level: Level
    held_by: TesterType
    pair_key: str
    cluster: str
    turns: tuple[Turn, ...]
    ending: Ending
    repeat: int = 1
    persona: Persona | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    scripted: tuple[str, ...] = ()
    context: str = ""
    strategies: tuple[Strategy, ...] = ()

    def __post_init__(self) -> None:
        """Reject turns that are not numbered 1, 2, 3, ..."""
        numbers = [turn.number for turn in self.turns]
        if numbers != list(range(1, len(numbers) + 1)):
            message = f"turns of dialogue `{self.label}` must be numbered from 1 without gaps; got {numbers}"
            raise InputError(message)

    @property
    def material(self) -> str:
        """All source material as one text: that of the dialogue, then that of each turn under its number."""
        return material_with(self.context, *(in_turn(turn.number, turn.context) for turn in self.turns if turn.context))

    @property
    def withheld(self) -> str:
        """Reason why texts of this dialogue are not shown; empty if they are."""
        return next((turn.withheld for turn in self.turns if turn.withheld), "")
