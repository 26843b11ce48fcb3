"""The tables of a workspace, one small file for each noun.

Those of runs stand here. Those of people (`people`, `coding`, `annotating`) are loaded
by whoever works with people, and all of them by `StoreConfig`.
"""

from theodolite.store.models.adjudication import AdjudicationRow, AdjudicatorRow
from theodolite.store.models.annotation import AnnotationRow, AnswerRow, QuoteRow, VoteRow
from theodolite.store.models.content import ContentRow
from theodolite.store.models.dialogue import DialogueGroupRow, DialogueRow, ScriptedEndpointRow, TurnRow
from theodolite.store.models.failure import FailureRow
from theodolite.store.models.filed import FiledRow
from theodolite.store.models.journal import JournalEntryRow
from theodolite.store.models.participant import ParticipantRow
from theodolite.store.models.run import RunRow
from theodolite.store.models.strategy import AttemptRow, StrategyRow
from theodolite.store.models.unit import UnitRow

__all__ = [
    "AdjudicationRow",
    "AdjudicatorRow",
    "AnnotationRow",
    "AnswerRow",
    "AttemptRow",
    "ContentRow",
    "DialogueGroupRow",
    "DialogueRow",
    "FailureRow",
    "FiledRow",
    "JournalEntryRow",
    "ParticipantRow",
    "QuoteRow",
    "RunRow",
    "ScriptedEndpointRow",
    "StrategyRow",
    "TurnRow",
    "UnitRow",
    "VoteRow",
]
