"""Contents: records under their content hash; large ones are files with SQLite, and packed rows with PostgreSQL."""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from django.db import connection, transaction
from django.utils import timezone

from theodolite.domain.errors import NotFound, StorageUnavailable, WrongSchema
from theodolite.domain.identity import Record, digest, type_name, version_and_text
from theodolite.domain.record_reading import record_from
from theodolite.store.models import ContentRow, FiledRow
from theodolite.store.statements import Row, insert, rows_of

R = TypeVar("R")


BLOB_BYTES = 64 * 1024
"""Size from which a text is stored in its own file, with SQLite; bytes.

PostgreSQL stores all texts, since workers on other machines share the database but no folder (ADR-0129).
"""


BASES = 256
"""Maximum number of base texts in the cache; the oldest is evicted first. Count."""


BASE_CHARACTERS = 16_384
"""Maximum length of a text that others are compressed against; the compressor cannot reach back further. Count."""


_KEPT = ("version", "text", "packed", "base_id")


CONTEXT_TAG = "context"
"""Tag of source material, which is text rather than a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A record to store.

    Attributes:
        version: Content hash; 64 hexadecimal digits.
        tag: Type of the record.
        text: Its JSON.
        kin: Group of similar contents, which share much of their text.
    """

    version: str
    tag: str
    text: str
    kin: str = ""


def content_of(record: Record, *, kin: str = "") -> Content:
    """Return a record as content."""
    version, text = version_and_text(record)
    return Content(version=version, tag=type_name(type(record)), text=storable_json(text), kin=kin)


def context_content(context: str) -> Content:
    """Return source material as content."""
    text = storable_json(json.dumps(context, ensure_ascii=False))
    return Content(version=digest(CONTEXT_TAG, context), tag=CONTEXT_TAG, text=text)


def record_of(kind: type[R], text: str) -> R:
    """Return the record of a stored text.

    Raises:
        WrongSchema: If a newer or older program wrote it in another form.
    """
    try:
        return record_from(kind, text)
    except (KeyError, TypeError, ValueError) as error:
        message = (
            f"a kept `{kind.__name__}` has a form that this version of the program does not know: {error}. "
            "Use the version that wrote it."
        )
        raise WrongSchema(message) from error


def context_of(text: str) -> str:
    """Return the source material of a stored text."""
    return str(json.loads(text))


@dataclass(frozen=True, slots=True)
class _Base:
    """A text that similar texts are compressed against."""

    version: str
    text: bytes


class Contents:
    """The contents of one workspace; called on a thread that is bound to its database."""

    def __init__(self, blobs: Path) -> None:
        """Set the location of large texts."""
        self._blobs = blobs
        self._bases: dict[str, _Base] = {}

    def keep(self, contents: Iterable[Content]) -> None:
        """Store the missing records.

        Files are written first: a row never names an incomplete file.
        """
        requested = {content.version: content for content in contents}
        if not requested:
            return
        insert(ContentRow, [self._row(requested[version]) for version in sorted(requested)], unless_there="version")
        if bases := self._new_bases(requested.values()):
            # Records must not be compressed against others that another transaction cannot see.
            transaction.on_commit(partial(self._remember, bases))

    def texts(self, versions: Iterable[str]) -> Mapping[str, str]:
        """Return the JSON texts of some contents by version.

        Raises:
            NotFound: If one of them is not stored.
        """
        requested = set(versions)
        rows = list(_rows(requested))
        if missing := requested - {version for version, *_ in rows}:
            message = f"nothing was ever kept here under the version {min(missing)}"
            raise NotFound(message)
        bases = {version: text for version, text, *_ in _rows({base for *_, base in rows if base is not None})}
        return {
            version: self._text(version, text, small, bases[base] if base else None)
            for version, text, small, base in rows
        }

    def import_files(self) -> int:
        """Copy the texts that are in files into the database, so that no machine needs the folder; return the count.

        Raises:
            StorageUnavailable: If a file cannot be read.
        """
        in_files = ContentRow.objects.filter(text__isnull=True, packed__isnull=True)
        versions = list(in_files.values_list("version", flat=True))
        for version in versions:
            ContentRow.objects.filter(version=version).update(**_in_row(self._blob(version).encode()))
        return len(versions)

    def _text(self, version: str, text: str | None, small: bytes | None, base: str | None) -> str:
        if text is not None:
            return text
        if small is None:
            return self._blob(version)
        return unpacked(small, (base or "").encode()).decode()

    def _row(self, content: Content) -> Row:
        encoded = content.text.encode()
        row: dict[str, object] = {"version": content.version, "tag": content.tag, "text": None}
        if len(encoded) > BLOB_BYTES:
            if connection.vendor == "postgresql":
                return {**row, **_in_row(encoded)}
            self._write_blob(content.version, encoded)
            return {**row, "packed": None, "base_id": None}
        base = self._bases.get(content.kin)
        small = packed(encoded, base.text if base else b"") if base or not content.kin else None
        if small is None:
            return {**row, "text": content.text, "packed": None, "base_id": None}
        return {**row, "packed": small, "base_id": base.version if base else None}

    def _new_bases(self, contents: Iterable[Content]) -> dict[str, _Base]:
        """Return one base for each new group: the first content that is stored uncompressed."""
        new = [
            content
            for content in contents
            if content.kin and content.kin not in self._bases and len(content.text) <= BASE_CHARACTERS
        ]
        if not new:
            return {}
        rows = ContentRow.objects.filter(version__in=[one.version for one in new], text__isnull=False)
        plain = set(rows.values_list("version", flat=True))
        return {one.kin: _Base(one.version, one.text.encode()) for one in reversed(new) if one.version in plain}

    def _remember(self, bases: Mapping[str, _Base]) -> None:
        self._bases.update(bases)
        for kin in list(islice(self._bases, max(0, len(self._bases) - BASES))):
            del self._bases[kin]

    def _write_blob(self, version: str, encoded: bytes) -> None:
        path = self._place(version)
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            try:
                file.write(zlib.compress(encoded))
                file.flush()
                os.fsync(file.fileno())
            except OSError:  # half a file would only fill the disk further
                Path(file.name).unlink()
                raise
        Path(file.name).replace(path)

    def _blob(self, version: str) -> str:
        path = self._place(version)
        try:
            if not path.exists():
                return path.with_suffix("").read_text(encoding="utf-8")  # from before large texts were packed
            return zlib.decompress(path.read_bytes()).decode()
        except (OSError, zlib.error) as error:
            message = f"the workspace's file `{path}` should hold the content {version} and cannot be read: {error}"
            raise StorageUnavailable(message) from error

    def _place(self, version: str) -> Path:
        return self._blobs / version[:2] / f"{version}.z"


