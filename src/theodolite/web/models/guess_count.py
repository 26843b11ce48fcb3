"""How often somebody has tried in vain to come in."""

from __future__ import annotations

from django.db import models


class GuessCount(models.Model):
    """One entry of the counts against guessing; Django's cache reads and writes it by the names of its columns.

    Attributes:
        cache_key: Hash of what is counted, and of whose address or account; neither can be read from it.
        value: When the attempts were made, packed.
        expires: When the last of them is forgotten.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        """Table."""

        db_table = "web_guess_count"

    def __str__(self) -> str:
        """Return until when it counts."""
        return f"until {self.expires:%H:%M:%S}"
