"""Guidelines as domain records: scales, questions, defect rules and examples, checked against each other."""

from __future__ import annotations

import re
from collections.abc import Mapping

from theodolite.assessment.form import RESERVED_KEYS
from theodolite.config.defect_text import condition_problem, parse_condition
from theodolite.config.lookup import Desk, Entry
from theodolite.config.shapes.guidelines import DefectShape, ExampleShape, GuidelineShape
from theodolite.domain.errors import InputError
from theodolite.domain.fault import Severity, did_you_mean
from theodolite.domain.guideline import DefectRule, Example, Guideline, Origin
from theodolite.domain.instrument import (
    MOST_POINTS,
    NOT_APPLICABLE,
    UNABLE,
    Condition,
    Instrument,
    Label,
    Operator,
    Orientation,
    Question,
    Scale,
    ScaleKind,
)

_RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|\u2013|\.\.|to)\s*(-?\d+)\s*")
_DECIMALS = re.compile(r"\s*(-?\d+)\.0\s*(?:-|\u2013|\.\.|to)\s*(-?\d+)\.0\s*")
_WHOLE = re.compile(r"-?\d+")
_WORST_ABOVE = {Operator.ABOVE, Operator.AT_LEAST}

ScaleText = str | list[str] | dict[str, str] | None


def guideline_of(entry: Entry[GuidelineShape], desk: Desk, *, origin: Origin) -> Guideline | None:
    """Return the guideline that an entry describes; None and faults where it describes none."""
    questions = _questions(entry, desk)
    rules = tuple(rule for rule in _rules(entry, questions, desk) if rule is not None)
    if not questions or not rules:
        return None
    examples = _examples(entry, questions, rules, desk)
    return Guideline(
        name=entry.name,
        definition=entry.shape.definition,
        instrument=Instrument(name=entry.name, questions=tuple(questions.values())),
        defect_rules=rules,
        examples=examples,
        edition=entry.shape.edition,
        origin=origin,
    )


def scale_of(form: ScaleText, orientation: Orientation) -> Scale:
    """Return the scale that a study writes down; yes and no where it writes none.

    Raises:
        InputError: If it is no scale; the message says why.
    """
    if form is None:
        return _categories({"yes": "", "no": ""}, orientation)
    if isinstance(form, str):
        return _named_scale(form, orientation)
    meanings = form if isinstance(form, dict) else _meanings(form)
    if meanings and all(_WHOLE.fullmatch(value) for value in meanings):
        points = [int(value) for value in meanings]
        complete = isinstance(form, dict) or sorted(points) == list(range(min(points), max(points) + 1))
        if complete:
            return _numbers(min(points), max(points), meanings, orientation)
    return _categories(meanings, orientation)


def _named_scale(form: str, orientation: Orientation) -> Scale:
    if form.strip() == "text":
        return Scale(kind=ScaleKind.TEXT, orientation=orientation)
    decimals = _DECIMALS.fullmatch(form)
    if decimals is not None:
        return _decimals(int(decimals[1]), int(decimals[2]), orientation)
    match = _RANGE.fullmatch(form)
    if match is None:
        known = "`1-5`, `0.0-1.0`, a list of labels, `text`, or labels with meanings"
        message = f"scale `{form}` is not understood; write {known}"
        raise InputError(message)
    return _numbers(int(match[1]), int(match[2]), {}, orientation)


def _decimals(lowest: int, highest: int, orientation: Orientation) -> Scale:
    if not lowest < highest:
        message = f"scale runs from {lowest}.0 to {highest}.0; the lower end must stand first"
        raise InputError(message)
    return Scale(kind=ScaleKind.DECIMALS, lowest=lowest, highest=highest, ordered=True, orientation=orientation)


def _meanings(labels: list[str]) -> dict[str, str]:
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        message = f"scale names `{twice[0]}` twice"
        raise InputError(message)
    return dict.fromkeys(labels, "")


