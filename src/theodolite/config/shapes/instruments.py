"""Shapes of what people are asked: annotation schemas and questionnaires."""

from __future__ import annotations

from pydantic import Field, model_validator

from theodolite.config.shapes.base import Filled, OneOrMore, Shape, Word, YesNo
from theodolite.config.shapes.guidelines import ExemplarShape, GuidelineShape, ScaleForm
from theodolite.domain.instrument import Orientation, Topic


class CategoryShape(GuidelineShape):
    """One category of an annotation schema: a guideline that annotators qualify for."""

    title: str = ""
    """What people call it."""


class RouteShape(Shape):
    """Where a dialogue goes after the first category."""

    first: Filled
    """Category that every dialogue goes to; its guardrail rules tell whether there was a violation."""
    violation: OneOrMore
    """Categories that follow a violation: names, or `all` for all others."""
    none: OneOrMore | None = None
    """Categories that follow where there was none; then the dialogue is final."""


class SchemaShape(Shape):
    """An annotation schema: ordered categories, and where a dialogue goes after the first one."""

    edition: Word = ""
    """Edition that its author gave it."""
    about: str = ""
    """What it is, where it comes from."""
    route: RouteShape | None = None
    """Where a dialogue goes after the first category; all dialogues go to all where left out."""
    categories: dict[str, CategoryShape] = Field(min_length=1)
    """Categories by name, in the order in which people see them."""


class AskedShape(Shape):
    """One question that testers answer about their session."""

    ask: Filled
    """The question as people read it."""
    scale: ScaleForm | None = None
    """The values that may answer it; yes and no where left out."""
    topic: Topic | None = None
    """What it is about: `perceived risk and impact exposure`, `perception of output`, `task-specific impact` or
    `future behaviour`."""
    several: YesNo = False
    """Whether several labels of a list may be chosen."""
    orientation: Orientation = Orientation.UNSTATED
    """Which end is the bad one: `higher_is_worse` or `lower_is_worse`."""
    may_be_unable: YesNo = False
    """Whether "unable to determine" is an allowed answer."""
    may_not_apply: YesNo = False
    """Whether "does not apply" is an allowed answer."""
    when: str = ""
    """Asked only when an earlier question was answered so, e.g. `released == yes`."""
    exemplars: list[ExemplarShape] = Field(default_factory=list)
    """Examples of answers, which people see on demand."""

    @model_validator(mode="after")
    def _several_of_a_list(self) -> AskedShape:
        if self.several and not isinstance(self.scale, list | dict):
            message = "has `several`, which needs a list of labels as its scale"
            raise ValueError(message)
        return self


class QuestionnaireShape(Shape):
    """What testers are asked once a session is over."""

    title: str = ""
    """Heading that testers read."""
    about: str = ""
    """One or two sentences above the questions."""
    edition: Word = ""
    """Edition that its author gave it."""
    questions: dict[str, AskedShape] = Field(min_length=1)
    """Questions by name, in order."""
