"""The long form of everything that labels: guidelines, judges, annotators."""

from __future__ import annotations

from typing import Any

from theodolite.domain.annotator import HandLabels, ModelJudge, PacketRule, RecordedLabels, WordRule
from theodolite.domain.guideline import DefectRule, Example, Guideline
from theodolite.domain.instrument import Question, Scale, ScaleKind
from theodolite.domain.study import Study


def guidelines_of(study: Study) -> dict[str, Any]:
    """Return all guidelines of a study in their long form, shipped ones included."""
    return {guideline.name: _guideline(guideline) for guideline in study.guidelines}


def judges_of(study: Study) -> dict[str, Any]:
    """Return all judges of a study; those with a question of their own name it as a guideline."""
    kept: dict[str, Any] = {}
    for annotator in study.annotators:
        labelling = annotator.labelling
        if isinstance(labelling, ModelJudge):
            kept[annotator.name] = {"guideline": annotator.guideline, "model": labelling.model}
        elif isinstance(labelling, WordRule):
            rule = {"any": list(labelling.any_of), "then": labelling.then, "else": labelling.otherwise}
            kept[annotator.name] = {"guideline": annotator.guideline, "rule": rule}
        elif isinstance(labelling, PacketRule):
            kept[annotator.name] = {"guideline": annotator.guideline, "rule": "packet"}
        else:
            continue
        if annotator.title:
            kept[annotator.name]["title"] = annotator.title
    return kept


def annotators_of(study: Study) -> dict[str, Any]:
    """Return all annotators whose labels stand in a recorded file, and the people who label by hand."""
    return {
        annotator.name: {
            "who": annotator.kind.value,
            "guideline": annotator.guideline,
            **({"column": annotator.labelling.column} if isinstance(annotator.labelling, RecordedLabels) else {}),
            **({"title": annotator.title} if annotator.title else {}),
        }
        for annotator in study.annotators
        if isinstance(annotator.labelling, RecordedLabels | HandLabels)
    }


def _guideline(guideline: Guideline) -> dict[str, Any]:
    questions = guideline.instrument.questions
    long: dict[str, Any] = {"edition": guideline.edition} if guideline.edition else {}
    if guideline.definition:
        long["definition"] = guideline.definition
    if len(questions) == 1 and questions[0].name in {"score", "label"}:
        long |= _question(questions[0])
    else:
        long["questions"] = {question.name: _question(question) for question in questions}
    long["defects"] = {rule.name: _rule(rule) for rule in guideline.defect_rules}
    if guideline.examples:
        long["examples"] = [_example(example) for example in guideline.examples]
    return long


def _question(question: Question) -> dict[str, Any]:
    return {
        "ask": question.text,
        "scale": _scale(question.scale),
        "level": question.level.value,
        "orientation": question.scale.orientation.value,
    }


def _scale(scale: Scale) -> str | list[str] | dict[str, str]:
    if scale.kind is ScaleKind.TEXT:
        return "text"
    meanings = {label.value: label.meaning for label in scale.labels}
    if scale.kind is ScaleKind.NUMBERS:
        ends = {str(scale.lowest), str(scale.highest)}
        return meanings if ends <= set(meanings) else f"{scale.lowest}-{scale.highest}"
    return meanings if any(meanings.values()) else list(meanings)


def _rule(rule: DefectRule) -> dict[str, Any]:
    long: dict[str, Any] = {"defect": rule.condition, "violation": rule.violation.value}
    if rule.among:
        long["among"] = dict(rule.among)
    return long | {key: text for key, text in (("title", rule.title), ("phrase", rule.phrase)) if text}


def _example(example: Example) -> dict[str, Any]:
    long: dict[str, Any] = {"dialogue": example.dialogue, "answers": dict(example.answers)}
    long |= {key: text for key, text in (("context", example.context), ("reason", example.reason)) if text}
    return long if example.defect is None else long | {"defect": "yes" if example.defect else "no"}
