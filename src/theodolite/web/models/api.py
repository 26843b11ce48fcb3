"""Tokens of the API, webhooks with their deliveries, and stored API keys."""

from __future__ import annotations

import hmac
import secrets
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.web.models.account import new_token

TOKEN_PREFIX = "tdl"  # noqa: S105 - the beginning of every token, by which scanners of secrets recognise one
"""First part of every token of the API."""


class Scope(StrEnum):
    """Permissions of a token, within the roles of its owner."""

    READ_DIALOGUES = "read:dialogues"
    READ_ANNOTATIONS = "read:annotations"
    WRITE_ANNOTATIONS = "write:annotations"
    READ_RESULTS = "read:results"
    RUN_MEASUREMENTS = "run:measurements"
    CONTROL_RUNS = "control:runs"


SCOPE_TEXTS = {
    Scope.READ_DIALOGUES: "Read dialogues, and the queue of senior annotators",
    Scope.READ_ANNOTATIONS: "Read the annotations of people and judges",
    Scope.WRITE_ANNOTATIONS: "Import labels; take, answer, submit and release annotation tasks",
    Scope.READ_RESULTS: "Read measurements, results and tables",
    Scope.RUN_MEASUREMENTS: "Start measurements",
    Scope.CONTROL_RUNS: "Start, resume and stop runs and judges, which may cost money",
}
"""What each scope permits."""


class ApiToken(models.Model):
    """A token of one account for programs.

    Attributes:
        token: Identifies it in addresses and in the audit log; the second part of the secret.
        name: Name that its owner gave it.
        hash: SHA-256 of the secret; the secret has 256 random bits, so no slow hash is needed.
        scopes: Permitted scopes.
        expires_at: End of its validity; None for no end.
        used_at: Last use, at most a minute old; None if never used.
        revoked_at: Time of revocation; None while it is valid.
    """

    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    token = models.CharField(max_length=32, unique=True)
    name = models.CharField(max_length=80)
    hash = models.CharField(max_length=64)
    scopes = models.JSONField(default=list)
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        """Table."""

        db_table = "web_api_token"
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        """Return its name."""
        return self.name

    def is_valid(self, now: datetime) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def scope_texts(self) -> str:
        """The scopes, separated by commas."""
        return ", ".join(self.scopes)


def new_secret() -> tuple[str, str, str]:
    """Return the public part, the whole secret and the hash of a new token."""
    public = secrets.token_hex(6)
    secret = f"{TOKEN_PREFIX}_{public}_{secrets.token_urlsafe(32)}"
    return public, secret, hash_of(secret)


def hash_of(secret: str) -> str:
    """Return the hash under which a secret is stored."""
    return sha256(secret.encode()).hexdigest()


_NO_HASH = hash_of("")


def token_with(secret: str) -> ApiToken | None:
    """Return the token of a secret, valid or not; None if there is none.

    The comparison takes constant time, also for unknown tokens.
    """
    parts = secret.split("_", 2)
    public = parts[1] if len(parts) == 3 and parts[0] == TOKEN_PREFIX else ""
    row = ApiToken.objects.select_related("account").filter(token=public).first() if public else None
    is_equal = hmac.compare_digest(hash_of(secret), row.hash if row is not None else _NO_HASH)
    return row if is_equal else None


class WebhookEvent(StrEnum):
    """Facts of a study that webhooks report."""

    RUN_FINISHED = "run.finished"
    RUN_STOPPED = "run.stopped"
    RUN_FAILED = "run.failed"
    MEASUREMENT_FINISHED = "measurement.finished"
    GATE_FAILED = "gate.failed"
    DISPUTE_OPENED = "dispute.opened"
    EVENT_OPENED = "event.opened"
    EVENT_PAUSED = "event.paused"
    EVENT_CLOSED = "event.closed"


WEBHOOK_TEXTS = {
    WebhookEvent.RUN_FINISHED: "A run finished",
    WebhookEvent.RUN_STOPPED: "A run stopped before its end",
    WebhookEvent.RUN_FAILED: "A run ended with an error",
    WebhookEvent.MEASUREMENT_FINISHED: "A measurement finished",
    WebhookEvent.GATE_FAILED: "A gate is not met in a measurement",
    WebhookEvent.DISPUTE_OPENED: "Annotators disagree on a dialogue",
    WebhookEvent.EVENT_OPENED: "The event opened or resumed",
    WebhookEvent.EVENT_PAUSED: "The event was paused",
    WebhookEvent.EVENT_CLOSED: "The event closed",
}
"""Labels of the events."""

WEBHOOK_TEST = "webhook.test"
"""Type of the message that a button sends."""


class Webhook(models.Model):
    """An address that receives messages about a study.

    Attributes:
        token: Identifies it in addresses; its secret is derived from it and the server's key.
        url: The address.
        events: Types of the messages.
        known_disputes: Items that were disputed when it was created, which are not reported.
        disabled_at: Time at which its receiver answered that it no longer exists; None while it is active.
    """

    hosted = models.ForeignKey("web.HostedStudy", models.CASCADE, related_name="webhooks")
    token = models.CharField(max_length=32, unique=True, default=new_token)
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    known_disputes = models.JSONField(default=list)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True)
    disabled_at = models.DateTimeField(null=True)

    class Meta:
        """Table."""

        db_table = "web_webhook"
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        """Return its address."""
        return self.url


class WebhookDelivery(models.Model):
    """One message to one webhook, with its attempts.

    Attributes:
        token: Id of the message, equal in all attempts.
        subject: The fact; each is sent to a webhook once.
        body: The JSON text.
        attempts: Attempts so far, including the current one; count.
        next_at: Time of the next attempt; during an attempt, the time after which its process counts as killed.
        done_at: Time at which it was accepted or abandoned; None before.
        status: HTTP status of the last attempt; None without a response.
        problem: Reason why the last attempt failed; empty if it succeeded.
    """

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    token = models.CharField(max_length=40, unique=True)
    event = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    body = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(db_index=True)
    done_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        """Table options; a fact is sent once."""

        db_table = "web_webhook_delivery"
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["webhook", "subject"], name="web_webhook_once")]

    def __str__(self) -> str:
        """Return its type and id."""
        return f"{self.event} {self.token}"


class StoredKey(models.Model):
    """An API key that an organiser has entered; never shown again.

    Attributes:
        variable: Its name in study files.
        receiver: The only host that gets it, with the port if the address names one.
        sealed: The value, encrypted with the operator's key.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey("web.HostedStudy", models.CASCADE, related_name="stored_keys")
    variable = models.CharField(max_length=60)
    receiver = models.CharField(max_length=255)
    sealed = models.BinaryField(editable=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True)
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table; a study has one key of a name."""

        db_table = "web_stored_key"
        ordering: ClassVar = ["variable"]
        constraints: ClassVar = [models.UniqueConstraint(name="web_stored_key_once", fields=["hosted", "variable"])]

    def __str__(self) -> str:
        """Return the name, never the value."""
        return self.variable
