"""Questions as domain records: those of guidelines, of schemas' categories and of questionnaires alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from theodolite.assessment.outcome_set import outcome_set
from theodolite.config.labelling.defect_text import condition_problem, parse_condition
from theodolite.config.labelling.scales import scale_of
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.guidelines import ExemplarSpec, QuestionSpec
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.domain.instrument import (
    NOT_APPLICABLE,
    UNABLE,
    Condition,
    Exemplar,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)

Asked = Mapping[str, QuestionSpec]
"""Questions as a file writes them, by name."""

ALWAYS = "always"
"""What stands in `outcome` where the outcome set opens with the question itself."""

ALL, NONE = "with it all would be defects", "with it none could be a defect"
"""What is wrong with a condition that every answer meets, and with one that none does."""

_NONE_TOO = NONE.removeprefix("with it ")

OPENED_BY_NONE = "no answer could open it"
"""The same of a question that an answer is to open."""


def questions_of(
    entry: Entry[Any], context: LoadContext, *, noun: str, reserved: Collection[str] = ()
) -> dict[str, Question]:
    """Return the questions that an entry asks, by name and in order; faults are added to the diagnostics.

    Args:
        entry: A guideline, a category of a schema or a questionnaire.
        context: Context of the load; collects the diagnostics.
        noun: What it is, for messages.
        reserved: Names that no question may have.
    """
    spec = entry.spec
    asked = {"": spec} if getattr(spec, "ask", "") else spec.questions
    questions: dict[str, Question] = {}
    for key, question in asked.items():
        if key in reserved:
            message = f"a question cannot be called `{key}`: a judge's verdict needs that name for itself"
            context.diagnostics.add(entry.fault("questions", key, message=message, at_key=True))
        try:
            scale = scale_of(question.scale, question.orientation)
        except InputError as error:
            place = ("questions", key, "scale") if key else ("scale",)
            context.diagnostics.add(entry.fault(*place, message=f"{noun} `{entry.name}`: {error}"))
            continue
        name = key or ("score" if scale.is_numeric or scale.kind is ScaleKind.DECIMALS else "label")
        questions[name] = Question(
            name=name,
            text=question.ask,
            scale=scale,
            level=getattr(question, "level", QuestionLevel.DIALOGUE),
            may_be_unable=bool(question.may_be_unable),
            may_not_apply=bool(question.may_not_apply),
            when=_when(entry, key, questions, context),
            exemplars=_exemplars(entry, key, scale, context),
            topic=getattr(question, "topic", None),
            several=bool(getattr(question, "several", False)),
            guidance=tuple(getattr(question, "guidance", ())) if key else (),
            stays=bool(getattr(question, "stays", False)),
        )
        if key and getattr(question, "outcome", ""):
            _add_outcome(entry, questions[name], questions, context)
    return questions


def may_be(value: str, question: Question) -> bool:
    """Tell whether a value is one of the words that a question allows in place of a label."""
    return (value == UNABLE and question.may_be_unable) or (value == NOT_APPLICABLE and question.may_not_apply)


def _exemplars(entry: Entry[Any], key: str, scale: Scale, context: LoadContext) -> tuple[Exemplar, ...]:
    """Return the examples beside a question; an answer that leaves the scale is a fault."""
    specs: list[ExemplarSpec] = entry.spec.questions[key].exemplars if key else []
    kept = []
    for number, spec in enumerate(specs):
        if not scale.admits(spec.answer) and spec.answer not in {UNABLE, NOT_APPLICABLE}:
            near = did_you_mean(spec.answer, scale.categories)
            message = f"exemplar {number + 1} of question `{key}` answers `{spec.answer}`, which leaves the scale{near}"
            context.diagnostics.add(entry.fault("questions", key, "exemplars", number, "answer", message=message))
            continue
        kept.append(Exemplar(text=spec.text, answer=spec.answer, reason=spec.reason))
    return tuple(kept)


def _add_outcome(entry: Entry[Any], question: Question, questions: dict[str, Question], context: LoadContext) -> None:
    """Put the outcome set behind a question that opens it."""
    text = entry.spec.questions[question.name].outcome
    condition = None if text == ALWAYS else parse_condition(text)
    if isinstance(condition, Condition):
        condition = replace(condition, question=question.name)
    problem = condition if isinstance(condition, str) else ""
    if isinstance(condition, Condition):
        problem = condition_problem(condition, question.scale)
        problem = {ALL: f"every answer would open it; write `{ALWAYS}`", NONE: "no answer could open it"}.get(
            problem, problem
        )
    if problem or isinstance(condition, str):
        message = f'the outcome of question `{question.name}` is asked when "{text}": {problem}'
        context.diagnostics.add(entry.fault("questions", question.name, "outcome", message=message))
        return
    for follow_up in outcome_set(question, condition):
        if follow_up.name in entry.spec.questions:
            message = (
                f"question `{follow_up.name}` bears the name of the outcome of `{question.name}`; call it otherwise"
            )
            context.diagnostics.add(entry.fault("questions", follow_up.name, message=message, at_key=True))
        questions[follow_up.name] = follow_up


def _when(entry: Entry[Any], key: str, earlier: Mapping[str, Question], context: LoadContext) -> Condition | None:
    """Return what an earlier answer must be for a question to be asked; None where it is always asked."""
    text = entry.spec.questions[key].when if key else ""
    if not text:
        return None
    condition = parse_condition(text)
    if isinstance(condition, Condition) and _is_broken_before(condition.question, key, entry.spec.questions, earlier):
        return None
    problem = condition if isinstance(condition, str) else _no_follow_up(condition, key, entry.spec.questions, earlier)
    if problem or isinstance(condition, str):
        message = f'question `{key}` is asked when "{text}": {problem}'
        context.diagnostics.add(entry.fault("questions", key, "when", message=message))
        return None
    return condition


def _is_broken_before(name: str, key: str, written: Asked, earlier: Mapping[str, Question]) -> bool:
    """Tell whether a question stands before another one and has a fault of its own, so that it was not read."""
    order = list(written)
    return name in order[: order.index(key)] and name not in earlier


def _no_follow_up(condition: Condition, key: str, written: Asked, earlier: Mapping[str, Question]) -> str:
    """Return why a question cannot follow on what its condition says; empty where it can."""
    name = condition.question
    if not name:
        return "say which question's answer opens it, e.g. `violation == yes`"
    if name == key:
        return "a question cannot follow on itself"
    if name not in earlier:
        later = f"`{name}` stands further down; a follow-up stands after the question that opens it"
        unknown = f"there is no question `{name}`{did_you_mean(name, earlier)}"
        return later if name in written else unknown
    problem = condition_problem(condition, earlier[name].scale)
    return _of_opening(problem, "every answer would open it; leave `when` out")


def _of_opening(problem: str, opened_by_all: str) -> str:
    """Return what is wrong with a condition in words of questions that are opened, not of defects."""
    return opened_by_all if problem == ALL else problem.replace(NONE, OPENED_BY_NONE).replace(_NONE_TOO, OPENED_BY_NONE)
