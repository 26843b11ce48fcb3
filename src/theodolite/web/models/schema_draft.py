"""Drafts of annotation schemas: every text as it was saved, and the versions that were published from them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from theodolite.web.models.hosted_study import HostedStudy
from theodolite.web.models.token import new_token


class SchemaDraft(models.Model):
    """A schema that people of a study work on; there is one for each name.

    Attributes:
        token: Names it in addresses.
        name: Name of the schema, which is that of its file.
    """

    token = models.CharField(max_length=32, unique=True, default=new_token)
    hosted = models.ForeignKey(HostedStudy, models.CASCADE, related_name="schema_drafts")
    name = models.SlugField(max_length=80)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)

    class Meta:
        """Table, one draft a name."""

        db_table = "web_schema_draft"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["hosted", "name"], name="web_schema_draft_name")]

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class SchemaRevision(models.Model):
    """One text of a draft as it was saved; rows are only added.

    Attributes:
        number: 1 for the first one.
        text: The YAML, with or without faults.
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
    """A revision that was published: written to the study's folder, under a content hash; rows are only added.

    Attributes:
        number: 1 for the first one of its draft.
        version: Content hash of the schema.
        edition: Edition that its authors gave it.
        note: Why, in the publisher's words.
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
        """Return the number and the beginning of the hash."""
        return f"version {self.number} ({self.version[:4]})"
