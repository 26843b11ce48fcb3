"""The `held_out` key: scripts and secrets of scenarios stored outside the study and the package."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field, field_validator

from theodolite.config.load_context import Entry, Found, LoadContext
from theodolite.config.permissions import RefusedPath
from theodolite.config.scenarios import ScenarioSpec
from theodolite.config.tables import unreadable
from theodolite.config.validation import Filled, Spec, validated
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.errors import did_you_mean

if TYPE_CHECKING:
    from theodolite.domain.study_parts import ScenarioMaterial

FILE = "packet.yaml"
"""File of a packet, in its folder or archive."""

MOST_BYTES = 50_000_000
"""Maximum size of an unpacked packet; bytes."""


class HeldOutSpec(Spec):
    """A packet outside the study: a folder or ZIP archive with `packet.yaml`."""

    path: str = ""
    """Folder or archive; paths are relative to the study's folder."""
    env: str = ""
    """Environment variable that contains the path, instead of `path`."""
    version: str = ""
    """Version to use, if the folder has a subfolder for each version."""
    sha256: str = ""
    """Checksum of the packet; `check` prints the actual one."""


class PacketSpec(Spec):
    """A held-out packet (`packet.yaml`): parts of scenarios that replace those of the study or pack."""

    packet: Filled
    """Name of the packet."""
    version: Filled
    """Version, set by its author; each rotated packet has a new one."""
    public_since: date | None = None
    """Date of its publication; none while it is held out."""
    canaries: list[Filled] = Field(default_factory=list)
    """UUIDs that occur nowhere else; a response that contains one shows that the packet leaked."""
    scenarios: dict[str, ScenarioSpec] = Field(min_length=1)
    """Scenarios by name; only keys that are set replace those of the study or pack."""

    @field_validator("canaries")
    @classmethod
    def _are_uuids(cls, value: list[str]) -> list[str]:
        from theodolite.domain.study_parts import CANARY  # few studies have a packet

        odd = [text for text in value if not CANARY.fullmatch(text)]
        if odd:
            message = "a canary must be a UUID, e.g. the output of `uuidgen`"
            raise ValueError(message)
        return value


class Packet(NamedTuple):
    """A packet after loading.

    Attributes:
        scenarios: Entries with the keys that it sets, by name.
        material: The part that is recorded.
    """

    scenarios: Mapping[str, Entry[ScenarioSpec]] = MappingProxyType({})
    material: ScenarioMaterial | None = None

    def over(self, entry: Entry[ScenarioSpec]) -> Entry[ScenarioSpec]:
        """Return a scenario with the parts that the packet replaces."""
        own = self.scenarios.get(entry.name)
        if own is None:
            return entry
        update = {name: getattr(own.spec, name) for name in own.spec.model_fields_set}
        return replace(entry, spec=entry.spec.model_copy(update=update))


def read_packet(entry: Entry[Spec], spec: HeldOutSpec | None, context: LoadContext) -> Packet:
    """Return the held-out packet of a study; empty if the study names none, or (with errors) if it cannot be used."""
    if spec is None:
        return Packet()
    path = _path(entry, spec, context)
    if path is None:
        return Packet()
    try:
        files = _files(path, spec.version)
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        text = unreadable(error) if isinstance(error, OSError) else str(error)
        context.diagnostics.add(entry.diagnostic("held_out", message=f"the held-out packet cannot be read: {text}"))
        return Packet()
    checksum = checksum_of(files)
    if spec.sha256.lower() != checksum:
        expected = f"`sha256` is {spec.sha256}" if spec.sha256 else "`sha256` is missing"
        message = f"{expected}; the packet has {checksum}. Use the packet that was agreed on, or state its checksum"
        context.diagnostics.add(entry.diagnostic("held_out", message=message))
        return Packet()
    return _read(entry, files, checksum, context)


