"""Columns of our own: hashes as bytes, texts that are always storable, moments, the clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Func
from django.db.models.sql.compiler import SQLCompiler

from theodolite.domain.errors import StoreError

if TYPE_CHECKING:  # Django's fields take type arguments in the stubs only
    _Field = models.Field[Any, Any]
    _TextField = models.TextField[Any, Any]
else:
    _Field, _TextField = models.Field, models.TextField


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_HASH_BYTES = 32


class HashField(_Field):
    """A SHA-256: 64 hexadecimal digits in Python, 32 bytes in the database.

    Every row has several of them and most are indexed, so halving their size
    saves a good part of the whole database.
    """

    def get_internal_type(self) -> str:
        """Use Django's column type for bytes."""
        return "BinaryField"

    def from_db_value(self, value: bytes | None, *_: object) -> str | None:
        """Return the digits."""
        return None if value is None else bytes(value).hex()

    def get_prep_value(self, value: str | bytes | None) -> bytes | None:
        """Return the bytes; Django may call this twice, the second time with bytes.

        Raises:
            StoreError: If the value is no hash.
        """
        if value is None or isinstance(value, bytes):
            return value
        try:
            packed = bytes.fromhex(value)
        except ValueError:
            packed = b""
        if len(packed) != _HASH_BYTES:
            message = f"`{self.name}` must be a hash of {2 * _HASH_BYTES} hexadecimal digits; got {value!r}"
            raise StoreError(message)
        return packed

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:  # noqa: FBT001, FBT002  # Django's signature
        """Convert the bytes to the driver's type."""
        packed = super().get_db_prep_value(value, connection, prepared)
        return None if packed is None else connection.Database.Binary(packed)  # type: ignore[attr-defined]  # every backend has it


class StorableTextField(_TextField):
    """Text field that replaces characters that no database can store."""

    def get_prep_value(self, value: Any) -> Any:
        """Return the repaired text."""
        prepared = super().get_prep_value(value)
        return repaired_text(prepared) if isinstance(prepared, str) else prepared


class MomentField(_Field):
    """A moment: an aware datetime in Python, microseconds since 1970 (UTC) in the database.

    Takes a third of the size of SQLite's text form, and there are as many as replies.
    """

    def get_internal_type(self) -> str:
        """Use Django's column type for large integers."""
        return "BigIntegerField"

    def from_db_value(self, value: int | None, *_: object) -> datetime | None:
        """Return the moment."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)

    def get_prep_value(self, value: datetime | int | None) -> int | None:
        """Return the microseconds; Django may call this twice, the second time with microseconds."""
        return value if value is None or isinstance(value, int) else (value - _EPOCH) // timedelta(microseconds=1)


_CLOCKS = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "(EXTRACT(EPOCH FROM clock_timestamp())::double precision)",
}
"""SQL expression for the seconds since 1970 in each database."""


def clock_words(vendor: str) -> str:
    """Return the SQL expression for the seconds since 1970 by the database's clock."""
    return _CLOCKS[vendor]


class DatabaseClock(Func):
    """Seconds since 1970 by the database's own clock.

    Leases are compared by it, so that workers whose clocks differ agree on when
    a lease has ended.
    """

    output_field = models.FloatField()
    arity = 0

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any) -> tuple[str, Any]:
        """Return SQLite's expression; millisecond resolution."""
        return self.as_sql(compiler, connection, template=clock_words("sqlite"), **extra)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any) -> tuple[str, Any]:
        """Return PostgreSQL's current time, not the start of the transaction."""
        return self.as_sql(compiler, connection, template=clock_words("postgresql"), **extra)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def repaired_text(text: str) -> str:
    """Return the text with every character that cannot be stored replaced."""
    return text if _is_plain(text) else _UNSTORABLE.sub(_REPLACEMENT, text)


def n_repaired(*texts: str) -> int:
    """Return how many characters of some texts cannot be stored; count."""
    return sum(len(_UNSTORABLE.findall(text)) for text in texts if not _is_plain(text))


def _is_plain(text: str) -> bool:
    # Python knows without a scan whether a text is plain ASCII, and most texts are.
    return text.isascii() and "\x00" not in text
