"""Resources by name, and the context of loading a study: folder, external names and diagnostics."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from ruamel.yaml import YAML

from theodolite.config import yaml_source
from theodolite.config.permissions import RefusedPath, StudyPaths
from theodolite.config.tables import InputTable, OnRows, decoded, read_table, table_of, unreadable
from theodolite.config.validation import Spec, validated
from theodolite.config.yaml_source import Diagnostics, LocatedDiagnostic, YamlSource, read_yaml
from theodolite.domain.errors import Diagnostic, InputError, Severity, did_you_mean
from theodolite.domain.persona import PersonaTemplate
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.testing.strategies import Approach

if TYPE_CHECKING:
    from theodolite.domain.findings.agreement import InjectionAttempt
    from theodolite.domain.findings.realism import RoleBreakRules
    from theodolite.domain.series_review import ProgrammeTerms


SHIPPED = "shipped"
"""Origin of the package's own resources."""

TRANSLATIONS = "translations"
"""Folder of a study or pack with translations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource file.

    Attributes:
        raw: Its bytes.
        origin: `shipped`, or the name of the plugin.
    """

    raw: bytes
    origin: str


@dataclass(frozen=True, slots=True)
class ResourceResolver:
    """Finds resources in folders of one layout; the first folder with the name takes precedence.

    Attributes:
        plugins: Resource folders of installed plugins, by plugin name.
        summaries: Summary methods of their trees.
        strategies: Their red teaming strategies.
        measures: Names of their measures.
        applications: Names of their applications, mapped to functions or classes as `module:name`.
        judges: Names of their judges, mapped to functions as `module:name`, and versions.
        model_providers: Names of their model providers.
        personas: Their persona templates, each after the name of its plugin.
    """

    plugins: tuple[tuple[str, Traversable], ...] = ()
    summaries: tuple[SummaryMethod, ...] = ()
    strategies: tuple[Approach, ...] = ()
    measures: tuple[str, ...] = ()
    applications: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    model_providers: tuple[str, ...] = ()
    personas: tuple[tuple[str, PersonaTemplate], ...] = ()

    def resource(self, path: str) -> Resource | None:
        """Return a resource by its path, or None; a path with `..` finds nothing."""
        if ".." in path.split("/") or "\\" in path or "\0" in path:
            return None
        for origin, file in self._all():
            for part in path.split("/"):
                file = file / part  # noqa: PLW2901
            if file.is_file():
                return Resource(raw=file.read_bytes(), origin=origin)
        return None

    def names(self, folder: str, suffix: str) -> tuple[str, ...]:
        """Return the names of the files in a resource folder, without the suffix, sorted."""
        folders = (root / folder for _, root in self._all())
        entries = (entry.name for path in folders if path.is_dir() for entry in path.iterdir())
        return tuple(sorted({name.removesuffix(suffix) for name in entries if name.endswith(suffix)}))

    def packs(self) -> tuple[str, ...]:
        """Return the names of all packs, e.g. `aria/tv-spoilers`, sorted."""
        roots = (root / "packs" for _, root in self._all())
        families = [family for root in roots if root.is_dir() for family in root.iterdir() if family.is_dir()]
        return tuple(sorted({f"{f.name}/{pack.name}" for f in families for pack in f.iterdir() if pack.is_dir()}))

    def _all(self) -> Iterator[tuple[str, Traversable]]:
        yield from self.plugins
        yield SHIPPED, shipped("")


