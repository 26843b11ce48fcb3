"""Saved texts of the browser editor in a workspace: stored versions of each file, and drafts.

Every saved text is kept: a save stores the text before and after it. A draft is a text that replaces a file, or deletes
it, once a person applies it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote

from filelock import FileLock

from theodolite.config.permissions import write_private
from theodolite.domain.errors import NotFound

MOST_VERSIONS = 200
"""Maximum number of stored versions per file; count. The oldest are deleted first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVersion:
    """A stored version of a file.

    Attributes:
        number: Counts up from 1.
        saved_at: Time of storage; UTC.
    """

    number: int
    saved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDraft:
    """The draft of one file.

    Attributes:
        base: Hash of the file's bytes when the draft was started; empty without a file.
        text: The new text; None to delete the file.
    """

    base: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTexts:
    """Versions and drafts of the files of one study.

    Attributes:
        storage: Their folder in a workspace.
    """

    storage: Path

    def versions(self, name: str) -> tuple[TextVersion, ...]:
        """Return the stored versions of a file, latest first."""
        folder = self._versions(name)
        files = sorted(folder.glob("*.txt"), reverse=True) if folder.is_dir() else []
        return tuple(
            TextVersion(number=int(file.stem), saved_at=datetime.fromtimestamp(file.stat().st_mtime, UTC))
            for file in files
        )

    def version(self, name: str, number: int) -> str:
        """Return the text of a stored version.

        Raises:
            NotFound: If there is no version of this number.
        """
        file = self._versions(name) / f"{number:06d}.txt"
        if not file.is_file():
            message = f"there is no version {number} of `{name}`"
            raise NotFound(message)
        return file.read_bytes().decode("utf-8")

    def files(self) -> tuple[str, ...]:
        """Return the names of the files with stored versions."""
        folder = self.storage / "versions"
        return tuple(sorted(unquote(entry.name) for entry in folder.iterdir())) if folder.is_dir() else ()

    def store(self, name: str, text: str) -> None:
        """Store a text unless it is the latest stored version."""
        known = self.versions(name)
        if known and self.version(name, known[0].number) == text:
            return
        _written(self._versions(name) / f"{known[0].number + 1 if known else 1:06d}.txt", text)
        for old in known[MOST_VERSIONS - 1 :]:
            (self._versions(name) / f"{old.number:06d}.txt").unlink(missing_ok=True)

    def drafts(self) -> tuple[str, ...]:
        """Return the names of files with a draft."""
        folder = self.storage / "drafts"
        entries = folder.glob("*.json") if folder.is_dir() else ()
        return tuple(sorted(json.loads(entry.read_text(encoding="utf-8"))["name"] for entry in entries))

    def draft(self, name: str) -> TextDraft | None:
        """Return the draft of a file; None if there is none."""
        file = self._draft_path(name)
        if not file.is_file():
            return None
        content = json.loads(file.read_text(encoding="utf-8"))
        return TextDraft(base=content["base"], text=content["text"])

    def write_draft(self, name: str, draft: TextDraft) -> None:
        """Write the draft of a file."""
        _written(self._draft_path(name), json.dumps({"name": name, "base": draft.base, "text": draft.text}))

    def discard(self, name: str) -> None:
        """Delete the draft of a file, if there is one; its versions are kept."""
        self._draft_path(name).unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Serialise saves of several processes."""
        self.storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(self.storage / "lock", timeout=30):
            yield

    def _draft_path(self, name: str) -> Path:
        return self.storage / "drafts" / f"{quote(name, safe='')}.json"

    def _versions(self, name: str) -> Path:
        return self.storage / "versions" / quote(name, safe="")


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, text)
