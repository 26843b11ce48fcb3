"""Wishes that something is looked at."""

from __future__ import annotations

from django.db import models

from theodolite.store.fields import MomentField, StorableTextField
from theodolite.store.models.annotating.queue import WorkItemRow


class ReviewWishRow(models.Model):
    """A wish that seniors look at whatever is submitted for an item, drawn by the plan or not."""

    item = models.OneToOneField(WorkItemRow, on_delete=models.PROTECT, related_name="+")
    by = StorableTextField()
    created = MomentField()

    class Meta:
        """Table."""

        db_table = "store_review_wish"
