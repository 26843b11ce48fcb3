"""Files of the workspace: atomic writes, locks, cached findings and tree files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import socket
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import get_ident
from typing import TypeAlias

from pydantic import TypeAdapter, ValidationError

import theodolite
from theodolite.bootstrap.plugins import has_foreign_measurement
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import canonical_json, digest, version_of
from theodolite.domain.tree import TreeDesign
from theodolite.domain.tree_finding import TreeFinding
from theodolite.domain.tree_form import FORMAT, TreeFile, design_document, leaf_document, tree_file_of
from theodolite.reporting.results.trees import node_entry

try:
    import fcntl
except ImportError:  # Windows has no locks of this kind: there, files of dead processes are not removed
    fcntl = None  # type: ignore[assignment]


def write_whole(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file atomically: a partial file must not look complete.

    Incomplete files of killed writers of the same file are deleted. A device or a pipe, such as `/dev/null`, is
    written to and stays what it is.

    Args:
        path: Where to.
        content: The text, or its pieces; or bytes.

    Raises:
        StorageUnavailable: If it cannot be written.
    """
    target = path.resolve()  # a link stays one, and its target is replaced
    # Two processes of one run may end at the same moment; each writes its own file, and the later one wins.
    partial = target.with_name(f"{_ours(target)}{os.getpid()}-{get_ident()}.partial")
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as device:
                device.writelines(_encoded(content))
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_away(target)
        with _locked(partial):
            with partial.open("wb") as file:
                file.writelines(_encoded(content))
            partial.replace(target)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another place with --out"
        raise StorageUnavailable(message) from error
    finally:
        with suppress(OSError):  # without a write there is nothing to clean up
            partial.unlink()


def _encoded(content: str | bytes | Iterable[str]) -> Iterable[bytes]:
    if isinstance(content, bytes):
        return [content]
    pieces = [content] if isinstance(content, str) else content
    return (piece.encode() for piece in pieces)


def _ours(target: Path) -> str:
    """Return the prefix of this machine's temporary files for a file."""
    return f".{target.name}.{digest('host', socket.gethostname())[:8]}."


@contextmanager
def _locked(partial: Path) -> Iterator[None]:
    """Create a file, and hold its lock for the length of the block.

    The system releases the lock when the process dies, for any reason.
    """
    if fcntl is None:
        yield
        return
    number = _made(partial)
    try:
        yield
    finally:
        os.close(number)


