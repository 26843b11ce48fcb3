"""Public releases: the records of a run that leave the workspace, and the decisions about identifiers in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from theodolite.domain.annotating.label_sample import LabelSample
from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Failure, Run
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.study import Study


class ReviewDecision(StrEnum):
    """A reviewer's decision about an identifier."""

    OPEN = ""
    REDACT = "redact"
    KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifierFinding:
    """An identifier in the texts of a release, and the decision about it.

    Attributes:
        key: Identity of the finding: the same text in the same dialogue has the same key; 12 hexadecimal digits.
        kind: Kind of identifier.
        dialogue: Label of the dialogue in the study; empty for the texts of the study itself.
        words: The identifier.
        context: The text around it.
        n: Number of detections; count.
        decision: Decision about it.
        reason: Reason for keeping it.
        reviewer: Who decided.
    """

    key: str
    kind: str
    dialogue: str
    words: str
    context: str
    n: int
    decision: ReviewDecision = ReviewDecision.OPEN
    reason: str = ""
    reviewer: str = ""

    @property
    def is_decided(self) -> bool:
        """Whether a decision was made; keeping an identifier requires a reason and a reviewer."""
        if self.decision is ReviewDecision.KEEP:
            return bool(self.reason.strip() and self.reviewer.strip())
        return self.decision is ReviewDecision.REDACT


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueAssignment:
    """A dialogue that an annotator was assigned."""

    annotator: str
    dialogue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedRecords:
    """The records of a run that are published.

    Attributes:
        study: The study, including all people who labelled by hand among its annotators.
        run: The run.
        sessions: Planned sessions, in order.
        dialogues: Dialogues; a planned session has at most one, with the same label.
        annotations: Annotations.
        adjudications: Final labels.
        failures: Units without a result.
        responses: Submitted answers to closed questions of questionnaires.
        assignments: Dialogues of annotators with only some dialogues assigned.
        samples: Label samples.
        annotator_attributes: Attribute to annotator to group.
        left_out: Reason to the number of dialogues omitted for it; counts.
    """

    study: Study
    run: Run
    sessions: tuple[PlannedSession, ...]
    dialogues: tuple[Dialogue, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    adjudications: tuple[Adjudication, ...] = ()
    failures: tuple[Failure, ...] = ()
    responses: tuple[QuestionnaireResponse, ...] = ()
    assignments: tuple[DialogueAssignment, ...] = ()
    samples: tuple[LabelSample, ...] = ()
    annotator_attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
