"""Wording: the displayed texts of a study by key, and the study in another language.

Answers name questions and labels, never texts, so answers in another language are the same. Names stay
unchanged: a study in another language is displayed, but never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from theodolite.domain.dialogue import Level
from theodolite.domain.event import Event
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Instrument, Label, Question, ScaleKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.schema import AnnotationSchema, Category, Questionnaire
from theodolite.domain.study import Study
from theodolite.domain.study_parts import SensitiveTopic, Translation

Key: TypeAlias = tuple[str, ...]
"""Path of a text, e.g. `("questionnaires", "after", "questions", "helpful", "ask")`."""

TITLE, CONSENT, WARNING, SCREENING = ("title",), ("consent",), ("warning",), ("screening",)
"""Parts that occur once in a study; the warning and the topics are one text."""

_LEVELS = (Level.RED_TEAMING, Level.FIELD_TESTING)


def written(key: Key) -> str:
    """Return a key in the form of translations."""
    return "/".join(key)


def task_part(scenario: str, level: Level) -> Key:
    """Return the part of a scenario's task at a level."""
    return ("scenarios", scenario, "instructions", level.value.replace(" ", "_"))


def goal_part(scenario: str) -> Key:
    """Return the part with a scenario's goal, if people read it because there are no instructions."""
    return ("scenarios", scenario, "goal")


def texts_of(study: Study) -> dict[Key, dict[Key, str]]:
    """Return the displayed texts of a study: part to key to text.

    A part is a text in one language: a consent text, a questionnaire, a category of a schema. An empty part is
    left out.
    """
    event = study.event or Event()
    screening: dict[Key, str] = {
        (*SCREENING, str(at)): question.text for at, question in enumerate(event.screening, start=1)
    }
    parts: dict[Key, dict[Key, str]] = {
        TITLE: {TITLE: study.title},
        CONSENT: {CONSENT: event.consent},
        WARNING: {WARNING: event.warning, **_topics(study)},
        SCREENING: screening,
    }
    for scenario in study.scenarios:
        for level in _LEVELS:
            part = task_part(scenario.name, level)
            parts[part] = {part: scenario.instructions.get(level.value, "")}
        part = goal_part(scenario.name)
        parts[part] = {part: _read_goal(study, scenario)}
    for questionnaire in study.questionnaires:
        part = ("questionnaires", questionnaire.name)
        titles = {(*part, "title"): questionnaire.title, (*part, "about"): questionnaire.about}
        parts[part] = titles | _question_texts(part, questionnaire.instrument)
    for category in (category for schema in study.schemas for category in schema.categories):
        part = ("categories", category.name)
        titles = {(*part, "title"): category.title, (*part, "definition"): category.guideline.definition}
        parts[part] = titles | _question_texts(part, category.guideline.instrument)
    filled = {part: {key: text for key, text in texts.items() if text} for part, texts in parts.items()}
    return {part: texts for part, texts in filled.items() if texts}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalisedStudy:
    """A study in another language: each part is completely in that language, or completely in the study's own.

    No questionnaire mixes two languages.

    Attributes:
        study: The study for display; its versions belong to no stored study.
        language: The requested language.
        own: The study's own language.
        parts: Texts in the requested language.
    """

    study: Study
    language: str
    own: str
    parts: frozenset[Key]

    def language_of(self, part: Key) -> str:
        """Return the language of a part."""
        return self.language if part in self.parts else self.own


def languages_of(study: Study) -> tuple[str, ...]:
    """Return the languages that people may read a study in, its own first; tags."""
    return (study.language, *(translation.language for translation in study.translations))


def localised(study: Study, language: str) -> LocalisedStudy:
    """Return a study in a language; in its own if there is no translation."""
    translation = next((candidate for candidate in study.translations if candidate.language == language), None)
    if translation is None:
        return LocalisedStudy(study=study, language=study.language, own=study.language, parts=frozenset())
    whole = {part: texts for part, texts in texts_of(study).items() if not missing(texts, translation)}
    known = {written(key): translation.words[written(key)] for texts in whole.values() for key in texts}
    return LocalisedStudy(study=_put(study, known), language=language, own=study.language, parts=frozenset(whole))


def missing(texts: Mapping[Key, str], translation: Translation) -> list[Key]:
    """Return the keys of some texts that a translation lacks."""
    return [key for key in texts if not translation.words.get(written(key))]


def _read_goal(study: Study, scenario: Scenario) -> str:
    """Return the goal if people read it: at a level with people and without instructions."""
    levels = [plan.level for plan in study.levels if plan.people and plan.level in _LEVELS]
    return "" if all(scenario.instructions.get(level.value) for level in levels) else scenario.goal


def _topics(study: Study) -> dict[Key, str]:
    texts: dict[Key, str] = {}
    for topic in study.topics:
        texts |= {("topics", topic.name, "title"): topic.title, ("topics", topic.name, "about"): topic.about}
    return texts


