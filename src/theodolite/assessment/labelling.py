"""Labelling by a Python function: what it is given, and how what it returns is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from theodolite.assessment.judge.verdict import verdict_of
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.flow import AskFunction, Exchange, Flow
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question


def by_function(annotator: str, guideline: Guideline, dialogue: Dialogue) -> Flow[tuple[Answer, ...]]:
    """Ask a function about a dialogue and return its answers.

    It may return the label alone where one question is asked, or a mapping from
    questions to labels, with `reason` and `quotes` beside them. True and false
    mean yes and no; None means that it cannot tell.
    """
    reply = yield AskFunction(
        annotator=annotator,
        turns=tuple(Exchange(prompt=turn.prompt, response=turn.response) for turn in dialogue.turns),
        guideline=guideline.name,
        questions=tuple(question.name for question in guideline.instrument.questions),
        context=dialogue.material,
    )
    returned = json.loads(reply.text)
    fields = returned if isinstance(returned, dict) else {guideline.question.name: returned}
    untold = {name for name, value in fields.items() if value is None}
    answers = verdict_of(_worded(fields, guideline), reply.text, guideline, dialogue).answers
    return tuple(_untold(answer) if answer.question in untold else answer for answer in answers)


def _worded(fields: Mapping[str, object], guideline: Guideline) -> dict[str, object]:
    by_name = {question.name: question for question in guideline.instrument.questions}
    return {name: _label(value, by_name[name]) if name in by_name else value for name, value in fields.items()}


def _label(value: object, question: Question) -> object:
    if isinstance(value, list):
        return [_label(each, question) for each in value]
    if isinstance(value, bool) and {"yes", "no"} <= set(question.scale.categories):
        return "yes" if value else "no"
    return value


def _untold(answer: Answer) -> Answer:
    if answer.outcome is not Outcome.UNPARSEABLE:
        return answer
    return replace(answer, outcome=Outcome.MISSING, raw="", reasoning=answer.reasoning or "the function cannot tell")
