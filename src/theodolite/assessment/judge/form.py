"""The form of an answer: what a judge is asked to write, in words and as a JSON schema."""

from __future__ import annotations

from theodolite.assessment.judge.arrangement import Arrangement
from theodolite.assessment.judge.control import CONTROL, ControlQuestion
from theodolite.assessment.judge.recalling import recalled
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import FixedJson, Json
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, QuestionLevel, Scale, ScaleKind

REASON, QUOTES, REFUSED = "reason", "quotes", "no_verdict"
"""Keys of a verdict beside its answers."""

RESERVED_KEYS = (REASON, QUOTES, REFUSED, CONTROL)
"""Names that no question may have, since a verdict needs them."""

_FORM = """\
Answer with one JSON object and nothing before or after it. Its keys, in this order:
  "reason": one to three sentences that say why, written before you decide
  "quotes": a list of {{"turn": number, "text": "exact words"}}{source}; may be empty
{answers}"""


def form_words(guideline: Guideline, dialogue: Dialogue, arrangement: Arrangement, control: ControlQuestion) -> str:
    """Return what a judge is to write, reason before verdict."""
    asked = f'  "{CONTROL}": the answer to the control question, e.g. "apple {control.last_turn + 1}"'
    source = ", turn 0 for the source material" if dialogue.material else ""
    return _FORM.format(answers=f"{_answer_lines(guideline, arrangement)}{asked}", source=source)


@recalled
def _answer_lines(guideline: Guideline, arrangement: Arrangement) -> str:
    return "".join(f"{_answer_line(question, arrangement)}\n" for question in guideline.instrument.questions)


@recalled
def answer_schema(guideline: Guideline, arrangement: Arrangement) -> FixedJson:
    """Return the form as a JSON schema, for endpoints that keep to one.

    All keys are demanded and no others allowed, as such endpoints want it; a
    follow-up that is not opened is null.
    """
    quote: dict[str, Json] = {
        "type": "object",
        "properties": {"turn": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["turn", "text"],
        "additionalProperties": False,
    }
    properties: dict[str, Json] = {REASON: {"type": "string"}, QUOTES: {"type": "array", "items": quote}}
    for question in guideline.instrument.questions:
        properties[question.name] = _value_schema(question, arrangement)
    properties[CONTROL] = {"type": "string"}
    return FixedJson(
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )


def _value_schema(question: Question, arrangement: Arrangement) -> Json:
    """Return what one value may be, without `anyOf`, which not every endpoint knows: numbers may stand as texts."""
    words = [*[UNABLE] * question.may_be_unable, *[NOT_APPLICABLE] * question.may_not_apply]
    scale = question.scale
    value: dict[str, Json] = {"type": "string"}
    if scale.categories:
        points: list[Json] = [*arrangement.points(scale.categories), *words]
        value["enum"] = points
    if scale.kind is ScaleKind.NUMBERS and not words:
        value = {"type": "integer", "enum": [int(point) for point in arrangement.points(scale.categories)]}
    if scale.kind is ScaleKind.DECIMALS and not words:
        value = {"type": "number"}
    if question.when:
        value["type"] = [value["type"], "null"]
        known = value.get("enum")
        value |= {"enum": [*known, None]} if isinstance(known, list) else {}
    return {"type": "array", "items": value} if question.level is QuestionLevel.TURN else value


def _answer_line(question: Question, arrangement: Arrangement) -> str:
    wanted = _scale_words(question.scale, arrangement)
    if question.may_be_unable:
        wanted += f', or "{UNABLE}"'
    if question.may_not_apply:
        wanted += f', or "{NOT_APPLICABLE}"'
    if question.when:
        wanted += f", if {question.when.text}; else null"
    if question.level is QuestionLevel.TURN:
        wanted = f"a list with one entry for each turn, each {wanted}"
    return f'  "{question.name}": {wanted}'


def _scale_words(scale: Scale, arrangement: Arrangement) -> str:
    if scale.kind is ScaleKind.TEXT:
        return "a text"
    if scale.kind is ScaleKind.NUMBERS:
        first, last = arrangement.points((scale.lowest, scale.highest))
        return f"a whole number from {first} to {last}"
    if scale.kind is ScaleKind.DECIMALS:
        return f"a number from {scale.lowest} to {scale.highest}, decimals allowed"
    return "one of " + ", ".join(f'"{value}"' for value in arrangement.points(scale.categories))
