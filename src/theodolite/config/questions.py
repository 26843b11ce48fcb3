"""Questions of guidelines and questionnaires: scales, conditions, follow-ups and examples."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Annotated, Any, Protocol, TypeAlias, cast

from pydantic import Discriminator, Field, Tag, model_validator

from theodolite.assessment.form_rules import outcome_set
from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.validation import KIND, Filled, Spec, Word, YesNo, form_of
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.instrument import (
    MOST_POINTS,
    NOT_APPLICABLE,
    UNABLE,
    Condition,
    Construct,
    Exemplar,
    Label,
    Operator,
    Orientation,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
    decimal_of,
)

ScaleForm: TypeAlias = Annotated[
    Annotated[Word, Tag(KIND + "text")]
    | Annotated[list[Word], Tag(KIND + "list")]
    | Annotated[dict[str, Word], Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""`1-5`, `0.0-1.0`, `likert`, `text`, `1 | 2` for names that are numerals, a list of labels, or labels (or numbers)
with their meanings."""


class ExemplarSpec(Spec):
    """An example next to a question."""

    text: Filled
    """Excerpt of a dialogue."""
    answer: Word
    """The right answer: a label of the scale, `unable to determine` or `does not apply`."""
    reason: str = ""
    """Reason for the right answer."""


class QuestionSpec(Spec):
    """A question to annotators."""

    ask: Filled
    """The question, as people and models read it."""
    scale: ScaleForm | None = None
    """Possible values; default: yes and no."""
    level: QuestionLevel = QuestionLevel.DIALOGUE
    """Asked once per `dialogue` or once per `turn`."""
    orientation: Orientation = Orientation.UNSTATED
    """Bad end of the scale: `higher_is_worse` or `lower_is_worse`."""
    may_be_unable: YesNo = False
    """Whether "unable to determine" is an allowed answer."""
    may_not_apply: YesNo = False
    """Whether "does not apply" is an allowed answer."""
    when: str = ""
    """Answer to an earlier question that leads to this question, e.g. `violation == yes`."""
    outcome: str = ""
    """Answers that lead to a question about the consequence (positive, negative, both, neither): e.g. `>= 6`, or
    `always`."""
    exemplars: list[ExemplarSpec] = Field(default_factory=list)
    """Examples of answers, shown on demand."""
    guidance: list[Filled] = Field(default_factory=list)
    """Notes on its interpretation, shown to people and included in judges' prompts."""
    stays: YesNo = False
    """Whether it keeps its position if a study varies the order of questions (`annotation: order:`)."""
    construct_: Construct | None = Field(default=None, alias="construct")
    """Evidence on users: how they `perceive`, `make sense` of, `adapt` to or `act` on the content."""

    @model_validator(mode="after")
    def _construct_of_a_dialogue(self) -> QuestionSpec:
        if self.construct_ and self.level is not QuestionLevel.DIALOGUE:
            message = "has a `construct`, which needs a question about the whole dialogue, and is asked once per turn"
            raise ValueError(message)
        return self


_FORM = re.compile(r"\s*(?P<question>[^\s<>=!]+)??\s*(?P<operator>==|!=|<=|>=|<|>|\bin\b)\s*(?P<values>.*)\s*")

_OPERATORS = ", ".join(operator.value for operator in Operator)


def parse_condition(text: str) -> Condition | str:
    """Return a rule's parsed text, or its error.

    Example:
        >>> parse_condition("score <= 3").values
        ('3',)
        >>> parse_condition("refused")
        'names no operator; expected one of ==, !=, <, <=, >, >=, in, e.g. `== refused`'
    """
    match = _FORM.fullmatch(text)
    if match is None:
        return f"names no operator; expected one of {_OPERATORS}, e.g. `== {text.strip(' =') or 'yes'}`"
    operator = Operator(match["operator"])
    parts = match["values"].split(",") if operator is Operator.ONE_OF else [match["values"]]
    values = tuple(part.strip().strip("'\"") for part in parts if part.strip())
    if not values:
        return f"says nothing after `{operator.value}`; name a value of the scale"
    if values[0].startswith(("=", "<", ">", "!")):
        return f"has an operator that is not known here; expected one of {_OPERATORS}"
    return Condition(question=match["question"] or "", operator=operator, values=values)


