"""Specs of a study, of a scenario pack and of the files beside them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from theodolite.config.specs.applications import AnyApplication
from theodolite.config.specs.base import Filled, OneOrMore, Spec, Word, YesNo
from theodolite.config.specs.connection import ConnectionSpec
from theodolite.config.specs.guidelines import AnnotatorSpec, GuidelineSpec, JudgeSpec
from theodolite.config.specs.instruments import AnnotationSchemaSpec, QuestionnaireSpec
from theodolite.config.specs.scenarios import LevelName, PersonaGroupSpec, ScenarioSpec
from theodolite.config.specs.series import SeriesForm
from theodolite.config.specs.trees import TreeForm
from theodolite.domain.choices import Assignment, Identification, MeanCorrection, RateCorrection, TopicWeight
from theodolite.domain.model import CacheUse, ModelKind

UserTypeName = Literal["adversarial", "everyday", "domain_expert"]
"""Types of users that a level may call for."""


class PriceSpec(Spec):
    """What a model costs."""

    input: float = Field(ge=0)
    """US dollars per million input tokens."""
    output: float = Field(ge=0)
    """US dollars per million output tokens."""
    as_of: str = ""
    """Day of the price list, `YYYY-MM-DD`."""


class ModelSpec(Spec):
    """A language model behind an address, or a script in its place."""

    kind: ModelKind | None = None
    """API: `openai` (Chat Completions), `anthropic` (Messages), default by address; or `inspect` (any provider of
    Inspect)."""
    url: str = ""
    """Base address, up to and including `/v1`, with a query string for all calls, e.g. `?api-version=...`."""
    name: str = ""
    """Name of the model at the endpoint."""
    key: str = ""
    """Name of the environment variable with the key; never the key itself."""
    key_header: str = ""
    """Header for the key, e.g. `api-key`; default: by address for Anthropic and Azure, else a bearer token in
    `Authorization`."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Further fields of every request, e.g. `temperature: 0`; `null` removes a field."""
    price: PriceSpec | None = None
    """US dollars per million tokens; known prices are filled in."""
    parallel: int = Field(default=256, ge=1)
    """Maximum number of concurrent calls; the actual number adapts to the endpoint."""
    rpm: int | None = Field(default=None, ge=1)
    """Maximum number of requests per minute."""
    tpm: int | None = Field(default=None, ge=1)
    """Maximum number of input and output tokens per minute."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one attempt; seconds."""
    deadline: float = Field(default=600.0, gt=0)
    """Time limit for all attempts of a call including pauses; seconds."""
    attempts: int = Field(default=5, ge=1)
    """Maximum number of attempts; "too many requests" does not count, up to eight times per attempt, within
    `deadline`."""
    structured: YesNo | None = None
    """Structured output by JSON Schema: `no`, or `yes` and fail if rejected; default: if the endpoint supports it."""
    stream: YesNo = False
    """Whether replies are streamed, for endpoints that require it."""
    cache: CacheUse = CacheUse.NO
    """Whether identical requests use the cache: `yes`, `no`, or `all` (also as an application under test)."""
    connection: ConnectionSpec | None = None
    """Proxy and certificates of its calls; replaces the study's `connection`."""
    script: list[Filled] = Field(default_factory=list)
    """Fixed replies in place of a model, used in turn; results are labelled as stubbed."""

    @field_validator("cache", mode="before")
    @classmethod
    def _cache_in_words(cls, value: Any) -> Any:
        return {"true": "yes", "false": "no"}.get(str(value).lower(), value)

    @model_validator(mode="after")
    def _one_form(self) -> ModelSpec:
        if self.script and self.url:
            message = "has a `url` and a `script`; keep one of them"
            raise ValueError(message)
        if self.kind is ModelKind.INSPECT and not self.script:
            return self._named_for_inspect()
        if not self.script and not (self.url and self.name):
            message = "needs `url` and `name` (or `script`, replies that stand in for a model)"
            raise ValueError(message)
        return self

    def _named_for_inspect(self) -> ModelSpec:
        provider, _, name = self.name.partition("/")
        if not (provider and name):
            message = "is asked through Inspect and needs a `name` with its provider, e.g. `google/gemini-2.5-pro`"
            raise ValueError(message)
        if self.connection:
            message = (
                "is asked through Inspect, which makes its own connections; leave `connection` out, and set"
                " `HTTPS_PROXY` or `SSL_CERT_FILE` in the environment"
            )
            raise ValueError(message)
        if self.key_header:
            message = "is asked through Inspect, which chooses the header of the key; leave `key_header` out"
            raise ValueError(message)
        return self


