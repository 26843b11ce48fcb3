"""Shapes of translations: what people read of a study or a pack, in another language, under the same names."""

from __future__ import annotations

from pydantic import Field

from theodolite.config.shapes.base import Filled, Shape, Word
from theodolite.config.shapes.scenarios import LevelName


class ExemplarWordsShape(Shape):
    """One example of an answer, in another language."""

    text: str = ""
    """What was said."""
    reason: str = ""
    """Why it is answered so."""


class QuestionWordsShape(Shape):
    """One question, in another language."""

    ask: str = ""
    """The question as people read it."""
    labels: dict[str, Word] = Field(default_factory=dict)
    """Label to what people are shown in its place; what is stored stays the label."""
    meanings: dict[str, Filled] = Field(default_factory=dict)
    """Label or point of the scale to the words beside it; ends of a number scale are points."""
    exemplars: list[ExemplarWordsShape] = Field(default_factory=list)
    """The examples of answers, in their order."""


class QuestionnaireWordsShape(Shape):
    """A questionnaire, in another language."""

    title: str = ""
    """Heading that testers read."""
    about: str = ""
    """One or two sentences above the questions."""
    questions: dict[str, QuestionWordsShape] = Field(default_factory=dict)
    """Questions by their names."""


class CategoryWordsShape(Shape):
    """A category of an annotation schema, in another language."""

    title: str = ""
    """What people call it."""
    definition: str = ""
    """What the property is, in the words that annotators read."""
    questions: dict[str, QuestionWordsShape] = Field(default_factory=dict)
    """Questions by their names."""


class ScenarioWordsShape(Shape):
    """What testers read of a scenario, in another language."""

    goal: str = ""
    """The goal, where testers are shown it for want of instructions."""
    instructions: dict[LevelName, Filled] = Field(default_factory=dict)
    """Level to what testers read before they begin."""


class TopicWordsShape(Shape):
    """A sensitive topic, in another language."""

    title: str = ""
    """What it is called; else its name is shown."""
    about: str = ""
    """What people meet."""


class PackTranslationShape(Shape):
    """What people read of a scenario pack, in another language: `translations/<language>.yaml` beside `pack.yaml`."""

    warning: str = ""
    """What people may meet that can be unpleasant."""
    topics: dict[str, TopicWordsShape] = Field(default_factory=dict)
    """Sensitive topics by their names; they are read as one text with the warning."""
    scenarios: dict[str, ScenarioWordsShape] = Field(default_factory=dict)
    """Scenarios by their names."""
    questionnaires: dict[str, QuestionnaireWordsShape] = Field(default_factory=dict)
    """Questionnaires by their names."""
    categories: dict[str, CategoryWordsShape] = Field(default_factory=dict)
    """Categories of annotation schemas by their names."""
    phrases: dict[str, Filled] = Field(default_factory=dict)
    """Text of the study to what it says, wherever it stands and nothing above says otherwise, e.g. `strongly agree`."""


class TranslationShape(PackTranslationShape):
    """What people read of a study, in another language: `translations/<language>.yaml` beside the study file."""

    title: str = ""
    """Heading under which people meet the study."""
    consent: str = ""
    """File with the text that people consent to."""
    warning: str = ""
    """File with what people may meet that can be unpleasant."""
    screening: list[Filled] = Field(default_factory=list)
    """The questions that people are asked before they take part, in their order."""
