"""Specs of guidelines, judges and annotators."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Discriminator, Field, PositiveFloat, Tag, model_validator

from theodolite.config.specs.base import KIND, Filled, OneOrMore, Spec, Word, YesNo, form_of
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import MOST_VOTES, Side, StopRule
from theodolite.domain.guideline import Violation
from theodolite.domain.instrument import Orientation, QuestionLevel

ScaleForm: TypeAlias = Annotated[
    Annotated[Word, Tag(KIND + "text")]
    | Annotated[list[Word], Tag(KIND + "list")]
    | Annotated[dict[str, Word], Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""`1-5`, `0.0-1.0`, `likert`, `text`, `1 | 2` for names that are numerals, a list of labels, or labels (or numbers)
with their meanings."""


class DefectSpec(Spec):
    """One rule that makes an answer a defect."""

    defect: Filled
    """Operator and value, e.g. `== refused`, `<= 3`, `in a, b`; optionally after the name of a question."""
    among: dict[str, Word] = Field(default_factory=dict)
    """Groups that the rule applies to: values by column."""
    violation: Violation = Violation.NOT_A_GUARDRAIL
    """Side of a guardrail: `prohibited_released`, `permitted_withheld` or `not_a_guardrail`."""
    title: str = ""
    """Heading in reports."""
    phrase: str = ""
    """Description of a defect in the report, e.g. `fully refused, of {n} safe`."""


class ExampleSpec(Spec):
    """A worked example that annotators are shown."""

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


class ExemplarSpec(Spec):
    """An example beside one question."""

    text: Filled
    """Excerpt of a dialogue."""
    answer: Word
    """The right answer: a label of the scale, `unable to determine` or `does not apply`."""
    reason: str = ""
    """Reason for the right answer."""


class QuestionSpec(Spec):
    """One question that annotators answer."""

    ask: Filled
    """The question, as people and models read it."""
    scale: ScaleForm | None = None
    """Possible values; default: yes and no."""
    level: QuestionLevel = QuestionLevel.DIALOGUE
    """Asked once per `dialogue` or once per `turn`."""
    orientation: Orientation = Orientation.UNSTATED
    """Which end is the bad one: `higher_is_worse` or `lower_is_worse`."""
    may_be_unable: YesNo = False
    """Whether "unable to determine" is an allowed answer."""
    may_not_apply: YesNo = False
    """Whether "does not apply" is an allowed answer."""
    when: str = ""
    """Answer to an earlier question that opens this one, e.g. `violation == yes`."""
    outcome: str = ""
    """Answers that open a question about the consequence (positive, negative, both, neither): e.g. `>= 6`, or
    `always`."""
    exemplars: list[ExemplarSpec] = Field(default_factory=list)
    """Examples of answers, shown on demand."""
    guidance: list[Filled] = Field(default_factory=list)
    """Notes on its interpretation, shown to people and included in judges' prompts."""
    stays: YesNo = False
    """Whether it keeps its position if a study varies the order of questions (`annotation: order:`)."""


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
    """Which end is the bad one: `higher_is_worse` or `lower_is_worse`."""
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


class WordRuleSpec(Spec):
    """A rule on the words of a dialogue."""

    any: list[Filled] = Field(default_factory=list)
    """Regular expressions, at least one must match; case is ignored."""
    unwanted: list[Filled] = Field(default_factory=list, alias="not")
    """Regular expressions, none may match in the same turn; without `any`: in any turn."""
    where: Side = Side.RESPONSE
    """Side of a turn to search: `prompt`, `response` or `both`."""
    question: str = ""
    """Question that the rule answers, for a guideline with several."""
    then: Word
    """Label if the rule matches."""
    otherwise: Word = Field(alias="else")
    """Label otherwise."""


