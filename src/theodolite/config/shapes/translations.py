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
    """The question, as people read it."""
    labels: dict[str, Word] = Field(default_factory=dict)
    """Translated labels; the stored value is the original label."""
    meanings: dict[str, Filled] = Field(default_factory=dict)
    """Meanings of labels or points of the scale; ends of a number scale are points."""
    exemplars: list[ExemplarWordsShape] = Field(default_factory=list)
    """The examples of answers, in order."""


class QuestionnaireWordsShape(Shape):
    """A questionnaire, in another language."""

    title: str = ""
    """Heading for testers."""
    about: str = ""
    """One or two sentences above the questions."""
    questions: dict[str, QuestionWordsShape] = Field(default_factory=dict)
    """Questions by name."""


class CategoryWordsShape(Shape):
    """A category of an annotation schema, in another language."""

    title: str = ""
    """Heading for people."""
    definition: str = ""
    """Definition of the property, as annotators read it."""
    questions: dict[str, QuestionWordsShape] = Field(default_factory=dict)
    """Questions by name."""


class ScenarioWordsShape(Shape):
    """What testers read of a scenario, in another language."""

    goal: str = ""
    """The goal, shown to testers if there are no instructions."""
    instructions: dict[LevelName, Filled] = Field(default_factory=dict)
    """Instructions for testers, by level."""


class TopicWordsShape(Shape):
    """A sensitive topic, in another language."""

    title: str = ""
    """Name; default: its key."""
    about: str = ""
    """Description of the content."""


class PackTranslationShape(Shape):
    """What people read of a scenario pack, in another language: `translations/<language>.yaml` beside `pack.yaml`."""

    warning: str = ""
    """What people may meet that can be unpleasant."""
    topics: dict[str, TopicWordsShape] = Field(default_factory=dict)
    """Sensitive topics by name; shown together with the warning."""
    scenarios: dict[str, ScenarioWordsShape] = Field(default_factory=dict)
    """Scenarios by name."""
    questionnaires: dict[str, QuestionnaireWordsShape] = Field(default_factory=dict)
    """Questionnaires by name."""
    categories: dict[str, CategoryWordsShape] = Field(default_factory=dict)
    """Categories of annotation schemas by name."""
    phrases: dict[str, Filled] = Field(default_factory=dict)
    """Translations of repeated texts, unless translated above, e.g. `strongly agree`."""


class TranslationShape(PackTranslationShape):
    """What people read of a study, in another language: `translations/<language>.yaml` beside the study file."""

    title: str = ""
    """Heading of the study for people."""
    consent: str = ""
    """File with the consent text."""
    warning: str = ""
    """File with the content warning."""
    screening: list[Filled] = Field(default_factory=list)
    """The screening questions, in order."""
