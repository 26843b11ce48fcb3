"""Scenario packs: their cards, and their installation from a folder or an archive."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from theodolite.config.guidelines import GuidelineSpec
from theodolite.config.load_context import ResourceResolver, packs_folder
from theodolite.config.series import TaxonomySpec
from theodolite.config.study import PackSpec
from theodolite.config.tables import table_of
from theodolite.config.validation import validated
from theodolite.config.yaml_source import InvalidStudyError, read_yaml
from theodolite.domain.errors import InputError, did_you_mean

PACK_FILE = "pack.yaml"

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*")

LARGEST_PACK = 50 * 2**20
"""Maximum total size of the files of a pack; bytes."""

MOST_FILES = 2_000
"""Maximum number of files in a pack; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackCard:
    """The measures of a pack, and the evidence about it.

    Attributes:
        name: Name of the pack, e.g. `aria/tv-spoilers`.
        edition: Edition, set by its author.
        origin: `shipped`, `installed pack`, or the name of a plugin.
        about: Its description and author.
        dialogues: Dialogues for each application with one repeat: fixed prompts and rows of personas; count.
        measures: Definition of each guideline.
        proxies: Real use that each scenario represents.
        risks: Risk to its identifier and name in a taxonomy, and to related risks of other taxonomies.
        validity: Evidence for its validity; empty if none is stated.
        limits: Limits of its results; empty if none are stated.
        licence: Licence; empty if none is stated.
        warning: Unpleasant content that people may see; empty for none.
    """

    name: str
    edition: str
    origin: str
    about: str
    dialogues: int
    measures: Mapping[str, str]
    proxies: Mapping[str, str]
    risks: Mapping[str, str]
    validity: str
    limits: str
    licence: str
    warning: str


def pack_card(name: str, resolver: ResourceResolver) -> PackCard:
    """Return the card of a pack.

    Raises:
        InputError: If there is no such pack.
        InvalidStudyError: If its file has errors.
    """
    known = resolver.packs()
    resource = resolver.resource(f"packs/{name}/{PACK_FILE}") if name in known else None
    if resource is None:
        tail = did_you_mean(name, known) or f"; known are {', '.join(known)}"
        message = f"there is no scenario pack `{name}`{tail}"
        raise InputError(message)
    spec = _read(resource.raw, f"{name}/{PACK_FILE}")
    return PackCard(
        name=name,
        edition=str(spec.edition),
        origin=resource.origin,
        about=spec.about.strip(),
        dialogues=_n_dialogues(spec, name, resolver),
        measures=_definitions(spec, resolver),
        proxies={key: scenario.use_case.strip() for key, scenario in spec.scenarios.items()},
        risks={key: _risk_text(risk.taxonomy, resolver) for key, risk in spec.risks.items()},
        validity=spec.validity.strip(),
        limits=spec.limits.strip(),
        licence=spec.licence.strip(),
        warning=spec.warning.strip(),
    )


def _definitions(spec: PackSpec, resolver: ResourceResolver) -> dict[str, str]:
    """Return the definitions of the pack's guidelines, including those defined elsewhere."""
    named = [one for scenario in spec.scenarios.values() for one in scenario.guidelines or ()]
    result = {key: guideline.definition for key, guideline in spec.guidelines.items()}
    for key in dict.fromkeys(named):
        resource = None if key in result else resolver.resource(f"guidelines/{key}.yaml")
        if resource is not None:
            guideline = validated(read_yaml(resource.raw, f"{key}.yaml"), GuidelineSpec, owner=f"guideline `{key}`")
            result[key] = "" if guideline is None else guideline.definition
    return {key: text.strip() for key, text in result.items()}


def _n_dialogues(spec: PackSpec, name: str, resolver: ResourceResolver) -> int:
    """Return the fixed prompts and persona rows of all scenarios; count."""
    result = 0
    for scenario in spec.scenarios.values():
        result += len(scenario.scripts)
        groups = [spec.personas[key] for key in scenario.personas or () if key in spec.personas]
        result += sum(_n_rows(group.rows, name, resolver) for group in groups)
    return result


def _n_rows(rows: object, name: str, resolver: ResourceResolver) -> int:
    if isinstance(rows, list):
        return len(rows)
    resource = resolver.resource(f"packs/{name}/{rows}") if isinstance(rows, str) else None
    return len(table_of(resource.raw, str(rows)).rows) if resource is not None else 0


def _risk_text(identifier: str, resolver: ResourceResolver) -> str:
    """Return an identifier with its name in the taxonomy, and the related risks of other taxonomies."""
    taxonomy, _, risk = identifier.partition("/")
    spec = _taxonomy(taxonomy, resolver)
    if spec is None or risk not in spec.risks:
        return identifier
    related = [_named(one, resolver) for one in spec.crosswalk.get(risk, ())]
    return f"{identifier} {spec.risks[risk]}" + (f"; related: {', '.join(related)}" if related else "")


def _named(identifier: str, resolver: ResourceResolver) -> str:
    taxonomy, _, risk = identifier.partition("/")
    spec = _taxonomy(taxonomy, resolver)
    return f"{identifier} {spec.risks[risk]}" if spec is not None and risk in spec.risks else identifier


def _taxonomy(name: str, resolver: ResourceResolver) -> TaxonomySpec | None:
    resource = resolver.resource(f"taxonomies/{name}.yaml") if name else None
    if resource is None:
        return None
    return validated(read_yaml(resource.raw, f"{name}.yaml"), TaxonomySpec, owner=f"taxonomy `{name}`")


