"""Accounts: who signs in. Alone they know a name or an address; the store knows participants only."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models

from theodolite.web.models.token import new_token


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
