"""Ethics approvals: without one, no tester is asked in."""

from __future__ import annotations

from datetime import date
from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.web.models.hosted_study import HostedStudy


class EthicsApproval(models.Model):
    """What a body has approved; further ones are added, none is changed.

    Attributes:
        body: Who approved it.
        number: Under which number, or the words of the decision where there is none.
        granted: From which day it holds.
        expires: To which day it holds; None where it has no end.
    """

    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="approvals")
    body = models.CharField(max_length=200)
    number = models.CharField(max_length=200)
    granted = models.DateField()
    expires = models.DateField(null=True, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table; nothing expires before it is granted."""

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
        """Tell whether it holds on a day."""
        return self.granted <= day and (self.expires is None or day <= self.expires)
