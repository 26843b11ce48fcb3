"""Records in responses of the API; field names are those of exports."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from ninja import Field, Schema
from pydantic import ConfigDict

from theodolite.domain.dialogue import Level

MOST = 200
"""Maximum number of records per page; count."""


def described(text: str, example: Any, default: Any = ..., **limits: Any) -> Any:
    """Return a field with a description and an example; the document builds examples of records from them.

    Args:
        text: Description.
        example: A value as JSON takes it.
        default: Default; a required field if none is passed.
        limits: Limits of the value, as pydantic names them.
    """
    return Field(default, description=text, examples=[example], **limits)


class ProblemFault(Schema):
    """An error in a request."""

    where: str = described("Place in the request, e.g. `query.limit`, or in a file of the study.", "query.limit")
    expected: str = described("Expected value.", "Input should be greater than or equal to 1")
    came: str | None = described("Received value; null if it is not shown.", "0", None)


class ProblemDetails(Schema):
    """An error as problem details (RFC 9457)."""

    type: str = described("Always `about:blank`: the status names the kind of error.", "about:blank")
    title: str = described("Name of the status.", "Unprocessable Entity")
    status: int = described("HTTP status.", 422)
    detail: str = described("Expected and received input, and what to do.", "`query.limit`: expected at least 1.")
    instance: str = described("Path of the request.", "/api/v1/studies/k3v9/dialogues")
    errors: list[ProblemFault] = Field(default_factory=list, description="All errors of the request.")


class StudyRecord(Schema):
    """A study of the owner of the token."""

    id: str = described("Id in addresses.", "k3v9xw2m")
    title: str = described("Title for the roles of the owner.", "Movie guide")
    roles: list[str] = described("Roles of the owner.", ["organiser"])
    name: str | None = described("Name in the study file; for organisers and analysts.", "movie-guide", None)
    state: str | None = described(
        "State of the event: `draft`, `open`, `paused` or `closed`; for organisers and analysts.", "open", None
    )
    version: str | None = described("Content hash of the published version; null before publication.", "9f2c41", None)


class StudyList(Schema):
    """All studies of the owner of the token."""

    items: list[StudyRecord] = Field(description="The studies.")


class UnitCounts(Schema):
    """Dialogues or annotations of a run; counts."""

    done: int = described("Units with a result; count.", 41)
    failed: int = described("Units that failed; count.", 1)
    total: int = described("Units of the run so far; count.", 60)


class RunRecord(Schema):
    """A run with its progress and cost."""

    number: int = described("Number among the runs of the study, from 1.", 3)
    study_version: str = described("Content hash of the study that the run belongs to.", "9f2c41")
    activity: str = described(
        "`running`, `running, no reply for a minute`, `stopped`, `first dialogues done` or `finished`.", "running"
    )
    is_active: bool = described("Whether a process works on the run.", True)
    started: datetime = described("Start; UTC.", "2026-03-09T10:00:00Z")
    finished: datetime | None = described("End; UTC, null before the end.", None)
    ends: datetime | None = described(
        "Estimated end at the present pace; UTC, null if unknown.", "2026-03-09T10:20:00Z"
    )
    left_s: float | None = described("Estimated time left at the present pace; seconds, null if unknown.", 540.0)
    dialogues: UnitCounts = Field(description="Progress of the dialogues.")
    annotations: UnitCounts = Field(description="Progress of the annotations by judges.")
    failures: dict[str, int] = described("Failed units by the responsible party; counts.", {"application": 1})
    calls: int = described("Calls to models and applications so far; count.", 388)
    cost_usd: float = described("Cost of calls with a known price; US dollars.", 0.42)
    unpriced_calls: int = described("Calls of models without a known price; count.", 0)


class RunProcessRecord(Schema):
    """The latest process that a page or the API started for a run."""

    is_active: bool = described("Whether it works.", True)
    exit_code: int | None = described(
        "0 done, 1 gate not met, 2 error in the input, 3 incomplete; null while it works, or if unknown.", None
    )
    output: str = described("Output of a process that ended before its run was complete; else empty.", "")


class RunList(Schema):
    """The runs of a study, the latest first."""

    is_active: bool = described("Whether a process works on a run, or starts one.", True)
    process: RunProcessRecord | None = Field(description="The latest process of this server; null if there was none.")
    items: list[RunRecord] = Field(description="The runs.")


class ControlledRun(Schema):
    """A run after a start or a stop."""

    number: int = described("Number of the run.", 3)
    is_active: bool = described("Whether a process works on the run, or starts it.", True)
    is_stopping: bool = described("Whether the process was asked to stop; calls in flight finish.", False)
    process: RunProcessRecord | None = Field(description="The latest process of this server; null if there was none.")
    progress: RunRecord | None = Field(description="Progress and cost; null while the process prepares a new run.")


class RunStage(StrEnum):
    """Stages of a run."""

    ALL = "all"
    TEST = "test"
    SCORE = "score"


class AmountRange(Schema):
    """An estimate between two bounds."""

    low: float = described("Lower bound.", 0.4)
    high: float = described("Upper bound.", 1.2)


class EndpointEstimate(Schema):
    """Expected calls of one model or application."""

    name: str = described("Name in the study.", "gpt-judge")
    is_model: bool = described("Whether it is a language model of the study.", True)
    calls: int = described("Calls at most; count.", 180)
    cost_usd: AmountRange | None = Field(description="Cost; US dollars, null if no price is known.")


class RunEstimate(Schema):
    """Number, calls and cost of the run that a start begins or continues, as the page of the start shows them."""

    run: int = described("Number of the run that the present files of the study continue or begin.", 3)
    is_resumed: bool = described("Whether this run exists; stored replies are not requested again.", True)
    next_run: int = described("Number by which a start creates a new run; every call is made again.", 4)
    stage: RunStage = described("Stages of the estimate.", "all")
    dialogues: int = described("Dialogues of the plan; count.", 60)
    with_people: int = described("Completed dialogues with people that judges annotate; count.", 0)
    judges: int = described("Judges that are language models; count.", 1)
    calls: int = described("Calls at most; count.", 540)
    tokens_in: AmountRange = Field(description="Tokens read by models.")
    tokens_out: AmountRange = Field(description="Tokens written by models.")
    cost_usd: AmountRange = Field(description="Cost of the models with a known price; US dollars.")
    unpriced: list[str] = described("Models without a known price.", [])
    needs_confirmation: bool = described(
        "Whether a start needs `confirm_cost`: it has a cost, or an unknown one.", True
    )
    endpoints: list[EndpointEstimate] = Field(description="Calls of each endpoint.")
    hosts: list[str] = described("Hosts that the study calls.", ["api.example.org"])
    assumption: str = described("Basis of the estimated tokens.", "a token is four characters")
    blocked: str | None = described("Missing permission of the operator; null if a start is possible.", None)
    changes: str | None = described("Difference between the files and the published version; null for none.", None)


class RunStart(Schema):
    """Scope and budget of a run."""

    model_config = ConfigDict(extra="forbid")

    stage: RunStage = described("Stages; `score` annotates completed dialogues only.", "all", RunStage.ALL)
    limit: int | None = described("First dialogues only; count, null for all.", 3, None, ge=1, le=10**6)
    budget_usd: float | None = described(
        "Cost at which the run stops; US dollars, null for the budget of the study.", 2.5, None, ge=0.01, le=10**6
    )
    concurrency: int | None = described(
        "Concurrent calls at most; count, null for as many as the endpoints allow.", 8, None, ge=1, le=1024
    )
    retry_failed: bool = described("Whether to retry failed dialogues and annotations.", False, False)
    confirm_cost: bool = described("Whether the sender accepts the estimated or unknown cost.", True, False)


class DialogueRecord(Schema):
    """A completed dialogue without its turns."""

    id: str = described("Opaque id, as in exports.", "d41d8cd98f00")
    dialogue: str = described("Label in the run.", "p001")
    run: int = described("Number of the run.", 3)
    application: str = described("Name of the application.", "guide-v2")
    application_version: str = described("Version of the application.", "4be1a0")
    scenario: str = described("Name of the scenario.", "spoilers")
    level: str = described("Level of testing.", "red teaming")
    tester_type: str = described("Type of the tester, e.g. `person`.", "person")
    persona: str | None = described("Name of the persona; null for other testers.", None)
    case: str | None = described("Name of the script or attack; null for other testers.", None)
    repeat: int = described("Number of the repetition, from 1.", 1)
    n_turns: int = described("Turns; count.", 6)
    ending: str = described("Reason for the end.", "complete")
    groups: dict[str, str] = described("Groups of the case, by name.", {"genre": "crime"})


class TurnRecord(Schema):
    """One turn; texts are null if they are withheld."""

    turn: int = described("Number of the turn, from 1.", 1)
    prompt: str | None = described("Text of the tester.", "How does the film end?")
    response: str | None = described("Text of the application.", "I keep the ending to myself.")
    context: str | None = described("Material that the application used; null for none.", None)
    withheld: str | None = described("Reason for missing texts; null if there are texts.", None)
    latency_s: float | None = described("Time until the response; seconds, null for recorded dialogues.", 1.4)


class DialogueDetails(DialogueRecord):
    """A completed dialogue with its turns."""

    context: str | None = described("Material of the dialogue; null for none.", None)
    turns: list[TurnRecord] = Field(description="The turns.")


class DialogueList(Schema):
    """One page of dialogues."""

    items: list[DialogueRecord] = Field(description="The dialogues.")
    next: str | None = described("`cursor` of the next page; null on the last page.", "My41MA")


class QuoteRecord(Schema):
    """A quote of a turn."""

    turn: int | None = described("Number of the turn; null if unknown.", 1)
    text: str = described("Quoted text.", "I keep the ending to myself.")


class AnswerEntry(Schema):
    """The answer to one question, about the dialogue or a turn."""

    question: str = described("Name of the question.", "q1")
    turn: int | None = described("Number of the turn; null for the dialogue as a whole.", 1)
    outcome: str = described("`answered`, or the reason for a missing label.", "answered")
    value: str | None = described("The label; null without one.", "no")
    replicate: int = described("Number of the repeated call of a judge, from 0.", 0)
    reason: str | None = described("Reason for the answer; null if there is none or it is withheld.", "No ending.")
    evidence: list[QuoteRecord] = Field(description="Quotes as evidence.")


class AnnotationRecord(Schema):
    """The answers of one annotator about one dialogue by one guideline."""

    id: str = described("Id in addresses.", "0-3f2a9c01b7de")
    dialogue: str = described("Label of the dialogue.", "p001")
    guideline: str = described("Name of the guideline.", "spoiler-guardrail")
    guideline_version: str = described("Content hash of the questions.", "77ab02")
    annotator: str = described("Name of a judge, or the number of a person.", "P001")
    annotator_kind: str = described("Kind of annotator, e.g. `person`.", "person")
    revision: int = described("Number of the revision, from 1.", 1)
    answers: list[AnswerEntry] = Field(description="The answers.")


class AnnotationList(Schema):
    """One page of annotations."""

    items: list[AnnotationRecord] = Field(description="The annotations.")
    next: str | None = described("`cursor` of the next page; null on the last page.", "My41MA")


class MeasurementRecord(Schema):
    """A measurement."""

    id: str = described("Id in addresses.", "m8d2")
    state: str = described("`running`, `done` or `failed`.", "done")
    version: str = described("Content hash of the measured version of the study.", "9f2c41")
    requested: datetime = described("Time of the request; UTC.", "2026-03-09T11:00:00Z")
    finished: datetime | None = described("End; UTC, null before the end.", "2026-03-09T11:02:00Z")
    problem: str | None = described("Reason for a failure; null for none.", None)


class MeasurementList(Schema):
    """The measurements of a study, the latest first."""

    items: list[MeasurementRecord] = Field(description="The measurements.")


class SubmissionRecord(Schema):
    """An application that the team submitted."""

    id: str = described("Id in addresses.", "s5k1")
    name: str = described("Name of the application.", "guide-v2")
    state: str = described("State of the submission, e.g. `accepted`.", "accepted")
    has_results: bool = described("Whether the organisers shared results on it.", True)


class SubmissionList(Schema):
    """The submissions of the team."""

    items: list[SubmissionRecord] = Field(description="The submissions.")


class RunQuery(Schema):
    """Selects a run."""

    run: int = described("Number of the run; 0 for the run of the published version.", 3, 0, ge=0)


class EstimateQuery(Schema):
    """Selects the stages of an estimate."""

    stage: RunStage = described("Stages; `score` for judges only.", "score", RunStage.ALL)


class DialogueQuery(RunQuery):
    """Selects one dialogue."""

    include_text: bool = described(
        "Include texts of sessions with people; needs a finished privacy review of the run.", False, False
    )


class RecordQuery(RunQuery):
    """Filters and pages of dialogues."""

    application: str = described("Name of an application.", "guide-v2", "")
    scenario: str = described("Name of a scenario.", "spoilers", "")
    level: Level | None = described("Level of testing.", "red teaming", None)
    limit: int = described("Records of a page at most.", 50, 50, ge=1, le=MOST)
    cursor: str = described("`next` of the previous page.", "My41MA", "")


class AnnotationQuery(RecordQuery):
    """Filters and pages of annotations."""

    guideline: str = described("Name of a guideline.", "spoiler-guardrail", "")
    limit: int = described("A page ends with the dialogue that reaches this number.", 50, 50, ge=1, le=MOST)
    include_text: bool = described(
        "Include reasons and quotes about sessions with people; needs a finished privacy review.", False, False
    )


class TableForm(StrEnum):
    """Formats of the dialogue table."""

    CSV = "csv"
    JSONL = "jsonl"


class TableQuery(DialogueQuery):
    """Selects the dialogue table."""

    form: TableForm = described("Format.", "csv", TableForm.CSV)
    guideline: str = described("Name of a guideline; empty for all labels.", "spoiler-guardrail", "")
