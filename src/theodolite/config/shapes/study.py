"""Shapes of a study, of a scenario pack and of the files beside them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from theodolite.config.shapes.applications import AnyApplication
from theodolite.config.shapes.base import Filled, OneOrMore, Shape, Word, YesNo
from theodolite.config.shapes.connection import ConnectionShape
from theodolite.config.shapes.guidelines import AnnotatorShape, GuidelineShape, JudgeShape
from theodolite.config.shapes.instruments import QuestionnaireShape, SchemaShape
from theodolite.config.shapes.scenarios import LevelName, PersonasShape, ScenarioShape
from theodolite.config.shapes.series import SeriesForm
from theodolite.config.shapes.trees import TreeForm
from theodolite.domain.choices import Assignment, Identification, MeanCorrection, RateCorrection, TopicWeight
from theodolite.domain.model import CacheUse, ModelKind

UserTypeName = Literal["adversarial", "everyday", "domain_expert"]
"""Types of users that a level may call for."""


class PriceShape(Shape):
    """What a model costs."""

    input: float = Field(ge=0)
    """US dollars for a million tokens read."""
    output: float = Field(ge=0)
    """US dollars for a million tokens written."""
    as_of: str = ""
    """Day of the price list, `YYYY-MM-DD`."""


class ModelShape(Shape):
    """A language model behind an address, or a script in its place."""

    kind: ModelKind | None = None
    """Form in which it is asked: `openai` (Chat Completions), `anthropic` (Messages), told by the address; or
    `inspect` (any provider of Inspect's)."""
    url: str = ""
    """Base address, up to and including `/v1`; a query for all calls, e.g. `?api-version=...`, stands here."""
    name: str = ""
    """Name that the endpoint knows the model by."""
    key: str = ""
    """Name of the environment variable that holds the key; never the key itself."""
    key_header: str = ""
    """Header that carries the key, e.g. `api-key`, told by the addresses of Anthropic and Azure; where left out it
    stands in `Authorization` as a bearer token."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Further fields of every request, e.g. `temperature: 0`; `null` takes a field out."""
    price: PriceShape | None = None
    """US dollars for a million tokens; known prices are filled in."""
    parallel: int = Field(default=256, ge=1)
    """Calls in flight at most; how many the endpoint bears is found out below that."""
    rpm: int | None = Field(default=None, ge=1)
    """Requests begun in any minute at most."""
    tpm: int | None = Field(default=None, ge=1)
    """Tokens, read and written, in any minute at most."""
    timeout: float = Field(default=60.0, gt=0)
    """Patience for one attempt; seconds."""
    deadline: float = Field(default=600.0, gt=0)
    """Patience for all attempts of a call and the pauses between them; seconds."""
    attempts: int = Field(default=5, ge=1)
    """Tries of one call at most; "too many requests" spends none, up to eight for each, within `deadline`."""
    structured: YesNo | None = None
    """Whether the form of an answer is sent as a JSON Schema: `no`, or `yes` and fail where it is refused; where left
    out it is sent to endpoints that take it."""
    stream: YesNo = False
    """Whether replies are asked for piece by piece, for endpoints that give none in one piece."""
    cache: CacheUse = CacheUse.NO
    """Whether equal requests are answered from the cache: `yes`, `no`, or `all` (as an application under test too)."""
    connection: ConnectionShape | None = None
    """Proxy and certificates of its calls, in place of those of the study."""
    script: list[Filled] = Field(default_factory=list)
    """Replies given in turn in place of a model's; results are labelled as scripted."""

    @field_validator("cache", mode="before")
    @classmethod
    def _cache_in_words(cls, value: Any) -> Any:
        return {"true": "yes", "false": "no"}.get(str(value).lower(), value)

    @model_validator(mode="after")
    def _one_form(self) -> ModelShape:
        if self.script and self.url:
            message = "has a `url` and a `script`; keep one of them"
            raise ValueError(message)
        if self.kind is ModelKind.INSPECT and not self.script:
            return self._named_for_inspect()
        if not self.script and not (self.url and self.name):
            message = "needs `url` and `name` (or `script`, replies that stand in for a model)"
            raise ValueError(message)
        return self

    def _named_for_inspect(self) -> ModelShape:
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


class RiskShape(Shape):
    """A risk that the study looks for."""

    taxonomy: str = ""
    """Identifier in a taxonomy, e.g. `ai-600-1/information-integrity`."""
    description: str = ""
    """What it is, in words."""
    identified_by: Identification = Identification.DIALOGUE
    """What shows it: `dialogue`, `questionnaire` or `questionnaire and dialogue`."""
    shown_by: list[Filled] = Field(default_factory=list)
    """Defect rules (`guideline.rule`, or all of one side of a guardrail: `prohibited_released`, `permitted_withheld`)
    and answers of testers (`questionnaire.question >= 7`) that show it."""


class TopicShape(Shape):
    """Something in some scenarios that people may not want to meet."""

    about: Filled
    """What they meet, in words that say it and do not hint at it; people read this before they begin."""
    weight: TopicWeight = TopicWeight.MODERATE
    """How much it may weigh on people: `light`, `moderate` or `heavy`."""


class ReferenceShape(Shape):
    """Recorded final labels that rates and judges are held against."""

    column: Filled
    """Column of the recorded file."""
    guideline: str = ""
    """Guideline that they answer; may be left out where there is one alone."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """How this column writes labels; overrides the study's `spelling`."""


Share = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]]
"""Two counts: a part and its whole."""


