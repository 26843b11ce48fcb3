"""Saved views: lists of dialogues that somebody comes back to, under a name."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.web.models.hosted_study import HostedStudy
from theodolite.web.models.token import new_token


class SavedView(models.Model):
    """One view of a study's dialogues: what its address asks for.

    Attributes:
        token: Names it in addresses.
        account: Whose it is.
        name: What its owner calls it.
        query: What stands behind the question mark of its address.
        is_shared: Whether everybody who looks after the study's queue sees it.
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
