"""The long form of everything that labels: guidelines, judges, annotators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from theodolite.config.labelling.annotators import spelling_of
from theodolite.domain.annotator import (
    HandLabels,
    Labelling,
    ModelJudge,
    PacketRule,
    PythonLabeller,
    RecordedLabels,
    Side,
    StopRule,
    Voting,
    WordRule,
)
from theodolite.domain.guideline import DefectRule, Example, Guideline
from theodolite.domain.instrument import Question, Scale, ScaleKind
from theodolite.domain.study import Reference, Study

_NUMERAL = re.compile(r"-?\d+")


def guidelines_of(study: Study) -> dict[str, Any]:
    """Return all guidelines of a study in their long form, shipped ones included; those of schemas stand there."""
    own = (guideline for guideline in study.guidelines if guideline.name not in study.categories)
    return {guideline.name: guideline_document(guideline) for guideline in own}


def judges_of(study: Study) -> dict[str, Any]:
    """Return all judges of a study; those with a question of their own name it as a guideline."""
    kept: dict[str, Any] = {}
    for annotator in study.annotators:
        long = _labelling(annotator.labelling)
        if long:
            named = {"title": annotator.title, "panel": annotator.panel}
            kept[annotator.name] = {"guideline": annotator.guideline, **long} | {k: v for k, v in named.items() if v}
    return kept


def _labelling(labelling: Labelling) -> dict[str, Any]:
    """Return how a judge comes to its labels; empty for labels that stand in a file."""
    match labelling:
        case ModelJudge(model=model, voting=voting):
            return {"model": model, **({"votes": _votes(voting)} if voting.most > 1 else {})}
        case WordRule():
            return {"rule": _word_rule(labelling)}
        case PacketRule():
            return {"rule": "packet"}
        case PythonLabeller():
            env = {"env": list(labelling.env)} if labelling.env else {}
            return {"callable": labelling.target, "version": labelling.edition, "timeout": labelling.timeout_s, **env}
        case RecordedLabels() | HandLabels():
            return {}


def _votes(voting: Voting) -> dict[str, Any]:
    long: dict[str, Any] = {"rule": voting.rule.value, "most": voting.most}
    if voting.rule is StopRule.LEAD:
        long["lead"] = voting.lead
    return long | ({"price": voting.price, "prior": list(voting.prior)} if voting.rule is StopRule.BAYES else {})


def _word_rule(rule: WordRule) -> dict[str, Any]:
    long: dict[str, Any] = {"any": list(rule.any_of), "not": list(rule.none_of), "question": rule.question}
    long = {key: value for key, value in long.items() if value}
    if rule.where is not Side.RESPONSE:
        long["where"] = rule.where.value
    return long | {"then": rule.then, "else": rule.otherwise}


def annotators_of(study: Study) -> dict[str, Any]:
    """Return all annotators whose labels stand in a recorded file, and the people who label by hand."""
    return {
        annotator.name: {
            "who": annotator.kind.value,
            "guideline": annotator.guideline,
            **_column(annotator.labelling),
            **_own_spelling(study, annotator.labelling),
            **({"title": annotator.title} if annotator.title else {}),
            **_groups(study, annotator.name),
        }
        for annotator in study.annotators
        if isinstance(annotator.labelling, RecordedLabels | HandLabels)
    }


def _groups(study: Study, name: str) -> dict[str, Any]:
    groups = {attribute: of[name] for attribute, of in study.annotator_attributes.items() if name in of}
    return {"groups": groups} if groups else {}


def _column(labelling: Labelling) -> dict[str, Any]:
    """Return where recorded labels stand; empty for labels by hand."""
    if not isinstance(labelling, RecordedLabels):
        return {}
    return {"column": labelling.column, **({"question": labelling.question} if labelling.question else {})}


def shared_spelling(study: Study) -> dict[str, str]:
    """Return the spelling that all recorded columns share; empty where two columns write labels differently."""
    named = list(_spellings(study))
    shared = {written: label for _, spelling in named for written, label in spelling.items() if written != label}
    is_common = all(spelling_of(question, shared) == spelling for question, spelling in named)
    return shared if is_common else {}


def _spellings(study: Study) -> Iterator[tuple[Question, Mapping[str, str]]]:
    """Yield the question that each recorded column answers, and how the column writes labels."""
    if study.reference is not None:
        yield study.guideline(study.reference.guideline).question, study.reference.spelling
    for annotator in study.annotators:
        if isinstance(annotator.labelling, RecordedLabels):
            guideline, name = study.guideline(annotator.guideline), annotator.labelling.question
            question = guideline.instrument.question(name) if name else guideline.question
            yield question, annotator.labelling.spelling


def _own_spelling(study: Study, recorded: Labelling | Reference) -> dict[str, Any]:
    """Return how one column writes labels, where the columns of a study differ in it."""
    if not isinstance(recorded, RecordedLabels | Reference) or shared_spelling(study):
        return {}
    own = {written: label for written, label in recorded.spelling.items() if written != label}
    return {"spelling": own} if own else {}


def reference_of(study: Study) -> dict[str, Any] | None:
    """Return where the recorded final labels stand; None where there are none."""
    reference = study.reference
    if reference is None:
        return None
    return {"column": reference.column, "guideline": reference.guideline, **_own_spelling(study, reference)}


def corrections_document(study: Study) -> dict[str, Any]:
    """Return how judges' numbers are corrected, where the study says it."""
    return {
        one.judge: {
            "rate": one.rate.value,
            "mean": one.mean.value,
            "calibrations": {
                known.rule: {
                    "caught": [known.caught, known.defects],
                    "passed": [known.passed, known.sound],
                    "from": known.source,
                }
                for known in one.calibrations
            },
        }
        for one in study.corrections
    }


