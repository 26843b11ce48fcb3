"""Studies put on this server."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import load_study
from theodolite.domain.people.role import Role
from theodolite.web.audit import audit
from theodolite.web.blindness import clash_of
from theodolite.web.models import Account, HostedStudy, Membership


def host_study(path: str, by: Account | None = None) -> HostedStudy:
    """Put a study's folder on this server, where it is not there yet.

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
            audit(by, "put study on server", f"study {hosted.token}", hosted=hosted)
        for host in [by] if by else Account.objects.filter(is_host=True):
            Membership.objects.get_or_create(account=host, hosted=hosted, role=Role.ORGANISER.value)
    return hosted


def host_all(account: Account) -> None:
    """Make somebody organiser of the studies that the operator has put on this server and nobody organises.

    Those that they annotate stay as they are: an annotator must not know what an organiser does.
    """
    for hosted in HostedStudy.objects.filter(made_by=None).exclude(memberships__role=Role.ORGANISER.value):
        if not clash_of(account, hosted, Role.ORGANISER):
            Membership.objects.get_or_create(account=account, hosted=hosted, role=Role.ORGANISER.value)
