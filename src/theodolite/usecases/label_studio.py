"""Label Studio: dialogues and labels in the form that it imports, and the configuration that shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from theodolite.assessment.blinding import blinded, mask_for
from theodolite.assessment.slips import turns_asked
from theodolite.domain.annotating.label_sample import item_of
from theodolite.domain.annotation import NON_RESPONSE_NAMES, Annotation, Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, ScaleKind
from theodolite.reporting.found.pseudonyms import pseudonyms

AT_TURN = "@"
"""Stands between question and turn in the names of controls."""


def tasks_of(evidence: Evidence, guideline: Guideline) -> Iterator[dict[str, Any]]:
    """Yield one task for each dialogue that is labelled by a guideline, blinded.

    Labels of people are annotations, those of judges predictions.

    Args:
        evidence: What a run holds.
        guideline: What it was labelled by.
    """
    said: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in evidence.archive.annotations():
        if annotation.guideline == guideline.name:
            said[annotation.dialogue].append(annotation)
    people, mask = pseudonyms(evidence), mask_for(evidence.study)
    for number, dialogue in enumerate(evidence.archive.dialogues(), 1):
        if not evidence.study.labelled_by(dialogue, guideline.name):
            continue
        seen = blinded(dialogue, item_of(dialogue.key), scenario=evidence.study.scenario(dialogue.scenario), mask=mask)
        lines = [(turn.number, turn.prompt, turn.response) for turn in seen.turns]
        yield {
            "id": number,
            "data": {
                "item": seen.name,
                "guideline": guideline.name,
                "material": seen.material,
                "dialogue": [
                    {"author": f"{who} {n}", "text": text}
                    for n, prompt, response in lines
                    for who, text in (("User", prompt), ("Reply", response))
                ],
            },
            "annotations": [
                {"completed_by": {"email": people[one.annotator]}, "result": _results(one, guideline)}
                for one in said[dialogue.key]
                if one.annotator in people
            ],
            "predictions": [
                {"model_version": one.annotator_version[:12], "result": _results(one, guideline)}
                for one in said[dialogue.key]
                if one.annotator not in people
            ],
        }


def _results(annotation: Annotation, guideline: Guideline) -> list[dict[str, Any]]:
    found = []
    for answer in annotation.answers:
        question = guideline.instrument.question(answer.question)
        value = answer.value if answer.outcome is Outcome.ANSWERED else NON_RESPONSE_NAMES.get(answer.outcome)
        if value is None or (answer.outcome is not Outcome.ANSWERED and not _allows(question, answer.outcome)):
            continue
        name = answer.question if answer.turn is None else f"{answer.question}{AT_TURN}{answer.turn}"
        kind = "textarea" if question.scale.kind is ScaleKind.TEXT else "choices"
        held: Mapping[str, Any] = {"text" if kind == "textarea" else "choices": [value]}
        found.append({"from_name": name, "to_name": "dialogue", "type": kind, "value": held})
    return found


def _allows(question: Question, outcome: Outcome) -> bool:
    return question.may_be_unable if outcome is Outcome.MISSING else question.may_not_apply


def label_config(guideline: Guideline, dialogues: Sequence[Dialogue]) -> str:
    """Return the labelling configuration that shows the tasks; turns as many as the longest dialogue has.

    Args:
        guideline: What is asked.
        dialogues: What it is asked about.
    """
    longest = max(dialogues, key=lambda dialogue: len(dialogue.turns), default=None)
    lines = [
        "<View>",
        '  <Paragraphs name="dialogue" value="$dialogue" layout="dialogue" nameKey="author" textKey="text"/>',
    ]
    for question in guideline.instrument.questions:
        for turn in turns_asked(question, longest) if longest else ():
            lines += _control(question, turn)
    return "\n".join([*lines, "</View>", ""])


def _control(question: Question, turn: int | None) -> list[str]:
    name = question.name if turn is None else f"{question.name}{AT_TURN}{turn}"
    asked = question.text if turn is None else f"Turn {turn}: {question.text}"
    head = f"  <Header value={quoteattr(asked)}/>"
    if question.scale.kind is ScaleKind.TEXT:
        return [head, f'  <TextArea name={quoteattr(name)} toName="dialogue"/>']
    own = [UNABLE] * question.may_be_unable + [NOT_APPLICABLE] * question.may_not_apply
    choices = [f"    <Choice value={quoteattr(label)}/>" for label in (*question.scale.categories, *own)]
    required = "false" if question.when or turn is not None else "true"
    begin = f'  <Choices name={quoteattr(name)} toName="dialogue" choice="single" required="{required}">'
    return [head, begin, *choices, "  </Choices>"]