def condition_problem(condition: Condition, scale: Scale) -> str:
    """Return the reason why a condition does not fit a scale; empty if it fits."""
    if scale.kind is ScaleKind.TEXT:
        return "the question is answered in free text, which has no order" if condition.operator.needs_order else ""
    if scale.kind is ScaleKind.NUMBERS:
        return _number_problem(condition, scale)
    if scale.kind is ScaleKind.DECIMALS:
        return _decimal_problem(condition, scale)
    if condition.operator.needs_order and not scale.ordered:
        return "the labels have no order; use ==, != or in, or state an `orientation`"
    for value in condition.values:
        if not scale.admits(value):
            labels = scale.categories
            near = did_you_mean(value, labels) or "; labels are " + ", ".join(labels)
            return f"`{value}` is not a label of the scale{near}"
    return _all_or_none(condition, scale.categories)


def _number_problem(condition: Condition, scale: Scale) -> str:
    lowest, highest = scale.lowest or 0, scale.highest or 0
    for value in condition.values:
        if not re.fullmatch(r"-?\d+", value):
            return f"`{value}` is not a point of the scale, which runs from {lowest} to {highest} in whole numbers"
    outside = [int(value) for value in condition.values if not lowest <= int(value) <= highest]
    result = _all_or_none(condition, scale.categories)
    if not outside:
        return result
    end = f"the scale ends at {highest}" if outside[0] > highest else f"the scale begins at {lowest}"
    return f"{end}, so {result.removeprefix('with it ')}" if result else f"{end}, so {outside[0]} is not a point of it"


def _decimal_problem(condition: Condition, scale: Scale) -> str:
    ends = f"the scale runs from {scale.lowest} to {scale.highest}"
    strange = [value for value in condition.values if decimal_of(value) is None]
    outside = [value for value in condition.values if not strange and not scale.admits(value)]
    if strange:
        return f"`{strange[0]}` is not a number; {ends}"
    return f"`{outside[0]}` leaves the scale; {ends}" if outside else ""


def _all_or_none(condition: Condition, points: tuple[str, ...]) -> str:
    """Report a rule that makes every answer a defect, or no answer."""
    n_defects = sum(_holds(condition, point, points) for point in points)
    if n_defects == len(points):
        return "with it all would be defects"
    return "" if n_defects else "with it none could be a defect"


def _holds(condition: Condition, point: str, points: tuple[str, ...]) -> bool:
    if condition.operator in {Operator.EQUAL, Operator.ONE_OF}:
        return point in condition.values
    if condition.operator is Operator.UNEQUAL:
        return point not in condition.values
    numbers = all(re.fullmatch(r"-?\d+", value) for value in (point, condition.values[0]))
    position = int(point) if numbers else points.index(point)
    limit = int(condition.values[0]) if numbers else points.index(condition.values[0])
    outcomes: Mapping[Operator, bool] = {
        Operator.BELOW: position < limit,
        Operator.AT_MOST: position <= limit,
        Operator.ABOVE: position > limit,
        Operator.AT_LEAST: position >= limit,
    }
    return outcomes[condition.operator]


_RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|\u2013|\.\.|to)\s*(-?\d+)\s*")

_DECIMALS = re.compile(r"\s*(-?\d+)\.0\s*(?:-|\u2013|\.\.|to)\s*(-?\d+)\.0\s*")

_WHOLE = re.compile(r"-?\d+")

_DISAGREE, _AGREE = ("strongly disagree", "disagree"), ("agree", "strongly agree")

_NEITHER = "neither agree nor disagree"

LIKERT: Mapping[str, tuple[str, ...]] = {
    "likert": (*_DISAGREE, _NEITHER, *_AGREE),
    "likert-7": (*_DISAGREE, "somewhat disagree", _NEITHER, "somewhat agree", *_AGREE),
}
"""Meanings of the points of each agreement scale, from 1."""

ScaleText = str | list[str] | dict[str, str] | None


def scale_to_domain(form: ScaleText, orientation: Orientation) -> Scale:
    """Return the scale in a study file; yes and no by default.

    Raises:
        InputError: If it is not a valid scale; the message states the reason.
    """
    if form is None:
        return _categories({"yes": "", "no": ""}, orientation)
    if isinstance(form, str):
        return _named_scale(form.strip(), orientation)
    meanings = form if isinstance(form, dict) else _meanings(form)
    if meanings and all(_WHOLE.fullmatch(value) for value in meanings):
        points = [int(value) for value in meanings]
        complete = isinstance(form, dict) or sorted(points) == list(range(min(points), max(points) + 1))
        if complete:
            return _numbers(min(points), max(points), meanings, orientation)
    return _categories(meanings, orientation)