class CalibrationShape(Shape):
    """What a judge got right on labelled dialogues that are no part of the study."""

    caught: Share
    """Defects that it called a defect, and all of them: `[180, 200]`."""
    passed: Share
    """Sound dialogues that it passed, and all of them: `[140, 200]`."""
    source: Filled = Field(alias="from")
    """Where these were labelled, in words; the report says it."""

    @model_validator(mode="after")
    def _parts_of_their_whole(self) -> CalibrationShape:
        wrong = [name for name in ("caught", "passed") if getattr(self, name)[0] > getattr(self, name)[1]]
        if wrong:
            message = f"`{wrong[0]}` holds a part and its whole, e.g. [180, 200]; got {list(getattr(self, wrong[0]))}"
            raise ValueError(message)
        return self


class CorrectionShape(Shape):
    """How one judge's numbers are corrected by what people found."""

    rate: RateCorrection = RateCorrection.VERDICT_STRATIFIED
    """Its rates: `verdict-stratified` by labels of a drawn sample, `rogan-gladen` by `calibrations`, or `none`."""
    mean: MeanCorrection = MeanCorrection.POWERED
    """Means of its scores: `ppi++` by labels of a drawn sample, or `none`."""
    calibrations: dict[str, CalibrationShape] = Field(default_factory=dict)
    """With `rogan-gladen`: defect rule to what the judge got right elsewhere; `defect` where there is one rule."""


class SamplingShape(Shape):
    """How many dialogues, and which."""

    dialogues: int | None = Field(default=None, ge=1)
    """Dialogues with each application; each persona and script once where left out."""
    seed: int = 1
    """Every draw hangs on it."""
    repeats: int = Field(default=1, ge=1)
    """Repetitions of each persona or script where `dialogues` is left out."""


class BudgetShape(Shape):
    """Where a run stops."""

    usd: float | None = Field(default=None, gt=0)
    """US dollars."""
    tokens: int | None = Field(default=None, gt=0)
    """Tokens read and written together."""
    calls: int | None = Field(default=None, gt=0)
    """Calls to models and applications."""


class LevelShape(Shape):
    """What one level of testing is to hold."""

    people: int = Field(default=0, ge=0)
    """Testers."""
    sessions: int = Field(default=1, ge=1)
    """Sessions of each tester."""
    minutes: int = Field(default=0, ge=0)
    """Length of a session at most; 0 for no limit."""
    repeats: int = Field(default=1, ge=1)
    """Repetitions of each script or persona."""
    quotas: dict[UserTypeName, int] = Field(default_factory=dict)
    """How many people are to be `adversarial`, `everyday` or `domain_expert`; each type is balanced by itself."""
    opens: str = ""
    """When sessions of the level may begin, e.g. `2026-03-02T09:00`; the event's own time where left out."""
    closes: str = ""
    """When they end; likewise."""
    attacks: list[Filled] = Field(default_factory=list)
    """For `red_teaming`: strategies of simulated red teamers in all scenarios that name none of their own."""
    attacker: str = ""
    """For `red_teaming`: the model that plays strategies which need one (`paraphrase`, `translation`, `adaptive`)."""