def _in_row(encoded: bytes) -> Row:
    """Return the columns of a large text in the database, compressed if that saves enough."""
    small = packed(encoded)
    return {"text": encoded.decode() if small is None else None, "packed": small, "base_id": None}


def _rows(versions: set[str]) -> Iterator[tuple[str, str | None, bytes | None, str | None]]:
    """Yield version, text, compressed text and version of the base of some contents."""
    for row in rows_of(ContentRow, "version", map(bytes.fromhex, versions), columns=_KEPT):
        yield row.version, row.text, None if row.packed is None else bytes(row.packed), row.base_id


_SHORT = 200
"""Texts below this size are not worth packing; bytes."""


_WORTH = 0.75
"""A compressed text larger than this share of the plain text is not stored; fraction."""


_SMALL_WINDOW, _SMALL_MEMORY = 12, 5  # cheap to set up, and most texts fit: 2 to the 12th bytes with their base

_LARGE_WINDOW, _LARGE_MEMORY = 15, 8


def packed(text: bytes, base: bytes = b"") -> bytes | None:
    """Return a text compressed against a base; None if that saves too little."""
    if len(text) < _SHORT:
        return None
    fits = len(text) + len(base) <= 1 << _SMALL_WINDOW
    window, memory = (_SMALL_WINDOW, _SMALL_MEMORY) if fits else (_LARGE_WINDOW, _LARGE_MEMORY)
    press = zlib.compressobj(6, zlib.DEFLATED, -window, memory, zlib.Z_DEFAULT_STRATEGY, base)
    small = press.compress(text) + press.flush()
    return small if len(small) <= _WORTH * len(text) else None


def unpacked(small: bytes, base: bytes = b"") -> bytes:
    """Return the text that was compressed against a base."""
    press = zlib.decompressobj(-_LARGE_WINDOW, base)
    return press.decompress(small) + press.flush()


_SURROGATE = re.compile("[\ud800-\udfff]")


def storable_json(text: str) -> str:
    """Return a JSON text with lone surrogates escaped; NUL is always escaped."""
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


Filed = TypeVar("Filed", bound=Record)


def file_record(contents: Contents, subject: str, record: Record) -> str:
    """Store a record under its subject unless it exists, and return its version."""
    content = content_of(record)
    contents.keep([content])
    row = FiledRow(subject=subject, content_id=content.version, created=timezone.now())
    FiledRow.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["subject", "content"], update_fields=["subject"]
    )
    return content.version


def filed_records(contents: Contents, kind: type[Filed], subject: str) -> list[Filed]:
    """Return the records of one kind that are under a subject, the oldest first."""
    rows = FiledRow.objects.filter(subject=subject, content__tag=type_name(kind)).order_by("id")
    versions = list(rows.values_list("content_id", flat=True))
    texts = contents.texts(versions)
    in_present_shape = getattr(kind, "in_present_shape", str)  # of records that older programs wrote in another shape
    return [record_of(kind, in_present_shape(texts[version])) for version in versions]