def _named_scale(form: str, orientation: Orientation) -> Scale:
    if form == "text":
        return Scale(kind=ScaleKind.TEXT, orientation=orientation)
    if form in LIKERT:
        points = {str(point): meaning for point, meaning in enumerate(LIKERT[form], start=1)}
        return _numbers(1, len(points), points, orientation)
    if "|" in form:
        return _categories(_named_labels(form), orientation)
    decimals = _DECIMALS.fullmatch(form)
    if decimals is not None:
        return _decimals(int(decimals[1]), int(decimals[2]), orientation)
    match = _RANGE.fullmatch(form)
    if match is None:
        known = "`1-5`, `0.0-1.0`, `likert`, a list of labels, `text`, names as `1 | 2`, or labels with meanings"
        message = f"scale `{form}` is not understood; write {known}"
        raise InputError(message)
    return _numbers(int(match[1]), int(match[2]), {}, orientation)


def _named_labels(form: str) -> dict[str, str]:
    """Return the labels of a text like `1 | 2 | 3`, with meanings after `=`; numerals are names here."""
    pairs = [part.partition("=") for part in form.split("|")]
    labels = [label.strip() for label, _, _ in pairs]
    if "" in labels:
        message = f"scale `{form}` has an empty label; write names with a bar between them, e.g. `1 | 2`"
        raise InputError(message)
    _meanings(labels)
    return {label.strip(): meaning.strip() for label, _, meaning in pairs}


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


ALWAYS = "always"
"""Value of `outcome` if the question itself opens the outcome set."""

ALL, NONE = "with it all would be defects", "with it none could be a defect"
"""Errors for conditions that every answer satisfies, and for conditions that no answer satisfies."""

_NONE_TOO = NONE.removeprefix("with it ")

OPENED_BY_NONE = "no answer could open it"
"""The same for the condition of a follow-up question."""


class AskedSpec(Protocol):
    """A question in a file, alone or among others."""

    @property
    def ask(self) -> str:
        """Its text."""

    @property
    def scale(self) -> ScaleForm | None:
        """Its possible values."""

    @property
    def orientation(self) -> Orientation:
        """The bad end of the scale."""

    @property
    def may_be_unable(self) -> bool:
        """Whether "unable to determine" is an allowed answer."""

    @property
    def may_not_apply(self) -> bool:
        """Whether "does not apply" is an allowed answer."""


class NamedQuestionSpec(AskedSpec, Protocol):
    """A question among several, each with a name."""

    @property
    def when(self) -> str:
        """Answer to an earlier question that leads to this question."""

    @property
    def exemplars(self) -> list[ExemplarSpec]:
        """Examples of answers."""


class AskingSpec(Protocol):
    """A guideline, a category of a schema or a questionnaire."""

    @property
    def questions(self) -> Mapping[str, NamedQuestionSpec]:
        """Its questions by name."""


def questions_to_domain(
    entry: Entry[AskingSpec], context: LoadContext, *, noun: str, reserved: Collection[str] = ()
) -> dict[str, Question]:
    """Return the questions of an entry, by name and in order; errors are added to the diagnostics.

    Args:
        entry: A guideline, a category of a schema or a questionnaire.
        context: Context of the load; collects the diagnostics.
        noun: Name of its kind, for messages.
        reserved: Names that questions may not have.
    """
    spec = entry.spec
    has_one = bool(getattr(spec, "ask", ""))
    question_specs: Mapping[str, AskedSpec] = {"": cast("AskedSpec", spec)} if has_one else spec.questions
    questions: dict[str, Question] = {}
    for key, question in question_specs.items():
        if key in reserved:
            message = f"a question cannot be called `{key}`: a judge's verdict needs that name for itself"
            context.diagnostics.add(entry.diagnostic("questions", key, message=message, at_key=True))
        try:
            scale = scale_to_domain(question.scale, question.orientation)
        except InputError as error:
            keys = ("questions", key, "scale") if key else ("scale",)
            context.diagnostics.add(entry.diagnostic(*keys, message=f"{noun} `{entry.name}`: {error}"))
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
            construct=getattr(question, "construct_", None),
        )
        if key and (outcome := getattr(question, "outcome", "")):
            _add_outcome(entry, questions[name], outcome, questions, context)
    return questions


