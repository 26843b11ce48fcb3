"""Admission of people and applications: invitations, recruiting links, and submissions of teams."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from theodolite.bootstrap.permission import key_variable
from theodolite.domain.application import GuardrailSite
from theodolite.domain.errors import Conflict
from theodolite.domain.event import Role
from theodolite.web.models.account import HostedStudy, Membership, new_token

_ROLES = [(role.value, role.value) for role in Role]


class Invitation(models.Model):
    """One person is asked in, once. The link is worked out from the row and is not kept.

    Attributes:
        hosted: The study; None for the first organiser of this server.
        role: A `Role`; empty for the first organiser of this server.
        email: Where it was sent, or empty if the link is handed over.
        name: How the person is called, as far as the organiser knows.
        language: Tag of the language used with the person; empty for the browser's language.
        expires_at: When the link ends.
        sent_at: When it went out by e-mail; None if it did not.
        used_at: When it was used; None while it is open.
        withdrawn_at: When it was taken back; None while it holds.
        membership: The resulting membership.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="invitations", null=True)
    role = models.CharField(max_length=24, choices=_ROLES, blank=True)
    email = models.EmailField(blank=True)
    name = models.CharField(max_length=120, blank=True)
    language = models.CharField(max_length=35, default="", blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    membership = models.OneToOneField(Membership, models.SET_NULL, related_name="invitation", null=True)

    class Meta:
        """Table."""

        db_table = "web_invitation"
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        """Return the invited people and their roles."""
        return f"{self.name or self.email or 'unnamed'} as {self.role or 'organiser of this server'}"


class PersonalCode(models.Model):
    """A code of some words that signs one person in, as often as needed; for printed slips.

    Attributes:
        membership: The membership that the code opens.
        number: Counts up when the person gets another code; the words are worked out from it.
        digest: Keyed hash of the words; they themselves are not kept.
        seat: Where the person sits at an event; may be empty.
        first_used_at: When the person first used it; None if never.
        withdrawn_at: When it was taken back; None while it holds.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    membership = models.OneToOneField(Membership, models.CASCADE, related_name="code")
    number = models.PositiveIntegerField(default=1)
    digest = models.CharField(max_length=64, unique=True)
    seat = models.CharField(max_length=40, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    first_used_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Table."""

        db_table = "web_personal_code"

    def __str__(self) -> str:
        """Return the seat, never the words."""
        return f"code of seat {self.seat}" if self.seat else "code"


class RecruitLink(models.Model):
    """A recruiting link for participants without an invitation: for Prolific, or open to all.

    Attributes:
        kind: Whether the service identifies each person, or the link is open to all.
        name: Name for organisers; participants never see it.
        study_id: The service's own name of the study; others are turned away where it is given.
        completion_code: Handed to each person at the end, so that the service pays; empty for none.
        screened_out_code: Handed to people who are screened out; empty for none.
        language: Tag of the language used with people; empty for their browsers' languages.
        most: Largest number of people who may join by it; count.
        closes_at: When it closes to new people; None for no such time.
        closed_at: When it was closed; None while it is open.
    """

    class Kind(models.TextChoices):
        """Kinds of recruiting links."""

        PROLIFIC = "prolific", "Prolific participants"
        OPEN = "open", "Anyone with the link"

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="recruit_links")
    role = models.CharField(max_length=24, choices=_ROLES, default=Role.FIELD_TESTER.value)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.PROLIFIC)
    name = models.CharField(max_length=80, blank=True)
    study_id = models.CharField(max_length=64, blank=True)
    completion_code = models.CharField(max_length=64, blank=True)
    screened_out_code = models.CharField(max_length=64, blank=True)
    language = models.CharField(max_length=35, default="", blank=True)
    most = models.PositiveIntegerField(default=1000)
    made_at = models.DateTimeField(auto_now_add=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Table."""

        db_table = "web_recruit_link"

    def __str__(self) -> str:
        """Return the study and its limit of people."""
        return f"{self.hosted}: up to {self.most}"


class Recruit(models.Model):
    """A person from the recruiting service.

    Attributes:
        person_id: The service's id of the person; stored here only, apart from the person's records.
        session_id: Session of the visit that made the account; it admits the person again.
        finished_at: When the completion code was handed out; None before.
    """

    link = models.ForeignKey(RecruitLink, models.CASCADE, related_name="recruits")
    membership = models.OneToOneField(Membership, models.CASCADE, related_name="recruit")
    person_id = models.CharField(max_length=64)
    session_id = models.CharField(max_length=64)
    made_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Table."""

        db_table = "web_recruit"
        constraints: ClassVar = [models.UniqueConstraint(fields=["link", "person_id"], name="web_recruit_once")]

    def __str__(self) -> str:
        """Return the study, never the person."""
        return f"recruit of {self.link.hosted}"


_TESTERS = [(role.value, role.value) for role in (Role.RED_TEAMER, Role.FIELD_TESTER)]


class TimeSlot(models.Model):
    """A time at which some people of a role may start their sessions.

    Attributes:
        token: Names it in addresses.
        role: Red teamer or field tester.
        begins: When sessions may start.
        ends: Last start; started sessions may be finished.
        places: How many people may book it; count.
        where: Room or note, for people; may be empty.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="time_slots")
    role = models.CharField(max_length=24, choices=_TESTERS)
    begins = models.DateTimeField()
    ends = models.DateTimeField()
    places = models.PositiveIntegerField()
    where = models.CharField(max_length=120, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table; a slot ends after it begins."""

        db_table = "web_time_slot"
        ordering: ClassVar = ["begins", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="web_slot_ends", condition=models.Q(ends__gt=models.F("begins"))),
            models.CheckConstraint(name="web_slot_role", condition=models.Q(role__in=[role for role, _ in _TESTERS])),
        ]

    def __str__(self) -> str:
        """Return role and beginning."""
        return f"{self.role}, {self.begins:%Y-%m-%d %H:%M} UTC"