class RiskSpec(Spec):
    """A risk that the study looks for."""

    taxonomy: str = ""
    """Identifier in a taxonomy, e.g. `ai-600-1/information-integrity`."""
    description: str = ""
    """Description."""
    identified_by: Identification = Identification.DIALOGUE
    """Source of evidence: `dialogue`, `questionnaire` or `questionnaire and dialogue`."""
    shown_by: list[Filled] = Field(default_factory=list)
    """Defect rules (`guideline.rule`, or all of one side of a guardrail: `prohibited_released`, `permitted_withheld`)
    and answers of testers (`questionnaire.question >= 7`) that show it."""


class TopicSpec(Spec):
    """Something in some scenarios that people may not want to meet."""

    about: Filled
    """What they meet, in words that say it and do not hint at it; people read this before they begin."""
    weight: TopicWeight = TopicWeight.MODERATE
    """How much it may weigh on people: `light`, `moderate` or `heavy`."""


class ReferenceSpec(Spec):
    """Recorded final labels that rates and judges are held against."""

    column: Filled
    """Column of the recorded file."""
    guideline: str = ""
    """Guideline of the labels; optional if there is only one."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """How this column writes labels; overrides the study's `spelling`."""


Share = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]]
"""Two counts: a part and its whole."""


class CalibrationSpec(Spec):
    """What a judge got right on labelled dialogues that are no part of the study."""

    caught: Share
    """Defects that the judge detected, and all defects: `[180, 200]`."""
    passed: Share
    """Non-defects that the judge passed, and all non-defects: `[140, 200]`."""
    source: Filled = Field(alias="from")
    """Description of the validation, shown in the report."""

    @model_validator(mode="after")
    def _parts_of_their_whole(self) -> CalibrationSpec:
        wrong = [name for name in ("caught", "passed") if getattr(self, name)[0] > getattr(self, name)[1]]
        if wrong:
            message = f"`{wrong[0]}` holds a part and its whole, e.g. [180, 200]; got {list(getattr(self, wrong[0]))}"
            raise ValueError(message)
        return self


class CorrectionSpec(Spec):
    """How one judge's numbers are corrected by what people found."""

    rate: RateCorrection = RateCorrection.VERDICT_STRATIFIED
    """Its rates: `verdict-stratified` by labels of a drawn sample, `rogan-gladen` by `calibrations`, or `none`."""
    mean: MeanCorrection = MeanCorrection.POWERED
    """Means of its scores: `ppi++` by labels of a drawn sample, or `none`."""
    calibrations: dict[str, CalibrationSpec] = Field(default_factory=dict)
    """With `rogan-gladen`: results of a validation elsewhere, by defect rule; `defect` if there is one rule."""


class SamplingSpec(Spec):
    """How many dialogues, and which."""

    dialogues: int | None = Field(default=None, ge=1)
    """Number of dialogues with each application; default: each persona and script once."""
    seed: int = 1
    """Random seed."""
    repeats: int = Field(default=1, ge=1)
    """Repetitions of each persona or script without `dialogues`."""


class BudgetSpec(Spec):
    """Where a run stops."""

    usd: float | None = Field(default=None, gt=0)
    """US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    """Input and output tokens together."""
    calls: int | None = Field(default=None, gt=0)
    """Calls to models and applications."""


class LevelSpec(Spec):
    """What one level of testing is to hold."""

    people: int = Field(default=0, ge=0)
    """Number of testers."""
    sessions: int = Field(default=1, ge=1)
    """Number of sessions per tester."""
    minutes: int = Field(default=0, ge=0)
    """Maximum length of a session; 0 for no limit."""
    repeats: int = Field(default=1, ge=1)
    """Repetitions of each script or persona."""
    quotas: dict[UserTypeName, int] = Field(default_factory=dict)
    """Number of people who are `adversarial`, `everyday` or `domain_expert`; each type is balanced separately."""
    opens: str = ""
    """Start of sessions of the level, e.g. `2026-03-02T09:00`; default: the event's time."""
    closes: str = ""
    """End of sessions; default: the event's time."""
    attacks: list[Filled] = Field(default_factory=list)
    """For `red_teaming`: strategies of simulated red teamers in all scenarios without `attacks`."""
    attacker: str = ""
    """For `red_teaming`: the model for strategies that need one (`paraphrase`, `translation`, `adaptive`)."""


