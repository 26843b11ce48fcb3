"""The tables of the web application."""

from theodolite.web.models.account import Account, Comfort, GuessCount
from theodolite.web.models.hosted_study import (
    AuditEntry,
    Batch,
    BatchLine,
    Edition,
    EthicsApproval,
    HostedStudy,
    Measurement,
    Membership,
    PausedApplication,
    SavedView,
    SchemaDraft,
    SchemaRevision,
    SchemaVersion,
)
from theodolite.web.models.invitation import (
    Booking,
    Invitation,
    PersonalCode,
    Recruit,
    RecruitLink,
    Screening,
    TimeSlot,
    UnsentText,
)
from theodolite.web.models.submission import Submission

__all__ = [
    "Account", "AuditEntry", "Batch", "BatchLine", "Booking", "Comfort", "Edition", "EthicsApproval", "GuessCount",
    "HostedStudy", "Invitation", "Measurement", "Membership", "PausedApplication", "PersonalCode", "Recruit",
    "RecruitLink", "SavedView", "SchemaDraft", "SchemaRevision", "SchemaVersion", "Screening", "Submission",
    "TimeSlot", "UnsentText",
]  # fmt: skip
