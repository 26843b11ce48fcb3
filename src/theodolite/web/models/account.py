"""Accounts and their display settings. The store knows participants only, without name or address."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _


def new_token() -> str:
    """Return a random token of 12 characters."""
    return secrets.token_urlsafe(9)


class AccountManager(BaseUserManager["Account"]):
    """Makes accounts."""

    def create_user(self, email: str | None = None, password: str | None = None, **fields: Any) -> Account:
        """Make an account; without a password, one cannot sign in by password.

        Args:
            email: Address, in any spelling; None for people who sign in by code.
            password: In plain words; hashed here.
            fields: Other columns.
        """
        account = self.model(email=self.normalize_email(email).lower() if email else None, **fields)
        account.set_password(password)
        account.save(using=self._db)
        return account


class Account(AbstractBaseUser):
    """Somebody who can sign in, by address and password, passkey, single sign-on or personal code.

    Attributes:
        token: Names the account in addresses and in the audit log; tells nothing.
        email: In small letters; None for people who came with a printed code.
        name: How organisers and colleagues call the person; may be empty.
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
        """Return how the person is called."""
        return self.name or self.email or f"person {self.token[:4]}"


SIZES = ((1, _("as in the browser")), (2, _("larger")), (3, _("largest")))
"""Sizes of text, and what people are told that they are."""


COLOURS = (
    ("", _("as on the device")),
    ("contrast", _("black on white")),
    ("contrast-dark", _("white on black")),
)
"""Colours of the pages, and what people are told that they are."""


class Comfort(models.Model):
    """Display settings of an account; the defaults have no row.

    Attributes:
        keys: Whether single letters act as keys.
        enter_sends: Whether Enter sends a message and Shift+Enter breaks its line, or the reverse.
        streams: Whether replies appear piece by piece, or only when they are whole.
        text_size: One of `SIZES`.
        colours: One of `COLOURS`; those of strong contrast are for people who see little.
        language: Tag of the language of pages and study texts; empty for what the browser asks for.
    """

    account = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="comfort", primary_key=True)
    keys = models.BooleanField(default=True)
    enter_sends = models.BooleanField(default=True)
    streams = models.BooleanField(default=True)
    text_size = models.PositiveSmallIntegerField(
        default=1, choices=SIZES, validators=[MinValueValidator(1), MaxValueValidator(3)]
    )
    colours = models.CharField(max_length=16, default="", blank=True, choices=COLOURS)
    language = models.CharField(max_length=35, default="", blank=True)

    class Meta:
        """Table."""

        db_table = "web_comfort"
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(text_size__range=(1, 3)), name="web_comfort_size"),
            models.CheckConstraint(
                condition=models.Q(colours__in=[name for name, _ in COLOURS]), name="web_comfort_colours"
            ),
        ]

    def __str__(self) -> str:
        """Return what was chosen, in a line."""
        return f"keys {self.keys}, Enter sends {self.enter_sends}, streams {self.streams}, size {self.text_size}"


class GuessCount(models.Model):
    """One entry of the counts against guessing; Django's cache reads and writes it by the names of its columns.

    Attributes:
        cache_key: Hash of what is counted, and of whose address or account; neither can be read from it.
        value: When the attempts were made, packed.
        expires: When the last of them is forgotten.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        """Table."""

        db_table = "web_guess_count"

    def __str__(self) -> str:
        """Return until when it counts."""
        return f"until {self.expires:%H:%M:%S}"
