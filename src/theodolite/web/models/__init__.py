"""The tables of the web side, one small file for each noun."""

from theodolite.web.models.account import Account
from theodolite.web.models.audit_entry import AuditEntry
from theodolite.web.models.batch import Batch, BatchLine
from theodolite.web.models.comfort import Comfort
from theodolite.web.models.ethics_approval import EthicsApproval
from theodolite.web.models.guess_count import GuessCount
from theodolite.web.models.hosted_study import Edition, HostedStudy
from theodolite.web.models.invitation import Invitation, PersonalCode, Recruit, RecruitLink
from theodolite.web.models.measurement import Measurement
from theodolite.web.models.membership import Membership
from theodolite.web.models.paused_application import PausedApplication
from theodolite.web.models.saved_view import SavedView
from theodolite.web.models.schema_draft import SchemaDraft, SchemaRevision, SchemaVersion
from theodolite.web.models.screening import Screening
from theodolite.web.models.submission import Submission
from theodolite.web.models.time_slot import Booking, TimeSlot
from theodolite.web.models.unsent_text import UnsentText

__all__ = [
    "Account", "AuditEntry", "Batch", "BatchLine", "Booking", "Comfort", "Edition", "EthicsApproval", "GuessCount",
    "HostedStudy", "Invitation", "Measurement", "Membership", "PausedApplication", "PersonalCode", "Recruit",
    "RecruitLink", "SavedView", "SchemaDraft", "SchemaRevision", "SchemaVersion", "Screening", "Submission",
    "TimeSlot", "UnsentText",
]  # fmt: skip
