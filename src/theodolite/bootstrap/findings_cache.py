"""Findings of the last measurement, so that a report of the same records does not measure again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import theodolite
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.plugins import has_foreign_summaries
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import canonical_json, digest, version_of

_UNUSED = frozenset({"archive", "sessions", "spending", "run", "study"})
"""Fields of the evidence that are covered by a version, or that no number rests on."""

_DERIVED = frozenset({"sessions", "label_cache"})
"""Fields of the answer table that follow from the others."""


Digests: TypeAlias = dict[int, tuple[object, bytes]]
"""Digests of records by identity, each with its record, so that no other one takes its place in memory."""


def measured(evidence: Evidence, folder: Path, measure: Callable[[Evidence], Findings]) -> Findings:
    """Return the findings of some evidence: those of the last measurement if nothing has changed since.

    The file in the workspace only saves time. One that is missing, damaged, of other
    records or of another version of the program is made anew.

    Args:
        evidence: All records of one run.
        folder: The workspace; where it cannot be written to, nothing is stored.
        measure: Measures the evidence.
    """
    from pydantic import TypeAdapter, ValidationError

    if _is_about_people(evidence) or has_foreign_summaries():
        return measure(evidence)
    fingerprint = fingerprint_of(evidence)
    path = folder / f"findings-{digest('findings', evidence.study.name)[:16]}.json"
    adapter = TypeAdapter(Findings)
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        if head.decode() == fingerprint:
            return adapter.validate_json(body)
    except (OSError, ValueError, ValidationError):
        pass  # the findings are measured below, whatever was wrong with the file
    findings = measure(evidence)
    try:
        text = adapter.dump_json(findings)
        is_exact = adapter.dump_json(adapter.validate_json(text)) == text
    except ValueError:  # both of pydantic's errors are ones
        is_exact = False
    if is_exact:  # else a value has no exact form in JSON
        _store(path, fingerprint.encode() + b"\n" + text)
    return findings


def _is_about_people(evidence: Evidence) -> bool:
    """Tell whether people took part: what they withdraw must not stay in a file, so nothing of theirs is stored."""
    people = (
        evidence.sittings,
        evidence.responses,
        evidence.notes,
        evidence.event.sessions,
        evidence.annotator_attributes,
    )
    return any(people) or any(annotator.by_hand for annotator in evidence.study.annotators)


def _store(path: Path, content: bytes) -> None:
    from theodolite.domain.errors import StorageUnavailable

    try:
        write_whole(path, content)
    except StorageUnavailable:
        return  # a full disk or a read-only workspace costs the time of a measurement, and no result


def fingerprint_of(evidence: Evidence) -> str:
    """Return a hash of everything that the findings of some evidence rest on; 64 hexadecimal digits."""
    state = hashlib.sha256()
    for part in (_code(), evidence.run.key, evidence.run.plan_version, version_of(evidence.study)):
        state.update(part.encode() + b"\0")
    known: Digests = {}
    for field in dataclasses.fields(evidence):
        if field.name not in _UNUSED:
            _add(state.update, getattr(evidence, field.name), known)
    return state.hexdigest()


def _code() -> str:
    """Return the version of the program, of the files that measure and of the libraries that they use."""
    root = Path(theodolite.__file__).parent
    files = sorted([*root.glob("domain/**/*.py"), *root.glob("measurement/**/*.py")])
    stamps = [f"{file.relative_to(root)} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return digest(*(version(name) for name in ("theodolite", "numpy", "scipy")), *stamps)


def _add(update: Callable[[bytes], object], value: object, known: Digests) -> None:
    """Add a value to a hash: columns by their bytes, records by their canonical JSON, which is made once an object."""
    if isinstance(value, array | bytes | bytearray):
        content = bytes(value)
        update(b"%d:%b" % (len(content), content))
    elif isinstance(value, str | int | float | bool | None):
        update(json.dumps(value).encode() + b"\0")
    elif isinstance(value, Mapping):
        _add_all(update, value.items(), known)
    elif dataclasses.is_dataclass(value):
        _add_record(update, value, known)
    elif isinstance(value, Iterable):
        _add_all(update, sorted(value) if isinstance(value, set | frozenset) else value, known)
    else:
        update(canonical_json(value).encode() + b"\0")


def _add_record(update: Callable[[bytes], object], value: object, known: Digests) -> None:
    if id(value) not in known:
        content = hashlib.sha256()
        try:
            content.update(canonical_json(value).encode())
        except TypeError:  # it holds columns, or a sequence that makes its entries when asked
            names = (field.name for field in dataclasses.fields(value) if field.name not in _DERIVED)  # type: ignore[arg-type]  # a record
            _add_all(content.update, (getattr(value, name) for name in names), known)
        known[id(value)] = value, content.digest()
    update(known[id(value)][1])


def _add_all(update: Callable[[bytes], object], values: Iterable[object], known: Digests) -> None:
    update(b"[")
    for value in values:
        _add(update, value, known)
    update(b"]")