def _numbers(lowest: int, highest: int, meanings: Mapping[str, str], orientation: Orientation) -> Scale:
    if not lowest < highest:
        message = f"scale runs from {lowest} to {highest}; the lower end must stand first"
        raise InputError(message)
    if highest - lowest >= MOST_POINTS:
        message = (
            f"scale runs from {lowest} to {highest}, which are {highest - lowest + 1:,} points;"
            f" {MOST_POINTS} at most can be used"
        )
        raise InputError(message)
    labels = tuple(
        Label(value=value, meaning=meanings[value]) for value in sorted(meanings, key=int) if meanings[value]
    )
    return Scale(
        kind=ScaleKind.NUMBERS,
        labels=labels,
        lowest=lowest,
        highest=highest,
        ordered=True,
        orientation=orientation,
    )


def _categories(meanings: Mapping[str, str], orientation: Orientation) -> Scale:
    if len(meanings) < 2:
        message = f"scale has {len(meanings)} label; a scale needs two different ones at least"
        raise InputError(message)
    return Scale(
        kind=ScaleKind.CATEGORIES,
        labels=tuple(Label(value=value, meaning=meaning) for value, meaning in meanings.items()),
        ordered=orientation is not Orientation.UNSTATED,
        orientation=orientation,
    )


def _questions(entry: Entry[GuidelineShape], desk: Desk) -> dict[str, Question]:
    shape = entry.shape
    asked = {"": shape} if shape.ask else shape.questions
    questions: dict[str, Question] = {}
    for key, question in asked.items():
        if key in RESERVED_KEYS:
            message = f"a question cannot be called `{key}`: a judge's verdict needs that name for itself"
            desk.complaints.add(entry.fault("questions", key, message=message, at_key=True))
        try:
            scale = scale_of(question.scale, question.orientation)
        except InputError as error:
            place = ("questions", key, "scale") if key else ("scale",)
            desk.complaints.add(entry.fault(*place, message=f"guideline `{entry.name}`: {error}"))
            continue
        name = key or ("score" if scale.is_numeric or scale.kind is ScaleKind.DECIMALS else "label")
        questions[name] = Question(
            name=name,
            text=question.ask,
            scale=scale,
            level=question.level,
            may_be_unable=bool(question.may_be_unable),
            may_not_apply=bool(question.may_not_apply),
            when=_when(entry, key, questions, desk),
        )
    return questions


def _when(entry: Entry[GuidelineShape], key: str, earlier: Mapping[str, Question], desk: Desk) -> Condition | None:
    """Return what an earlier answer must be for a question to be asked; None where it is always asked."""
    text = entry.shape.questions[key].when if key else ""
    if not text:
        return None
    condition = parse_condition(text)
    if isinstance(condition, Condition) and _is_broken_before(condition.question, key, entry.shape, earlier):
        return None
    problem = condition if isinstance(condition, str) else _no_follow_up(condition, key, entry.shape, earlier)
    if problem or isinstance(condition, str):
        message = f'question `{key}` is asked when "{text}": {problem}'
        desk.complaints.add(entry.fault("questions", key, "when", message=message))
        return None
    return condition


def _is_broken_before(name: str, key: str, shape: GuidelineShape, earlier: Mapping[str, Question]) -> bool:
    """Tell whether a question stands before another one and has a fault of its own, so that it was not read."""
    order = list(shape.questions)
    return name in order[: order.index(key)] and name not in earlier


def _no_follow_up(condition: Condition, key: str, shape: GuidelineShape, earlier: Mapping[str, Question]) -> str:
    """Return why a question cannot follow on what its condition says; empty where it can."""
    name = condition.question
    if not name:
        return "say which question's answer opens it, e.g. `violation == yes`"
    if name == key:
        return "a question cannot follow on itself"
    if name not in earlier:
        later = f"`{name}` stands further down; a follow-up stands after the question that opens it"
        unknown = f"there is no question `{name}`{did_you_mean(name, earlier)}"
        return later if name in shape.questions else unknown
    problem = condition_problem(condition, earlier[name].scale)
    return {
        "with it all would be defects": "every answer would open it; leave `when` out",
        "with it none could be a defect": "no answer could open it",
    }.get(problem, problem)


def _rules(entry: Entry[GuidelineShape], questions: Mapping[str, Question], desk: Desk) -> list[DefectRule | None]:
    shape = entry.shape
    rules: list[DefectRule | None] = []
    if shape.defect:
        rules.append(_rule(entry, "defect", DefectShape(defect=shape.defect), questions, desk, ("defect",)))
    for name, rule in shape.defects.items():
        rules.append(_rule(entry, name, rule, questions, desk, ("defects", name, "defect")))
    return rules