def checksum_of(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over names and contents of a packet's files; 64 hexadecimal digits."""
    lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _path(entry: Entry[Spec], spec: HeldOutSpec, context: LoadContext) -> Path | None:
    if bool(spec.path) == bool(spec.env):
        message = "`held_out` needs either `path` or `env`"
        context.diagnostics.add(entry.diagnostic("held_out", message=message))
        return None
    if spec.env:
        named = os.environ.get(spec.env, "")
        if not named:
            message = f"environment variable `{spec.env}` is not set; it contains the path of the held-out packet"
            context.diagnostics.add(entry.diagnostic("held_out", "env", message=message))
            return None
        return Path(named)
    path = context.folder / spec.path
    refused = context.paths.refusal_of(path, shown=spec.path)
    if isinstance(refused, RefusedPath):
        context.diagnostics.add(entry.diagnostic("held_out", "path", message=refused.message))
        return None
    return path


def _files(path: Path, version: str) -> dict[str, bytes]:
    """Return the files of a packet by name.

    Raises:
        OSError: If a file cannot be read.
        BadZipFile: If the archive is invalid.
        ValueError: If there is no packet or no such version, or it is too large.
    """
    files = _folder(path) if path.is_dir() else _archive(path.read_bytes())
    if sum(map(len, files.values())) > MOST_BYTES:
        message = f"it is larger than {MOST_BYTES // 1_000_000} MB"
        raise ValueError(message)
    versions = sorted({name.split("/", 1)[0] for name in files if name.endswith(f"/{FILE}") and name.count("/") == 1})
    if FILE in files and not version:
        return {name: raw for name, raw in files.items() if name.split("/", 1)[0] not in versions}
    if version not in versions:
        known = ", ".join(versions) or "none"
        message = f"it has no `{FILE}`" if not versions else f"name its `version`; it has {known}"
        if version:
            message = f"it has no version `{version}`{did_you_mean(version, versions) or f'; it has {known}'}"
        raise ValueError(message)
    return {name.partition("/")[2]: raw for name, raw in files.items() if name.startswith(f"{version}/")}


def _folder(path: Path) -> dict[str, bytes]:
    result: dict[str, bytes] = {}
    for file in sorted(path.rglob("*")):
        if (
            file.is_file()
            and not file.is_symlink()
            and not any(p.startswith(".") for p in file.relative_to(path).parts)
        ):
            result[file.relative_to(path).as_posix()] = file.read_bytes()
    return result


def _archive(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if sum(info.file_size for info in members) > MOST_BYTES:
            message = f"it unpacks to more than {MOST_BYTES // 1_000_000} MB"
            raise ValueError(message)
        return {info.filename: archive.read(info) for info in members}


def _read(entry: Entry[Spec], files: Mapping[str, bytes], checksum: str, context: LoadContext) -> Packet:
    from theodolite.domain.study_parts import ScenarioMaterial, canary_digest

    source = read_yaml(files[FILE], FILE)
    spec = validated(source, PacketSpec, owner="held-out packet")
    context.diagnostics.add(*source.faults)
    if spec is None:
        return Packet()
    texts = {name: raw for name, raw in files.items() if name != FILE}
    context.packet_files.update(texts)
    leaking = _with_canary(spec, texts)
    if leaking:
        message = f"a canary of the held-out packet stands in {leaking}, which applications are shown; remove it there"
        context.diagnostics.add(entry.diagnostic("held_out", message=message))
    context.found.append(Found(noun="held-out packet", name=spec.packet, edition=spec.version, where="held out"))
    material = ScenarioMaterial(
        name=spec.packet,
        version=spec.version,
        is_held_out=spec.public_since is None,
        public_since=spec.public_since.isoformat() if spec.public_since else "",
        sha256=checksum,
        canaries=tuple(map(canary_digest, spec.canaries)),
        scenarios=tuple(spec.scenarios),
    )
    entries = {
        name: Entry(name=name, spec=item, source=source, path=("scenarios", name))
        for name, item in spec.scenarios.items()
    }
    return Packet(scenarios=entries, material=material)


def _with_canary(spec: PacketSpec, texts: Mapping[str, bytes]) -> str:
    """Return the location of a canary besides the list of canaries; empty for none."""
    shown = {f"scenario `{name}`": item.model_dump_json() for name, item in spec.scenarios.items()}
    shown |= {f"`{name}`": raw.decode("utf-8", errors="replace") for name, raw in texts.items()}
    places = [place for place, text in shown.items() if any(canary.lower() in text.lower() for canary in spec.canaries)]
    return ", ".join(places)


def require_known(entry: Entry[Spec], packet: Packet, known: Sequence[str], context: LoadContext) -> None:
    """Reject a packet with scenarios that the study lacks."""
    for name in packet.scenarios:
        if name not in known:
            message = f"the held-out packet has a scenario `{name}` that the study has not{did_you_mean(name, known)}"
            context.diagnostics.add(entry.diagnostic("held_out", message=message))
