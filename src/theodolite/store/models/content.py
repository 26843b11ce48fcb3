"""Contents: records under their content hash."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.store.fields import HashField


class ContentRow(models.Model):
    """A record's canonical JSON, kept once for all that refer to it.

    `text` is empty where the JSON is `packed`, against the text of `base` where it has
    one, and where it is so large that it stands in a file of the workspace's `blobs`
    folder; the file is named by the version.
    """

    version = HashField(primary_key=True)
    tag = models.TextField()
    text = models.TextField(null=True)  # noqa: DJ001  # NULL means "elsewhere", which no text means
    packed = models.BinaryField(null=True)
    base = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        """Table."""

        db_table = "store_content"
        constraints: ClassVar = [
            models.CheckConstraint(name="content_tagged", condition=~models.Q(tag="")),
            models.CheckConstraint(
                name="content_in_one_place",
                condition=(models.Q(text__isnull=True) | models.Q(packed__isnull=True))
                & (models.Q(base__isnull=True) | models.Q(packed__isnull=False)),
            ),
        ]
