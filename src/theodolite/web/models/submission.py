"""Submissions: applications that teams bring to an event."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from theodolite.bootstrap.credentials import key_variable
from theodolite.domain.application import GuardrailSite
from theodolite.domain.errors import Conflict
from theodolite.web.models.account import new_token
from theodolite.web.models.hosted_study import HostedStudy, Membership


class Submission(models.Model):
    """One application that a team submits.

    Attributes:
        token: Names it in addresses.
        team: Whose it is; nobody else but organisers meets it.
        name: What the study will call it; testers and annotators never see it.
        state: Where it stands.
        way: Whether it is an endpoint or a class that the operator has installed.
        url: Address of the endpoint.
        body: JSON that is sent there, a template.
        reply: Path to the reply text in the answer.
        target: `module:Class` of an installed class.
        prompt: What such a class is told, a template; empty for the prompt alone.
        options: Other keys of the study file that its team sets, e.g. `isolation`, as they are written there.
        sealed: Credentials under the operator's key; empty where there are none. Nobody reads them back.
        description: What the application is.
        system: What it is made of: models, retrieval, tools, versions.
        capabilities: What it is claimed to do; a line each.
        limitations: What it is claimed not to do; a line each.
        claim_tests: How organisers test each claim: its text to prompts, or to why none can test it.
        guardrails: Location of the guardrails.
        guardrail_notes: What they are.
        agreed_by: Name under the agreement; empty until it is signed.
        agreed_version: Content hash of the text that was signed.
        examined: What the conformance check found, as JSON; None before the first one.
        examining_since: When the check that is running began; None while none is.
        reason: Why it was returned or declined.
    """

    class State(models.TextChoices):
        """Status of a submission."""

        DRAFT = "draft"
        SUBMITTED = "submitted"
        RETURNED = "returned"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        WITHDRAWN = "withdrawn"

    class Way(models.TextChoices):
        """Connection to the application."""

        ENDPOINT = "endpoint", "An endpoint at an address"
        INSTALLED = "class", "A class that the operator has installed"

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="submissions")
    team = models.ForeignKey(Membership, models.PROTECT, related_name="submissions")
    name = models.SlugField(max_length=60)
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    way = models.CharField(max_length=10, choices=Way.choices, default=Way.ENDPOINT)
    url = models.CharField(max_length=1000, blank=True)
    body = models.TextField(blank=True)
    reply = models.CharField(max_length=200, blank=True, default="$.text")
    target = models.CharField(max_length=300, blank=True)
    prompt = models.TextField(blank=True, default="")
    options: models.JSONField[Any, Any] = models.JSONField(default=dict)
    sealed = models.BinaryField(default=b"", editable=False)
    description = models.TextField(blank=True)
    system = models.TextField(blank=True)
    capabilities = models.TextField(blank=True)
    limitations = models.TextField(blank=True)
    claim_tests = models.JSONField(default=dict)
    guardrails = models.CharField(max_length=24, default=GuardrailSite.NOT_DECLARED.value)
    guardrail_notes = models.TextField(blank=True)
    agreed_by = models.CharField(max_length=120, blank=True)
    agreed_at = models.DateTimeField(null=True)
    agreed_version = models.CharField(max_length=64, blank=True)
    examined: models.JSONField[Any, Any] = models.JSONField(null=True)
    examined_at = models.DateTimeField(null=True)
    examining_since = models.DateTimeField(null=True)
    reason = models.TextField(blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        """Table; one application of a name in an event."""

        db_table = "web_submission"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="web_submission_name", fields=["hosted", "name"], condition=~Q(state__in=["withdrawn", "declined"])
            ),
            models.CheckConstraint(
                name="web_submission_signed",
                condition=Q(state__in=["draft", "returned", "withdrawn"]) | ~Q(agreed_by=""),
            ),
        ]

    def __str__(self) -> str:
        """Return its name."""
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether its team may still change it."""
        return self.state in OPEN_STATES

    def held(self, *states: str) -> Submission:
        """Return the current row, locked until the transaction ends.

        Args:
            states: Those in which it must be; its team and the organisers may press at the same moment.

        Raises:
            Conflict: If it is in another one.
        """
        now = Submission.objects.select_for_update().get(pk=self.pk)
        if now.state not in states:
            message = f"`{now.name}` is {now.state} by now; review it again"
            raise Conflict(message)
        return now

    @property
    def key_variable(self) -> str:
        """The name under which a study file speaks of its credentials; empty where there are none."""
        return key_variable(self.token) if self.sealed else ""

    @property
    def conforms(self) -> bool:
        """Whether the last check could call it and found no fault."""
        result = self.examined or {}
        return (
            bool(result)
            and not result["unexamined"]
            and all(remark["severity"] != "fault" for remark in result["remarks"])
        )


OPEN_STATES = (Submission.State.DRAFT, Submission.State.RETURNED)
"""States in which a team may change its submission."""
