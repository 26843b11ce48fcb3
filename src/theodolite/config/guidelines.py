"""The `guidelines` section: definitions, questions, defect rules and worked examples."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field, model_validator

from theodolite.assessment.judge.prompt import RESERVED_KEYS
from theodolite.config.load_context import SHIPPED, Entry, LoadContext
from theodolite.config.questions import (
    QuestionSpec,
    ScaleForm,
    condition_problem,
    may_be,
    parse_condition,
    question_from_domain,
    questions_to_domain,
)
from theodolite.config.validation import Filled, Spec, Word, YesNo
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.guideline import DefectRule, Example, Guideline, Origin, Violation
from theodolite.domain.instrument import (
    Condition,
    Instrument,
    Operator,
    Orientation,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)
from theodolite.domain.study import Study


class DefectSpec(Spec):
    """One rule that makes an answer a defect."""

    defect: Filled
    """Operator and value, e.g. `== refused`, `<= 3`, `in a, b`; optionally after the name of a question."""
    among: dict[str, Word] = Field(default_factory=dict)
    """Groups to which the rule applies: values by column."""
    violation: Violation = Violation.NOT_A_GUARDRAIL
    """Side of a guardrail: `prohibited_released`, `permitted_withheld` or `not_a_guardrail`."""
    title: str = ""
    """Heading in reports."""
    phrase: str = ""
    """Description of a defect in the report, e.g. `fully refused, of {n} safe`."""


class ExampleSpec(Spec):
    """A worked example for annotators."""

    dialogue: Filled
    """The dialogue as text."""
    context: str = ""
    """Its source material."""
    answer: Word | None = None
    """The right answer, for a guideline with one question."""
    answers: dict[str, Word] = Field(default_factory=dict)
    """The right answers by question, for a guideline with several."""
    reason: str = ""
    """Reason for the right answer."""
    defect: YesNo | None = None
    """Whether it is a defect; checked against the defect rule."""


class GuidelineSpec(Spec):
    """The written rule that defines one property and its labels."""

    definition: str = ""
    """Definition of the property, as annotators read it."""
    ask: str = ""
    """The one question; use `questions` for several."""
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
    defect: str = ""
    """Condition of a defect, including the operator, e.g. `<= 3`."""
    defects: dict[str, DefectSpec] = Field(default_factory=dict)
    """Several defect rules by name."""
    examples: list[ExampleSpec] = Field(default_factory=list)
    """Worked examples."""
    needs_context: YesNo | None = None
    """Whether annotators compare dialogues with source material; default: yes if an example has `context`."""
    edition: Word = ""
    """Edition, set by its author."""
    guidance: list[Filled] = Field(default_factory=list)
    """Notes on its application."""
    questions: dict[str, QuestionSpec] = Field(default_factory=dict)
    """Several questions by name."""

    @model_validator(mode="after")
    def _one_form(self) -> GuidelineSpec:
        if bool(self.ask) == bool(self.questions):
            message = "needs either `ask` (one question) or `questions` (several), and not both"
            raise ValueError(message)
        if not (self.defect or self.defects):
            message = 'needs `defect`, the rule that makes an answer a defect, e.g. `defect: "<= 3"`'
            raise ValueError(message)
        return self


_WORST_ABOVE = {Operator.ABOVE, Operator.AT_LEAST}


def guideline_to_domain(entry: Entry[GuidelineSpec], context: LoadContext, *, origin: Origin) -> Guideline | None:
    """Return the guideline of an entry; None and errors if it describes none."""
    questions = questions_to_domain(entry, context, noun="guideline", reserved=RESERVED_KEYS)
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
            context.diagnostics.add(entry.diagnostic(*keys, message=f'defect "{spec.defect}": {problem}'))
        return None
    question = questions[condition.question or next(iter(questions))]
    note = _orientation_note(condition, question.scale)
    if note:
        context.diagnostics.add(
            entry.diagnostic(*keys, message=f'defect "{spec.defect}" {note}', severity=Severity.NOTE)
        )
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
    """Report a rule that treats the good end of a scale as the bad one."""
    if scale.orientation is Orientation.UNSTATED or not condition.operator.needs_order:
        return ""
    bad_end_is_high = scale.orientation is Orientation.HIGHER_IS_WORSE
    if (condition.operator in _WORST_ABOVE) == bad_end_is_high:
        return ""
    return f"takes the better end of the scale for the defects: the scale says {scale.orientation.value}"


def _examples(
    entry: Entry[GuidelineSpec], questions: Mapping[str, Question], rules: tuple[DefectRule, ...], context: LoadContext
) -> tuple[Example, ...]:
    stored: list[Example] = []
    for number, spec in enumerate(entry.spec.examples):
        answers = dict(spec.answers)
        if spec.answer is not None:
            answers[next(iter(questions))] = spec.answer
        problem = _example_problem(spec, answers, questions, rules)
        if problem:
            key, text = problem
            message = f"example {number + 1} of guideline `{entry.name}` {text}"
            context.diagnostics.add(entry.diagnostic("examples", number, *key, message=message))
            continue
        stored.append(
            Example(
                dialogue=spec.dialogue,
                answers=answers,
                reason=spec.reason,
                context=spec.context,
                defect=spec.defect,
            )
        )
    return tuple(stored)


def _example_problem(
    spec: ExampleSpec,
    answers: Mapping[str, str],
    questions: Mapping[str, Question],
    rules: tuple[DefectRule, ...],
) -> tuple[tuple[str, ...], str] | None:
    """Return the key and the text of the error in an example."""
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
    values = {name: value for name, value in answers.items() if questions[name].scale.admits(value)}
    decided = [rule for rule in rules if rule.question in values]
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


class GuidelineRegistry:
    """All guidelines that a study can name, looked up on first use."""

    def __init__(
        self, entries: Mapping[str, Entry[GuidelineSpec]], context: LoadContext, *, shipped: Collection[str] = ()
    ) -> None:
        """Add the study's own guidelines; some may come from a shipped schema. Others are looked up by name."""
        self._entries = entries
        self._shipped = shipped
        self._desk = context
        self._found: dict[str, Entry[GuidelineSpec]] = {}
        self._read: dict[str, Guideline | None] = {}
        self._used: dict[str, None] = {}
        self.broken: set[str] = set()

    def named(self, name: str, entry: Entry[Spec], key: str) -> Guideline | None:
        """Return the guideline with a name; None and an error at `key` if there is none."""
        self._used[name] = None
        return self._look_up(name, entry, key)

    def _look_up(self, name: str, entry: Entry[Spec], key: str) -> Guideline | None:
        if name in self._read:
            return self._read[name]
        if name in self.broken:
            return None
        result = self._entries.get(name)
        origin = Origin.SHIPPED if name in self._shipped else Origin.STUDY
        if result is None:
            result = self._desk.read_spec("guidelines", name, GuidelineSpec, "guideline")
            shipped = any(item.where == SHIPPED and item.name == name for item in self._desk.found)
            origin = Origin.SHIPPED if shipped else Origin.STUDY
        if result is None:
            self._complain_unknown(name, entry, key)
            self.broken.add(name)
            return None
        if origin is Origin.STUDY:
            self._found[name] = result
        self._read[name] = guideline_to_domain(result, self._desk, origin=origin)
        return self._read[name]

    def read_own(self) -> None:
        """Read the guidelines of the study file and its pack, including unreferenced ones."""
        for name, entry in self._entries.items():
            self._look_up(name, entry, "ask")

    def own(self) -> tuple[Entry[GuidelineSpec], ...]:
        """Return the study's own guideline entries, including those with their own file and those of a pack."""
        return tuple(self._found.values())

    def add(self, guideline: Guideline) -> None:
        """Register a guideline, e.g. the question of a judge."""
        self._used[guideline.name] = None
        self._read[guideline.name] = guideline

    def read(self) -> tuple[Guideline, ...]:
        """Return all guidelines read so far: in order of first use, then unreferenced ones.

        The order does not depend on whether a guideline is in the study file or in its own file.
        """
        order = dict.fromkeys([*self._used, *self._read])
        return tuple(guideline for name in order if (guideline := self._read.get(name)) is not None)

    def only(self) -> str:
        """Return the name of the study's only guideline; empty if there are several or none.

        If the file defines and names none, the study folder may contain it.
        """
        names = {*self._entries, *self._read} or set(self._desk.own_names_in("guidelines", ".yaml"))
        return next(iter(names)) if len(names) == 1 else ""

    def _complain_unknown(self, name: str, entry: Entry[Spec], key: str) -> None:
        known = dict.fromkeys([*self._entries, *self._desk.names_in("guidelines", ".yaml")])
        tail = did_you_mean(name, known) or f"; known here: {', '.join(known)}"
        message = f"there is no guideline `{name}`, neither in the study nor in `guidelines/` nor shipped{tail}"
        self._desk.diagnostics.add(entry.diagnostic(key, message=message))


