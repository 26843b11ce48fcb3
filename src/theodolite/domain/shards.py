"""Shards: files with the results of one part of a plan, one session per line.

The first line names the study and the part; the last one counts the sessions and contains a
hash of all lines before it, so that half a file never counts as a whole one. Keys of
units differ between workspaces; a line therefore names a session by its work key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.flow import JournalEntry
from theodolite.domain.identity import SHORT, canonical_json
from theodolite.domain.record_reading import record_from
from theodolite.domain.run import Failure, Unit

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of a plan that runs separately.

    Attributes:
        number: Number of the part, from 1.
        count: Parts of the plan; count.
    """

    number: int
    count: int

    def of(self, positions: Sequence[Item]) -> Sequence[Item]:
        """Return every `count`-th item, so that each part resembles the whole.

        Example:
            >>> list(Shard(number=2, count=3).of(range(7)))
            [1, 4]
        """
        return positions[self.number - 1 :: self.count]

    def __str__(self) -> str:
        """Return the shard as users write it, e.g. `2/8`."""
        return f"{self.number}/{self.count}"


FORMAT = 1
"""Version of the format of shard files; incremented by hand when it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEvent:
    """One observation of the network use of an application that is code.

    Attributes:
        application: Name of the application.
        kind: Kind of the event, e.g. `connection`.
        name: Destination or program; empty if the kind says everything.
    """

    application: str
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardHeader:
    """First line of a shard file.

    Attributes:
        theodolite_shard: Version of the file's format.
        study: Name of the study.
        study_version: Content hash of the study.
        plan_version: Content hash of the plan.
        shard: The part of the plan, e.g. `2/8`.
        network: Observed network use of applications in the workspace of the shard.
    """

    theodolite_shard: int
    study: str
    study_version: str
    plan_version: str
    shard: str
    network: tuple[NetworkEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationResult:
    """The result of one annotation unit: an annotation or a failure.

    Attributes:
        annotator: Name of the annotator in the study.
        entries: Replies of the unit in order of position.
        annotation: The annotation; None if the unit failed.
        failure: The failure; None if there is an annotation.
    """

    annotator: str
    entries: tuple[JournalEntry, ...]
    annotation: Annotation | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """One line of a shard file: the result of a session and of its annotations.

    Attributes:
        work_key: Work key of the session unit, equal in all workspaces.
        position: Position in the plan, from 0.
        entries: Replies of the unit in order of position.
        dialogue: The dialogue; None if the session failed.
        failure: The failure; None if there is a dialogue.
        annotations: Results of the annotation units that are over.
    """

    work_key: str
    position: int
    entries: tuple[JournalEntry, ...]
    dialogue: Dialogue | None = None
    failure: Failure | None = None
    annotations: tuple[AnnotationResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitResult:
    """The result of one unit of a run, under the keys of the workspace that receives it.

    Attributes:
        unit: The unit.
        entries: Its replies in order of position.
        result: Its result.
    """

    unit: Unit
    entries: tuple[JournalEntry, ...]
    result: Dialogue | Annotation | Failure


class MergeOutcome(StrEnum):
    """Outcome of a unit's result in a merge."""

    MERGED = "merged"
    PRESENT = "present"
    """The same result was already stored."""
    DIFFERENT = "different"
    """The workspace has other replies for the unit; they are kept."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def shard_lines(header: ShardHeader, sessions: Iterable[SessionResult]) -> Iterator[str]:
    """Yield the lines of a shard file, each with its line feed."""
    sha256, n = hashlib.sha256(), -1
    for record in _with_header(header, sessions):
        line = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", canonical_json(record)) + "\n"
        sha256.update(line.encode())
        n += 1
        yield line
    yield json.dumps({"sessions": n, "sha256": sha256.hexdigest()}) + "\n"


def _with_header(header: ShardHeader, sessions: Iterable[SessionResult]) -> Iterator[ShardHeader | SessionResult]:
    yield header
    yield from sessions


def shard_number(text: str) -> Shard:
    """Return the shard for a text such as `2/8`.

    Raises:
        InputError: If it is not a shard.
    """
    match = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        message = f"a shard is NUMBER/COUNT with NUMBER from 1 to COUNT, e.g. `2/8`; got `{text}`"
        raise InputError(message)
    return Shard(number=number, count=count)


def header_in(name: str, line: str) -> ShardHeader:
    """Return the first line of a shard file.

    Args:
        name: Name of the file, for messages.
        line: Its first line; empty for an empty file.

    Raises:
        InputError: If the file is not a shard, or has an unknown format.
    """
    try:
        header = record_from(ShardHeader, line)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"`{name}` is not a shard of a run; shards are written by  theodolite run STUDY --shard 1/8"
        raise InputError(message) from error
    if header.theodolite_shard != FORMAT:
        message = (
            f"`{name}` has form {header.theodolite_shard} of shards, and this program reads form {FORMAT}; "
            "use the same version of theodolite for all shards"
        )
        raise InputError(message)
    return header


def require_same_study(name: str, header: ShardHeader, expected: ShardHeader) -> None:
    """Refuse the shard of another study or of another version.

    Args:
        name: Name of the file.
        header: Its first line.
        expected: The first line that a shard of the receiving study would have.

    Raises:
        InputError: If they differ.
    """
    if header.study != expected.study:
        message = f"`{name}` is a shard of study `{header.study}`; expected study `{expected.study}`"
        raise InputError(message)
    if header.study_version != expected.study_version:
        message = (
            f"`{name}` was made with version {header.study_version[:SHORT]} of study `{expected.study}`, and the files "
            f"here are version {expected.study_version[:SHORT]}. Use the same study file, data, code and interpreter "
            "for all shards, or run that shard again"
        )
        raise InputError(message)
    if header.plan_version != expected.plan_version:
        message = (
            f"`{name}` was made with other rules for dialogues than this version of theodolite has; "
            "use the same version for all shards, or run that shard again"
        )
        raise InputError(message)


def sessions_in(name: str, lines: Iterable[str]) -> Iterator[SessionResult]:
    """Yield the sessions of a shard file.

    Args:
        name: Name of the file, for messages.
        lines: All its lines.

    Raises:
        InputError: If a line is damaged or the end is missing; callers that need a whole file read it twice.
    """
    sha256, n, before = hashlib.sha256(), 0, ""
    for number, line in enumerate(lines, start=1):
        if number > 2:
            yield _session(name, number - 1, before)
            n += 1
        if before:
            sha256.update(before.encode())
        before = line
    try:
        end = json.loads(before)
        is_whole = end["sessions"] == n and end["sha256"] == sha256.hexdigest()
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        message = f"`{name}` is not whole: its end is missing or it was changed. Copy it again, or run that shard again"
        raise InputError(message)


def _session(name: str, number: int, line: str) -> SessionResult:
    try:
        return record_from(SessionResult, line)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"line {number} of `{name}` is damaged. Copy the file again, or run that shard again"
        raise InputError(message) from error
