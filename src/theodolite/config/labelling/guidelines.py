"""Guidelines as domain records: scales, questions, defect rules and examples, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.assessment.judge.form import RESERVED_KEYS
from theodolite.config.labelling.defect_text import condition_problem, parse_condition
from theodolite.config.labelling.questions import may_be, questions_of
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.guidelines import DefectSpec, ExampleSpec, GuidelineSpec
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.guideline import DefectRule, Example, Guideline, Origin
from theodolite.domain.instrument import (
    Condition,
    Instrument,
    Operator,
    Orientation,
    Question,
    Scale,
    ScaleKind,
)

_WORST_ABOVE = {Operator.ABOVE, Operator.AT_LEAST}


def guideline_of(entry: Entry[GuidelineSpec], context: LoadContext, *, origin: Origin) -> Guideline | None:
    """Return the guideline that an entry describes; None and faults where it describes none."""
    questions = questions_of(entry, context, noun="guideline", reserved=RESERVED_KEYS)
    rules = tuple(rule for rule in _rules(entry, questions, context) if rule is not None)
    if not questions or not rules:
        return None
    examples = _examples(entry, questions, rules, context)
    return Guideline(
        name=entry.name,
        definition=entry.spec.definition,
        instrument=Instrument(name=entry.name, questions=tuple(questions.values())),
        defect_rules=rules,
        examples=examples,
        edition=entry.spec.edition,
        origin=origin,
        guidance=tuple(entry.spec.guidance),
        needs_context=_needs_context(entry.spec),
    )


def _needs_context(spec: GuidelineSpec) -> bool:
    if spec.needs_context is not None:
        return spec.needs_context
    return any(example.context for example in spec.examples)


def _rules(
    entry: Entry[GuidelineSpec], questions: Mapping[str, Question], context: LoadContext
) -> list[DefectRule | None]:
    spec = entry.spec
    rules: list[DefectRule | None] = []
    if spec.defect:
        rules.append(_rule(entry, "defect", DefectSpec(defect=spec.defect), questions, context, ("defect",)))
    for name, rule in spec.defects.items():
        rules.append(_rule(entry, name, rule, questions, context, ("defects", name, "defect")))
    return rules


def _rule(
    entry: Entry[GuidelineSpec],
    name: str,
    spec: DefectSpec,
    questions: Mapping[str, Question],
    context: LoadContext,
    keys: tuple[str, ...],
) -> DefectRule | None:
    condition = parse_condition(spec.defect)
    problem = condition if isinstance(condition, str) else _misfit(condition, questions)
    if problem or isinstance(condition, str):
        if questions:
            context.diagnostics.add(entry.fault(*keys, message=f'defect "{spec.defect}": {problem}'))
        return None
    question = questions[condition.question or next(iter(questions))]
    note = _orientation_note(condition, question.scale)
    if note:
        context.diagnostics.add(entry.fault(*keys, message=f'defect "{spec.defect}" {note}', severity=Severity.NOTE))
    return DefectRule(
        name=name,
        question=question.name,
        operator=condition.operator,
        values=condition.values,
        among=dict(spec.among),
        violation=spec.violation,
        title=spec.title,
        phrase=spec.phrase,
    )


def _misfit(condition: Condition, questions: Mapping[str, Question]) -> str:
    name = condition.question
    if name and name not in questions:
        known = ", ".join(questions)
        return f"there is no question `{name}`{did_you_mean(name, questions) or '; questions are ' + known}"
    if not name and len(questions) > 1:
        return f"say which question decides, one of {', '.join(questions)}, e.g. `{next(iter(questions))} == yes`"
    if not questions:
        return "there is no question that it could be about"
    return condition_problem(condition, questions[name or next(iter(questions))].scale)


def _orientation_note(condition: Condition, scale: Scale) -> str:
    """Say so where the rule takes the good end of a scale for the bad one."""
    if scale.orientation is Orientation.UNSTATED or not condition.operator.needs_order:
        return ""
    bad_end_is_high = scale.orientation is Orientation.HIGHER_IS_WORSE
    if (condition.operator in _WORST_ABOVE) == bad_end_is_high:
        return ""
    return f"takes the better end of the scale for the defects: the scale says {scale.orientation.value}"


def _examples(
    entry: Entry[GuidelineSpec], questions: Mapping[str, Question], rules: tuple[DefectRule, ...], context: LoadContext
) -> tuple[Example, ...]:
    kept: list[Example] = []
    for number, spec in enumerate(entry.spec.examples):
        answers = dict(spec.answers)
        if spec.answer is not None:
            answers[next(iter(questions))] = spec.answer
        problem = _example_problem(spec, answers, questions, rules)
        if problem:
            key, words = problem
            message = f"example {number + 1} of guideline `{entry.name}` {words}"
            context.diagnostics.add(entry.fault("examples", number, *key, message=message))
            continue
        kept.append(
            Example(
                dialogue=spec.dialogue,
                answers=answers,
                reason=spec.reason,
                context=spec.context,
                defect=spec.defect,
            )
        )
    return tuple(kept)


def _example_problem(
    spec: ExampleSpec,
    answers: Mapping[str, str],
    questions: Mapping[str, Question],
    rules: tuple[DefectRule, ...],
) -> tuple[tuple[str, ...], str] | None:
    """Return the key and the words of what is wrong with an example."""
    if not answers:
        return (), "has no `answer`"
    if spec.answer is not None and len(questions) > 1:
        return ("answer",), f"must say which question it answers; use `answers` with {', '.join(questions)}"
    for name, value in answers.items():
        key = ("answer",) if spec.answer is not None else ("answers", name)
        if name not in questions:
            return key, f"answers a question `{name}` that is not asked{did_you_mean(name, questions)}"
        scale = questions[name].scale
        if not (scale.admits(value) or may_be(value, questions[name])):
            return key, f"answers `{value}`, which leaves the scale{_scale_words(value, scale)}"
    return _contradiction(spec, answers, questions, rules)


def _contradiction(
    spec: ExampleSpec,
    answers: Mapping[str, str],
    questions: Mapping[str, Question],
    rules: tuple[DefectRule, ...],
) -> tuple[tuple[str, ...], str] | None:
    given = {name: value for name, value in answers.items() if questions[name].scale.admits(value)}
    decided = [rule for rule in rules if rule.question in given]
    if spec.defect is None or not decided:
        return None
    broken = [rule for rule in decided if rule.is_defect(answers[rule.question], questions[rule.question].scale)]
    if bool(broken) == spec.defect:
        return None
    rule = (broken or decided)[0]
    answer = f"its {rule.question} {answers[rule.question]}"
    if spec.defect:
        return ("defect",), f"says that it is a defect, but {answer} makes it none ({rule.condition})"
    return ("defect",), f"says that it is no defect, but {answer} makes it one ({rule.condition})"


def _scale_words(value: str, scale: Scale) -> str:
    if scale.is_numeric or scale.kind is ScaleKind.DECIMALS:
        return f" {scale.lowest} to {scale.highest}"
    return did_you_mean(value, scale.categories) or f"; labels are {', '.join(scale.categories)}"
