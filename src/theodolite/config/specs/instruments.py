"""Specs of what people are asked: annotation schemas and questionnaires."""

from __future__ import annotations

from pydantic import Field, model_validator

from theodolite.config.specs.base import Filled, OneOrMore, Spec, Word, YesNo
from theodolite.config.specs.guidelines import ExemplarSpec, GuidelineSpec, ScaleForm
from theodolite.domain.instrument import Orientation, Topic


class CategorySpec(GuidelineSpec):
    """One category of an annotation schema: a guideline that annotators qualify for."""

    title: str = ""
    """Heading for people."""


class RouteSpec(Spec):
    """Where a dialogue goes after the first category."""

    first: Filled
    """First category of every dialogue; its guardrail rules detect a violation."""
    violation: OneOrMore
    """Categories after a violation: names, or `all` for all others."""
    none: OneOrMore | None = None
    """Categories without a violation; after them the dialogue is final."""


class AnnotationSchemaSpec(Spec):
    """An annotation schema: ordered categories, and where a dialogue goes after the first one."""

    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """Description and source."""
    route: RouteSpec | None = None
    """Categories after the first one; default: all."""
    categories: dict[str, CategorySpec] = Field(min_length=1)
    """Categories by name, in order."""


class QuestionnaireQuestionSpec(Spec):
    """One question that testers answer about their session."""

    ask: Filled
    """The question, as people read it."""
    scale: ScaleForm | None = None
    """Possible values; default: yes and no."""
    topic: Topic | None = None
    """Topic: `perceived risk and impact exposure`, `perception of output`, `task-specific impact` or `future
    behaviour`."""
    several: YesNo = False
    """Whether several labels of a list may be chosen."""
    orientation: Orientation = Orientation.UNSTATED
    """Which end is the bad one: `higher_is_worse` or `lower_is_worse`."""
    may_be_unable: YesNo = False
    """Whether "unable to determine" is an allowed answer."""
    may_not_apply: YesNo = False
    """Whether "does not apply" is an allowed answer."""
    when: str = ""
    """Answer to an earlier question that opens this one, e.g. `released == yes`."""
    exemplars: list[ExemplarSpec] = Field(default_factory=list)
    """Examples of answers, shown on demand."""

    @model_validator(mode="after")
    def _several_of_a_list(self) -> QuestionnaireQuestionSpec:
        if self.several and not isinstance(self.scale, list | dict):
            message = "has `several`, which needs a list of labels as its scale"
            raise ValueError(message)
        return self


class QuestionnaireSpec(Spec):
    """What testers are asked once a session is over."""

    title: str = ""
    """Heading for testers."""
    about: str = ""
    """One or two sentences above the questions."""
    edition: Word = ""
    """Edition, set by its author."""
    questions: dict[str, QuestionnaireQuestionSpec] = Field(min_length=1)
    """Questions by name, in order."""
