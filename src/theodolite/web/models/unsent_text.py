"""What a tester has begun to write and not sent: it is there again after a lost tab, on another device, too."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from theodolite.web.models.membership import Membership


class UnsentText(models.Model):
    """The text in the box of one session; gone once it is sent, or the session is over.

    It belongs to the person, not to the dialogue: nobody but its writer ever sees it, and it is never measured.

    Attributes:
        session: Key of the session in the store.
        text: As it stands in the box.
    """

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="unsent_texts")
    session = models.CharField(max_length=64)
    text = models.TextField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        """Table; a session has one box."""

        db_table = "web_unsent_text"
        constraints: ClassVar = [models.UniqueConstraint(name="web_unsent_once", fields=["membership", "session"])]

    def __str__(self) -> str:
        """Return how long it is; the words are nobody's business."""
        return f"{len(self.text)} letters"
