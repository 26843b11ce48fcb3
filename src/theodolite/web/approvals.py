"""Ethics approvals: whether testers may be asked in today."""

from __future__ import annotations

from django.utils import timezone

from theodolite.domain.role import Role
from theodolite.web.models import EthicsApproval, HostedStudy

TESTERS = (Role.RED_TEAMER, Role.FIELD_TESTER)
"""Roles of people who are tested with; nobody is asked in as one of them without an approval."""

NO_APPROVAL = "Record the ethics approval first: nobody is asked in as a tester without one."


def approval_of(hosted: HostedStudy) -> EthicsApproval | None:
    """Return the latest approval that holds today; None where testers must not be asked in."""
    today = timezone.now().date()
    return next((one for one in hosted.approvals.all() if one.holds(today)), None)


def may_invite(hosted: HostedStudy, role: Role) -> bool:
    """Tell whether somebody may be asked in as what a role says."""
    return role not in TESTERS or approval_of(hosted) is not None
