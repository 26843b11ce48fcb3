"""What must be there before testers are asked in, and before an event opens."""

from __future__ import annotations

from django.utils import timezone

from theodolite.config.consent import Lack, lacks_of
from theodolite.domain.people.role import Role
from theodolite.domain.study import Study
from theodolite.testing.assigning import people_levels
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


def lacks_before_opening(hosted: HostedStudy, study: Study) -> tuple[Lack, ...]:
    """Return everything that is missing before testers may begin; nothing where a study has no testers.

    Args:
        hosted: The study on this server.
        study: What its testers would meet.
    """
    if not people_levels(study):
        return ()
    approval = () if approval_of(hosted) else (Lack(what="no ethics approval holds today"),)
    return (*approval, *lacks_of(study))
