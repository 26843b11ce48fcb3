"""Personas: who plays the user, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theodolite.domain.bounds import require_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaTemplate:
    """A Jinja text with slots that parameter rows fill.

    Attributes:
        name: Identifier, e.g. `customer`.
        text: The template.
        edition: Edition that its author gave it.
        shipped: Whether it came with the package.
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
        line: Its line in the file, for messages; no part of what the row is.
    """

    values: Mapping[str, str]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaGroup:
    """A template, the rows that fill it and the model that plays the result.

    Attributes:
        name: Identifier within the study.
        template: The text with slots.
        rows: What fills the slots; one row gives one completed persona.
        model: Name of the model that plays these personas.
        example: Whether the rows are the shipped example rows, not yet replaced.
        style: Lines in the voice of such people, about other matters.
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
        """Refuse people who forget what they were just told."""
        require_counts(f"persona group `{self.name}`", history=self.history)


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A completed persona: a template filled by one row, for one scenario.

    Attributes:
        key: Identity of the filled text within its study, e.g. `customers-3`.
        name: What people call it, e.g. "Ana".
        group: The persona group that it comes from.
        text: The filled template.
        goal: The filled goal of the scenario.
        model: Name of the model that plays it.
        starter: First prompt where it is fixed; else the model writes it.
        parameters: The row that filled it.
        template_version: Content hash of the template.
        style: Lines in this person's voice, about other matters.
        language: Language that this person writes in; empty where nobody says.
        history: Turns that this person remembers; count, None for all.
        material: What the dialogue is about, where the row has its own; else empty.
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
    """Fixed prompts that stand in for a tester.

    Attributes:
        key: Identity of the script within its study, e.g. the `id` of a recorded row.
        prompts: What is said, in order; an empty text where it is withheld.
        withheld: Why the texts are not shown; empty where they are.
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