def _read(raw: bytes, file: str) -> PackSpec:
    source = read_yaml(raw, file)
    spec = validated(source, PackSpec, owner="pack")
    if source.faults or spec is None:
        raise InvalidStudyError(tuple(source.faults))
    return spec


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPack:
    """An installed pack.

    Attributes:
        name: Name of the pack.
        edition: Its edition.
        sha256: Checksum of the archive, or of all files of the folder; 64 hexadecimal digits.
        folder: Folder of its files.
        n_files: Files; count.
    """

    name: str
    edition: str
    sha256: str
    folder: Path
    n_files: int


def install_pack(source: Path, *, sha256: str = "", replace: bool = False, target: Path | None = None) -> InstalledPack:
    """Copy a pack into the folder of installed packs.

    Args:
        source: A folder with a `pack.yaml`, or an archive (`.zip`, `.tar.gz`) of one.
        sha256: Expected checksum; empty for none.
        replace: Whether to replace a pack of this name.
        target: Folder of installed resources; default: the user's own.

    Raises:
        InputError: If the source cannot be used, its checksum differs, or the pack exists already.
        InvalidStudyError: If its `pack.yaml` has errors.
    """
    target = packs_folder() if target is None else target
    files, actual = _files_of(source)
    if sha256 and sha256.strip().lower() != actual:
        message = f"`{source}` has the checksum {actual}; expected {sha256}. Nothing was installed"
        raise InputError(message)
    if PACK_FILE not in files:
        message = f"`{source}` has no `{PACK_FILE}`; expected a folder or archive of one pack"
        raise InputError(message)
    spec = _read(files[PACK_FILE], f"{source.name}/{PACK_FILE}")
    if not _NAME.fullmatch(spec.pack):
        message = f"`pack` in `{PACK_FILE}` is `{spec.pack}`; expected a family and a name, e.g. `our-house/complaints`"
        raise InputError(message)
    place = target / "packs" / spec.pack
    if place.exists() and not replace:
        message = f"pack `{spec.pack}` is installed already in `{place}`; replace it with  --replace"
        raise InputError(message)
    _write(files, place)
    return InstalledPack(name=spec.pack, edition=str(spec.edition), sha256=actual, folder=place, n_files=len(files))


def _write(files: Mapping[str, bytes], place: Path) -> None:
    """Write all files to a temporary folder and move it into place, so that no incomplete pack is visible."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".installing-") as made:
            whole = Path(made) / "pack"
            for name, raw in files.items():
                (whole / name).parent.mkdir(parents=True, exist_ok=True)
                (whole / name).write_bytes(raw)
            if place.exists():
                shutil.rmtree(place)
            whole.rename(place)
    except OSError as error:
        message = f"`{place}` cannot be written: {error.strerror}; set THEODOLITE_RESOURCES to another folder"
        raise InputError(message) from error


def _files_of(source: Path) -> tuple[dict[str, bytes], str]:
    """Return the files of a pack by their paths below its folder, and the checksum."""
    if source.is_dir():
        files = dict(_bounded(_in_folder(source), source))
        digest = hashlib.sha256()
        for name in sorted(files):
            digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
        return files, digest.hexdigest()
    try:
        raw = source.read_bytes()
    except OSError as error:
        message = f"`{source}` cannot be read: {error.strerror}"
        raise InputError(message) from error
    try:
        members = _in_zip(raw) if zipfile.is_zipfile(io.BytesIO(raw)) else _in_tar(raw)
        files = dict(_bounded(members, source))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as error:
        message = f"`{source}` is not an archive that can be read (.zip, .tar.gz): {error}"
        raise InputError(message) from error
    return _without_folder(files), hashlib.sha256(raw).hexdigest()


def _in_folder(source: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(source.rglob("*")):
        if path.is_symlink():
            message = f"`{path}` is a link; a pack holds plain files alone"
            raise InputError(message)
        if path.is_file():
            if path.stat().st_size > LARGEST_PACK:
                raise InputError(_too_large(source))
            yield path.relative_to(source).as_posix(), path.read_bytes()


def _in_zip(raw: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as file:
                    yield member.filename, file.read(LARGEST_PACK + 1)


def _in_tar(raw: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        for member in archive:
            if member.isdir():
                continue
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                message = f"`{member.name}` is a link or a device; a pack holds plain files alone"
                raise InputError(message)
            yield member.name, file.read(LARGEST_PACK + 1)


def _bounded(members: Iterator[tuple[str, bytes]], source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield members whose paths stay inside the pack; stop reading a pack that is too large."""
    n_bytes = 0
    for number, (name, raw) in enumerate(members, start=1):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
            message = f"`{name}` leads out of the pack `{source}`; nothing was installed"
            raise InputError(message)
        if not is_portable(path):
            message = f"`{name}` is not a file name on Windows; rename the file in the pack `{source}`"
            raise InputError(message)
        n_bytes += len(raw)
        if n_bytes > LARGEST_PACK or number > MOST_FILES:
            raise InputError(_too_large(source))
        yield path.as_posix(), raw


_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)

_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')


def is_portable(path: PurePosixPath) -> bool:
    """Return whether Linux, macOS and Windows all allow a file of this path.

    Source:
        Microsoft, "Naming Files, Paths, and Namespaces", documentation of Win32.
    """
    return not any(_DEVICES.fullmatch(part) or _FORBIDDEN.search(part) for part in path.parts)


def _too_large(source: Path) -> str:
    return f"`{source}` is not a pack: it has more than {MOST_FILES:,} files, or more than {LARGEST_PACK // 2**20} MB"


def _without_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files without a single top folder, if the archive has one."""
    folders = {PurePosixPath(name).parts[0] for name in files}
    if PACK_FILE in files or len(folders) != 1:
        return files
    (folder,) = folders
    return {name.removeprefix(f"{folder}/"): raw for name, raw in files.items()}