class OrderSpec(Spec):
    """What people's annotation shows in several orders, so that the effect of order can be told."""

    questions: Literal["written", "reversed", "balanced"] = "written"
    """Order of questions: reversed in half of the annotations (`reversed`), or each question at each position
    equally often."""
    options: YesNo = False
    """Whether half of the annotations show named answers in reverse."""
    turns: YesNo = False
    """Whether half of the annotations ask about the last turn first."""
    dialogues: YesNo = False
    """Whether half of the annotators start at the end of the queue."""


class AnnotationSpec(Spec):
    """Organisation of human annotation."""

    passes: int = Field(default=1, ge=1)
    """Number of different annotators for each dialogue."""
    route: Literal["any_violation", "all", "adjudicated"] = "any_violation"
    """Condition for all categories: one annotator sees a violation, `all` do, or a review confirms it
    (`adjudicated`)."""
    quality_check: float = Field(default=0.0, ge=0, le=1)
    """Share of annotations that seniors review; 0 to 1."""
    schema_: str = Field(default="", alias="schema")
    """Name of the annotation schema: in this file, in `schemas/`, or shipped (`aria-five-categories`)."""
    reserve_min: int = Field(default=60, ge=1)
    """Reservation time of a dialogue for one annotator; minutes."""
    most_share: float = Field(default=1.0, ge=0, le=1)
    """Maximum share of a category's dialogues per annotator; 0 to 1."""
    apart: bool = False
    """Whether one dialogue's categories are annotated by different people."""
    practice: YesNo = True
    """Whether annotators practise on examples, with feedback, before their first dialogue in a study."""
    pass_mark: float = Field(default=0.8, ge=0, le=1)
    """Required share of correct answers in a qualification test; 0 for no test."""
    attempts: int = Field(default=3, ge=1)
    """Maximum number of attempts at a qualification test; after that a senior decides."""
    judge_passes: int = Field(default=0, ge=0)
    """Number of annotations of each dialogue by promoted judges in place of people; fewer than `passes`."""
    order: OrderSpec = Field(default_factory=OrderSpec)
    """Variation of the order of presentation."""

    @model_validator(mode="after")
    def _a_pass_is_left_to_people(self) -> AnnotationSpec:
        if self.judge_passes >= self.passes:
            message = (
                f"`judge_passes` is {self.judge_passes} of {self.passes} `passes`; at least one pass stays a person's, "
                f"so that it is at most {self.passes - 1}"
            )
            raise ValueError(message)
        return self


class EventSpec(Spec):
    """Times of the event."""

    opens: str = ""
    """Local time, e.g. `2026-03-02T09:00`."""
    closes: str = ""
    """Local time, e.g. `2026-03-06T17:00`."""
    zone: str = "UTC"
    """Time zone, e.g. `Europe/Berlin`."""


class BreaksSpec(Spec):
    """Reminders to take a break, and limits for testers."""

    every: int = Field(default=0, ge=0)
    """Session minutes between two reminders; 0 for none."""
    most: int = Field(default=0, ge=0)
    """Maximum number of session minutes per person; 0 for no limit."""
    most_severe: int = Field(default=0, ge=0)
    """Maximum number of broken guardrails per person; 0 for no limit."""


class ScreeningSpec(Spec):
    """What somebody is asked before taking part."""

    ask: Filled
    """The question, with the answers yes and no."""
    wanted: YesNo = True
    """The required answer: `yes` or `no`."""


class PackSpec(Spec):
    """A scenario pack: what several studies share."""

    pack: str = ""
    """Name of the pack."""
    edition: Word = ""
    """Edition, set by its author."""
    about: str = ""
    """What it is and who wrote it."""
    warning: str = ""
    """What people may meet in its scenarios that can be unpleasant, where a study says nothing of its own."""
    scenarios: dict[str, ScenarioSpec] = Field(default_factory=dict)
    """Situations and goals by name."""
    personas: dict[str, PersonaGroupSpec] = Field(default_factory=dict)
    """Persona groups by name."""
    guidelines: dict[str, GuidelineSpec] = Field(default_factory=dict)
    """Guidelines by name."""
    risks: dict[str, RiskSpec] = Field(default_factory=dict)
    """Risks by name."""
    topics: dict[str, TopicSpec] = Field(default_factory=dict)
    """Sensitive topics by name; scenarios name those that they touch."""
    schemas: dict[str, AnnotationSchemaSpec] = Field(default_factory=dict)
    """Annotation schemas by name."""
    schema_: str = Field(default="", alias="schema")
    """Annotation schema by which people annotate where a study has `annotation` and names none there."""
    questionnaires: dict[str, QuestionnaireSpec] = Field(default_factory=dict)
    """Questionnaires by name."""


