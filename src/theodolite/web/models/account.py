"""Accounts and their settings, hosted studies with their people and releases, and the audit log."""

from __future__ import annotations

import secrets
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from theodolite.domain.annotating.work import BulkAct
from theodolite.domain.event import Role


def new_token() -> str:
    """Return a random token of 12 characters."""
    return secrets.token_urlsafe(9)


class AccountManager(BaseUserManager["Account"]):
    """Makes accounts."""

    def create_user(self, email: str | None = None, password: str | None = None, **fields: Any) -> Account:
        """Create an account; without a password, sign-in by password is impossible.

        Args:
            email: Address in any case; None for people who sign in by code.
            password: In plain text; hashed here.
            fields: Other columns.
        """
        account = self.model(email=self.normalize_email(email).lower() if email else None, **fields)
        account.set_password(password)
        account.save(using=self._db)
        return account


class Account(AbstractBaseUser):
    """A person who can sign in, by address and password, passkey, single sign-on or personal code.

    Attributes:
        token: Opaque name of the account in addresses and in the audit log.
        email: In lower case; None for people who joined with a printed code.
        name: Name shown to organisers and colleagues; may be empty.
        is_host: Whether the person may put studies on this server.
        is_active: Whether the person may sign in.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    email = models.EmailField(unique=True, null=True, blank=True)
    name = models.CharField(max_length=120, blank=True)
    is_host = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    made_at = models.DateTimeField(auto_now_add=True)

    objects = AccountManager()

    USERNAME_FIELD = "token"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        """Table."""

        db_table = "web_account"

    def __str__(self) -> str:
        """Return the displayed name of the person."""
        return self.name or self.email or f"person {self.token[:4]}"


SIZES = ((1, _("as in the browser")), (2, _("larger")), (3, _("largest")))
"""Sizes of text, and their displayed names."""


COLOURS = (
    ("", _("as on the device")),
    ("contrast", _("black on white")),
    ("contrast-dark", _("white on black")),
)
"""Colours of the pages, and their displayed names."""


class DisplaySettings(models.Model):
    """Display settings of an account; the defaults have no row.

    Attributes:
        keys: Whether keyboard shortcuts of single letters are active.
        enter_sends: Whether Enter sends a message and Shift+Enter breaks its line, or the reverse.
        streams: Whether replies appear piece by piece, or only once they are complete.
        advances: Whether a single choice leads to the next question of an annotation.
        text_size: One of `SIZES`.
        colours: One of `COLOURS`; high contrast is for people with low vision.
        language: Tag of the language of pages and study texts; empty for the browser's language.
    """

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="display_settings", primary_key=True
    )
    keys = models.BooleanField(default=True)
    enter_sends = models.BooleanField(default=True)
    streams = models.BooleanField(default=True)
    advances = models.BooleanField(default=True)
    text_size = models.PositiveSmallIntegerField(
        default=1, choices=SIZES, validators=[MinValueValidator(1), MaxValueValidator(3)]
    )
    colours = models.CharField(max_length=16, default="", blank=True, choices=COLOURS)
    language = models.CharField(max_length=35, default="", blank=True)

    class Meta:
        """Table."""

        db_table = "web_display_settings"
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(text_size__range=(1, 3)), name="web_display_settings_size"),
            models.CheckConstraint(
                condition=models.Q(colours__in=[name for name, _ in COLOURS]), name="web_display_settings_colours"
            ),
        ]

    def __str__(self) -> str:
        """Return the settings on one line."""
        return f"keys {self.keys}, Enter sends {self.enter_sends}, streams {self.streams}, size {self.text_size}"


class GuessCount(models.Model):
    """An entry in the counts of failed attempts; Django's cache reads and writes it by its column names.

    Attributes:
        cache_key: Hash of the counted action and of the address or account; neither can be recovered from it.
        value: Times of the attempts, packed.
        expires: Time at which the last attempt stops counting.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        """Table."""

        db_table = "web_guess_count"

    def __str__(self) -> str:
        """Return the expiry time."""
        return f"until {self.expires:%H:%M:%S}"


