"""Filed records: contents that are found by what they are about."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.store.fields import HashField, MomentField
from theodolite.store.models.content import ContentRow


class FiledRow(models.Model):
    """A record among the contents, filed under the hash of its subject; only withdrawals take any out."""

    subject = HashField()
    content = models.ForeignKey(ContentRow, on_delete=models.PROTECT, related_name="+", db_index=False)
    created = MomentField()

    class Meta:
        """Table, one row a record and subject."""

        db_table = "store_filed"
        constraints: ClassVar = [models.UniqueConstraint(name="filed_once", fields=["subject", "content"])]
