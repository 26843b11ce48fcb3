"""Simulated testers: personas, scripts, and the strategies of red teamers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Final

from theodolite.domain.errors import require_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaTemplate:
    """A Jinja text with slots that parameter rows fill.

    Attributes:
        name: Identifier, e.g. `customer`.
        text: The template.
        edition: Edition that its author gave it.
        shipped: Whether it is part of the package.
    """

    name: str
    text: str
    edition: str = ""
    shipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRow:
    """One row of values for a template's slots.

    Attributes:
        values: Column to value.
        line: Its line in the file, for messages; not part of the row's identity.
    """

    values: Mapping[str, str]
    line: int = field(default=0, compare=False)


NAME_COLUMN = "name"
"""Column of persona rows with the persona's displayed name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaGroup:
    """A template, the rows that fill it and the model that plays the result.

    Attributes:
        name: Identifier within the study.
        template: The text with slots.
        rows: Values for the placeholders; each row results in one persona.
        model: Name of the model that plays these personas.
        example: Whether the rows are the shipped example rows, not yet replaced.
        style: Sample lines by such people, about other topics.
        language: Language that they write in; a template over the row.
        history: Turns that they remember; count, None for all.
    """

    name: str
    template: PersonaTemplate
    rows: tuple[ParameterRow, ...]
    model: str
    example: bool = False
    style: tuple[str, ...] = ()
    language: str = ""
    history: int | None = None

    def __post_init__(self) -> None:
        """Reject users with a memory of less than one turn."""
        require_counts(f"persona group `{self.name}`", history=self.history)

    def key(self, place: int) -> str:
        """Return the key of the persona for a row, e.g. `customers-3`; rows count from 0."""
        return f"{self.name}-{place + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A completed persona: a template filled by one row, for one scenario.

    Attributes:
        key: Identity of the filled text within its study, e.g. `customers-3`.
        name: Displayed name, e.g. "Ana".
        group: Its persona group.
        text: The filled template.
        goal: The filled goal of the scenario.
        model: Name of the model that plays it.
        starter: First prompt if it is fixed; otherwise the model writes it.
        parameters: The row that filled it.
        template_version: Content hash of the template.
        style: Sample lines by this person, about other topics.
        language: Language that this person writes in; empty if not stated.
        history: Turns that this person remembers; count, None for all.
        material: Subject of the dialogue, if the row has its own; else empty.
    """

    key: str
    name: str
    group: str
    text: str
    goal: str
    model: str
    starter: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    template_version: str = ""
    style: tuple[str, ...] = ()
    language: str = ""
    history: int | None = None
    material: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Fixed prompts instead of a tester.

    Attributes:
        key: Identity of the script within its study, e.g. the `id` of a recorded row.
        prompts: The prompts, in order; an empty text for a withheld one.
        withheld: Reason why the texts are not shown; empty if they are.
        purpose: `useful` or `guardrail` (ARIA's two groups), or empty.
        expected: Expected answer of a test case, for judges and rules; empty for none.
        values: Further columns of a test case, for groups.
    """

    key: str
    prompts: tuple[str, ...]
    withheld: str = ""
    purpose: str = ""
    expected: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


OWN_WAY: Final = "own_way"
"""Name of the strategy for people's attempts that match none of the catalogue."""


TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rephrase": "the same request in a different context",
        "role_play": "the request as part of a story",
        "many_shot": "many answered questions first",
        "escalation": "from a harmless question to the real one",
        "encoding": "in another language, with shifted letters, or backwards",
        "persuasion": "reasons for an exception",
        "injection": "a note in a document that the application reads",
        "paraphrase": "the request in other words",
        "translation": "the request translated into other languages",
        "adaptive": "adapts to each reply and steps back after a refusal",
        OWN_WAY: "a way of the tester's own",
    }
)
"""One-line descriptions of the shipped strategies, by the names that study files use."""


class AttemptOutcome(StrEnum):
    """Result of an attempt, in its author's view."""

    RELEASED = "released"
    WITHHELD = "withheld"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt of a strategy; a later attempt refines the one that it names.

    Attributes:
        description: Short description of the attempt.
        outcome: Its outcome, as judged by its author.
        turn: Number of its turn; None if unknown.
        refines: Number of the attempt on which it builds, from 1; None for a new start.
        planted: Text inserted into the application's source material for it.
    """

    description: str
    outcome: AttemptOutcome
    turn: int | None = None
    refines: int | None = None
    planted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """An attack strategy in one dialogue, with its refinements and outcomes."""

    name: str
    dialogue: str
    attempts: tuple[Attempt, ...] = ()

    @property
    def n_refinements(self) -> int:
        """Attempts that build on an earlier one; count."""
        return sum(attempt.refines is not None for attempt in self.attempts)

    @property
    def succeeded(self) -> bool:
        """Whether an attempt released something, in its author's view."""
        return any(attempt.outcome is AttemptOutcome.RELEASED for attempt in self.attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyInfo:
    """Properties of a strategy that a plan needs, for any author.

    Attributes:
        name: Name in study files.
        tries: Maximum number of attempts; count.
        needs_model: Whether a model plays it.
        edition: Version of its rules and texts; incremented by hand when they change.
        title: One-line description; it does not affect the plan.
    """

    STORED_AS: ClassVar[str] = "StrategyCard"

    name: str
    tries: int
    needs_model: bool = False
    edition: int = 1
    title: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Goal of a red teamer: a plain request for prohibited content."""

    key: str
    ask: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A simulated red teamer: one strategy, bent on one aim.

    Attributes:
        key: Identity within its scenario, e.g. `role_play/ending`.
        strategy: Name of the strategy.
        aim: Answer that the simulated user tries to obtain.
        model: Name of the model that plays it; empty for strategies that need none.
    """

    key: str
    strategy: str
    aim: Aim
    model: str = ""