class StudySpec(Spec):
    """A study: what is to be measured, on what, by whom."""

    study: Filled
    """Name of the study, e.g. `support-bot`."""
    title: str = ""
    """Heading of the report."""
    about: str = ""
    """One or two sentences for the report's first screen."""
    language: Word = "en"
    """Language of its texts, as a tag; translations are in `translations/<language>.yaml`."""
    series: SeriesForm = ""
    """Evaluation series of the study: a name (`series/<name>.yaml`), or the series itself."""
    pack: OneOrMore | None = None
    """Scenario pack or packs that the study builds on, e.g. `aria/tv-spoilers`."""
    connection: ConnectionSpec | None = None
    """Proxy and certificates of all calls to models and HTTP applications."""
    models: dict[str, ModelSpec] = Field(default_factory=dict)
    """Language models by name."""
    applications: dict[str, AnyApplication] = Field(default_factory=dict)
    """Applications under test, by name."""
    scenarios: dict[str, ScenarioSpec] = Field(default_factory=dict)
    """Situations and goals by name."""
    personas: dict[str, PersonaGroupSpec] = Field(default_factory=dict)
    """Persona groups by name."""
    guidelines: dict[str, GuidelineSpec] = Field(default_factory=dict)
    """Guidelines by name; `guidelines/<name>.yaml` and shipped ones need not be repeated."""
    judges: dict[str, JudgeSpec] = Field(default_factory=dict)
    """Models and rules that label dialogues, by name."""
    annotators: dict[str, AnnotatorSpec] = Field(default_factory=dict)
    """Recorded labels by annotator."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """Values in the recorded file, mapped to labels."""
    reference: ReferenceSpec | None = None
    """Recorded final labels."""
    corrections: dict[str, CorrectionSpec] = Field(default_factory=dict)
    """Corrections of a judge's numbers by human labels, by judge."""
    groups: list[Filled] = Field(default_factory=list)
    """Groups for results: columns, `scenario`, `purpose` of scripts, `strategy` or `aim` of attacks."""
    risks: dict[str, RiskSpec] = Field(default_factory=dict)
    """Risks that the study looks for."""
    topics: dict[str, TopicSpec] = Field(default_factory=dict)
    """Sensitive topics for content opt-outs, by name; scenarios name their topics."""
    tree: TreeForm | None = None
    """Measurement tree or trees: names (`by-guideline`, `aria-six-levels`, a file in `trees/`), or a tree itself."""
    sampling: SamplingSpec = Field(default_factory=SamplingSpec)
    """Number of dialogues, and the random seed."""
    budget: BudgetSpec = Field(default_factory=BudgetSpec)
    """Limits at which a run stops."""
    levels: dict[LevelName, LevelSpec] = Field(default_factory=dict)
    """Levels of testing; default: model testing only."""
    assign: Assignment = Assignment.WITHIN_SUBJECTS
    """Applications for each tester: `within_subjects` (all) or `between_subjects` (one)."""
    annotation: AnnotationSpec | None = None
    """Organisation of human annotation."""
    schemas: dict[str, AnnotationSchemaSpec] = Field(default_factory=dict)
    """Annotation schemas by name; `schemas/<name>.yaml` and shipped ones need not be repeated."""
    questionnaires: dict[str, QuestionnaireSpec] = Field(default_factory=dict)
    """Questionnaires by name; `questionnaires/<name>.yaml` and shipped ones need not be repeated."""
    event: EventSpec | None = None
    """Times of the event."""
    consent: str = ""
    """File with the consent text."""
    warning: str = ""
    """File with the content warning; people accept it before they test."""
    breaks: BreaksSpec | None = None
    """Reminders to take a break, and limits for testers."""
    screening: list[ScreeningSpec] = Field(default_factory=list)
    """Screening questions before the consent."""
    contact: str = ""
    """Contact for participants."""
