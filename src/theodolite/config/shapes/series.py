"""Shapes of a series and of a taxonomy of risks."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag, field_validator

from theodolite.config.shapes.base import KIND, Filled, Shape, form_of
from theodolite.domain.choices import AiType, UserType


class SeriesShape(Shape):
    """One evaluation event of several teams, with what was published before it began."""

    name: str = ""
    """What it is called; the file's name where it has a file of its own."""
    ai_type: AiType = AiType.GENERATIVE
    """What kind of system it evaluates: `generative` or `predictive`."""
    user_types: list[UserType] = Field(default_factory=list)
    """Types of users that it calls for: `adversarial`, `everyday`, `domain expert`."""
    risks: list[Filled] = Field(default_factory=list)
    """Risks that it looks for: names of the study's, or identifiers such as `ai-600-1/confabulation`."""
    teams: dict[str, list[Filled]] = Field(default_factory=dict)
    """Team to the applications that it takes part with."""
    scenarios: list[Filled] = Field(default_factory=list)
    """Scenarios that all applications meet."""
    studies: list[Filled] = Field(default_factory=list)
    """Files of its studies, for `theodolite report`; those that say `series: NAME` where left out."""
    requirements: str = ""
    """What an application needs in order to be tested."""
    criteria: str = ""
    """By what its behaviour is judged."""
    expected_behaviour: str = ""
    """What an application should do and should not do."""
    methods: str = ""
    """How it is tested, annotated and measured."""

    @field_validator("user_types", mode="before")
    @classmethod
    def _types_in_words(cls, value: object) -> object:
        return [str(item).replace("_", " ") for item in value] if isinstance(value, list) else value


SeriesForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[SeriesShape, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""Name of a series (`series/<name>.yaml`), or the series itself."""


class TaxonomyShape(Shape):
    """A taxonomy of risks: `taxonomies/<name>.yaml`, or shipped (`ai-600-1`)."""

    title: Filled
    """What it is called."""
    source: str = ""
    """Where it was published."""
    risks: dict[str, str] = Field(min_length=1)
    """Identifier to what the risk is called."""
