"""Dialogues: what was said, wherever it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.passage import in_turn, material_with
from theodolite.domain.persona import Persona
from theodolite.domain.strategy import Strategy


class Level(StrEnum):
    """ARIA's three levels of testing."""

    MODEL_TESTING = "model testing"
    RED_TEAMING = "red teaming"
    FIELD_TESTING = "field testing"


class TesterType(StrEnum):
    """Who held the tester's side of a dialogue."""

    SCRIPT = "script"
    SIMULATED_USER = "simulated user"
    PERSON = "person"
    RECORDED = "recorded"


class Ending(StrEnum):
    """Why a dialogue ended."""

    TURN_LIMIT = "turn limit"
    STOP_RULE = "stop rule"
    SCRIPT_END = "script ended"
    TESTER_LEFT = "tester left"
    INTERRUPTED = "interrupted"


class TurnState(StrEnum):
    """How the application's side of a turn ended.

    An error is never a refusal: where it stands, the application's answer is not known.
    """

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user prompt and the application's one response.

    Attributes:
        number: Place in the dialogue, from 1.
        prompt: What the tester said; empty where it is withheld.
        response: What the application said; empty where it is withheld.
        withheld: Why the texts are not shown; empty where they are.
        latency_s: Time the application took; seconds, None where unknown.
        prompt_at: Place of the prompt in the unit's journal, from 0; None where it is not there.
        response_at: Place of the response in the unit's journal, from 0; None where it is not there.
        state: What became of the response.
        context: Source material of this turn alone; `Dialogue.context` holds what belongs to all turns.
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
    """Ordered turns of one session.

    Attributes:
        key: Key of the unit that held it; unique in the workspace.
        label: What people call it, e.g. `d001` or `gpt4/v2-31`.
        application: Name of the application.
        application_version: Content hash of the application.
        scenario: Name of the scenario.
        scenario_version: Content hash of the scenario.
        level: Level of testing.
        held_by: Who held the tester's side.
        pair_key: Hash of what the tester's side sees and the repeat; two
            applications' dialogues with equal pair keys are a pair.
        cluster: What resembling dialogues share: the persona or script.
        turns: What was said.
        ending: Why it ended.
        repeat: Number of the repetition, from 1.
        persona: Who was played, for simulated users.
        groups: Group name to value, for splits and defect rules.
        scripted: Names of the endpoints where a script answered for a model.
        context: Source material of the whole dialogue; that of single turns is in the turns.
        strategies: What a red teamer tried in it, and how it went.
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
        """Refuse turns that are not numbered 1, 2, 3, ..."""
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
        """Why texts of this dialogue are not shown; empty where they are."""
        return next((turn.withheld for turn in self.turns if turn.withheld), "")