class HostedStudy(models.Model):
    """A study on this server.

    Attributes:
        token: Identifies the study in addresses.
        name: Name from its file.
        title: Displayed name; reveals nothing about applications.
        folder: Folder of its files; empty if it consists only of a shipped pack.
        state: State of the study on the server.
        message: Shown to all while it is paused.
        keeps_hours: Whether opening and closing times apply; not during a trial.
        second_factor: Roles that need a second factor here, in addition to those of the whole server.
        analysts_run_judges: Whether analysts may start judges, at the cost of the study.
    """

    class State(models.TextChoices):
        """Status of a study."""

        DRAFT = "draft"
        PUBLISHED = "published"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    token = models.CharField(max_length=32, unique=True, default=new_token)
    name = models.CharField(max_length=200)
    title = models.CharField(max_length=200, blank=True)
    folder = models.CharField(max_length=1000, blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    message = models.CharField(max_length=500, blank=True)
    keeps_hours = models.BooleanField(default=True)
    second_factor = models.JSONField(default=list)
    analysts_run_judges = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table."""

        db_table = "web_hosted_study"

    def __str__(self) -> str:
        """Return the title that people see."""
        return self.title or self.name


class Edition(models.Model):
    """A release of a study that people used; the store keeps its contents under the hash.

    To return to an earlier release, publish it again as a new release.

    Attributes:
        number: Release number, from 1.
        version: Content hash of the study.
    """

    hosted = models.ForeignKey(HostedStudy, models.PROTECT, related_name="editions")
    number = models.PositiveIntegerField()
    version = models.CharField(max_length=64)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table."""

        db_table = "web_edition"
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hosted", "number"], name="web_edition_number"),
        ]

    def __str__(self) -> str:
        """Return the number and the start of the hash."""
        return f"edition {self.number} ({self.version[:4]})"


_ROLES = [(role.value, role.value) for role in Role]


class Membership(models.Model):
    """A role of a person in a study.

    Attributes:
        token: Identifies the person to this audience; the person has another token in another role.
        role: A `Role`.
        participant: Key of the person in the store; the only link between account and store.
        left_at: Time at which the person left or was removed; None while the role is active.
        withdrew: Whether the person withdrew the dialogues.
        reminded_at: Time of the last reminder of open tasks; None if never.
    """

    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=24, choices=_ROLES)
    token = models.CharField(max_length=32, unique=True, default=new_token)
    participant = models.CharField(max_length=64, default=new_token)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)
    withdrew = models.BooleanField(default=False)
    reminded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Table."""

        db_table = "web_membership"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "hosted", "role"], name="web_membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=[role.value for role in Role]), name="web_role"),
        ]

    def __str__(self) -> str:
        """Return role and study."""
        return f"{self.role} of {self.hosted}"

    @property
    def as_role(self) -> Role:
        """The role as one of the domain's."""
        return Role(self.role)


class AuditEntry(models.Model):
    """One act.

    Attributes:
        at: Time; UTC.
        actor: Token of the account; empty for the server itself and for strangers.
        verb: The action, e.g. `invited`.
        subject: The object of the action: kind and token, e.g. `membership x7-...`.
        facts: Further facts; never secrets or texts of people.
    """

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    hosted = models.ForeignKey(HostedStudy, models.DO_NOTHING, null=True, related_name="+", db_constraint=False)
    actor = models.CharField(max_length=32, blank=True)
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(default=dict)

    class Meta:
        """Table."""

        db_table = "web_audit_entry"
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        """Return the action on one line."""
        return f"{self.actor or 'server'} {self.verb} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the entry.

        Raises:
            TypeError: If it exists already.
        """
        if self.pk is not None:
            message = "entries of the audit log are added and never changed"
            raise TypeError(message)
        super().save(*args, **kwargs)

    def delete(self, *_args: Any, **_kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refuse.

        Raises:
            TypeError: Always.
        """
        message = "entries of the audit log are never deleted"
        raise TypeError(message)


class EthicsApproval(models.Model):
    """An ethics approval. Approvals are added and never changed.

    Attributes:
        body: Who approved it.
        number: Number of the approval, or the text of the decision if there is none.
        granted: First day of validity.
        expires: Last day of validity; None if it has no end.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="approvals")
    body = models.CharField(max_length=200)
    number = models.CharField(max_length=200)
    granted = models.DateField()
    expires = models.DateField(null=True, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table options; an approval cannot expire before it is granted."""

        db_table = "web_ethics_approval"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="web_ethics_dates",
                condition=models.Q(expires=None) | models.Q(expires__gte=models.F("granted")),
            )
        ]

    def __str__(self) -> str:
        """Return body and number."""
        return f"{self.body}, {self.number}"

    def holds(self, day: date) -> bool:
        """Return whether it is valid on a day."""
        return self.granted <= day and (self.expires is None or day <= self.expires)


