"""Resources by name: those of installed plugins, then those of the package (`theodolite/resources`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.testing.strategies.approach import Approach

if TYPE_CHECKING:  # loaded by the commands that need them
    from theodolite.domain.findings.role_break import RoleBreakRules
    from theodolite.domain.injection import InjectionAttempt

SHIPPED = "shipped"
"""Origin of the resources of the package itself."""

TRANSLATIONS = "translations"
"""Folder of a study, and of a pack, that holds translations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource file.

    Attributes:
        raw: Its bytes.
        origin: `shipped`, or the name of the plugin.
    """

    raw: bytes
    origin: str


@dataclass(frozen=True, slots=True)
class ResourceResolver:
    """Finds resources in folders of one layout; the first folder with the name wins.

    Attributes:
        plugins: Resource folders of installed plugins, by plugin name.
        summaries: Summary methods of their trees.
        strategies: Their red teaming strategies.
    """

    plugins: tuple[tuple[str, Traversable], ...] = ()
    summaries: tuple[SummaryMethod, ...] = ()
    strategies: tuple[Approach, ...] = ()

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


def shipped(path: str) -> Traversable:
    """Return a shipped file or folder by its path under `theodolite/resources`."""
    file: Traversable = resources.files("theodolite.resources")
    for part in path.split("/") if path else ():
        file = file / part
    return file


def shipped_bytes(path: str) -> bytes | None:
    """Return a shipped file's bytes, or None if there is none of that path."""
    file = shipped(path)
    return file.read_bytes() if file.is_file() else None


def shipped_text(path: str) -> str:
    """Return a shipped text.

    Raises:
        FileNotFoundError: If the package does not hold it.
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
"""Name to what it is, in one line."""

REQUIREMENTS = "requirements.txt"
"""File of an example that names the packages that it needs."""


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
    """Return the guarded bot's study on one of its packs."""
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
    """Return the texts of the report's parts by their path below `resources/report`."""
    return dict(_texts(shipped(_FOLDER), ""))


def report_words() -> str:
    """Return the text of the reading aids."""
    return shipped_text(f"{_FOLDER}/words.yaml")


def _texts(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        if entry.is_dir():
            yield from _texts(entry, f"{below}{entry.name}/")
        elif entry.name.endswith(_ENDINGS):
            yield f"{below}{entry.name}", entry.read_text(encoding="utf-8")


@cache
def injection_attempts() -> tuple[InjectionAttempt, ...]:
    """Return the attempts that the package ships, in the order of their file."""
    from theodolite.domain.injection import InjectionAttempt, InjectionSpot

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
def role_break_rules() -> RoleBreakRules:
    """Return the rules that the package ships."""
    from theodolite.domain.findings.role_break import RoleBreakKind, RoleBreakRule, RoleBreakRules

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
