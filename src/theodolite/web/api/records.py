"""Records in responses of the API; field names are those of exports."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, JsonValue

from theodolite.domain.dialogue import Level

MOST = 200
"""Maximum number of records per page; count."""


_ANSWER: dict[str, JsonValue] = {
    "question": "q1",
    "turn": 1,
    "value": "yes",
    "note": "It names the ending.",
    "quotes": ["He dies."],
}
"""An answer as the document shows it."""


def _storable(text: str) -> str:
    """Return a text that databases can store.

    Raises:
        ValueError: If it has characters that none can: half of a surrogate pair, or a null.
    """
    if "\0" in text or (not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text)):
        message = "expected a text without null characters and without halves of surrogate pairs"
        raise ValueError(message)
    return text


def _value_text(value: object) -> object:
    """Return a number as the text that a form would send."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return format(value, "g" if isinstance(value, float) else "") if is_number else value


Text = Annotated[str, AfterValidator(_storable)]
"""A text that databases can store."""

AnswerValue = Annotated[Text, BeforeValidator(_value_text), Field(min_length=1, max_length=20_000)]
"""Value of an answer: a text, or a number."""

QuoteText = Annotated[Text, Field(max_length=2000)]
"""Words of a dialogue."""


class ProblemFault(Schema):
    """An error in a request."""

    where: str = Field(description="Place in the request, e.g. `query.limit`.")
    expected: str
    came: str | None = None


class ProblemDetails(Schema):
    """An error as problem details (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = Field(description="Expected and received input, and what to do.")
    instance: str = Field(description="Path of the request.")
    errors: list[ProblemFault] = Field(default_factory=list)


class StudyRecord(Schema):
    """A study of the owner of the token."""

    id: str
    title: str
    roles: list[str]
    name: str | None = Field(None, description="Name in the study file; for organisers and analysts.")
    state: str | None = Field(None, description="State of the event; for organisers and analysts.")
    version: str | None = Field(None, description="Content hash of the published version; null before publication.")


class StudyList(Schema):
    """All studies of the owner of the token."""

    items: list[StudyRecord]


class UnitCounts(Schema):
    """Dialogues or annotations of a run; counts."""

    done: int
    failed: int
    total: int


class RunRecord(Schema):
    """A run with its progress and cost."""

    number: int
    study_version: str
    activity: str = Field(description="`running`, `stopped`, `finished` or a longer text.")
    started: datetime
    finished: datetime | None
    ends: datetime | None = Field(description="Estimated end at the present pace; null if unknown.")
    dialogues: UnitCounts
    annotations: UnitCounts
    cost_usd: float = Field(description="Cost of calls with a known price; US dollars.")
    unpriced_calls: int = Field(description="Calls of models without a known price; count.")


class RunList(Schema):
    """The runs of a study, the latest first."""

    items: list[RunRecord]


class DialogueRecord(Schema):
    """A completed dialogue without its turns."""

    id: str = Field(description="Opaque id, as in exports.")
    dialogue: str = Field(description="Label in the run, e.g. `p001`.")
    run: int
    application: str
    application_version: str
    scenario: str
    level: str
    tester_type: str
    persona: str | None
    case: str | None
    repeat: int
    n_turns: int
    ending: str
    groups: dict[str, str]


class TurnRecord(Schema):
    """One turn; texts are null if they are withheld."""

    turn: int
    prompt: str | None
    response: str | None
    context: str | None
    withheld: str | None = Field(description="Reason for missing texts; null if there are texts.")
    latency_s: float | None


class DialogueDetails(DialogueRecord):
    """A completed dialogue with its turns."""

    context: str | None
    turns: list[TurnRecord]


class DialogueList(Schema):
    """One page of dialogues."""

    items: list[DialogueRecord]
    next: str | None = Field(description="`cursor` of the next page; null on the last page.")


class QuoteRecord(Schema):
    """A quote of a turn."""

    turn: int | None
    text: str


class AnswerEntry(Schema):
    """The answer to one question, about the dialogue or a turn."""

    question: str
    turn: int | None
    outcome: str
    value: str | None
    replicate: int
    reason: str | None
    evidence: list[QuoteRecord]


class AnnotationRecord(Schema):
    """The answers of one annotator about one dialogue by one guideline."""

    id: str
    dialogue: str
    guideline: str
    guideline_version: str
    annotator: str = Field(description="Name of a judge, or the number of a person, e.g. `P001`.")
    annotator_kind: str
    revision: int
    answers: list[AnswerEntry]


class AnnotationList(Schema):
    """One page of annotations."""

    items: list[AnnotationRecord]
    next: str | None = Field(description="`cursor` of the next page; null on the last page.")


class PlaceRecord(Schema):
    """A question about the dialogue or a turn."""

    question: str = Field(description="Name of the question.", examples=["q1"])
    turn: int | None = Field(None, description="Number of the turn; null for the dialogue as a whole.")


class TaskTurn(Schema):
    """One turn of a blinded dialogue."""

    turn: int
    prompt: str
    response: str


class TaskReference(Schema):
    """Content of the scenario for the reference of annotators."""

    situation: str
    permitted: list[str] = Field(description="Content that the application may give.")
    prohibited: list[str] = Field(description="Content that the application must withhold.")
    facts: dict[str, str] = Field(description="Title and text of each piece of ground truth.")


class TaskDialogue(Schema):
    """A dialogue without its source: no application, level, tester, time or label."""

    name: str = Field(description="Name of the dialogue for this annotator alone.")
    turns: list[TaskTurn]
    material: str = Field(description="Source material of the application; empty for none.")
    withheld: str = Field(description="Reason for missing texts; empty if there are texts.")
    reference: TaskReference


class TaskQuestion(PlaceRecord):
    """A question of a task, in the order of the annotator's page."""

    text: str
    kind: str = Field(description="`categories`, `numbers`, `decimals` or `text`.")
    values: list[str] = Field(description="Accepted values; empty for decimals and texts.")
    lowest: int | None = Field(description="Lower end of a scale of numbers or decimals.")
    highest: int | None = Field(description="Upper end of a scale of numbers or decimals.")
    is_asked: bool = Field(description="Whether the saved answers open the question.")
    is_optional: bool = Field(description="Whether the question may stay without an answer.")
    condition: str = Field(description="Condition of a follow-up, e.g. `after Yes`; empty for other questions.")
    guidance: list[str]
    suggestion: str = Field(description="Answer of a judge as a suggestion; empty for none.")