def _rule(
    entry: Entry[GuidelineShape],
    name: str,
    shape: DefectShape,
    questions: Mapping[str, Question],
    desk: Desk,
    keys: tuple[str, ...],
) -> DefectRule | None:
    condition = parse_condition(shape.defect)
    problem = condition if isinstance(condition, str) else _misfit(condition, questions)
    if problem or isinstance(condition, str):
        if questions:
            desk.complaints.add(entry.fault(*keys, message=f'defect "{shape.defect}": {problem}'))
        return None
    question = questions[condition.question or next(iter(questions))]
    note = _orientation_note(condition, question.scale)
    if note:
        desk.complaints.add(entry.fault(*keys, message=f'defect "{shape.defect}" {note}', severity=Severity.NOTE))
    return DefectRule(
        name=name,
        question=question.name,
        operator=condition.operator,
        values=condition.values,
        among=dict(shape.among),
        violation=shape.violation,
        title=shape.title,
        phrase=shape.phrase,
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
    entry: Entry[GuidelineShape], questions: Mapping[str, Question], rules: tuple[DefectRule, ...], desk: Desk
) -> tuple[Example, ...]:
    kept: list[Example] = []
    for number, shape in enumerate(entry.shape.examples):
        answers = dict(shape.answers)
        if shape.answer is not None:
            answers[next(iter(questions))] = shape.answer
        problem = _example_problem(shape, answers, questions, rules)
        if problem:
            key, words = problem
            message = f"example {number + 1} of guideline `{entry.name}` {words}"
            desk.complaints.add(entry.fault("examples", number, *key, message=message))
            continue
        kept.append(
            Example(
                dialogue=shape.dialogue,
                answers=answers,
                reason=shape.reason,
                context=shape.context,
                defect=shape.defect,
            )
        )
    return tuple(kept)


def _example_problem(
    shape: ExampleShape,
    answers: Mapping[str, str],
    questions: Mapping[str, Question],
    rules: tuple[DefectRule, ...],
) -> tuple[tuple[str, ...], str] | None:
    """Return the key and the words of what is wrong with an example."""
    if not answers:
        return (), "has no `answer`"
    if shape.answer is not None and len(questions) > 1:
        return ("answer",), f"must say which question it answers; use `answers` with {', '.join(questions)}"
    for name, value in answers.items():
        key = ("answer",) if shape.answer is not None else ("answers", name)
        if name not in questions:
            return key, f"answers a question `{name}` that is not asked{did_you_mean(name, questions)}"
        scale = questions[name].scale
        if not (scale.admits(value) or _may_be(value, questions[name])):
            return key, f"answers `{value}`, which leaves the scale{_scale_words(value, scale)}"
    return _contradiction(shape, answers, questions, rules)


def _may_be(value: str, question: Question) -> bool:
    return (value == UNABLE and question.may_be_unable) or (value == NOT_APPLICABLE and question.may_not_apply)


def _contradiction(
    shape: ExampleShape,
    answers: Mapping[str, str],
    questions: Mapping[str, Question],
    rules: tuple[DefectRule, ...],
) -> tuple[tuple[str, ...], str] | None:
    given = {name: value for name, value in answers.items() if questions[name].scale.admits(value)}
    decided = [rule for rule in rules if rule.question in given]
    if shape.defect is None or not decided:
        return None
    broken = [rule for rule in decided if rule.is_defect(answers[rule.question], questions[rule.question].scale)]
    if bool(broken) == shape.defect:
        return None
    rule = (broken or decided)[0]
    answer = f"its {rule.question} {answers[rule.question]}"
    if shape.defect:
        return ("defect",), f"says that it is a defect, but {answer} makes it none ({rule.condition})"
    return ("defect",), f"says that it is no defect, but {answer} makes it one ({rule.condition})"


def _scale_words(value: str, scale: Scale) -> str:
    if scale.is_numeric or scale.kind is ScaleKind.DECIMALS:
        return f" {scale.lowest} to {scale.highest}"
    return did_you_mean(value, scale.categories) or f"; labels are {', '.join(scale.categories)}"
