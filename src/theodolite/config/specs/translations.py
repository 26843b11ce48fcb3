"""Specs of translations: what people read of a study or a pack, in another language, under the same names."""

from __future__ import annotations

from pydantic import Field

from theodolite.config.specs.base import Filled, Spec, Word
from theodolite.config.specs.scenarios import LevelName


class ExemplarTranslationSpec(Spec):
    """One example of an answer, in another language."""

    text: str = ""
    """What was said."""
    reason: str = ""
    """Why it is answered so."""


class QuestionTranslationSpec(Spec):
    """One question, in another language."""

    ask: str = ""
    """The question, as people read it."""
    labels: dict[str, Word] = Field(default_factory=dict)
    """Translated labels; the stored value is the original label."""
    meanings: dict[str, Filled] = Field(default_factory=dict)
    """Meanings of labels or points of the scale; ends of a number scale are points."""
    exemplars: list[ExemplarTranslationSpec] = Field(default_factory=list)
    """The examples of answers, in order."""


class QuestionnaireTranslationSpec(Spec):
    """A questionnaire, in another language."""

    title: str = ""
    """Heading for testers."""
    about: str = ""
    """One or two sentences above the questions."""
    questions: dict[str, QuestionTranslationSpec] = Field(default_factory=dict)
    """Questions by name."""


class CategoryTranslationSpec(Spec):
    """A category of an annotation schema, in another language."""

    title: str = ""
    """Heading for people."""
    definition: str = ""
    """Definition of the property, as annotators read it."""
    questions: dict[str, QuestionTranslationSpec] = Field(default_factory=dict)
    """Questions by name."""


class ScenarioTranslationSpec(Spec):
    """What testers read of a scenario, in another language."""

    goal: str = ""
    """The goal, shown to testers if there are no instructions."""
    instructions: dict[LevelName, Filled] = Field(default_factory=dict)
    """Instructions for testers, by level."""


class TopicTranslationSpec(Spec):
    """A sensitive topic, in another language."""

    title: str = ""
    """Name; default: its key."""
    about: str = ""
    """Description of the content."""


class PackTranslationSpec(Spec):
    """What people read of a scenario pack, in another language: `translations/<language>.yaml` beside `pack.yaml`."""

    warning: str = ""
    """What people may meet that can be unpleasant."""
    topics: dict[str, TopicTranslationSpec] = Field(default_factory=dict)
    """Sensitive topics by name; shown together with the warning."""
    scenarios: dict[str, ScenarioTranslationSpec] = Field(default_factory=dict)
    """Scenarios by name."""
    questionnaires: dict[str, QuestionnaireTranslationSpec] = Field(default_factory=dict)
    """Questionnaires by name."""
    categories: dict[str, CategoryTranslationSpec] = Field(default_factory=dict)
    """Categories of annotation schemas by name."""
    phrases: dict[str, Filled] = Field(default_factory=dict)
    """Translations of repeated texts, unless translated above, e.g. `strongly agree`."""


class TranslationSpec(PackTranslationSpec):
    """What people read of a study, in another language: `translations/<language>.yaml` beside the study file."""

    title: str = ""
    """Heading of the study for people."""
    consent: str = ""
    """File with the consent text."""
    warning: str = ""
    """File with the content warning."""
    screening: list[Filled] = Field(default_factory=list)
    """The screening questions, in order."""
