"""The tables of people's annotation, one small file for each noun."""

from theodolite.store.models.annotating.case import CaseRow, CaseStepRow, OriginalAccessRow, RedactionRow
from theodolite.store.models.annotating.draft import DraftQuoteRow, DraftRow
from theodolite.store.models.annotating.qualification import OnboardingRow, QualificationRow, TestAnswerRow
from theodolite.store.models.annotating.queue import QueueEditionRow, QueueRow, RoutedRow, WorkItemRow
from theodolite.store.models.annotating.reservation import ReservationEventRow, ReservationRow
from theodolite.store.models.annotating.thread import PostRow, ThreadRow

__all__ = [
    "CaseRow",
    "CaseStepRow",
    "DraftQuoteRow",
    "DraftRow",
    "OnboardingRow",
    "OriginalAccessRow",
    "PostRow",
    "QualificationRow",
    "QueueEditionRow",
    "QueueRow",
    "RedactionRow",
    "ReservationEventRow",
    "ReservationRow",
    "RoutedRow",
    "TestAnswerRow",
    "ThreadRow",
    "WorkItemRow",
]
