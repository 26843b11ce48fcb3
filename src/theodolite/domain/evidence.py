"""Evidence: everything that a run holds, read back for measurement and reporting."""

from __future__ import annotations

from dataclasses import dataclass, field

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Run, Spending
from theodolite.domain.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTally:
    """How an annotator's answers were asked for, where the request had an answer schema.

    Attributes:
        annotator: Name of the annotator.
        sent: Replies whose endpoint took the schema; count.
        refused: Replies whose endpoint takes none, asked for in words alone; count.
        off: Replies for which the study says that none is to be sent; count.
    """

    annotator: str
    sent: int = 0
    refused: int = 0
    off: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All records of one run, in order of the plan.

    Attributes:
        study: What was to be measured.
        run: The execution that this is the evidence of.
        sessions: Every planned session; the denominator of everything.
        dialogues: What was said; a planned session has one at most, with equal label.
        annotations: What annotators answered, latest revisions.
        adjudications: Final labels.
        failures: Units that brought nothing.
        spending: What it cost.
        schemas: How answers were asked for, of annotators whose requests had a schema.
    """

    study: Study
    run: Run
    sessions: tuple[PlannedSession, ...]
    dialogues: tuple[Dialogue, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    adjudications: tuple[Adjudication, ...] = ()
    failures: tuple[Failure, ...] = ()
    spending: Spending = field(default_factory=Spending)
    schemas: tuple[SchemaTally, ...] = ()