def no_plugin_part(noun: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a part that no installed plugin provides."""
    names = tuple(known)
    listed = f"; installed: {', '.join(names)}" if names else ". List all parts:  theodolite plugins"
    return f"no installed plugin has the {noun} `{name}`{did_you_mean(name, names) or listed}"


INSTALLED = "installed pack"
"""Origin of resources in the folder of installed packs."""


def user_data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user for data of this program."""
    environ = os.environ if environ is None else environ
    data = environ.get("XDG_DATA_HOME", "") or environ.get("LOCALAPPDATA", "")
    try:
        home = Path(data) if data else Path.home() / ".local" / "share"
    except RuntimeError:  # the user has no home folder
        home = Path()
    return home / "theodolite"


def packs_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of installed resources: `THEODOLITE_RESOURCES`, or one of the user's own."""
    environ = os.environ if environ is None else environ
    if named := environ.get("THEODOLITE_RESOURCES", ""):
        return Path(named)
    return user_data_folder(environ) / "resources"


def shipped(path: str) -> Traversable:
    """Return a shipped file or folder by its path under `theodolite/resources`."""
    file: Traversable = resources.files("theodolite.resources")
    for part in path.split("/") if path else ():
        file = file / part
    return file


def shipped_bytes(path: str) -> bytes | None:
    """Return a shipped file's bytes, or None if the path does not exist."""
    file = shipped(path)
    return file.read_bytes() if file.is_file() else None


def shipped_text(path: str) -> str:
    """Return a shipped text.

    Raises:
        FileNotFoundError: If the package does not contain it.
    """
    return shipped(path).read_text(encoding="utf-8")


def shipped_files(path: str) -> list[tuple[str, str]]:
    """Return the text files of a shipped folder by name, in order of their names."""
    files = (file for file in shipped(path).iterdir() if file.is_file())
    return sorted((file.name, file.read_text(encoding="utf-8")) for file in files)


_BOT = "guarded-bot"

_PACKS = ("aria/tv-spoilers", "aria/meal-planner", "aria/pathfinder")

EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        _BOT: "one rule-based bot behind three guardrails, in ARIA's three scenarios; runs offline",
        **dict.fromkeys(_PACKS, "the same bot in this one scenario pack; runs offline"),
        "marketing": "marketing texts and reviews that are written, judged and compared; runs offline",
        "real-bots": "NLTK's ELIZA and a Haystack search over installed documents; needs two packages",
    }
)
"""Descriptions by name, one line each."""

REQUIREMENTS = "requirements.txt"
"""File of an example that lists the packages it needs."""


def example_files(name: str) -> dict[str, str]:
    """Return the files of an example by name, the study file first.

    Raises:
        InputError: If there is no example of that name.
    """
    if name not in EXAMPLES:
        tail = did_you_mean(name, EXAMPLES) or f"; there are {', '.join(EXAMPLES)}"
        message = f"there is no example `{name}`{tail}"
        raise InputError(message)
    folder = shipped(f"examples/{_BOT if name in _PACKS else name}")
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}
    files = {file: texts[file] for file in sorted(texts, key=lambda file: (file != "study.yaml", file))}
    return _with_one_pack(files, name) if name in _PACKS else files


def _with_one_pack(files: dict[str, str], pack: str) -> dict[str, str]:
    """Return the study of the guarded bot with one of its packs."""
    study = re.sub(r"^pack: .*$", f"pack: {pack}", files["study.yaml"], flags=re.MULTILINE)
    named = re.sub(r"^study: .*$", f"study: {pack.rpartition('/')[2]}", study, flags=re.MULTILINE)
    about = "title: One bot, three guardrails, one scenario pack"
    return {
        "study.yaml": re.sub(r"^title: .*$", about, named, flags=re.MULTILINE),
        "guarded_bot.py": files["guarded_bot.py"],
    }


_FOLDER = "report"

_ENDINGS = (".html", ".css", ".js", ".yaml", ".json")


def report_assets() -> dict[str, str]:
    """Return the files of the report by their path below `resources/report`; fonts as base64."""
    return dict(_texts(shipped(_FOLDER), ""))


def report_words() -> str:
    """Return the text of the reading aids."""
    return shipped_text(f"{_FOLDER}/words.yaml")


def _texts(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda result: result.name):
        if entry.is_dir():
            yield from _texts(entry, f"{below}{entry.name}/")
        elif entry.name.endswith(_ENDINGS):
            yield f"{below}{entry.name}", entry.read_text(encoding="utf-8")
        elif entry.name.endswith(".woff2"):
            yield f"{below}{entry.name}", base64.b64encode(entry.read_bytes()).decode()


@cache
def injection_attempts() -> tuple[InjectionAttempt, ...]:
    """Return the shipped attack attempts, in file order."""
    from theodolite.domain.findings.agreement import InjectionAttempt, InjectionSpot

    listed = YAML(typ="safe", pure=True).load(shipped_text("injections/judges.yaml"))
    return tuple(
        InjectionAttempt(
            name=name,
            spot=InjectionSpot(entry["where"]),
            text=entry["text"],
            unseen=bool(entry.get("unseen", False)),
        )
        for name, entry in listed["attempts"].items()
    )


@cache
def shipped_terms() -> ProgrammeTerms:
    """Return the default criteria and terms of programmes."""
    from theodolite.domain.series_review import ProgrammeTerms

    listed = YAML(typ="safe", pure=True).load(shipped_text("programme_terms.yaml"))
    return ProgrammeTerms(criteria=tuple(listed["criteria"]), terms=tuple(listed["terms"]))


