"""Shelves: where measurement resources are looked up by name once the study's own folder has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from theodolite.config.shipped import shipped
from theodolite.measurement.trees.methods import SummaryMethod
from theodolite.testing.strategies.line import Approach

SHIPPED = "shipped"
"""Name of the shelf that came with the package."""

TRANSLATIONS = "translations"
"""Folder of a study, and of a pack, that holds translations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One file of a shelf.

    Attributes:
        raw: Its bytes.
        shelf: Name of the shelf that holds it.
    """

    raw: bytes
    shelf: str


@dataclass(frozen=True, slots=True)
class Shelves:
    """Folders of resources, laid out alike; the first that holds a name wins.

    Attributes:
        plugins: Shelves that installed plugins bring, by the plugin's name.
        summaries: Summary methods of trees that they bring.
        strategies: Strategies of red teaming that they bring.
    """

    plugins: tuple[tuple[str, Traversable], ...] = ()
    summaries: tuple[SummaryMethod, ...] = ()
    strategies: tuple[Approach, ...] = ()

    def resource(self, path: str) -> Resource | None:
        """Return a file by its path below a shelf, or None if no shelf holds it; no path leads out of a shelf."""
        if ".." in path.split("/") or "\\" in path or "\0" in path:
            return None
        for name, folder in self._all():
            place = folder
            for part in path.split("/"):
                place = place / part
            if place.is_file():
                return Resource(raw=place.read_bytes(), shelf=name)
        return None

    def names(self, folder: str, suffix: str) -> tuple[str, ...]:
        """Return the names that a folder of the shelves offers, without the ending, sorted."""
        places = (shelf / folder for _, shelf in self._all())
        entries = (entry.name for place in places if place.is_dir() for entry in place.iterdir())
        return tuple(sorted({name.removesuffix(suffix) for name in entries if name.endswith(suffix)}))

    def packs(self) -> tuple[str, ...]:
        """Return the names of all packs, e.g. `aria/tv-spoilers`, sorted."""
        roots = (shelf / "packs" for _, shelf in self._all())
        families = [family for root in roots if root.is_dir() for family in root.iterdir() if family.is_dir()]
        return tuple(sorted({f"{f.name}/{pack.name}" for f in families for pack in f.iterdir() if pack.is_dir()}))

    def _all(self) -> Iterator[tuple[str, Traversable]]:
        yield from self.plugins
        yield SHIPPED, shipped("")
