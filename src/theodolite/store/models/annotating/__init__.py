"""The tables of people's annotation, one small file for each noun."""

from theodolite.store.models.annotating.case import CaseRow, CaseStepRow, OriginalAccessRow, RedactionRow
from theodolite.store.models.annotating.draft import DraftQuoteRow, DraftRow
from theodolite.store.models.annotating.practice import OnboardingRow, PracticeRow
from theodolite.store.models.annotating.qualification import QualificationRow, TestAnswerRow
from theodolite.store.models.annotating.queue import QueueEditionRow, QueueRow, RoutedRow, WorkItemRow
from theodolite.store.models.annotating.reservation import ReservationEventRow, ReservationRow
from theodolite.store.models.annotating.resolution import GoldRow, QualityReviewRow, ResolutionRow, ResolverRow
from theodolite.store.models.annotating.room import RoomPostRow, RoomRow, RoomVoteRow
from theodolite.store.models.annotating.thread import PostRow, ThreadRow
from theodolite.store.models.annotating.wish import ReviewWishRow

__all__ = [
    "CaseRow", "CaseStepRow", "DraftQuoteRow", "DraftRow", "GoldRow", "OnboardingRow", "OriginalAccessRow",
    "PostRow", "PracticeRow", "QualificationRow", "QualityReviewRow", "QueueEditionRow", "QueueRow",
    "RedactionRow", "ReservationEventRow", "ReservationRow", "ResolutionRow", "ResolverRow", "ReviewWishRow",
    "RoomPostRow", "RoomRow", "RoomVoteRow", "RoutedRow", "TestAnswerRow", "ThreadRow", "WorkItemRow",
]  # fmt: skip