class AnswerInput(Schema):
    """The answer to one question, about the dialogue or a turn."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_ANSWER]})

    question: str = Field(description="Name of the question.", max_length=200)
    turn: int | None = Field(None, ge=1, le=10**6, description="Number of the turn; null for the whole dialogue.")
    value: AnswerValue = Field(description="One of `values` of the question; a number or a text for other scales.")
    note: Text = Field("", max_length=2000, description="Reason for the answer.")
    quotes: list[QuoteText] = Field(default_factory=list, max_length=20, description="Quotes as evidence.")


class TaskRecord(Schema):
    """A task of an annotator: a blinded dialogue with the questions of one category."""

    id: str
    state: str = Field(description="`reserved`, `submitted`, `released`, `expired`, `offered` or `voided`.")
    until: datetime | None = Field(description="End of the reservation; null unless reserved.")
    submitted: datetime | None
    revision: int | None = Field(None, description="Number of the stored revision; only in answers to `write_answers`.")
    category: str = Field(description="Name of the guideline.")
    guideline_version: str = Field(description="Content hash of the guideline; answers must name the same version.")
    definition: str
    guidance: list[str]
    dialogue: TaskDialogue
    questions: list[TaskQuestion]
    answers: list[AnswerInput] = Field(description="Saved answers.")
    open: list[PlaceRecord] = Field(description="Questions without a required answer.")


class NextTask(Schema):
    """The task that an annotator should do next."""

    task: TaskRecord | None = Field(description="Null if no task is available.")


class TaskAnswers(Schema):
    """All answers of a task; they replace the saved ones."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"guideline_version": "9f2c...", "answers": [_ANSWER], "submit": True}]},
    )

    guideline_version: str = Field(description="`guideline_version` of the task.", max_length=200)
    answers: list[AnswerInput] = Field(max_length=5000)
    submit: bool = Field(True, description="Whether the task is submitted; `false` only saves the answers.")