def _made(partial: Path) -> int:
    """Return the descriptor of a new file whose lock is held."""
    while True:
        number = os.open(partial, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(OSError):  # a folder without locks: no process can own or clean up this file
            fcntl.flock(number, fcntl.LOCK_EX)
        if _leads_to(partial, number):
            return number
        os.close(number)  # another process removed it between its creation and its lock


def _leads_to(partial: Path, number: int) -> bool:
    try:
        return os.path.samestat(partial.stat(), os.fstat(number))
    except FileNotFoundError:
        return False


def _clear_away(target: Path) -> None:
    """Remove half-written files of dead writers, and none that a running process may be writing.

    A process id proves nothing: it is reused, and another machine or
    container on the same folder has its own ids. The lock is proof: only ended processes
    have released it. Not every shared folder passes locks on to other machines, so
    names contain the machine too, and each deletes only its own.
    """
    if fcntl is None:
        return
    name = re.compile(re.escape(_ours(target)) + r"\d+-\d+\.partial")
    for left in [item for item in target.parent.iterdir() if name.fullmatch(item.name)]:
        with suppress(OSError):  # its writer lives, or it is not ours to remove
            _remove_if_dead(left)


def _remove_if_dead(left: Path) -> None:
    """Remove a half-written file.

    Raises:
        OSError: If its writer still runs.
    """
    number = os.open(left, os.O_RDWR)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        left.unlink()
    finally:
        os.close(number)


_UNUSED = frozenset({"archive", "sessions", "spending", "spending_parts", "run", "study"})
"""Fields of the evidence that a version covers, or that affect no number."""

_DERIVED = frozenset({"sessions", "label_cache"})
"""Fields of the answer table that are derived from others."""

Digests: TypeAlias = dict[int, tuple[object, bytes]]
"""Digests of records by identity, each with its record, so that its id is not reused."""


def measured(evidence: Evidence, folder: Path, measure: Callable[[Evidence], Findings]) -> Findings:
    """Return the findings of some evidence: those of the last measurement if nothing has changed since.

    The file in the workspace only saves time. If it is missing, damaged, from other
    records or another version of the program, it is created again.

    Args:
        evidence: All records of one run.
        folder: The workspace; if it is not writable, nothing is stored.
        measure: Measures the evidence.
    """
    if _is_about_people(evidence) or has_foreign_measurement():
        return measure(evidence)
    fingerprint = fingerprint_of(evidence)
    path = folder / f"findings-{digest('findings', evidence.study.name)[:16]}.json"
    adapter = _findings_adapter()
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
    except ValueError:  # pydantic's errors are subclasses
        is_exact = False
    if is_exact:  # else a value has no exact form in JSON
        _store(path, fingerprint.encode() + b"\n" + text)
    return findings


@cache
def _findings_adapter() -> TypeAdapter[Findings]:
    """Return the JSON converter of findings; cached, because building it takes longer than reading a file."""
    return TypeAdapter(Findings)


def _is_about_people(evidence: Evidence) -> bool:
    """Return whether people took part: withdrawn data must not stay in a file, so their findings are never cached."""
    people = (
        evidence.sittings,
        evidence.responses,
        evidence.notes,
        evidence.event.sessions,
        evidence.annotator_attributes,
    )
    return any(people) or any(annotator.by_hand for annotator in evidence.study.annotators)


def _store(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except StorageUnavailable:
        return  # a full disk or a read-only workspace costs the time of a measurement, and no result


def fingerprint_of(evidence: Evidence) -> str:
    """Return a hash of everything that affects the findings of some evidence; 64 hexadecimal digits."""
    state = hashlib.sha256()
    for part in (_code(), evidence.run.key, evidence.run.plan_version, version_of(evidence.study)):
        state.update(part.encode() + b"\0")
    known: Digests = {}
    for field in dataclasses.fields(evidence):
        if field.name not in _UNUSED:
            _add(state.update, getattr(evidence, field.name), known)
    return state.hexdigest()


def _code() -> str:
    """Return the version of the program, its measurement code and the libraries it uses."""
    root = Path(theodolite.__file__).parent
    files = sorted([*root.glob("domain/**/*.py"), *root.glob("measurement/**/*.py")])
    stamps = [f"{file.relative_to(root)} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return digest(*(version(name) for name in ("theodolite", "numpy", "scipy")), *stamps)


def _add(update: Callable[[bytes], object], value: object, known: Digests) -> None:
    """Add a value to a hash: columns by their bytes, records by their canonical JSON, computed once per object."""
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
        except TypeError:  # it contains columns or a lazy sequence
            names = (field.name for field in dataclasses.fields(value) if field.name not in _DERIVED)  # type: ignore[arg-type]  # a record
            _add_all(content.update, (getattr(value, name) for name in names), known)
        known[id(value)] = value, content.digest()
    update(known[id(value)][1])


def _add_all(update: Callable[[bytes], object], values: Iterable[object], known: Digests) -> None:
    update(b"[")
    for value in values:
        _add(update, value, known)
    update(b"]")


def tree_file_name(design: TreeDesign) -> str:
    """Return the name of the file that a tree of a run is written to."""
    return f"tree-{re.sub('[^A-Za-z0-9._-]+', '-', design.name)}.json"


def tree_file_pieces(evidence: Evidence, findings: Findings, design: TreeDesign) -> Iterator[str]:
    """Yield the text of a tree file, one node or leaf a line, so that two files can be compared by lines."""
    tree = json.dumps(design_document(design), indent=1, ensure_ascii=False)
    yield f'{{\n"format": {json.dumps(FORMAT)},\n"tree": {tree},\n"applications": ['
    result = [finding for finding in findings.trees if finding.design.name == design.name]
    for number, finding in enumerate(result):
        yield "," * bool(number) + "\n"
        yield from _application(evidence, finding)
    yield "\n]\n}\n"


def _application(evidence: Evidence, finding: TreeFinding) -> Iterator[str]:
    from theodolite.measurement.study.trees import tree_leaves  # arrays: loaded only after a measurement

    head = {
        "application": finding.application,
        "application_version": evidence.study.application_version(finding.application),
        "scenarios": list(finding.scenarios),
        "versions": dict(finding.versions),
    }
    yield json.dumps(head, ensure_ascii=False).removesuffix("}")
    yield ',\n"nodes": ['
    yield from _lines(node_entry(node) for node in finding.nodes)
    yield '],\n"leaves": ['
    application = evidence.study.application(finding.application)
    yield from _lines(leaf_document(leaf) for leaf in tree_leaves(evidence, finding.design, application))
    yield "]}"


def _lines(entries: Iterable[object]) -> Iterator[str]:
    for number, entry in enumerate(entries):
        yield f"{',' * bool(number)}\n{json.dumps(entry, ensure_ascii=False, allow_nan=False)}"


def read_tree_file(path: str) -> TreeFile:
    """Return the content of a tree file: a design in YAML or JSON, or one with leaves.

    Raises:
        InputError: If it cannot be read, or is not a tree.
    """
    from theodolite.measurement.trees.tree import plain_of

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        message = f"the tree `{path}` cannot be read: {reason}"
        raise InputError(message) from error
    try:
        return tree_file_of(plain_of(text))
    except InputError as error:
        message = f"{path}: {error}"
        raise InputError(message, faults=error.faults) from error
