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
    """The invitation of one person, used once. The link is computed from the row and is not stored.

    Attributes:
        hosted: The study; None for the first organiser of this server.
        role: A `Role`; empty for the first organiser of this server.
        email: Address that received it; empty if the link is handed over.
        name: Name of the person, if the organiser knows it.
        language: Language tag for the person; empty for the browser's language.
        expires_at: Expiry time of the link.
        sent_at: Time at which it was mailed; None if it was not.
        used_at: Time of its use; None while it is open.
        withdrawn_at: Time of its withdrawal; None while it is valid.
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
    """A code of a few words that signs one person in, any number of times; for printed codes.

    Attributes:
        membership: The membership that the code opens.
        number: Counts up when the person gets a new code; the words are computed from it.
        digest: Keyed hash of the words, which are not stored.
        seat: Seat of the person at an event; may be empty.
        first_used_at: Time of the first use; None if never.
        withdrawn_at: Time of its withdrawal; None while it is valid.
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
        study_id: The service's own id of the study; if set, participants of other studies are turned away.
        completion_code: Given to each person at the end, so that the service pays; empty for none.
        screened_out_code: Given to people who are screened out; empty for none.
        language: Language tag for its participants; empty for their browsers' languages.
        most: Maximum number of people who may join with it; count.
        closes_at: Time at which it closes to new people; None for no such time.
        closed_at: Time at which it was closed; None while it is open.
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
        person_id: The service's id of the person; stored only here, separate from the person's records.
        session_id: Session of the visit that created the account; it admits the person again.
        finished_at: Time at which the completion code was shown; None before.
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
        token: Identifies it in addresses.
        role: Red teamer or field tester.
        begins: When sessions may start.
        ends: Latest start; started sessions may be finished.
        places: Number of people who may book it; count.
        where: Room or note for the participants; may be empty.
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
        """Table options; a slot ends after it begins."""

        db_table = "web_time_slot"
        ordering: ClassVar = ["begins", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(name="web_slot_ends", condition=models.Q(ends__gt=models.F("begins"))),
            models.CheckConstraint(name="web_slot_role", condition=models.Q(role__in=[role for role, _ in _TESTERS])),
        ]

    def __str__(self) -> str:
        """Return role and start."""
        return f"{self.role}, {self.begins:%Y-%m-%d %H:%M} UTC"


class Booking(models.Model):
    """The booked time of one person; a new booking replaces it."""

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
    """The screening result of one person. The answers are not stored, since the person has not consented yet.

    Attributes:
        version: Content hash of the questions.
        passed: Whether the person was admitted.
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
    """The unsent text of one session; deleted once it is sent or the session has ended.

    It belongs to the person, not to the dialogue: only its author sees it, and it is never measured.

    Attributes:
        session: Key of the session in the store.
        text: The current text.
    """

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="unsent_texts")
    session = models.CharField(max_length=64)
    text = models.TextField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table options; a session has one unsent text."""

        db_table = "web_unsent_text"
        constraints: ClassVar = [models.UniqueConstraint(name="web_unsent_once", fields=["membership", "session"])]

    def __str__(self) -> str:
        """Return the length only; the text is confidential."""
        return f"{len(self.text)} letters"


class EventMessage(models.Model):
    """One message between testers and organisers: a question, its answer, or a message to all testers.

    It is not part of a dialogue and is never measured. A withdrawal deletes it.

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
        """Table options; ordered by time."""

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
    """An application that a team submits.

    Attributes:
        token: Identifies it in addresses.
        team: Its owner; only the team and organisers see the submission.
        name: Name in the study; testers and annotators never see it.
        state: State of the submission.
        way: Connection: an endpoint or a class installed by the operator.
        url: Address of the endpoint.
        body: Template of the JSON request body.
        reply: Path of the reply text in the response.
        target: `module:Class` of an installed class.
        prompt: Template of the class's prompts; empty for the prompt alone.
        options: Other keys of the study file that the team sets, e.g. `isolation`, as written in the file.
        sealed: Credentials, encrypted with the operator's key; empty if there are none. They are never shown again.
        description: Description of the application.
        system: Its parts: models, retrieval, tools, versions.
        capabilities: Claimed capabilities, one per line.
        limitations: Claimed limitations, one per line.
        claim_tests: Tests of the claims: text of the claim to its prompts, or to the reason why it is untestable.
        guardrails: Location of the guardrails.
        guardrail_notes: Description of the guardrails.
        agreed_by: Name that signed the agreement; empty until it is signed.
        agreed_version: Content hash of the text that was signed.
        examined: Results of the conformance check, as JSON; None before the first check.
        examining_since: Start of the running check; None without one.
        reason: Reason why it was returned or declined.
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
        """Table options; names of applications are unique in an event."""

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
            states: Allowed states; the team and the organisers may act at the same moment.

        Raises:
            Conflict: If it is in another state.
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
        """Whether the last check could call it and found no errors."""
        result = self.examined or {}
        return (
            bool(result)
            and not result["unexamined"]
            and all(remark["severity"] == "note" for remark in result["remarks"])
        )


OPEN_STATES = (Submission.State.DRAFT, Submission.State.RETURNED)
"""States in which a team may change its submission."""
