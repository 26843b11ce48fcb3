"""What the demonstration shows of application teams."""

from __future__ import annotations

from django.utils import timezone

from theodolite.bootstrap.web_settings import KIT_CLASS
from theodolite.domain.application import GuardrailSite
from theodolite.domain.people.role import Role
from theodolite.web.models import HostedStudy, Membership, Submission
from theodolite.web.teams.terms import terms_version

_SAID = {
    "way": Submission.Way.INSTALLED,
    "target": KIT_CLASS,
    "description": "Says what it was told; the class that the interface kit brings.",
    "system": "No model at all: an echo.",
    "capabilities": "Repeats all that it was told.",
    "limitations": "Knows nothing of any series.",
    "guardrails": GuardrailSite.NONE.value,
}


def seed_submissions(hosted: HostedStudy) -> None:
    """Give the team of an event one application to check and submit, and one that organisers may decide about."""
    team = Membership.objects.filter(hosted=hosted, role=Role.TEAM.value).first()
    if team is None or Submission.objects.filter(hosted=hosted).exists():
        return
    Submission.objects.create(hosted=hosted, team=team, name="echo", **_SAID)
    Submission.objects.create(
        hosted=hosted, team=team, name="echo-two", state=Submission.State.SUBMITTED, agreed_by="Tove Berg",
        agreed_at=timezone.now(), agreed_version=terms_version(), **_SAID,
    )  # fmt: skip
