"""Studies hosted on this server, and their ethics approvals."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction
from django.utils import timezone

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.events import MissingText, missing_texts
from theodolite.config.loading import load_study
from theodolite.domain.event import Role
from theodolite.domain.study import Study
from theodolite.testing.assigning import people_levels
from theodolite.web.access import audit, clash_of
from theodolite.web.models import Account, EthicsApproval, HostedStudy, Membership


def host_study(path: str, by: Account | None = None) -> HostedStudy:
    """Host the study of a folder on this server, unless it is hosted already.

    Args:
        path: A folder with a study file, or the file.
        by: Who does it, and becomes its organiser; None for the operator, whose study every host organises.

    Raises:
        StudyError: If the study holds faults; says all of them.
    """
    loaded = load_study(path, resolver=resource_resolver())
    folder = str(Path(loaded.folder).resolve())
    with transaction.atomic():
        hosted, is_new = HostedStudy.objects.get_or_create(
            folder=folder,
            defaults={"name": loaded.study.name, "title": loaded.study.title or loaded.study.name, "made_by": by},
        )
        if is_new:
            audit(by, "added study to server", f"study {hosted.token}", hosted=hosted)
        for host in [by] if by else Account.objects.filter(is_host=True):
            Membership.objects.get_or_create(account=host, hosted=hosted, role=Role.ORGANISER.value)
    return hosted


def host_all(account: Account) -> None:
    """Make a person organiser of the studies on this server that have no organiser.

    Those that they annotate stay as they are: an annotator must not know what an organiser does.
    """
    for hosted in HostedStudy.objects.filter(made_by=None).exclude(memberships__role=Role.ORGANISER.value):
        if not clash_of(account, hosted, Role.ORGANISER):
            Membership.objects.get_or_create(account=account, hosted=hosted, role=Role.ORGANISER.value)


TESTERS = (Role.RED_TEAMER, Role.FIELD_TESTER)
"""Roles of people who are tested with; nobody is asked in as one of them without an approval."""


NO_APPROVAL = "Record the ethics approval first; testers cannot be invited without one."


def approval_of(hosted: HostedStudy) -> EthicsApproval | None:
    """Return the latest approval that holds today; None where testers must not be asked in."""
    today = timezone.now().date()
    return next((approval for approval in hosted.approvals.all() if approval.holds(today)), None)


def may_invite(hosted: HostedStudy, role: Role) -> bool:
    """Tell whether somebody may be asked in as what a role says."""
    return role not in TESTERS or approval_of(hosted) is not None


def lacks_before_opening(hosted: HostedStudy, study: Study) -> tuple[MissingText, ...]:
    """Return everything that is missing before testers may begin; nothing where a study has no testers.

    Args:
        hosted: The study on this server.
        study: What its testers would meet.
    """
    if not people_levels(study):
        return ()
    approval = () if approval_of(hosted) else (MissingText(what="no valid ethics approval"),)
    return (*approval, *missing_texts(study))
