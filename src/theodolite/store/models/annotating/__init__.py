"""The tables of people's annotation, one small file for each noun."""

from theodolite.store.models.annotating.draft import DraftQuoteRow, DraftRow
from theodolite.store.models.annotating.qualification import OnboardingRow, QualificationRow, TestAnswerRow
from theodolite.store.models.annotating.queue import QueueEditionRow, QueueRow, RoutedRow, WorkItemRow
from theodolite.store.models.annotating.reservation import ReservationEventRow, ReservationRow

__all__ = [
    "DraftQuoteRow",
    "DraftRow",
    "OnboardingRow",
    "QualificationRow",
    "QueueEditionRow",
    "QueueRow",
    "ReservationEventRow",
    "ReservationRow",
    "RoutedRow",
    "TestAnswerRow",
    "WorkItemRow",
]