class Booking(models.Model):
    """One person's time; another one takes its place."""

    slot = models.ForeignKey(TimeSlot, models.PROTECT, related_name="bookings")
    membership = models.OneToOneField(Membership, models.CASCADE, related_name="booking")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table."""

        db_table = "web_booking"

    def __str__(self) -> str:
        """Return the slot, never the person."""
        return f"place in {self.slot}"


class Screening(models.Model):
    """Whether one person was admitted. The answers are not stored: the person has not consented yet.

    Attributes:
        version: Content hash of the questions.
        passed: Whether the person was let in.
    """

    membership = models.OneToOneField(Membership, models.CASCADE, related_name="screening")
    version = models.CharField(max_length=64)
    passed = models.BooleanField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table."""

        db_table = "web_screening"

    def __str__(self) -> str:
        """Return its result."""
        return "screened" if self.passed else "screened out"


class UnsentText(models.Model):
    """The text in the box of one session; deleted once it is sent, or the session has ended.

    It belongs to the person, not to the dialogue: only its writer sees it, and it is never measured.

    Attributes:
        session: Key of the session in the store.
        text: As it is in the box.
    """

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="unsent_texts")
    session = models.CharField(max_length=64)
    text = models.TextField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table; a session has one box."""

        db_table = "web_unsent_text"
        constraints: ClassVar = [models.UniqueConstraint(name="web_unsent_once", fields=["membership", "session"])]

    def __str__(self) -> str:
        """Return the length only; the text is confidential."""
        return f"{len(self.text)} letters"


class EventMessage(models.Model):
    """One message between testers and organisers: a question, its answer, or a message to all testers.

    It is no part of a dialogue and is never measured. A withdrawal deletes it.

    Attributes:
        membership: The tester of the question or answer; None for a message to all testers.
        author: Token of the account of the organiser who wrote it; empty for a question of a tester.
        location: The session, dialogue and turn at which a question was asked; empty for none.
        text: As written.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="event_messages")
    membership = models.ForeignKey(Membership, models.CASCADE, related_name="event_messages", null=True)
    author = models.CharField(max_length=32, blank=True)
    location = models.CharField(max_length=80, blank=True)
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Table; the latest last."""

        db_table = "web_event_message"
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        """Return the length only; the text is confidential."""
        return f"{len(self.text)} letters"

    @property
    def is_from_organiser(self) -> bool:
        """Whether an organiser wrote it."""
        return bool(self.author)


class Submission(models.Model):
    """One application that a team submits.

    Attributes:
        token: Names it in addresses.
        team: Its owner; only the team and organisers see it.
        name: Name in the study; testers and annotators never see it.
        state: Its state.
        way: Whether it is an endpoint or a class installed by the operator.
        url: Address of the endpoint.
        body: JSON that is sent there, a template.
        reply: Path to the reply text in the answer.
        target: `module:Class` of an installed class.
        prompt: Template of the class's prompts; empty for the prompt alone.
        options: Other keys of the study file that its team sets, e.g. `isolation`, as they are written there.
        sealed: Credentials, encrypted with the operator's key; empty if there are none. They are never shown again.
        description: Description of the application.
        system: Its parts: models, retrieval, tools, versions.
        capabilities: Claimed capabilities; a line each.
        limitations: Claimed limitations; a line each.
        claim_tests: How organisers test each claim: its text to prompts, or to why none can test it.
        guardrails: Location of the guardrails.
        guardrail_notes: Description of the guardrails.
        agreed_by: Name under the agreement; empty until it is signed.
        agreed_version: Content hash of the text that was signed.
        examined: Results of the conformance check, as JSON; None before the first one.
        examining_since: Start of the running check; None without one.
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
        """Whether the team may still change it."""
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
        """The name of its credentials in a study file; empty if there are none."""
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
