"""The long form of what people are asked: annotation schemas and questionnaires."""

from __future__ import annotations

from typing import Any

from theodolite.config.writing.expanded_labels import guideline_document, question_document
from theodolite.domain.instrument import Question
from theodolite.domain.questionnaire import Questionnaire
from theodolite.domain.schema import AnnotationSchema
from theodolite.domain.study import Study


def schemas_of(study: Study) -> dict[str, Any]:
    """Return all annotation schemas of a study in their long form, shipped ones included."""
    return {schema.name: _schema(schema) for schema in study.schemas}


def questionnaires_of(study: Study) -> dict[str, Any]:
    """Return all questionnaires of a study in their long form, shipped ones included."""
    return {questionnaire.name: _questionnaire(questionnaire) for questionnaire in study.questionnaires}


def _schema(schema: AnnotationSchema) -> dict[str, Any]:
    long: dict[str, Any] = _words(edition=schema.edition, about=schema.about)
    if schema.routing:
        route: dict[str, Any] = {"first": schema.routing.first, "violation": list(schema.routing.on_violation)}
        long["route"] = route | ({"none": list(schema.routing.otherwise)} if schema.routing.otherwise else {})
    long["categories"] = {
        category.name: _words(title=category.title) | guideline_document(category.guideline)
        for category in schema.categories
    }
    return long


def _questionnaire(questionnaire: Questionnaire) -> dict[str, Any]:
    long: dict[str, Any] = _words(title=questionnaire.title, about=questionnaire.about, edition=questionnaire.edition)
    return long | {"questions": {each.name: _asked(each) for each in questionnaire.instrument.questions}}


def _asked(question: Question) -> dict[str, Any]:
    long = question_document(question)
    del long["level"]
    long |= {"topic": question.topic.value} if question.topic else {}
    return long | ({"several": "yes"} if question.several else {})


def _words(**texts: str) -> dict[str, Any]:
    return {key: text for key, text in texts.items() if text}