def _question_texts(part: Key, instrument: Instrument) -> dict[Key, str]:
    texts: dict[Key, str] = {}
    for question in instrument.questions:
        base = (*part, "questions", question.name)
        texts[*base, "ask"] = question.text
        for label in question.scale.labels:
            named = question.scale.kind is ScaleKind.CATEGORIES
            texts |= {(*base, "labels", label.value): label.value} if named else {}
            texts[*base, "meanings", label.value] = label.meaning
        for at, exemplar in enumerate(question.exemplars, start=1):
            texts[*base, "exemplars", str(at), "text"] = exemplar.text
            texts[*base, "exemplars", str(at), "reason"] = exemplar.reason
    return texts


def _put(study: Study, texts: Mapping[str, str]) -> Study:
    guidelines = {guideline.name: _put_guideline(guideline, texts) for guideline in study.guidelines}
    return replace(
        study,
        title=texts.get(written(TITLE), study.title),
        event=_put_event(study.event, texts) if study.event else None,
        topics=tuple(_put_topic(topic, texts) for topic in study.topics),
        scenarios=tuple(_put_scenario(scenario, texts) for scenario in study.scenarios),
        questionnaires=tuple(_put_questionnaire(questionnaire, texts) for questionnaire in study.questionnaires),
        guidelines=tuple(guidelines.values()),
        schemas=tuple(_put_schema(schema, texts) for schema in study.schemas),
    )


def _put_event(event: Event, texts: Mapping[str, str]) -> Event:
    questions = enumerate(event.screening, start=1)
    return replace(
        event,
        consent=texts.get(written(CONSENT), event.consent),
        warning=texts.get(written(WARNING), event.warning),
        screening=tuple(
            replace(question, text=texts.get(f"screening/{at}", question.text)) for at, question in questions
        ),
    )


def _put_topic(topic: SensitiveTopic, texts: Mapping[str, str]) -> SensitiveTopic:
    part = f"topics/{topic.name}"
    about = texts.get(f"{part}/about", topic.about)
    return replace(topic, words=texts.get(f"{part}/title", topic.words), about=about)


def _put_scenario(scenario: Scenario, texts: Mapping[str, str]) -> Scenario:
    read = {level.value: texts[key] for level in _LEVELS if (key := written(task_part(scenario.name, level))) in texts}
    goal = texts.get(written(goal_part(scenario.name)), scenario.goal)
    return replace(scenario, goal=goal, instructions={**scenario.instructions, **read})


def _put_questionnaire(questionnaire: Questionnaire, texts: Mapping[str, str]) -> Questionnaire:
    part = f"questionnaires/{questionnaire.name}"
    return replace(
        questionnaire,
        title=texts.get(f"{part}/title", questionnaire.title),
        about=texts.get(f"{part}/about", questionnaire.about),
        instrument=_put_instrument(questionnaire.instrument, part, texts),
    )


def _put_schema(schema: AnnotationSchema, texts: Mapping[str, str]) -> AnnotationSchema:
    return replace(schema, categories=tuple(_put_category(category, texts) for category in schema.categories))


def _put_category(category: Category, texts: Mapping[str, str]) -> Category:
    title = texts.get(f"categories/{category.name}/title", category.title)
    return replace(category, title=title, guideline=_put_guideline(category.guideline, texts))


def _put_guideline(guideline: Guideline, texts: Mapping[str, str]) -> Guideline:
    part = f"categories/{guideline.name}"
    definition = texts.get(f"{part}/definition", guideline.definition)
    return replace(guideline, definition=definition, instrument=_put_instrument(guideline.instrument, part, texts))


def _put_instrument(instrument: Instrument, part: str, texts: Mapping[str, str]) -> Instrument:
    questions = (
        _put_question(question, f"{part}/questions/{question.name}", texts) for question in instrument.questions
    )
    return replace(instrument, questions=tuple(questions))


def _put_question(question: Question, base: str, texts: Mapping[str, str]) -> Question:
    labels = tuple(_put_label(label, base, texts) for label in question.scale.labels)
    exemplars = (
        replace(
            exemplar,
            text=texts.get(f"{base}/exemplars/{at}/text", exemplar.text),
            reason=texts.get(f"{base}/exemplars/{at}/reason", exemplar.reason),
        )
        for at, exemplar in enumerate(question.exemplars, start=1)
    )
    return replace(
        question,
        text=texts.get(f"{base}/ask", question.text),
        scale=replace(question.scale, labels=labels),
        exemplars=tuple(exemplars),
    )


def _put_label(label: Label, base: str, texts: Mapping[str, str]) -> Label:
    meaning = texts.get(f"{base}/meanings/{label.value}", label.meaning)
    return replace(label, words=texts.get(f"{base}/labels/{label.value}", ""), meaning=meaning)