def guideline_document(guideline: Guideline) -> dict[str, Any]:
    """Return a guideline in its long form."""
    questions = guideline.instrument.questions
    long: dict[str, Any] = {"edition": guideline.edition} if guideline.edition else {}
    if guideline.definition:
        long["definition"] = guideline.definition
    if guideline.guidance:
        long["guidance"] = list(guideline.guidance)
    if len(questions) == 1 and questions[0].name in {"score", "label"}:
        long |= question_document(questions[0])
    else:
        long["questions"] = {question.name: question_document(question) for question in questions}
    long["defects"] = {rule.name: _rule(rule) for rule in guideline.defect_rules}
    if guideline.needs_context != any(example.context for example in guideline.examples):
        long["needs_context"] = "yes" if guideline.needs_context else "no"
    if guideline.examples:
        long["examples"] = [_example(example) for example in guideline.examples]
    return long


def question_document(question: Question) -> dict[str, Any]:
    """Return a question in its long form; an outcome set stands as the follow-ups that it is."""
    long: dict[str, Any] = {
        "ask": question.text,
        "scale": _scale(question.scale),
        "level": question.level.value,
        "orientation": question.scale.orientation.value,
    }
    allowed = {"may_be_unable": question.may_be_unable, "may_not_apply": question.may_not_apply}
    long |= {key: "yes" for key, is_allowed in allowed.items() if is_allowed}
    long |= {"when": question.when.text} if question.when else {}
    long |= {"guidance": list(question.guidance)} if question.guidance else {}
    long |= {"stays": "yes"} if question.stays else {}
    shown = [{"text": item.text, "answer": item.answer, "reason": item.reason} for item in question.exemplars]
    return long | ({"exemplars": shown} if shown else {})


def _scale(scale: Scale) -> str | list[str] | dict[str, str]:
    if scale.kind is ScaleKind.TEXT:
        return "text"
    if scale.kind is ScaleKind.DECIMALS:
        return f"{scale.lowest}.0-{scale.highest}.0"
    meanings = {label.value: label.meaning for label in scale.labels}
    if scale.kind is ScaleKind.NUMBERS:
        ends = {str(scale.lowest), str(scale.highest)}
        return meanings if ends <= set(meanings) else f"{scale.lowest}-{scale.highest}"
    if all(_NUMERAL.fullmatch(value) for value in meanings):  # as a list or mapping they would be numbers
        return " | ".join(f"{value} = {meaning}" if meaning else value for value, meaning in meanings.items())
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
