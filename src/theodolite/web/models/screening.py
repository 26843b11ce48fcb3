"""What came of the questions that a person was asked before taking part."""

from __future__ import annotations

from django.db import models

from theodolite.web.models.membership import Membership


class Screening(models.Model):
    """Whether one person was let in. The answers are not kept: the person has agreed to nothing yet.

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
        """Return what came of it."""
        return "screened" if self.passed else "screened out"