class Measurement(models.Model):
    """A measurement of a study at one time.

    Attributes:
        token: Identifies it in addresses, and names its folder in the workspace.
        asked_by: The account that requested it.
        edition: Content hash of the study that was measured.
        done_at: Completion time; None while it is in progress.
        problem: Reason of the failure; empty if it succeeded.
        shared_at: Time at which each team could first read the report on its own application; None if not shared.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="measurements")
    token = models.CharField(max_length=32, unique=True, default=new_token)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True)
    asked_at = models.DateTimeField(auto_now_add=True)
    edition = models.CharField(max_length=64)
    done_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)
    shared_at = models.DateTimeField(null=True)

    class Meta:
        """Table."""

        db_table = "web_measurement"

    def __str__(self) -> str:
        """Return its token."""
        return self.token

    @property
    def folder(self) -> Path:
        """Folder of its files."""
        return Path(str(settings.WORKSPACE)) / "measured" / self.token


class PausedApplication(models.Model):
    """A paused application.

    Attributes:
        name: Name in the study.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="paused_applications")
    name = models.CharField(max_length=200)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Table options; an application is paused once."""

        db_table = "web_paused_application"
        constraints: ClassVar = [models.UniqueConstraint(name="web_paused_once", fields=["hosted", "name"])]

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class SavedView(models.Model):
    """One view of a study's dialogues: the filters of its address.

    Attributes:
        token: Identifies it in addresses.
        account: Its owner.
        name: Name given by its owner.
        query: Query string of its address.
        is_shared: Whether all seniors of the study's queue see it.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="saved_views")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=1000, blank=True)
    is_shared = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Table, one view a name and owner."""

        db_table = "web_saved_view"
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hosted", "account", "name"], name="web_saved_view_name"),
        ]

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class Batch(models.Model):
    """A bulk action on work items of a study.

    Attributes:
        token: Identifies it in addresses.
        account: The acting account.
        act: A `BulkAct`.
        whom: Token of the membership that received the offered dialogues; empty for other actions.
        n_done: Items that were changed; count.
        n_refused: Items that were refused; count.
        undone_at: Time at which it was undone; None if it was not.
        n_undone: Items for which it was undone; count.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="batches")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    act = models.CharField(max_length=12)
    whom = models.CharField(max_length=32, blank=True)
    n_done = models.PositiveIntegerField()
    n_refused = models.PositiveIntegerField()
    made_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    n_undone = models.PositiveIntegerField(default=0)

    class Meta:
        """Table and the closed list of acts."""

        db_table = "web_batch"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(act__in=[act.value for act in BulkAct]), name="web_batch_act"),
        ]

    def __str__(self) -> str:
        """Return the action and its count."""
        return f"{self.act} {self.n_done}"

    @property
    def as_act(self) -> BulkAct:
        """The action as a domain value."""
        return BulkAct(self.act)


class BatchLine(models.Model):
    """The outcome of one work item; rows are only added.

    Attributes:
        item: Token of the work item.
        made: Token of the result; empty if it was refused.
        refused: Reason of the refusal; empty if it was done.
    """

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="lines")
    item = models.CharField(max_length=32)
    made = models.CharField(max_length=32, blank=True)
    refused = models.CharField(max_length=200, blank=True)

    class Meta:
        """Table."""

        db_table = "web_batch_line"

    def __str__(self) -> str:
        """Return its outcome."""
        return self.refused or "done"


class SchemaDraft(models.Model):
    """A schema in progress in a study; there is one for each name.

    Attributes:
        token: Identifies it in addresses.
        name: Name of the schema, equal to the name of its file.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="schema_drafts")
    name = models.SlugField(max_length=80)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table options; one draft per name."""

        db_table = "web_schema_draft"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["hosted", "name"], name="web_schema_draft_name")]

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class SchemaRevision(models.Model):
    """A saved text of a draft; rows are only added.

    Attributes:
        number: Release number, from 1.
        text: The YAML, valid or not.
    """

    draft = models.ForeignKey(SchemaDraft, models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    text = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table, numbering."""

        db_table = "web_schema_revision"
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["draft", "number"], name="web_schema_revision_once")]

    def __str__(self) -> str:
        """Return its number."""
        return f"revision {self.number}"


class SchemaVersion(models.Model):
    """A published revision: written to the study's folder, under a content hash; rows are only added.

    Attributes:
        number: Number within its draft, from 1.
        version: Content hash of the schema.
        edition: Edition stated by its authors.
        note: Reason, in the publisher's words.
    """

    draft = models.ForeignKey(SchemaDraft, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    revision = models.ForeignKey(SchemaRevision, models.PROTECT, related_name="+")
    version = models.CharField(max_length=64)
    edition = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=500, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table, numbering."""

        db_table = "web_schema_version"
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["draft", "number"], name="web_schema_version_once")]

    def __str__(self) -> str:
        """Return the number and the start of the hash."""
        return f"version {self.number} ({self.version[:4]})"
