"""Tokens of the API, webhooks, and their deliveries."""

from __future__ import annotations

import hmac
import secrets
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import ClassVar

from django.conf import settings
from django.db import models

TOKEN_PREFIX = "tdl"  # noqa: S105 - the beginning of every token, by which scanners of secrets recognise one
"""First part of every token of the API."""


class Scope(StrEnum):
    """What a token permits, within the roles of its owner."""

    READ_DIALOGUES = "read:dialogues"
    READ_ANNOTATIONS = "read:annotations"
    READ_RESULTS = "read:results"
    RUN_MEASUREMENTS = "run:measurements"


SCOPE_TEXTS = {
    Scope.READ_DIALOGUES: "Read dialogues",
    Scope.READ_ANNOTATIONS: "Read annotations",
    Scope.READ_RESULTS: "Read results and tables",
    Scope.RUN_MEASUREMENTS: "Start measurements",
}
"""Labels of the scopes."""


class ApiToken(models.Model):
    """A token of one account for programs.

    Attributes:
        token: Names it in addresses and in the audit log; the second part of the secret.
        name: Name that its owner gave it.
        hash: SHA-256 of the secret; the secret has 256 random bits, so no slow hash is needed.
        scopes: Permitted scopes.
        expires_at: End of its validity; None for no end.
        used_at: Last use, at most a minute old; None if never used.
        revoked_at: When it was revoked; None while it is valid.
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

    The comparison takes the same time wherever the secrets differ, and also takes place for unknown tokens.
    """
    parts = secret.split("_", 2)
    public = parts[1] if len(parts) == 3 and parts[0] == TOKEN_PREFIX else ""
    row = ApiToken.objects.select_related("account").filter(token=public).first() if public else None
    is_equal = hmac.compare_digest(hash_of(secret), row.hash if row is not None else _NO_HASH)
    return row if is_equal else None
