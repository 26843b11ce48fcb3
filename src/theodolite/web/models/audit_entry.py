"""The audit log: who did what; rows are added and never changed."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from theodolite.web.models.hosted_study import HostedStudy


class AuditEntry(models.Model):
    """One act.

    Attributes:
        at: When; UTC.
        actor: Token of the account; empty for the server itself and for strangers.
        verb: What was done, e.g. `invited`.
        subject: What it was done to: kind and token, e.g. `membership x7-...`.
        facts: What else is to be known; never secrets, never what people said.
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
        """Return the act in a line."""
        return f"{self.actor or 'server'} {self.verb} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the entry.

        Raises:
            TypeError: If it is there already.
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