class OrderShape(Shape):
    """What people's annotation shows in several orders, so that the effect of order can be told."""

    questions: Literal["written", "reversed", "balanced"] = "written"
    """Half of the sittings ask in reverse (`reversed`), or each question stands at each place equally often."""
    options: YesNo = False
    """Whether half of the sittings show named answers in reverse."""
    turns: YesNo = False
    """Whether half of the sittings ask about the last turn first."""
    dialogues: YesNo = False
    """Whether half of the annotators meet the queue's dialogues from its end."""


class AnnotationShape(Shape):
    """How people's annotation is organised."""

    passes: int = Field(default=1, ge=1)
    """Different annotators for each dialogue."""
    route: Literal["any_violation", "all", "adjudicated"] = "any_violation"
    """When a dialogue goes to all categories: one sees a violation, `all` do, or a review finds it (`adjudicated`)."""
    quality_check: float = Field(default=0.0, ge=0, le=1)
    """Share of annotations that seniors review; 0 to 1."""
    schema_: str = Field(default="", alias="schema")
    """Name of the annotation schema: in this file, in `schemas/`, or shipped (`aria-five-categories`)."""
    reserve_min: int = Field(default=60, ge=1)
    """How long a dialogue stays reserved for one annotator; minutes."""
    most_share: float = Field(default=1.0, ge=0, le=1)
    """Largest share of a category's dialogues that one annotator may do; 0 to 1."""
    apart: bool = False
    """Whether one dialogue's categories are annotated by different people."""
    practice: YesNo = True
    """Whether annotators go through the examples to practise on, with feedback, before they get work; once a study."""
    pass_mark: float = Field(default=0.8, ge=0, le=1)
    """Share of a qualification's questions that must be right; 0 for no test."""
    attempts: int = Field(default=3, ge=1)
    """Attempts at a qualification before a senior must let in."""
    judge_passes: int = Field(default=0, ge=0)
    """Passes of each dialogue that promoted judges may give in place of people; fewer than `passes`."""
    order: OrderShape = Field(default_factory=OrderShape)
    """What is shown in several orders."""

    @model_validator(mode="after")
    def _a_pass_is_left_to_people(self) -> AnnotationShape:
        if self.judge_passes >= self.passes:
            message = (
                f"`judge_passes` is {self.judge_passes} of {self.passes} `passes`; at least one pass stays a person's, "
                f"so that it is at most {self.passes - 1}"
            )
            raise ValueError(message)
        return self


class EventShape(Shape):
    """When people take part."""

    opens: str = ""
    """Local time, e.g. `2026-03-02T09:00`."""
    closes: str = ""
    """Local time, e.g. `2026-03-06T17:00`."""
    zone: str = "UTC"
    """Time zone, e.g. `Europe/Berlin`."""


class BreaksShape(Shape):
    """When testers are reminded to rest, and when it is enough."""

    every: int = Field(default=0, ge=0)
    """Minutes in sessions between two reminders; 0 for none."""
    most: int = Field(default=0, ge=0)
    """Minutes in sessions that one person spends in the study at most; 0 for no limit."""
    most_severe: int = Field(default=0, ge=0)
    """Broken guardrails that one person meets at most; 0 for no limit."""


class ScreeningShape(Shape):
    """What somebody is asked before taking part."""

    ask: Filled
    """The question, to be answered with yes or no."""
    wanted: YesNo = True
    """The answer that lets in: `yes` or `no`."""


class PackShape(Shape):
    """A scenario pack: what several studies share."""

    pack: str = ""
    """Name of the pack."""
    edition: Word = ""
    """Edition that its author gave it."""
    about: str = ""
    """What it is and who wrote it."""
    warning: str = ""
    """What people may meet in its scenarios that can be unpleasant, where a study says nothing of its own."""
    scenarios: dict[str, ScenarioShape] = Field(default_factory=dict)
    """Situations and goals by name."""
    personas: dict[str, PersonasShape] = Field(default_factory=dict)
    """Persona groups by name."""
    guidelines: dict[str, GuidelineShape] = Field(default_factory=dict)
    """Guidelines by name."""
    risks: dict[str, RiskShape] = Field(default_factory=dict)
    """Risks by name."""
    topics: dict[str, TopicShape] = Field(default_factory=dict)
    """Sensitive topics by name; scenarios name those that they touch."""
    schemas: dict[str, SchemaShape] = Field(default_factory=dict)
    """Annotation schemas by name."""
    schema_: str = Field(default="", alias="schema")
    """Annotation schema by which people annotate where a study has `annotation` and names none there."""
    questionnaires: dict[str, QuestionnaireShape] = Field(default_factory=dict)
    """Questionnaires by name."""


