"""Counters against password guessing; stored in the database, so they survive a restart.

The sign-in library counts in Django's cache. This one is Django's own cache in a table,
with three differences. Addresses and accounts are kept as keyed hashes only. Whatever
nobody counts any more goes as soon as the next attempt is counted. The lock that the
library takes around each count stays in memory, since people who come in with a right
code are to cost no write, and a room of fifty behind one address is not to wait for it.
Two processes that count the same address at the same moment may so lose one attempt.
"""

from __future__ import annotations

from typing import Any

from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.utils import timezone
from django.utils.crypto import salted_hmac

from theodolite.web.models.account import GuessCount

_LOCK = ":lock"


def hidden_key(key: str, _prefix: str, version: int) -> str:
    """Return the keyed hash under which attempts are counted."""
    return salted_hmac("theodolite.guess", f"{version}:{key}", algorithm="sha256").hexdigest()


class GuessCounts(DatabaseCache):
    """The cache in which failed attempts are counted."""

    def __init__(self, table: str, parameters: dict[str, Any]) -> None:
        """Open the table; the locks are those of the whole process."""
        super().__init__(table, parameters)
        self._locks = LocMemCache("locks of guess counts", {})

    def add(self, key: str, value: Any, *args: Any, **options: Any) -> bool:
        """Add a value if there is none; tell whether it was added."""
        if key.endswith(_LOCK):
            return self._locks.add(key, value, *args, **options)
        return super().add(key, value, *args, **options)

    def delete(self, key: str, version: int | None = None) -> bool:
        """Delete a value; tell whether there was one."""
        return self._locks.delete(key) if key.endswith(_LOCK) else super().delete(key, version)

    def set(self, key: str, value: Any, *args: Any, **options: Any) -> None:
        """Set a value, and delete all expired ones."""
        super().set(key, value, *args, **options)
        GuessCount.objects.filter(expires__lt=timezone.now()).delete()