def may_be(value: str, question: Question) -> bool:
    """Return whether a value is one of the words that a question allows instead of a label."""
    return (value == UNABLE and question.may_be_unable) or (value == NOT_APPLICABLE and question.may_not_apply)


def _exemplars(entry: Entry[AskingSpec], key: str, scale: Scale, context: LoadContext) -> tuple[Exemplar, ...]:
    """Return the examples of a question; an answer outside the scale is an error."""
    specs = entry.spec.questions[key].exemplars if key else []
    stored = []
    for number, spec in enumerate(specs):
        if not scale.admits(spec.answer) and spec.answer not in {UNABLE, NOT_APPLICABLE}:
            near = did_you_mean(spec.answer, scale.categories)
            message = f"exemplar {number + 1} of question `{key}` answers `{spec.answer}`, which leaves the scale{near}"
            context.diagnostics.add(entry.diagnostic("questions", key, "exemplars", number, "answer", message=message))
            continue
        stored.append(Exemplar(text=spec.text, answer=spec.answer, reason=spec.reason))
    return tuple(stored)


def _add_outcome(
    entry: Entry[AskingSpec], question: Question, text: str, questions: dict[str, Question], context: LoadContext
) -> None:
    """Insert the outcome set after a question that opens it."""
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
        context.diagnostics.add(entry.diagnostic("questions", question.name, "outcome", message=message))
        return
    for follow_up in outcome_set(question, condition):
        if follow_up.name in entry.spec.questions:
            message = (
                f"question `{follow_up.name}` bears the name of the outcome of `{question.name}`; call it otherwise"
            )
            context.diagnostics.add(entry.diagnostic("questions", follow_up.name, message=message, at_key=True))
        questions[follow_up.name] = follow_up


def _when(
    entry: Entry[AskingSpec], key: str, earlier: Mapping[str, Question], context: LoadContext
) -> Condition | None:
    """Return the condition on an earlier answer under which a question is asked; None if it is always asked."""
    text = entry.spec.questions[key].when if key else ""
    if not text:
        return None
    condition = parse_condition(text)
    if isinstance(condition, Condition) and _is_broken_before(condition.question, key, entry.spec.questions, earlier):
        return None
    problem = condition if isinstance(condition, str) else _no_follow_up(condition, key, entry.spec.questions, earlier)
    if problem or isinstance(condition, str):
        message = f'question `{key}` is asked when "{text}": {problem}'
        context.diagnostics.add(entry.diagnostic("questions", key, "when", message=message))
        return None
    return condition


def _is_broken_before(
    name: str, key: str, written: Mapping[str, NamedQuestionSpec], earlier: Mapping[str, Question]
) -> bool:
    """Return whether a question precedes another one but could not be read."""
    order = list(written)
    return name in order[: order.index(key)] and name not in earlier


def _no_follow_up(
    condition: Condition, key: str, written: Mapping[str, NamedQuestionSpec], earlier: Mapping[str, Question]
) -> str:
    """Return the reason why a question cannot depend on its condition; empty if it can."""
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
    """Return the error in a condition that opens a question."""
    return opened_by_all if problem == ALL else problem.replace(NONE, OPENED_BY_NONE).replace(_NONE_TOO, OPENED_BY_NONE)


_NUMERAL = re.compile(r"-?\d+")


def question_from_domain(question: Question) -> dict[str, Any]:
    """Return a question in full form; an outcome set becomes its follow-up questions."""
    long: dict[str, Any] = {
        "ask": question.text,
        "scale": _scale_from_domain(question.scale),
        "level": question.level.value,
        "orientation": question.scale.orientation.value,
    }
    allowed = {"may_be_unable": question.may_be_unable, "may_not_apply": question.may_not_apply}
    long |= {key: "yes" for key, is_allowed in allowed.items() if is_allowed}
    long |= {"when": question.when.text} if question.when else {}
    long |= {"guidance": list(question.guidance)} if question.guidance else {}
    long |= {"stays": "yes"} if question.stays else {}
    long |= {"construct": question.construct.value} if question.construct else {}
    shown = [{"text": item.text, "answer": item.answer, "reason": item.reason} for item in question.exemplars]
    return long | ({"exemplars": shown} if shown else {})


def _scale_from_domain(scale: Scale) -> str | list[str] | dict[str, str]:
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
