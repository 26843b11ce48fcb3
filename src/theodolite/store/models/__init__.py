"""The tables of a workspace.

Those of runs are here. Those of people (`events`, `annotating`) are loaded by code that works
with people, and all of them by `StoreConfig`.
"""

from theodolite.store.models.runs import (
    AdjudicationRow,
    AdjudicatorRow,
    AnnotationRow,
    AnswerRow,
    AttemptRow,
    ContentRow,
    DialogueGroupRow,
    DialogueRow,
    FailureRow,
    FiledRow,
    JournalEntryRow,
    ParticipantRow,
    QuoteRow,
    RunRow,
    ScriptedEndpointRow,
    SlotLeaseRow,
    StartBlockRow,
    StrategyRow,
    TurnRow,
    UnitRow,
    VoteRow,
    WorkerRow,
)

__all__ = [
    "AdjudicationRow", "AdjudicatorRow", "AnnotationRow", "AnswerRow", "AttemptRow", "ContentRow", "DialogueGroupRow",
    "DialogueRow", "FailureRow", "FiledRow", "JournalEntryRow", "ParticipantRow", "QuoteRow", "RunRow",
    "ScriptedEndpointRow", "SlotLeaseRow", "StartBlockRow", "StrategyRow", "TurnRow", "UnitRow", "VoteRow", "WorkerRow",
]  # fmt: skip
