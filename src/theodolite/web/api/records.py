"""Records in responses of the API; field names are those of exports."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from ninja import Field, Schema

from theodolite.domain.dialogue import Level

MOST = 200
"""Maximum number of records per page; count."""


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


class TableForm(StrEnum):
    """Formats of the dialogue table."""

    CSV = "csv"
    JSONL = "jsonl"


class TableQuery(DialogueQuery):
    """Selects the dialogue table."""

    form: TableForm = Field(TableForm.CSV, description="Format.")
    guideline: str = Field("", description="Name of a guideline; empty for all labels.")


REFUSALS: dict[Any, Any] = {
    401: ProblemDetails,
    403: ProblemDetails,
    404: ProblemDetails,
    409: ProblemDetails,
    422: ProblemDetails,
    429: ProblemDetails,
}
"""Common responses of every operation."""