@cache
def role_break_rules() -> RoleBreakRules:
    """Return the shipped rules."""
    from theodolite.domain.findings.realism import RoleBreakKind, RoleBreakRule, RoleBreakRules

    listed = YAML(typ="safe", pure=True).load(shipped_text("simulated_users.yaml"))
    return RoleBreakRules(
        rules=tuple(
            RoleBreakRule(
                kind=RoleBreakKind(kind),
                meaning=entry["meaning"],
                words=tuple(entry.get("words", ())),
                hints=tuple(entry.get("hints", ())),
            )
            for kind, entry in listed["rules"].items()
        ),
        same_words=float(listed["same_words"]),
        echoed_words=int(listed["echoed_words"]),
        languages=tuple(listed["languages"]),
        few_turns=int(listed["few_turns"]),
        long_limit=int(listed["long_limit"]),
    )


S = TypeVar("S", bound=Spec)
S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Source of a name that the study file does not define.

    Attributes:
        noun: Kind of the named thing, e.g. `guideline` or `persona template`.
        name: The name.
        edition: Edition stated by its author; may be empty.
        where: `shipped`, or a path in the study's folder.
    """

    noun: str
    name: str
    edition: str
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Generic[S_co]):
    """An entry of a file with its source.

    Attributes:
        name: Its name.
        spec: Content of the entry.
        source: The file.
        path: Position in the file.
        pack: Folder of its scenario pack; empty for the study's own.
    """

    name: str
    spec: S_co
    source: YamlSource
    path: yaml_source.Path
    pack: str = ""

    def diagnostic(
        self,
        *keys: str | int,
        message: str,
        words: str = "",
        severity: Severity = Severity.ERROR,
        at_key: bool = False,
    ) -> LocatedDiagnostic:
        """Return an error at a key of this entry."""
        return self.source.place(
            Diagnostic(path=(*self.path, *keys), message=message, words=words, severity=severity, at_key=at_key)
        )


@dataclass(slots=True, kw_only=True)
class LoadContext:
    """State of loading a study: its folder, the resolved names, and the errors.

    Attributes:
        folder: The study's folder.
        packs: Folders of the scenario packs among the resources.
        resolver: Finds resources that the study folder does not contain; default: the shipped ones.
        diagnostics: Faults, notes and open items so far.
        found: Names that are defined outside the study file.
        tables: Tables already read, by pack and name.
        files: Files of the folder that belong to the study, besides its own file, by path.
        code: Code files among them.
        instead: Texts that replace files of the folder, by path: drafts that are not written yet.
        looks_at_code: Whether to look up the functions and classes that the study names.
        taxonomies: Taxonomies already read, by name; None for unreadable ones.
        on_rows: Called while long tables are read; None for no receiver.
        paths: Finds the files that the study names, and rejects those that it may not read.
        packet_files: Texts of a held-out packet by name; they take precedence over those of the study and its packs.
    """

    folder: Path
    packs: list[str] = field(default_factory=list)
    resolver: ResourceResolver = field(default_factory=ResourceResolver)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    found: list[Found] = field(default_factory=list)
    tables: dict[str, InputTable] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)
    code: set[str] = field(default_factory=set)
    instead: Mapping[str, bytes] = field(default_factory=dict)
    looks_at_code: bool = False
    taxonomies: dict[str, Spec | None] = field(default_factory=dict)
    on_rows: OnRows | None = None
    paths: StudyPaths = field(init=False)
    packet_files: dict[str, bytes] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Make all paths relative to the study's folder."""
        self.paths = StudyPaths(folder=self.folder)

    def find(self, *names: str | Path) -> Path | RefusedPath | None:
        """Return the first existing file, or the reason why the study may not read it."""
        return self.paths.find(*names)

    def text(self, entry: Entry[Spec], *keys: str | int, name: str) -> str | None:
        """Return a file's text; None and an error if it cannot be read."""
        if name in self.packet_files:
            return decoded(self.packet_files[name])[0]
        path = self.find(name)
        if isinstance(path, RefusedPath):
            self.diagnostics.add(entry.diagnostic(*keys, message=path.message))
            return None
        try:
            if path is not None:
                return decoded(self.bytes_of(path))[0]
        except OSError as error:
            self.diagnostics.add(entry.diagnostic(*keys, message=f"`{name}` cannot be read: {unreadable(error)}"))
            return None
        for pack in [entry.pack] if entry.pack else self.packs:
            resource = self.resolver.resource(f"{pack}/{name}")
            if resource is not None:
                return resource.raw.decode("utf-8")
        self.diagnostics.add(entry.diagnostic(*keys, message=self.no_such_file(name)))
        return None

    def table(self, entry: Entry[Spec], *keys: str | int, name: str) -> InputTable | None:
        """Return a file's rows, read once; None and errors if there are none."""
        key = f"{entry.pack}/{name}" if entry.pack else name  # packs may have files of one name
        if key not in self.tables:
            table = self._read_table(entry, name)
            if not isinstance(table, InputTable):
                message = self.no_such_file(name) if table is None else table.message
                self.diagnostics.add(entry.diagnostic(*keys, message=message))
                return None
            self.tables[key] = table
            self.diagnostics.add(*table.faults)
        table = self.tables[key]
        return table if table.columns else None

    def _read_table(self, entry: Entry[Spec], name: str) -> InputTable | RefusedPath | None:
        path = self.find(name, Path("parameters") / name)
        if isinstance(path, RefusedPath):
            return path
        if path is not None:
            return read_table(path, self.named(path), on_rows=self.on_rows, read=self.paths.read)
        resource = self.resolver.resource(f"{entry.pack}/{name}") if entry.pack else None
        return table_of(resource.raw, f"{entry.pack}/{name}") if resource else None

    def named(self, path: Path) -> str:
        """Return the displayed form of a file's path, and record the file as part of the study."""
        name = (path.relative_to(self.folder) if path.is_relative_to(self.folder) else path).as_posix()
        self.files[name] = None
        return name

    def bytes_of(self, path: Path) -> bytes:
        """Return a file's bytes, and record the file as part of the study."""
        self.named(path)
        return self.paths.read(path)

    def no_such_file(self, name: str) -> str:
        """Return the message about a missing file, with the most similar existing one."""
        try:
            present = [path.name for path in self.folder.iterdir() if path.is_file()]
        except OSError:
            present = []
        return f"`{name}` is not in the study's folder{did_you_mean(name, present)}"

    def read_spec(self, folder: str, name: str, spec: type[S], noun: str) -> Entry[S] | None:
        """Return an entry that has its own file, in the study folder or shipped; None if there is none."""
        drafted = self.instead.get(f"{folder}/{name}.yaml")
        if drafted is not None:
            file = f"{folder}/{name}.yaml"
            return self._validate(drafted, file, name, spec, noun, where=file)
        path = self.find(Path(folder) / f"{name}.yaml")
        if isinstance(path, RefusedPath):
            self.diagnostics.add(LocatedDiagnostic(file=f"{folder}/{name}.yaml", message=path.message))
            return None
        if path is not None:
            file = self.named(path)
            return self._validate(self.paths.read(path), file, name, spec, noun, where=file)
        resource = self.resolver.resource(f"{folder}/{name}.yaml")
        if resource is None:
            return None
        return self._validate(resource.raw, f"{folder}/{name}.yaml", name, spec, noun, where=resource.origin)

    def _validate(self, raw: bytes, file: str, name: str, spec: type[S], noun: str, *, where: str) -> Entry[S] | None:
        source = read_yaml(raw, file)
        content = None if source.faults and not source.content else validated(source, spec, owner=f"{noun} `{name}`")
        self.diagnostics.add(*source.faults)
        if content is None:
            return None
        edition = str(getattr(content, "edition", ""))
        self.found.append(Found(noun=noun, name=name, edition=edition, where=where))
        return Entry(name=name, spec=content, source=source, path=())

    def names_in(self, folder: str, suffix: str) -> tuple[str, ...]:
        """Return the names that a folder contains, both the study's own and shipped ones."""
        return tuple(dict.fromkeys([*self.own_names_in(folder, suffix), *self.resolver.names(folder, suffix)]))

    def own_names_in(self, folder: str, suffix: str) -> tuple[str, ...]:
        """Return the names that a folder of the study contains."""
        return tuple(Path(file).name.removesuffix(suffix) for file in self.own_files_in(folder, suffix))

    def own_files_in(self, folder: str, suffix: str) -> tuple[str, ...]:
        """Return the visible files of a folder of the study, as paths relative to the study folder."""
        names = [path.name for path in _files(self.folder / folder)]
        shown = sorted(name for name in names if name.endswith(suffix) and not name.startswith("."))
        return tuple(f"{folder}/{name}" for name in shown)


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_file())


def section(entry: Entry[Spec], name: str, specs: Mapping[str, S]) -> list[Entry[S]]:
    """Return the entries of the section `name` of a study file, whose content is `specs`."""
    return [Entry(name=key, spec=spec, source=entry.source, path=(name, key)) for key, spec in specs.items()]


def is_broken(entry: Entry[Spec], name: str) -> bool:
    """Return whether a section, or an entry of it, could not be read."""
    return any(path[0] == name and len(path) <= 2 for path in entry.source.dropped)


def dropped(entry: Entry[Spec], name: str) -> tuple[str, ...]:
    """Return the names of a section's unreadable entries; references to them are not reported again."""
    return tuple(str(path[1]) for path in entry.source.dropped if len(path) == 2 and path[0] == name)
