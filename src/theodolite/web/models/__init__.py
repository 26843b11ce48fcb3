"""The tables of the web application."""

from theodolite.web.models.account import (
    Account,
    AuditEntry,
    Batch,
    BatchLine,
    DisplaySettings,
    Edition,
    EthicsApproval,
    GuessCount,
    HostedStudy,
    Measurement,
    Membership,
    PausedApplication,
    SavedView,
    SchemaDraft,
    SchemaRevision,
    SchemaVersion,
)
from theodolite.web.models.admission import (
    Booking,
    EventMessage,
    Invitation,
    PersonalCode,
    Recruit,
    RecruitLink,
    Screening,
    Submission,
    TimeSlot,
    UnsentText,
)
from theodolite.web.models.api import ApiToken, Scope, StoredKey, Webhook, WebhookDelivery

__all__ = [
    "Account", "ApiToken", "AuditEntry", "Batch", "BatchLine", "Booking", "DisplaySettings", "Edition",
    "EthicsApproval", "EventMessage", "GuessCount", "HostedStudy", "Invitation", "Measurement", "Membership",
    "PausedApplication", "PersonalCode", "Recruit", "RecruitLink", "SavedView", "SchemaDraft", "SchemaRevision",
    "SchemaVersion", "Scope", "Screening", "StoredKey", "Submission", "TimeSlot", "UnsentText", "Webhook",
    "WebhookDelivery"]  # fmt: skip
