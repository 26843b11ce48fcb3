"""Contents: records under their content hash, large ones as files."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from theodolite.domain.errors import NotFound, StorageUnavailable, WrongSchema
from theodolite.domain.identity import Record, digest, version_of
from theodolite.store.models import ContentRow
from theodolite.store.records import record_from, record_text, storable_json
from theodolite.store.statements import Row, insert

R = TypeVar("R")

BLOB_BYTES = 64 * 1024
"""Size from which on a text stands in a file of its own; bytes."""

CONTEXT_TAG = "context"
"""Tag of source material, which is a text and no record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One thing to keep.

    Attributes:
        version: Content hash; 64 hexadecimal digits.
        tag: Type of the record.
        text: Its JSON.
    """

    version: str
    tag: str
    text: str


def content_of(record: Record) -> Content:
    """Return a record as content."""
    return Content(version=version_of(record), tag=type(record).__name__, text=record_text(record))


def context_content(context: str) -> Content:
    """Return source material as content."""
    text = storable_json(json.dumps(context, ensure_ascii=False))
    return Content(version=digest(CONTEXT_TAG, context), tag=CONTEXT_TAG, text=text)


def record_of(kind: type[R], text: str) -> R:
    """Return the record that a kept text holds.

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
    """Return the source material that a kept text holds."""
    return str(json.loads(text))


class Contents:
    """The contents of one workspace; called on a thread that is bound to its database."""

    def __init__(self, blobs: Path) -> None:
        """Say where large texts go."""
        self._blobs = blobs

    def keep(self, contents: Iterable[Content]) -> None:
        """Store what is not there yet.

        Files come first: a row never names a file that is not whole.
        """
        wanted = {content.version: content for content in contents}
        if wanted:
            insert(ContentRow, [self._row(wanted[version]) for version in sorted(wanted)], unless_there="version")

    def texts(self, versions: Iterable[str]) -> Mapping[str, str]:
        """Return the JSON texts of some contents by version.

        Raises:
            NotFound: If one was never kept.
        """
        wanted = set(versions)
        rows = ContentRow.objects.filter(version__in=list(wanted)).values_list("version", "text")
        found = {version: self._blob(version) if text is None else text for version, text in rows}
        if missing := wanted - found.keys():
            message = f"nothing was ever kept here under the version {min(missing)}"
            raise NotFound(message)
        return found

    def _row(self, content: Content) -> Row:
        encoded = content.text.encode()
        if len(encoded) <= BLOB_BYTES:
            return {"version": content.version, "tag": content.tag, "text": content.text}
        self._write_blob(content.version, encoded)
        return {"version": content.version, "tag": content.tag, "text": None}

    def _write_blob(self, version: str, encoded: bytes) -> None:
        place = self._place(version)
        if place.exists():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(place)

    def _blob(self, version: str) -> str:
        place = self._place(version)
        try:
            return place.read_text(encoding="utf-8")
        except OSError as error:
            message = f"the workspace's file `{place}` should hold the content {version} and cannot be read: {error}"
            raise StorageUnavailable(message) from error

    def _place(self, version: str) -> Path:
        return self._blobs / version[:2] / version