class StudyShape(Shape):
    """A study: what is to be measured, on what, by whom."""

    study: Filled
    """Name of the study, e.g. `support-bot`."""
    title: str = ""
    """Heading of the report."""
    about: str = ""
    """One or two sentences for the report's first screen."""
    language: Word = "en"
    """Language that its texts are written in, as a tag; `translations/<language>.yaml` holds others."""
    series: SeriesForm = ""
    """Evaluation series that the study belongs to: a name (`series/<name>.yaml`), or the series written out."""
    pack: OneOrMore | None = None
    """Scenario pack or packs that the study builds on, e.g. `aria/tv-spoilers`."""
    connection: ConnectionShape | None = None
    """Proxy and certificates of all calls to models and HTTP applications."""
    models: dict[str, ModelShape] = Field(default_factory=dict)
    """Language models by name."""
    applications: dict[str, AnyApplication] = Field(default_factory=dict)
    """The things under test by name."""
    scenarios: dict[str, ScenarioShape] = Field(default_factory=dict)
    """Situations and goals by name."""
    personas: dict[str, PersonasShape] = Field(default_factory=dict)
    """Persona groups by name."""
    guidelines: dict[str, GuidelineShape] = Field(default_factory=dict)
    """Guidelines by name; `guidelines/<name>.yaml` and shipped ones need not be repeated."""
    judges: dict[str, JudgeShape] = Field(default_factory=dict)
    """Models and rules that label, by name."""
    annotators: dict[str, AnnotatorShape] = Field(default_factory=dict)
    """Recorded labels by annotator."""
    spelling: dict[str, Word] = Field(default_factory=dict)
    """What the recorded file writes to the label that is meant."""
    reference: ReferenceShape | None = None
    """Recorded final labels."""
    corrections: dict[str, CorrectionShape] = Field(default_factory=dict)
    """How judges' numbers are corrected by what people found, by judge."""
    groups: list[Filled] = Field(default_factory=list)
    """What dialogues are split by: columns, `scenario`, `purpose` of scripts, `strategy` or `aim` of attacks."""
    risks: dict[str, RiskShape] = Field(default_factory=dict)
    """Risks that the study looks for."""
    topics: dict[str, TopicShape] = Field(default_factory=dict)
    """Sensitive topics that people may choose not to meet, by name; scenarios name those that they touch."""
    tree: TreeForm | None = None
    """Measurement tree or trees: names (`by-guideline`, `aria-six-levels`, a file in `trees/`), or one written out."""
    sampling: SamplingShape = Field(default_factory=SamplingShape)
    """How many dialogues, and the seed of every draw."""
    budget: BudgetShape = Field(default_factory=BudgetShape)
    """Limits at which a run stops."""
    levels: dict[LevelName, LevelShape] = Field(default_factory=dict)
    """What each level of testing is to hold; model testing alone where left out."""
    assign: Assignment = Assignment.WITHIN_SUBJECTS
    """Which applications one tester meets: `within_subjects` (all) or `between_subjects` (one)."""
    annotation: AnnotationShape | None = None
    """How people's annotation is organised."""
    schemas: dict[str, SchemaShape] = Field(default_factory=dict)
    """Annotation schemas by name; `schemas/<name>.yaml` and shipped ones need not be repeated."""
    questionnaires: dict[str, QuestionnaireShape] = Field(default_factory=dict)
    """Questionnaires by name; `questionnaires/<name>.yaml` and shipped ones need not be repeated."""
    event: EventShape | None = None
    """When people take part."""
    consent: str = ""
    """File with the text that people consent to."""
    warning: str = ""
    """File with what people may meet that can be unpleasant; they acknowledge it before they test."""
    breaks: BreaksShape | None = None
    """When testers are reminded to rest, and when it is enough."""
    screening: list[ScreeningShape] = Field(default_factory=list)
    """What people are asked before they take part."""
    contact: str = ""
    """Where people can turn."""
