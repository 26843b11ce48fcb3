"""Specs of a series and of a taxonomy of risks."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag, field_validator

from theodolite.config.specs.base import KIND, Filled, Spec, form_of
from theodolite.domain.choices import AiType, UserType


class SeriesSpec(Spec):
    """One evaluation event of several teams, with what was published before it began."""

    name: str = ""
    """Name; default: the name of its file."""
    ai_type: AiType = AiType.GENERATIVE
    """Kind of system under evaluation: `generative` or `predictive`."""
    user_types: list[UserType] = Field(default_factory=list)
    """Types of users: `adversarial`, `everyday`, `domain expert`."""
    risks: list[Filled] = Field(default_factory=list)
    """Its risks: names in the study, or identifiers like `ai-600-1/confabulation`."""
    teams: dict[str, list[Filled]] = Field(default_factory=dict)
    """Applications by team."""
    scenarios: list[Filled] = Field(default_factory=list)
    """Scenarios for all applications."""
    studies: list[Filled] = Field(default_factory=list)
    """Files of its studies, for `theodolite report`; default: those with `series: NAME`."""
    requirements: str = ""
    """Requirements on applications."""
    criteria: str = ""
    """Evaluation criteria."""
    expected_behaviour: str = ""
    """Expected behaviour of an application."""
    methods: str = ""
    """Methods of testing, annotation and measurement."""

    @field_validator("user_types", mode="before")
    @classmethod
    def _types_in_words(cls, value: object) -> object:
        return [str(item).replace("_", " ") for item in value] if isinstance(value, list) else value


SeriesForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[SeriesSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""Name of a series (`series/<name>.yaml`), or the series itself."""


class TaxonomySpec(Spec):
    """A taxonomy of risks: `taxonomies/<name>.yaml`, or shipped (`ai-600-1`)."""

    title: Filled
    """Name."""
    source: str = ""
    """Publication."""
    risks: dict[str, str] = Field(min_length=1)
    """Names of the risks by identifier."""