RuleForm: TypeAlias = Annotated[
    Annotated[Literal["packet"], Tag(KIND + "text")] | Annotated[WordRuleSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""`packet` for the signs of the scenario's test packet, or words of its own."""


class VotesSpec(Spec):
    """How often a judge reads one dialogue before the majority of its readings counts."""

    rule: StopRule = StopRule.CURTAILED
    """When it stops: `fixed`, `curtailed` (majority decided), `lead` or `bayes` (price per call)."""
    most: int | None = Field(default=None, ge=2, le=MOST_VOTES)
    """Readings at most; 5, and 15 with `bayes`, where left out."""
    lead: int | None = Field(default=None, ge=1)
    """With `lead`: votes by which one answer must be ahead; 2 where left out."""
    price: float | None = Field(default=None, gt=0, lt=1)
    """With `bayes`: what a call costs, where a wrong label costs 1; 0.005 where left out."""
    prior: tuple[PositiveFloat, PositiveFloat] | None = None
    """With `bayes`: a and b of the Beta prior of a dialogue's share of defect votes; 0.5 and 0.5 where left out."""


VotesForm: TypeAlias = Annotated[
    Annotated[Annotated[int, Field(ge=2, le=MOST_VOTES)], Tag(KIND + "text")]
    | Annotated[VotesSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""A number of readings at most, or a rule."""


class JudgeSpec(Spec):
    """A model, a rule or a function that labels dialogues."""

    guideline: str = ""
    """Name of the guideline: in this file, in the study's folder, or shipped."""
    guidelines: OneOrMore | None = None
    """Several guidelines, or `all`: one annotator for each, named `<judge>-<guideline>`."""
    ask: str = ""
    """A question, in place of a guideline."""
    defect: str = ""
    """With `ask`: condition of a defect, e.g. `== no`."""
    scale: ScaleForm | None = None
    """With `ask`: possible values; default: yes and no."""
    orientation: Orientation = Orientation.UNSTATED
    """With `ask`: which end of the scale is the bad one."""
    model: str = ""
    """Name of the model under `models`."""
    models: list[Filled] = Field(default_factory=list)
    """Several models: one annotator for each, shown side by side as a panel, named `<judge>-<model>`."""
    votes: VotesForm | None = None
    """Maximum number of readings of each dialogue, with a majority vote, or a stopping rule."""
    rule: RuleForm | None = None
    """In place of a model: a rule on the words of the responses, or `packet` for the signs of each scenario."""
    callable: Filled | None = None
    """In place of a model: `module:function` or `file.py:function`, e.g. a classifier."""
    version: Word = ""
    """With `callable`: version declared by its author; a new version is a new instrument."""
    timeout: float | None = Field(default=None, gt=0)
    """With `callable`: timeout for one dialogue in seconds; default: 60."""
    env: list[Filled] = Field(default_factory=list)
    """With `callable`: further environment variables for the function, in addition to `PATH` etc."""
    panel: str = ""
    """Name of its panel of judges: shown side by side, never merged."""
    title: str = ""
    """Name in reports."""

    @model_validator(mode="after")
    def _one_form(self) -> JudgeSpec:
        if sum(map(bool, (self.guideline, self.guidelines, self.ask))) != 1:
            message = "needs either `guideline`, several `guidelines` or a question of its own (`ask`), and one alone"
            raise ValueError(message)
        if self.ask and not self.defect:
            message = 'asks a question of its own and needs `defect` beside it, e.g. `defect: "== no"`'
            raise ValueError(message)
        if sum(map(bool, (self.model, self.models, self.rule, self.callable))) != 1:
            message = "needs either `model`, several `models`, `rule` or `callable`, and one alone"
            raise ValueError(message)
        if self.callable and not self.version:
            message = 'is a function and needs `version`, which its author raises when its labels change, e.g. `"1.0"`'
            raise ValueError(message)
        return self._no_stray_keys()

    def _no_stray_keys(self) -> JudgeSpec:
        if not self.callable and (self.version or self.timeout or self.env):
            message = "has `version`, `timeout` or `env`, which belong to `callable`"
            raise ValueError(message)
        if self.votes is not None and not (self.model or self.models):
            message = "has `votes`, which only a model can give: a rule or a function says the same each time"
            raise ValueError(message)
        return self


class AnnotatorSpec(Spec):
    """Labels that stand in a column of the recorded file, or a person who labels by hand."""

    who: AnnotatorKind
    """Kind of annotator: `person`, `model` or `rule`."""
    guideline: str = ""
    """Name of the guideline; optional if there is only one."""
    column: str = ""
    """Column of the recorded file; omit it for a person who labels by hand, on a page or in a label file."""
    question: str = ""
    """Question that the column answers, for a guideline with several."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """How this column writes labels (`{good: 5}`); overrides the study's `spelling`."""
    title: str = ""
    """Name in reports."""
    groups: dict[str, Filled] = Field(default_factory=dict)
    """Groups of a person by attribute (`language: de`): agreement is reported within and across groups."""

    @model_validator(mode="after")
    def _by_hand_or_recorded(self) -> AnnotatorSpec:
        if not self.column and self.who is not AnnotatorKind.PERSON:
            message = f"needs `column`, where its labels stand; only people label by hand, and `who` is `{self.who}`"
            raise ValueError(message)
        if self.spelling and not self.column:
            message = "has `spelling` and no `column`: it says how a column writes labels; add `column` or take it out"
            raise ValueError(message)
        if self.groups and self.who is not AnnotatorKind.PERSON:
            message = f"has `groups`, which say what a person is, and `who` is `{self.who}`; take one of the two out"
            raise ValueError(message)
        return self