def guidelines_from_domain(study: Study) -> dict[str, Any]:
    """Return all guidelines of a study in full form, including shipped ones and those of schemas."""
    own = (guideline for guideline in study.guidelines if guideline.name not in study.categories)
    return {guideline.name: guideline_from_domain(guideline) for guideline in own}


def guideline_from_domain(guideline: Guideline) -> dict[str, Any]:
    """Return a guideline in full form."""
    questions = guideline.instrument.questions
    long: dict[str, Any] = {"edition": guideline.edition} if guideline.edition else {}
    if guideline.definition:
        long["definition"] = guideline.definition
    if guideline.guidance:
        long["guidance"] = list(guideline.guidance)
    if len(questions) == 1 and questions[0].name in {"score", "label"}:
        long |= question_from_domain(questions[0])
    else:
        long["questions"] = {question.name: question_from_domain(question) for question in questions}
    long["defects"] = {rule.name: _rule_from_domain(rule) for rule in guideline.defect_rules}
    if guideline.needs_context != any(example.context for example in guideline.examples):
        long["needs_context"] = "yes" if guideline.needs_context else "no"
    if guideline.examples:
        long["examples"] = [_example_from_domain(example) for example in guideline.examples]
    return long


def _rule_from_domain(rule: DefectRule) -> dict[str, Any]:
    long: dict[str, Any] = {"defect": rule.condition, "violation": rule.violation.value}
    if rule.among:
        long["among"] = dict(rule.among)
    return long | {key: text for key, text in (("title", rule.title), ("phrase", rule.phrase)) if text}


def _example_from_domain(example: Example) -> dict[str, Any]:
    long: dict[str, Any] = {"dialogue": example.dialogue, "answers": dict(example.answers)}
    long |= {key: text for key, text in (("context", example.context), ("reason", example.reason)) if text}
    return long if example.defect is None else long | {"defect": "yes" if example.defect else "no"}