class LabelInput(Schema):
    """A label from another tool."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="Name of the question.", max_length=200, examples=["q1"])
    turn: int | None = Field(None, ge=1, le=10**6, description="Number of the turn; null for the whole dialogue.")
    value: AnswerValue = Field(description="A value of the scale of the question.", examples=["yes"])
    reason: Text = Field("", max_length=2000, description="Reason for the answer.")


class LabelSet(Schema):
    """Labels of one dialogue by one guideline."""

    model_config = ConfigDict(extra="forbid")

    dialogue: Text = Field(description="Label of a dialogue, e.g. `p001`.", max_length=300, examples=["p001"])
    guideline: str = Field(description="Name of a guideline.", max_length=200)
    guideline_version: str = Field(description="Content hash of the guideline.", max_length=200)
    answers: list[LabelInput] = Field(min_length=1, max_length=5000)


class LabelsInput(Schema):
    """Labels of one person, stored all or none."""

    model_config = ConfigDict(extra="forbid")

    annotator: Text = Field(
        description="Name of the person; a program that labels is a judge of the study.",
        min_length=1,
        max_length=80,
        examples=["ana"],
    )
    annotations: list[LabelSet] = Field(min_length=1, max_length=MOST)


class ImportedLabels(Schema):
    """Result of an import; counts of annotations."""

    new: int
    revised: int
    unchanged: int


class MeasurementRecord(Schema):
    """A measurement."""

    id: str
    state: str = Field(description="`running`, `done` or `failed`.")
    version: str = Field(description="Content hash of the measured version of the study.")
    requested: datetime
    finished: datetime | None
    problem: str | None


class MeasurementList(Schema):
    """The measurements of a study, the latest first."""

    items: list[MeasurementRecord]


class SubmissionRecord(Schema):
    """An application that the team submitted."""

    id: str
    name: str
    state: str
    has_results: bool = Field(description="Whether the organisers shared results on it.")


class SubmissionList(Schema):
    """The submissions of the team."""

    items: list[SubmissionRecord]


class RunQuery(Schema):
    """Selects a run."""

    run: int = Field(0, ge=0, description="Number of the run; 0 for the run of the published version.")


class DialogueQuery(RunQuery):
    """Selects one dialogue."""

    include_text: bool = Field(
        False, description="Include texts of sessions with people; needs a finished privacy review of the run."
    )


class RecordQuery(RunQuery):
    """Filters and pages of dialogues."""

    application: str = Field("", description="Name of an application.")
    scenario: str = Field("", description="Name of a scenario.")
    level: Level | None = Field(None, description="Level of testing.")
    limit: int = Field(50, ge=1, le=MOST, description="Records of a page at most.")
    cursor: str = Field("", description="`next` of the previous page.")


class AnnotationQuery(RecordQuery):
    """Filters and pages of annotations."""

    guideline: str = Field("", description="Name of a guideline.")
    limit: int = Field(50, ge=1, le=MOST, description="A page ends with the dialogue that reaches this number.")
    include_text: bool = Field(
        False, description="Include reasons and quotes about sessions with people; needs a finished privacy review."
    )


class TaskQuery(Schema):
    """Selects the category of a task."""

    category: str = Field("", description="Name of a category; empty for any.")


class TableForm(StrEnum):
    """Formats of the dialogue table."""

    CSV = "csv"
    JSONL = "jsonl"


class TableQuery(DialogueQuery):
    """Selects the dialogue table."""

    form: TableForm = Field(TableForm.CSV, description="Format.")
    guideline: str = Field("", description="Name of a guideline; empty for all labels.")


REFUSALS: dict[Any, Any] = {
    400: ProblemDetails,
    401: ProblemDetails,
    403: ProblemDetails,
    404: ProblemDetails,
    409: ProblemDetails,
    413: ProblemDetails,
    422: ProblemDetails,
    429: ProblemDetails,
}
"""Common responses of every operation."""
